package state

import (
	"context"
	"errors"
	"fmt"
)

// Change is everything that one decision changes. A commit applies all of it or
// none: engines check every precondition before they write the first row.
type Change struct {
	// Counts are counted under their keys. If one would exceed its limit the commit
	// fails with [*BudgetError].
	Counts []Count
	// Facts are claims by meaning (event, action, object, revision). If one is
	// claimed already the commit fails with [*FactClaimedError].
	Facts []Fact
	// Deliveries settles deliveries; one that is dead also becomes a dead letter.
	Deliveries []DeliveryUpdate
	Sessions   []Session
	Keys       []KeyLink
	// Unlink removes continuation keys and aliases, before Keys are linked. What
	// is not there is no error.
	Unlink []string
	Turns  []Turn
	// Approvals are stored as sessions are, each of a session that exists or is in
	// the same change.
	Approvals []Approval
	// Audit adds lines to the audit log, in this order.
	Audit  []AuditEntry
	Outbox []OutboxItem
	Settle []OutboxSettlement
	// Timers sets timers, replacing those of the same id; CancelTimers removes them.
	Timers       []Timer
	CancelTimers []string
	Wakes        []Wake
	DoneWakes    []string
	// Lifecycle records decided events until Confirm names their commit.
	Lifecycle []LifecycleEvent
	// Confirm drops the lifecycle events of these commits: they are in the log.
	Confirm []uint64
}

// Fact is a claim that something was decided about.
type Fact struct {
	// Key is the meaning, built by the channel.
	Key string
	// By is what claims it, for the message to a person ("github:<delivery id>").
	By string
}

// Facts tells what was decided about.
type Facts interface {
	// FactBy returns who claimed a fact, and whether anybody did. It is a hint that
	// spares work: only [Committer.Commit] says who comes first.
	FactBy(ctx context.Context, key string) (by string, claimed bool, err error)
}

// Committer applies decisions.
type Committer interface {
	// Commit applies c in one synced transaction and returns its id, which grows
	// with every commit. A change whose only content is Confirm may be made
	// durable lazily.
	//
	// Errors: [ErrInvalid] (the change can never be applied, as for a turn that
	// has ended), [*FactClaimedError], which wins over those that follow, since
	// nothing is left to be decided, [ErrFenced] (a turn of
	// an earlier epoch), [ErrConflict] (a version, a key, a second running turn
	// of a session, a delivery or an outbox item that is settled already) and
	// [ErrNotFound] (it names a row that is not there), and last [*BudgetError],
	// so that nothing is refused for want of room that has to be decided anew.
	// [ErrUnavailable] comes
	// from the store itself. Whatever the error, nothing of c is applied, except
	// that after a failed sync only a reopen can tell.
	//
	// A settled delivery can only become pending again, a dead one also ignored.
	// A dead outbox item can be settled as done (dropped) or retry. CancelTimers
	// and DoneWakes are applied before Timers and Wakes, and ignore unknown ids.
	Commit(ctx context.Context, c Change) (uint64, error)
	// Epoch is this opening's number. It grows with every opening, so that a
	// turn left running by a dead process can be told from one of this process.
	Epoch() uint64
}

// Admin looks after the store itself.
type Admin interface {
	// Check reports whether the store is open and can be written, by an actual
	// synced write. After a failed sync it keeps failing until a reopen.
	Check(ctx context.Context) error
	// Failed is closed when the store can no longer be trusted, after a failed
	// sync. The process should exit non-zero and reopen with a check.
	Failed() <-chan struct{}
	// Close waits for commits under way and releases the store.
	Close() error
}

// Store is the whole of what is remembered.
type Store interface {
	Inbox
	Queue
	DeliveryIndex
	DeadLetters
	Sessions
	SessionIndex
	Facts
	Counts
	Approvals
	Audit
	Outbox
	Timers
	Wakes
	Lifecycle
	AgentRecords
	Vault
	Committer
	Admin
}

// The errors that callers branch on.
var (
	// ErrNotFound means that there is no such row.
	ErrNotFound = errors.New("not found")
	// ErrConflict means that the row changed since it was read: read again and decide again.
	ErrConflict = errors.New("changed by someone else meanwhile")
	// ErrInvalid means that what was asked can never be done as it stands: a
	// programming error, or an id that no store can hold.
	ErrInvalid = errors.New("not valid")
	// ErrFenced means that the decision belongs to an earlier opening of the store.
	ErrFenced = errors.New("decided by an earlier process")
	// ErrUnavailable means that the store cannot take anything now.
	ErrUnavailable = errors.New("store unavailable")
	// ErrLocked means that another process holds the file.
	ErrLocked = errors.New("held by another process")
	// ErrNewerSchema means that a newer version of Liaison wrote the file.
	ErrNewerSchema = errors.New("written by a newer version")
	// ErrCorrupt means that the file is damaged. It is never overwritten.
	ErrCorrupt = errors.New("damaged")
)

// FactClaimedError says that a decision about the same fact exists.
type FactClaimedError struct {
	Fact string
	// By is who claimed it first.
	By string
}

// Error implements error.
func (e *FactClaimedError) Error() string {
	return fmt.Sprintf("already decided for %s (%s)", e.By, e.Fact)
}
