package tools

// Bounds of calls. The protocol names none; these keep one agent from using up
// what all share.
const (
	// maxInput bounds an input in bytes: a review with its longest findings fits in.
	maxInput = 4 << 20
	// maxNesting is how deep an input may be nested. Decoders of several languages
	// stop at 100.
	maxNesting = 64
	// maxText bounds the text of a result in bytes. A bridge carries 1 MiB with what
	// goes around it.
	maxText = 1<<20 - 4<<10
	// maxOutput bounds what a tool lays down for a turn, in bytes.
	maxOutput = 256 << 10
	// maxRemembered and maxRememberedBytes bound the answers that are remembered. A
	// duplicate follows its call by seconds, so what was not asked for longest can go.
	maxRemembered      = 1024
	maxRememberedBytes = 16 << 20
	// maxNamedFaults is how many faults of an input are named in a refusal, and
	// maxFault bounds each in bytes.
	maxNamedFaults = 8
	maxFault       = 300
)
