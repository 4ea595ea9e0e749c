package boltstore

import (
	"time"

	"github.com/liaison-bot/liaison/state"
)

// What is removed by age is found in tables that begin with a time, kept by the
// transactions that write what they are about.

// The stages of a settled delivery.
const (
	withBody byte = iota
	withoutBody
)

// The stages of a session.
const (
	withFiles byte = iota
	withoutFiles
)

// The kinds of holds.
const (
	holdTimer    byte = 't'
	holdWake     byte = 'w'
	holdApproval byte = 'a'
	holdItem     byte = 'o'
)

// ageStep is how exactly the last change of a session is known: most commits
// then leave the index of ages alone.
const ageStep = time.Minute

// minute is the time under which a change is kept.
func minute(t time.Time) uint64 { return dueKey(t) / uint64(ageStep) * uint64(ageStep) }

// unchangedUntil is the last such time that surely lies before a time.
func unchangedUntil(before time.Time) uint64 { return dueKey(before.Add(-ageStep)) }

func aged(at time.Time, id string) []byte { return append(u64(dueKey(at)), id...) }

func stamped(stage byte, at uint64) []byte { return append([]byte{stage}, u64(at)...) }

// settledKey is the key of a settled delivery. Rows of earlier versions do not
// say when they were decided, and are as old as their delivery.
func settledKey(stage byte, d state.StoredDelivery, seq uint64) []byte {
	return append(stamped(stage, max(dueKey(d.DecidedAt), dueKey(d.ReceivedAt))), u64(seq)...)
}

func holdKey(session string, kind byte, id string) []byte {
	return append(append([]byte(session), 0, kind), id...)
}

// unsettle takes a delivery, which is d so far, out of the index.
func (b *batch) unsettle(seq uint64, d state.StoredDelivery) error {
	if d.Status != state.DeliveryDone && d.Status != state.DeliveryIgnored {
		return nil
	}
	for _, stage := range []byte{withBody, withoutBody} {
		if err := b.table(tableSettled).Delete(settledKey(stage, d, seq)); err != nil {
			return err
		}
	}
	return nil
}

// unlink removes a key or an alias.
func (b *batch) unlink(key string) error {
	link, found, err := b.Link(key)
	if err != nil || !found {
		return err
	}
	if err := b.table(tableSessionKeys).Delete(pair(link.SessionID, key)); err != nil {
		return err
	}
	return b.table(tableKeys).Delete([]byte(key))
}

// count adds to a counter of tableMeta.
func (b *batch) count(key []byte, n int64) error {
	meta := b.table(tableMeta)
	return meta.Put(key, u64(number(meta.Get(key))+uint64(n)))
}

// touchSessions notes that the sessions of a change changed.
func (o *commitOp) touchSessions(b *batch) error {
	touched := ""
	touch := func(id string) error {
		if id == touched || id == "" { // most changes are about one session
			return nil
		}
		touched = id
		return b.touch(id)
	}
	for _, s := range o.change.Sessions {
		if err := touch(s.ID); err != nil {
			return err
		}
	}
	for _, t := range o.change.Turns {
		if err := touch(t.SessionID); err != nil {
			return err
		}
	}
	for _, k := range o.change.Keys {
		if err := touch(k.SessionID); err != nil {
			return err
		}
	}
	for _, a := range o.change.Approvals {
		if err := touch(a.SessionID); err != nil {
			return err
		}
	}
	for _, item := range o.change.Outbox {
		if err := touch(item.SessionID); err != nil {
			return err
		}
	}
	for _, t := range o.change.Timers {
		if err := touch(t.SessionID); err != nil {
			return err
		}
	}
	for _, w := range o.change.Wakes {
		if err := touch(w.SessionID); err != nil {
			return err
		}
	}
	return nil
}

// touch notes that a session changed now, and that it may have files.
func (b *batch) touch(id string) error {
	if b.table(tableSessions).Get([]byte(id)) == nil {
		return nil
	}
	return b.setAge(id, withFiles, minute(b.store.opts.Now()))
}

// age returns the stage and the last change of a session.
func (r *reader) age(id string) (stage byte, at uint64, found bool) {
	raw := r.table(tableSessionAge).Get([]byte(id))
	if len(raw) != 9 {
		return 0, 0, false
	}
	return raw[0], number(raw[1:]), true
}

func (b *batch) setAge(id string, stage byte, at uint64) error {
	oldStage, oldAt, found := b.age(id)
	if found && oldStage == stage && oldAt == at {
		return nil
	}
	if found {
		if err := b.table(tableSessionAges).Delete(append(stamped(oldStage, oldAt), id...)); err != nil {
			return err
		}
	}
	entry := stamped(stage, at)
	if err := b.table(tableSessionAge).Put([]byte(id), entry); err != nil {
		return err
	}
	return b.table(tableSessionAges).Put(append(entry, id...), nil)
}

// forgetAge ends the ageing of a session that is removed.
func (b *batch) forgetAge(id string) error {
	stage, at, found := b.age(id)
	if !found {
		return nil
	}
	if err := b.table(tableSessionAges).Delete(append(stamped(stage, at), id...)); err != nil {
		return err
	}
	return b.table(tableSessionAge).Delete([]byte(id))
}

// open reports whether something of a session is still to be done.
func (r *reader) open(id string) (bool, error) {
	open := false
	found := func([]byte, []byte) (bool, error) {
		open = true
		return false, nil
	}
	of := append([]byte(id), 0)
	for _, t := range []table{tableOutboxOrder, tableHolds} {
		if err := r.prefixed(t, of, found); err != nil || open {
			return open, err
		}
	}
	err := r.prefixed(tableSessionTurns, of, func(turn, _ []byte) (bool, error) {
		open = r.table(tableOpenTurns).Get(turn) != nil
		return !open, nil
	})
	return open, err
}

// unrecorded returns the sessions that have events not known to be recorded.
// There are few of them, and only of sessions that changed moments ago or stand
// open, unless a record cannot be written.
func (b *batch) unrecorded() (map[string]bool, error) {
	out := map[string]bool{}
	err := b.after(tableLifecycle, nil, func(k, v []byte) (bool, error) {
		if b.store.confirmed(number(k)) {
			return true, nil
		}
		var row struct {
			SessionID string `json:"sessionId"`
		}
		err := decode(tableLifecycle, k, v, &row)
		out[row.SessionID] = true
		return err == nil, err
	})
	return out, err
}
