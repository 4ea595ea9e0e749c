package process

import "time"

// Memory is what a process takes of it, in bytes.
type Memory struct {
	// Anonymous pages are the process's own: heap, stacks, what the runtime keeps.
	Anonymous int64
	// Mapped pages are those of files: the executable and the database. The
	// system takes them back when it needs room.
	Mapped int64
	// Peak is the most that was resident at once, of either kind.
	Peak int64
}

// Usage is a snapshot of what a process has used.
type Usage struct {
	Memory
	// CPU is the processor time so far, of user and system. It is counted in
	// steps of 10 ms.
	CPU time.Duration
}
