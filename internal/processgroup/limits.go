package processgroup

// Limits bound what the programs of a group use together, where the system can: on
// Windows. Zero is no limit.
type Limits struct {
	// Memory is in bytes.
	Memory int64
	// Processes is how many there may be at once.
	Processes int
}
