package state

import (
	"context"
	"time"
)

// Delivery is one verified inbound webhook, kept exactly as it was signed.
type Delivery struct {
	// Source is the channel that received it, such as "github".
	Source string `json:"source,omitempty"`
	// ID is the sender's own id for it (X-GitHub-Delivery, Slack's event_id).
	// It is unique within a source and survives redelivery.
	ID string `json:"id,omitempty"`
	// Event is the sender's name for the kind of event (X-GitHub-Event).
	Event string `json:"event,omitempty"`
	// Headers are the request headers worth keeping, by canonical name. Never a
	// signature, a cookie or an authorization header: engines store only what
	// [KeepHeader] allows.
	Headers map[string]string `json:"headers,omitempty"`
	// Body is the request body, byte for byte.
	Body []byte `json:"-"`
	// ReceivedAt is when the last byte of the body was read.
	ReceivedAt time.Time `json:"receivedAt,omitzero"`
}

// DeliveryStatus says how far a stored delivery has come.
type DeliveryStatus string

// The states of a delivery. Pending is the only one that will still be acted on.
const (
	DeliveryPending DeliveryStatus = "pending"
	// DeliveryDone means that a decision was taken and committed.
	DeliveryDone DeliveryStatus = "done"
	// DeliveryIgnored means that nothing was to be done; Decision says why.
	DeliveryIgnored DeliveryStatus = "ignored"
	// DeliveryDead means that it could not be decoded or decided in bounded
	// tries. It is in the dead-letter list and may be delivered again.
	DeliveryDead DeliveryStatus = "dead"
)

// Known reports whether s is a state of a delivery.
func (s DeliveryStatus) Known() bool {
	switch s {
	case DeliveryPending, DeliveryDone, DeliveryIgnored, DeliveryDead:
		return true
	}
	return false
}

// StoredDelivery is a delivery with what became of it.
type StoredDelivery struct {
	Delivery
	// Seq orders deliveries by acceptance, from 1, without repeats. A delivery
	// that becomes pending again keeps it, so a reader of [Queue.Pending] starts
	// from 0 again whenever it was told that something was accepted.
	Seq      uint64         `json:"seq,omitempty"`
	Status   DeliveryStatus `json:"status,omitempty"`
	Attempts int            `json:"attempts,omitempty"`
	// NotBefore delays the next attempt; zero means now.
	NotBefore time.Time `json:"notBefore,omitzero"`
	// Decision is one line for a person: what was decided, and why; DecidedAt is when.
	Decision  string    `json:"decision,omitempty"`
	DecidedAt time.Time `json:"decidedAt,omitzero"`
	// Replays counts how often a person had it decided anew. A replay is carried
	// out whatever was decided about its meaning before.
	Replays int `json:"replays,omitempty"`
	// Retries counts how often it was put off, since it was stored or replayed,
	// because its channel could not say yet what it is worth. An outage is not one.
	Retries int `json:"retries,omitempty"`
	// SessionID and TurnID name what the delivery led to, where it led to anything.
	SessionID string `json:"sessionId,omitempty"`
	TurnID    string `json:"turnId,omitempty"`
}

// DeliveryUpdate settles or postpones a stored delivery.
type DeliveryUpdate struct {
	Seq       uint64
	Status    DeliveryStatus
	Attempts  int
	NotBefore time.Time
	Decision  string
	SessionID string
	TurnID    string
	// Retries is stored with a delivery that stays pending.
	Retries int
	// Replay makes a settled delivery pending again on a person's word: it counts
	// as a replay, and its attempts begin anew. Status must be pending.
	Replay bool
}

// DeliveryFilter says which deliveries are wanted. The zero value means all.
type DeliveryFilter struct {
	Source    string
	Status    DeliveryStatus
	SessionID string
	// Before continues a listing: only deliveries with a smaller Seq. Zero begins
	// at the newest.
	Before uint64
}

// DeliveryIndex lists deliveries for people.
type DeliveryIndex interface {
	// Deliveries returns up to limit deliveries without their bodies, newest
	// first. It looks at no more than 10,000 rows in one call; next is the Before
	// of the call that goes on, and zero at the end.
	Deliveries(ctx context.Context, f DeliveryFilter, limit int) (found []StoredDelivery, next uint64, err error)
}

// Outcome says what became of a delivery that was offered to the inbox.
type Outcome int

// The outcomes of Accept. All three are durable when Accept returns.
const (
	// Fresh means that this call stored the delivery.
	Fresh Outcome = iota + 1
	// Duplicate means that the same source and id was stored before.
	Duplicate
	// Rearmed means that it was known but dead, and is pending again, with the
	// body and headers of this call and no attempts counted.
	Rearmed
)

// Inbox takes deliveries from the HTTP handlers.
type Inbox interface {
	// Accept stores d and returns once that is durable. Of any number of
	// concurrent calls with one source and id exactly one returns Fresh. It
	// returns an error wrapping [ErrUnavailable] when the store cannot take it,
	// and then nothing may be acknowledged; one wrapping [ErrInvalid] when the
	// source or the id is empty, longer than [MaxID] bytes, or not clean UTF-8.
	//
	// d.Body is lent: engines copy what they keep of it, and are done with it when
	// Accept returns nil or an error wrapping ErrInvalid.
	Accept(ctx context.Context, d Delivery) (Outcome, error)
}

// Queue hands stored deliveries to the dispatcher.
type Queue interface {
	// Pending returns up to limit pending deliveries with Seq > after, in order
	// of Seq, whatever their NotBefore.
	Pending(ctx context.Context, after uint64, limit int) ([]StoredDelivery, error)
	// Due is Pending for those whose NotBefore is not after now. What is put off
	// costs next to nothing, however much it is: nothing of it is read.
	Due(ctx context.Context, now time.Time, after uint64, limit int) (DuePage, error)
	// Accepted receives a value, without blocking the sender, some time after
	// deliveries became pending. Values merge: one may stand for many.
	Accepted() <-chan struct{}
	// Delivery returns one stored delivery by source and id, or [ErrNotFound].
	Delivery(ctx context.Context, source, id string) (StoredDelivery, error)
}

// DuePage is a part of the deliveries that can be acted on.
type DuePage struct {
	// Deliveries are in order of Seq, up to the limit of the call.
	Deliveries []StoredDelivery
	// Through is up to which Seq everything was looked at: the after of the call
	// that goes on.
	Through uint64
	// Next is when the first of those that were passed over is due; zero when
	// none was.
	Next time.Time
}

// DeadLetter is a delivery or an outbox item that was given up, for a person to see.
type DeadLetter struct {
	// ID is "delivery:<source>:<id>" or "outbox:<id>".
	ID     string    `json:"id,omitempty"`
	Kind   string    `json:"kind,omitempty"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at,omitzero"`
}

// DeadLetters lists what was given up.
type DeadLetters interface {
	// DeadLetters returns up to limit letters with ID > after, in order of ID.
	DeadLetters(ctx context.Context, after string, limit int) ([]DeadLetter, error)
}
