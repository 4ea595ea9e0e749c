package boltstore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// commitOp applies one change. Its rows are encoded before it is handed over.
type commitOp struct {
	change state.Change
	id     uint64

	sessions, turns, approvals, audit, outbox, timers, wakes, lifecycle [][]byte

	// dead and alive are the ids of deliveries that became so.
	dead, alive [][]byte
}

// Commit implements [state.Committer].
func (s *Store) Commit(ctx context.Context, c state.Change) (uint64, error) {
	if err := rules.Valid(c); err != nil {
		return 0, err
	}
	if rules.Lazy(c) {
		op := &confirmOp{confirm: c.Confirm}
		err := s.submit(ctx, op, 0)
		return op.id, err
	}
	op := &commitOp{change: c}
	size, err := op.encode(s)
	if err != nil {
		return 0, fmt.Errorf("commit: %w: %w", err, state.ErrInvalid)
	}
	if err := s.submit(ctx, op, size); err != nil {
		return 0, err
	}
	return op.id, nil
}

// encode makes the rows as they will be stored.
func (o *commitOp) encode(s *Store) (size int, err error) {
	put := func(rows *[][]byte, row []byte, failed error) {
		err = cmp.Or(err, failed)
		*rows = append(*rows, row)
		size += len(row)
	}
	add := func(rows *[][]byte, v any) {
		row, err := json.Marshal(v)
		put(rows, row, err)
	}
	for _, row := range o.change.Sessions {
		row.Version++
		add(&o.sessions, row)
	}
	for _, row := range o.change.Turns {
		row.Version++
		add(&o.turns, row)
	}
	for _, row := range o.change.Approvals {
		row.Version++
		value, err := encodeApproval(row)
		put(&o.approvals, value, err)
	}
	for _, row := range o.change.Audit {
		value, err := encodeAudit(row)
		put(&o.audit, value, err)
	}
	for _, row := range o.change.Outbox {
		row.Seq, row.Attempts = 0, 0
		if row.CreatedAt.IsZero() {
			row.CreatedAt = s.opts.Now()
		}
		add(&o.outbox, row)
	}
	for _, row := range o.change.Timers {
		add(&o.timers, row)
	}
	for _, row := range o.change.Wakes {
		add(&o.wakes, row)
	}
	for _, row := range o.change.Lifecycle {
		row.Index, row.Commit, row.Ordinal = 0, 0, 0
		add(&o.lifecycle, lifecycleRow{
			Type: row.Type, SessionID: row.SessionID, TurnID: row.TurnID, At: row.At, Data: row.Data,
		})
	}
	return size, err
}

func (o *commitOp) check(b *batch) (bool, error) {
	return true, rules.Check(o.change, b, b.store.epoch)
}

func (o *commitOp) write(b *batch) error {
	b.store.writer.commit++
	o.id = b.store.writer.commit
	for _, step := range []func(*batch) error{
		o.writeFacts, o.writeCounts, o.writeDeliveries, o.writeSessions, o.writeKeys, o.writeTurns,
		o.writeApprovals, o.writeAudit, o.writeOutbox, o.writeSettlements, o.writeTimers, o.writeWakes, o.writeLifecycle,
		o.touchSessions,
	} {
		if err := step(b); err != nil {
			return fmt.Errorf("commit %d: %w", o.id, err)
		}
	}
	return nil
}

func (o *commitOp) done(s *Store) {
	for _, key := range o.dead {
		s.recent.forget(string(key))
	}
	if len(o.alive) > 0 {
		signal(s.accepted)
	}
	if len(o.change.Outbox)+len(o.change.Settle) > 0 {
		signal(s.added)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, settled := range o.change.Settle {
		for lane, item := range s.claims {
			if item == settled.ID {
				delete(s.claims, lane)
			}
		}
	}
}

// confirmOp remembers what was confirmed until the next transaction.
type confirmOp struct {
	confirm []uint64
	id      uint64
}

// maxLazy bounds what is remembered.
const maxLazy = 4096

func (o *confirmOp) check(b *batch) (bool, error) {
	s := b.store
	s.writer.commit++
	o.id = s.writer.commit
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, commit := range o.confirm {
		s.lazy[commit] = true
	}
	return len(s.lazy) > maxLazy, nil
}

func (*confirmOp) write(*batch) error { return nil }

func (*confirmOp) done(*Store) {}

func (o *commitOp) writeFacts(b *batch) error {
	for _, f := range o.change.Facts {
		if err := b.table(tableFacts).Put([]byte(f.Key), []byte(f.By)); err != nil {
			return err
		}
		if err := b.table(tableFactAges).Put(aged(b.store.opts.Now(), f.Key), nil); err != nil {
			return err
		}
	}
	return nil
}

func (o *commitOp) writeDeliveries(b *batch) error {
	for _, u := range o.change.Deliveries {
		if err := o.writeDelivery(b, u); err != nil {
			return err
		}
	}
	return nil
}

func (o *commitOp) writeDelivery(b *batch, u state.DeliveryUpdate) error {
	d, found, err := b.delivery(u.Seq)
	if err == nil && !found {
		d, err = b.adopt(u.Seq)
	}
	if err != nil {
		return err
	}
	if err := b.unsettle(u.Seq, d.StoredDelivery); err != nil {
		return err
	}
	before := d.Status
	now := b.store.opts.Now()
	rules.Update(&d.StoredDelivery, u, now)
	if err := b.putDelivery(d); err != nil {
		return err
	}
	key := pair(d.Source, d.ID)
	letter := rules.DeliveryLetter(d.StoredDelivery, now)
	if before == state.DeliveryDead {
		if err := b.table(tableLetters).Delete([]byte(letter.ID)); err != nil {
			return err
		}
	}
	switch d.Status {
	case state.DeliveryPending:
		o.alive = append(o.alive, key)
		if d.NotBefore.IsZero() {
			return b.table(tablePending).Put(u64(u.Seq), nil)
		}
		return b.table(tablePending).Put(u64(u.Seq), u64(dueKey(d.NotBefore)))
	case state.DeliveryDead:
		o.dead = append(o.dead, key)
		if err := b.putRow(tableLetters, []byte(letter.ID), letter); err != nil {
			return err
		}
	default:
		if err := b.table(tableSettled).Put(settledKey(withBody, d.StoredDelivery, u.Seq), nil); err != nil {
			return err
		}
	}
	return b.table(tablePending).Delete(u64(u.Seq))
}

func (o *commitOp) writeSessions(b *batch) error {
	for i, s := range o.change.Sessions {
		if s.Version == 0 { // what it is listed by never changes
			if err := b.listSession(s); err != nil {
				return err
			}
			if err := b.count(metaSessions, 1); err != nil {
				return err
			}
		}
		if err := b.table(tableSessions).Put([]byte(s.ID), o.sessions[i]); err != nil {
			return err
		}
	}
	return nil
}

func (o *commitOp) writeKeys(b *batch) error {
	for _, key := range o.change.Unlink {
		if err := b.unlink(key); err != nil {
			return err
		}
	}
	for _, k := range o.change.Keys {
		// A key that is a key stays one.
		if old, found, _ := b.Link(k.Key); found && !old.Alias {
			continue
		}
		if err := b.unlink(k.Key); err != nil { // an alias moves
			return err
		}
		kind := byte(linkKey)
		if k.Alias {
			kind = linkAlias
		}
		if err := b.table(tableKeys).Put([]byte(k.Key), append([]byte{kind}, k.SessionID...)); err != nil {
			return err
		}
		if err := b.table(tableSessionKeys).Put(pair(k.SessionID, k.Key), nil); err != nil {
			return err
		}
	}
	return nil
}

func (o *commitOp) writeTurns(b *batch) error {
	// Those that stop running first: another of the session may start in this change.
	for _, t := range o.change.Turns {
		running, _, _ := b.RunningTurn(t.SessionID)
		if running == t.ID && t.Status != state.TurnRunning {
			if err := b.table(tableRunning).Delete([]byte(t.SessionID)); err != nil {
				return err
			}
		}
	}
	for i, t := range o.change.Turns {
		if err := b.table(tableTurns).Put([]byte(t.ID), o.turns[i]); err != nil {
			return err
		}
		if err := b.table(tableSessionTurns).Put(pair(t.SessionID, t.ID), nil); err != nil {
			return err
		}
		if t.Status.Ended() {
			if err := b.table(tableOpenTurns).Delete([]byte(t.ID)); err != nil {
				return err
			}
			continue
		}
		if err := b.table(tableOpenTurns).Put([]byte(t.ID), nil); err != nil {
			return err
		}
		if t.Status == state.TurnRunning {
			if err := b.table(tableRunning).Put([]byte(t.SessionID), []byte(t.ID)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *batch) putRow(t table, key []byte, v any) error {
	row, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.table(t).Put(key, row)
}
