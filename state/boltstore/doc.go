// Package boltstore keeps the state in one bbolt file.
//
// One goroutine writes. It takes whatever accepts and commits have gathered
// while the last transaction was being synced and applies them in the next one,
// so that a flush of the disk is shared by all who wait for it and waits for no
// one. Each operation checks its preconditions before its first write; one that
// is refused leaves nothing in the shared transaction.
//
// Bodies live apart from the small rows, since bbolt rewrites whole pages, and
// everything that is asked for often has an index: no call scans what is
// settled, and opening lists nothing.
package boltstore
