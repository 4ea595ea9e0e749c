package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// View looks up what preconditions need. A false result means that the row is
// not there; an error is the engine's own.
type View interface {
	// FactBy returns who claimed a fact.
	FactBy(key string) (string, bool, error)
	DeliveryStatus(seq uint64) (state.DeliveryStatus, bool, error)
	SessionHead(id string) (SessionHead, bool, error)
	TurnHead(id string) (TurnHead, bool, error)
	// RunningTurn returns the id of the session's running turn.
	RunningTurn(sessionID string) (string, bool, error)
	Link(key string) (state.KeyLink, bool, error)
	ApprovalHead(id string) (ApprovalHead, bool, error)
	OutboxState(id string) (OutboxState, bool, error)
	// CountOf returns how much was counted under a key.
	CountOf(key string) (int, error)
}

// SessionHead is what preconditions need of a stored session.
type SessionHead struct {
	Version   uint64
	Channel   string
	Principal string
}

// TurnHead is what preconditions need of a stored turn.
type TurnHead struct {
	SessionID string
	Version   uint64
	Epoch     uint64
	Status    state.TurnStatus
}

// ApprovalHead is what preconditions need of a stored approval.
type ApprovalHead struct {
	SessionID string
	Version   uint64
	Ended     bool
	CreatedAt time.Time
}

// OutboxState says how far an outbox item has come.
type OutboxState byte

// The states of an outbox item.
const (
	OutboxOpen OutboxState = iota
	OutboxSettled
	OutboxGivenUp
)

// Check looks at every precondition of a valid change. Engines call it before
// they write the first row.
func Check(c state.Change, v View, epoch uint64) error {
	for _, step := range []func(state.Change, View, uint64) error{
		checkFacts, checkTurns, checkRunning, checkSessions, checkKeys, checkApprovals, checkDeliveries, checkSettlements, checkCounts,
	} {
		if err := step(c, v, epoch); err != nil {
			return fmt.Errorf("commit: %w", err)
		}
	}
	return nil
}

func checkFacts(c state.Change, v View, _ uint64) error {
	here := make(map[string]string, len(c.Facts))
	for _, f := range c.Facts {
		by, claimed, err := v.FactBy(f.Key)
		if err != nil {
			return err
		}
		if !claimed {
			by, claimed = here[f.Key]
		}
		if claimed {
			return &state.FactClaimedError{Fact: f.Key, By: by}
		}
		here[f.Key] = f.By
	}
	return nil
}

func checkTurns(c state.Change, v View, epoch uint64) error {
	for _, t := range c.Turns {
		head, stored, err := v.TurnHead(t.ID)
		if err != nil {
			return err
		}
		if t.Epoch < head.Epoch || t.Status == state.TurnRunning && t.Epoch != epoch {
			return fmt.Errorf("turn %s belongs to epoch %d: %w", t.ID, t.Epoch, state.ErrFenced)
		}
		if t.Version != head.Version {
			return fmt.Errorf("turn %s has version %d, not %d: %w", t.ID, head.Version, t.Version, state.ErrConflict)
		}
		if stored && t.SessionID != head.SessionID {
			return fmt.Errorf("turn %s is of session %s: %w", t.ID, head.SessionID, state.ErrInvalid)
		}
		if stored && head.Status.Ended() && !t.Status.Ended() {
			return fmt.Errorf("turn %s has ended and cannot become %s: %w", t.ID, t.Status, state.ErrInvalid)
		}
		if err := sessionExists(c, v, t.SessionID); err != nil {
			return fmt.Errorf("turn %s: %w", t.ID, err)
		}
	}
	return nil
}

// checkRunning holds the rule that one turn of a session runs at a time.
func checkRunning(c state.Change, v View, _ uint64) error {
	moved := make(map[string]state.TurnStatus, len(c.Turns))
	for _, t := range c.Turns {
		moved[t.ID] = t.Status
	}
	running := map[string]string{}
	for _, t := range c.Turns {
		if t.Status != state.TurnRunning {
			continue
		}
		other, ok := running[t.SessionID]
		if !ok {
			stored, found, err := v.RunningTurn(t.SessionID)
			if err != nil {
				return err
			}
			if found && stored != t.ID && (moved[stored] == "" || moved[stored] == state.TurnRunning) {
				other, ok = stored, true
			}
		}
		if ok {
			return fmt.Errorf("turn %s cannot run while %s runs in session %s: %w",
				t.ID, other, t.SessionID, state.ErrConflict)
		}
		running[t.SessionID] = t.ID
	}
	return nil
}

func checkSessions(c state.Change, v View, _ uint64) error {
	for _, s := range c.Sessions {
		head, stored, err := v.SessionHead(s.ID)
		if err != nil {
			return err
		}
		if s.Version != head.Version {
			return fmt.Errorf("session %s has version %d, not %d: %w", s.ID, head.Version, s.Version, state.ErrConflict)
		}
		if stored && (s.Principal != head.Principal || s.Channel != head.Channel) {
			return fmt.Errorf("session %s belongs to %q in channel %q for good: %w",
				s.ID, head.Principal, head.Channel, state.ErrInvalid)
		}
	}
	return nil
}

func checkKeys(c state.Change, v View, _ uint64) error {
	for _, k := range c.Keys {
		link, found, err := v.Link(k.Key)
		if err != nil {
			return err
		}
		if found && !link.Alias && link.SessionID != k.SessionID && !slices.Contains(c.Unlink, k.Key) {
			return fmt.Errorf("key %s names session %s: %w", k.Key, link.SessionID, state.ErrConflict)
		}
		if err := sessionExists(c, v, k.SessionID); err != nil {
			return fmt.Errorf("key %s: %w", k.Key, err)
		}
	}
	return nil
}

func checkApprovals(c state.Change, v View, _ uint64) error {
	for _, a := range c.Approvals {
		head, stored, err := v.ApprovalHead(a.ID)
		if err != nil {
			return err
		}
		if a.Version != head.Version {
			return fmt.Errorf("approval %s has version %d, not %d: %w", a.ID, head.Version, a.Version, state.ErrConflict)
		}
		if stored && (a.SessionID != head.SessionID || !a.CreatedAt.Equal(head.CreatedAt)) {
			return fmt.Errorf("approval %s is of session %s, from %s, for good: %w",
				a.ID, head.SessionID, head.CreatedAt.Format(time.RFC3339Nano), state.ErrInvalid)
		}
		if head.Ended && !a.Ended {
			return fmt.Errorf("approval %s has ended and cannot be opened again: %w", a.ID, state.ErrInvalid)
		}
		if err := sessionExists(c, v, a.SessionID); err != nil {
			return fmt.Errorf("approval %s: %w", a.ID, err)
		}
	}
	return nil
}

func checkDeliveries(c state.Change, v View, _ uint64) error {
	for _, u := range c.Deliveries {
		from, found, err := v.DeliveryStatus(u.Seq)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("delivery %d: %w", u.Seq, state.ErrNotFound)
		}
		if u.Replay && from == state.DeliveryPending {
			return fmt.Errorf("delivery %d is pending already: %w", u.Seq, state.ErrConflict)
		}
		ok := from == state.DeliveryPending || u.Status == state.DeliveryPending ||
			from == state.DeliveryDead && u.Status == state.DeliveryIgnored
		if !ok {
			return fmt.Errorf("delivery %d is %s and cannot become %s: %w", u.Seq, from, u.Status, state.ErrConflict)
		}
	}
	return nil
}

func checkSettlements(c state.Change, v View, _ uint64) error {
	for _, s := range c.Settle {
		at, found, err := v.OutboxState(s.ID)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("outbox item %s: %w", s.ID, state.ErrNotFound)
		}
		if at == OutboxSettled || at == OutboxGivenUp && s.Result == state.OutboxDead {
			return fmt.Errorf("outbox item %s is settled already: %w", s.ID, state.ErrConflict)
		}
	}
	return nil
}

func checkCounts(c state.Change, v View, _ uint64) error {
	for _, count := range c.Counts {
		n, err := v.CountOf(count.Key)
		if err != nil {
			return err
		}
		if n >= count.Limit {
			return &state.BudgetError{Key: count.Key, Limit: count.Limit}
		}
	}
	return nil
}

func sessionExists(c state.Change, v View, id string) error {
	for _, s := range c.Sessions {
		if s.ID == id {
			return nil
		}
	}
	_, found, err := v.SessionHead(id)
	if err == nil && !found {
		err = fmt.Errorf("session %s: %w", id, state.ErrNotFound)
	}
	return err
}
