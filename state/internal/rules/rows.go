package rules

import (
	"time"

	"github.com/liaison-bot/liaison/state"
)

// Update makes of a stored delivery what u says, decided at a time.
func Update(d *state.StoredDelivery, u state.DeliveryUpdate, at time.Time) {
	d.Status, d.Attempts, d.NotBefore = u.Status, u.Attempts, u.NotBefore
	d.Decision, d.SessionID, d.TurnID = u.Decision, u.SessionID, u.TurnID
	d.DecidedAt = at
	if u.Status == state.DeliveryPending && u.Decision == "" {
		d.DecidedAt = time.Time{}
	}
	if u.Status == state.DeliveryPending {
		d.Retries = u.Retries
	}
	if u.Replay {
		d.Attempts, d.Retries = 0, 0
		d.Replays++
	}
}

// Wanted reports whether a filter lets a delivery through, whatever its number.
func Wanted(f state.DeliveryFilter, d state.StoredDelivery) bool {
	return (f.Source == "" || d.Source == f.Source) && (f.Status == "" || d.Status == f.Status) &&
		(f.SessionID == "" || d.SessionID == f.SessionID)
}

// Lane is what an outbox item stands in line with: the items of its line, those
// of its session, or none. It tells the three apart, since no id is anything but
// UTF-8.
func Lane(o state.OutboxItem) string {
	switch {
	case o.Line != "":
		return OwnLine + o.Line
	case o.SessionID == "":
		return NoSession + o.ID
	}
	return o.SessionID
}

// OwnLine begins the lanes of items that name a line, and NoSession those of
// items that have neither a line nor a session.
const (
	OwnLine   = "\xfe"
	NoSession = "\xff"
)

// DeliveryLetterID is the id of a dead delivery's letter.
func DeliveryLetterID(source, id string) string { return "delivery:" + source + ":" + id }

// OutboxLetterID is the id of a dead outbox item's letter.
func OutboxLetterID(id string) string { return "outbox:" + id }

// DeliveryLetter is the letter of a dead delivery.
func DeliveryLetter(d state.StoredDelivery, at time.Time) state.DeadLetter {
	return state.DeadLetter{
		ID: DeliveryLetterID(d.Source, d.ID), Kind: "delivery", Reason: d.Decision, At: at,
	}
}

// OutboxLetter is the letter of a dead outbox item.
func OutboxLetter(s state.OutboxSettlement, at time.Time) state.DeadLetter {
	return state.DeadLetter{ID: OutboxLetterID(s.ID), Kind: "outbox", Reason: s.Note, At: at}
}
