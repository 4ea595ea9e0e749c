package state

import (
	"context"
	"errors"
	"io"
	"time"
)

// Retention says for how long what is done with is kept. Zero keeps it for ever.
type Retention struct {
	// Bodies is for the bodies of deliveries, from when they were settled. Those
	// of pending and of dead deliveries stay.
	Bodies time.Duration
	// Deliveries is for settled deliveries with the ids by which they are deduped,
	// for facts, and for effects without a session. Dead deliveries stay until a person decides about them.
	Deliveries time.Duration
	// Workspaces is for how long a session may lie unchanged, with nothing open,
	// before its record is packed and its workspace removed.
	Workspaces time.Duration
	// Sessions is for sessions with all that belongs to them, from their last change.
	Sessions time.Duration
	// Audit is for lines of the audit log.
	Audit time.Duration
}

// Keeping looks after what is stored while the service runs. Of its calls that
// change or copy something one runs at a time; another waits until ctx ends.
type Keeping interface {
	// Compact rewrites the database without its free pages. Writes wait
	// meanwhile, readings go on. It returns an error wrapping [ErrNoSpace] when
	// the volume has no room for a second file; the file is whole whatever the
	// error, and whenever the process ends.
	Compact(ctx context.Context) (Compaction, error)
	// Backup writes one consistent archive of everything to w. The archive is
	// whole only if the error is nil; nothing stays behind of one that is not.
	Backup(ctx context.Context, w io.Writer) (BackupInfo, error)
	// Usage says how much room everything takes. It lists no sessions and is
	// cheap enough to be asked for every few seconds.
	Usage(ctx context.Context) (DiskUsage, error)
}

// Compaction is what a compaction achieved.
type Compaction struct {
	// Before and After are the sizes of the database file in bytes.
	Before int64 `json:"before"`
	After  int64 `json:"after"`
	// Took is the time for which writes waited.
	Took time.Duration `json:"tookNanoseconds"`
}

// BackupInfo describes an archive.
type BackupInfo struct {
	// Format is the version of the archive's layout, Schema that of the database.
	Format int    `json:"format"`
	Schema uint64 `json:"schema"`
	// Version is the program that wrote it.
	Version   string    `json:"version"`
	CreatedAt time.Time `json:"createdAt"`
	// Commit is the last decision that is in it.
	Commit uint64 `json:"commit"`
	// Sessions counts those with a record of their own; the others are in packed
	// segments.
	Sessions int `json:"sessions"`
	// Files counts the files, and Bytes their sizes before compression.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

// DiskUsage is how much room everything takes. Sizes are in bytes.
type DiskUsage struct {
	Volume   VolumeUsage   `json:"volume"`
	Database DatabaseUsage `json:"database"`
	// Journal is the size of the intake journal.
	Journal int64       `json:"journal"`
	Packed  PackedUsage `json:"packed"`
	// Sessions counts those that are stored, packed or not.
	Sessions int64 `json:"sessions"`
}

// VolumeUsage describes the volume of the state directory. Inodes are zero
// where a volume has no fixed number of them.
type VolumeUsage struct {
	Size       int64 `json:"size"`
	Free       int64 `json:"free"`
	Inodes     int64 `json:"inodes"`
	FreeInodes int64 `json:"freeInodes"`
}

// DatabaseUsage describes the database file.
type DatabaseUsage struct {
	Size int64 `json:"size"`
	// Free is the part of Size that a compaction would give back, about.
	Free int64 `json:"free"`
}

// PackedUsage describes the segments of packed sessions.
type PackedUsage struct {
	Sessions int64 `json:"sessions"`
	Segments int   `json:"segments"`
	// Live is the part that belongs to a session, packed; Size is that of the files.
	Live int64 `json:"live"`
	Size int64 `json:"size"`
}

// ErrNoSpace means that the volume has too little room for what was asked.
var ErrNoSpace = errors.New("not enough space")

// Retainer finds and removes what is past its retention. The cost of a call is
// that of what it removes, whatever is kept. It looks at no more than limit rows;
// more says that others may be past their time too.
type Retainer interface {
	// DropBodies removes the bodies of deliveries settled before a time.
	DropBodies(ctx context.Context, before time.Time, limit int) (n int, more bool, err error)
	// DropDeliveries removes deliveries settled before a time, with their ids.
	DropDeliveries(ctx context.Context, before time.Time, limit int) (n int, more bool, err error)
	// DropFacts removes facts claimed before a time.
	DropFacts(ctx context.Context, before time.Time, limit int) (n int, more bool, err error)
	// DropCounts removes counts that expired before a time.
	DropCounts(ctx context.Context, before time.Time, limit int) (n int, more bool, err error)
	// DropEffects removes outbox items without a session that were done before a
	// time, with their ids: what is owed under one afterwards is new.
	DropEffects(ctx context.Context, before time.Time, limit int) (n int, more bool, err error)
	// DropAudit removes lines of the audit log from its front, up to the first that
	// is not from before a time. Those that stay keep their numbers.
	DropAudit(ctx context.Context, before time.Time, limit int) (n int, more bool, err error)
	// DropSessions removes sessions that did not change since before, and that
	// have nothing open (a turn, an approval, an outbox item, a timer, a wake, an event
	// that is not known to be recorded), with everything that belongs to them but their
	// files and their agents' records: those are left to [Retainer.Dropped]. A
	// session that has something open counts as changed now.
	DropSessions(ctx context.Context, before time.Time, limit int) (n int, more bool, err error)
	// Dropped returns up to limit removed sessions of which something may be left.
	Dropped(ctx context.Context, limit int) ([]DroppedSession, error)
	// DropAgent removes up to limit records and run events of an agent; more says
	// that some are left.
	DropAgent(ctx context.Context, agentID string, limit int) (n int, more bool, err error)
	// ForgetDropped says that nothing is left of a removed session.
	ForgetDropped(ctx context.Context, sessionID string) error
	// Settled returns sessions that did not change since before, have nothing open
	// and may have files beside a packed record, those longest unchanged first. One
	// that has something open counts as changed now.
	Settled(ctx context.Context, before time.Time, limit int) (ids []string, more bool, err error)
}

// DroppedSession is a session that was removed from the store only.
type DroppedSession struct {
	ID string
	// AgentID is the agent that it had at the bridge, or empty.
	AgentID string
}

// PackedRecord says where the record of a packed session is.
type PackedRecord struct {
	// Segment is the number of the file, Offset where the record begins in it, and
	// Length how many bytes it takes.
	Segment        uint64
	Offset, Length int64
	// Events counts the events, and Size is that of their lines in bytes.
	Events, Size int64
}

// Segment is a file of packed records.
type Segment struct {
	Number uint64
	// Live is the number of its bytes that belong to a session.
	Live int64
}

// PackMove replaces where a session's record is.
type PackMove struct {
	SessionID string
	// From is what it replaces; zero when the record is being packed, and then
	// whatever was there is replaced.
	From PackedRecord
	To   PackedRecord
}

// PackIndex remembers, durably, where packed records are.
type PackIndex interface {
	// Packed returns where a session's record is, or [ErrNotFound].
	Packed(ctx context.Context, sessionID string) (PackedRecord, error)
	// NewSegment returns a number that no segment had before.
	NewSegment(ctx context.Context) (uint64, error)
	// Pack applies the moves that still hold and reports for each whether it did:
	// a record being packed needs a session that did not change since before and
	// has nothing open; any other the position that it replaces.
	Pack(ctx context.Context, before time.Time, moves []PackMove) ([]bool, error)
	// FilesGone says that sessions have no files of their own, as far as they did
	// not change since before.
	FilesGone(ctx context.Context, before time.Time, sessionIDs []string) error
	// Unpack forgets where a session's record is; it has a file of its own again.
	Unpack(ctx context.Context, sessionID string) error
	// Segments returns all segments in order of their numbers.
	Segments(ctx context.Context) ([]Segment, error)
	// InSegment returns up to limit sessions of a segment with id > after, in
	// order of id.
	InSegment(ctx context.Context, number uint64, after string, limit int) ([]PackMove, error)
	// ForgetSegment forgets a segment without live bytes.
	ForgetSegment(ctx context.Context, number uint64) error
}
