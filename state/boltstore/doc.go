// Package boltstore keeps the state in one bbolt file, and in a journal beside it
// the deliveries as they came.
//
// A delivery is acknowledged once it is in the journal. It gets its row in the
// file with the first decision about it, in the transaction of that decision;
// until then a small index in memory knows where it is, which is read from the
// journal again at the next opening. Its body stays where it was written.
//
// One goroutine writes the file. It takes whatever has gathered while the last
// transaction was being synced and applies it in the next one, so that a flush
// of the disk is shared by all who wait for it and waits for no one; the journal
// has another one that does the same. Each operation checks its preconditions before its first write; one that
// is refused leaves nothing in the shared transaction.
//
// Everything that is asked for often has an index: no call scans what is
// settled, and opening lists nothing.
package boltstore
