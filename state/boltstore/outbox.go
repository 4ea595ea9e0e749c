package boltstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// The open items of a lane are in tableOutboxOrder. The first of them, and
// no other, is also in tableOutboxDue, so that what is due is found without a
// look at what waits behind it.

func orderKey(lane string, seq uint64) []byte {
	return append(append([]byte(lane), 0), u64(seq)...)
}

func linedKey(item state.OutboxItem, seq uint64) []byte {
	return holdKey(item.SessionID, holdItem, string(u64(seq)))
}

func dueEntry(due, seq uint64) []byte { return append(u64(due), u64(seq)...) }

// head returns the first open item of a lane.
func (r *reader) head(lane string) (due, seq uint64, found bool) {
	prefix := append([]byte(lane), 0)
	k, v := r.table(tableOutboxOrder).Cursor().Seek(prefix)
	if !bytes.HasPrefix(k, prefix) {
		return 0, 0, false
	}
	return number(v), number(k[len(prefix):]), true
}

// reorder runs change, which changes tableOutboxOrder for one lane, and
// brings tableOutboxDue up to it.
func (b *batch) reorder(lane string, change func() error) error {
	oldDue, oldSeq, had := b.head(lane)
	if err := change(); err != nil {
		return err
	}
	due, seq, has := b.head(lane)
	if had == has && oldDue == due && oldSeq == seq {
		return nil
	}
	if had {
		if err := b.table(tableOutboxDue).Delete(dueEntry(oldDue, oldSeq)); err != nil {
			return err
		}
	}
	if !has {
		return nil
	}
	return b.table(tableOutboxDue).Put(dueEntry(due, seq), []byte(lane))
}

// putOrder puts an open item into its line. One that stands in another line than
// that of its session is found, and holds the session open, by an entry of its own.
func (b *batch) putOrder(item state.OutboxItem, seq uint64) error {
	lane := rules.Lane(item)
	if item.Line != "" {
		if err := b.table(tableHolds).Put(linedKey(item, seq), nil); err != nil {
			return err
		}
	}
	return b.reorder(lane, func() error {
		return b.table(tableOutboxOrder).Put(orderKey(lane, seq), u64(dueKey(item.NotBefore)))
	})
}

func (o *commitOp) writeOutbox(b *batch) error {
	for i, item := range o.change.Outbox {
		if _, _, known := b.outboxID(item.ID); known {
			continue
		}
		seq, err := b.table(tableOutbox).NextSequence()
		if err != nil {
			return err
		}
		if err := b.table(tableOutbox).Put(u64(seq), o.outbox[i]); err != nil {
			return err
		}
		if err := b.putOutboxID(item.ID, seq, rules.OutboxOpen); err != nil {
			return err
		}
		if item.SessionID != "" {
			if err := b.table(tableSessionOutbox).Put(orderKey(item.SessionID, seq), []byte(item.ID)); err != nil {
				return err
			}
		}
		if err := b.putOrder(item, seq); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) putOutboxID(id string, seq uint64, at rules.OutboxState) error {
	return b.table(tableOutboxIDs).Put([]byte(id), append(u64(seq), byte(at)))
}

func (o *commitOp) writeSettlements(b *batch) error {
	for _, s := range o.change.Settle {
		if err := b.settle(s); err != nil {
			return fmt.Errorf("settle %s: %w", s.ID, err)
		}
	}
	return nil
}

func (b *batch) settle(s state.OutboxSettlement) error {
	seq, before, _ := b.outboxID(s.ID)
	item, err := b.outboxItem(seq)
	if err != nil {
		return err
	}
	letter := rules.OutboxLetter(s, b.store.opts.Now())
	if before == rules.OutboxGivenUp {
		if err := b.table(tableLetters).Delete([]byte(letter.ID)); err != nil {
			return err
		}
	}
	if err := b.touch(item.SessionID); err != nil {
		return err
	}
	lane := rules.Lane(item)
	remove := func() error {
		return errors.Join(b.table(tableOutboxOrder).Delete(orderKey(lane, seq)), b.table(tableHolds).Delete(linedKey(item, seq)))
	}
	switch s.Result {
	case state.OutboxRetry:
		item.NotBefore = s.RetryAt
		if err := b.putItem(item); err != nil {
			return err
		}
		if err := b.putOutboxID(s.ID, seq, rules.OutboxOpen); err != nil {
			return err
		}
		return b.putOrder(item, seq)
	case state.OutboxDead:
		if err := b.putRow(tableLetters, []byte(letter.ID), letter); err != nil {
			return err
		}
		if err := b.putOutboxID(s.ID, seq, rules.OutboxGivenUp); err != nil {
			return err
		}
	default:
		// The id stays, so that the same effect is not owed again.
		if err := b.table(tableOutbox).Delete(u64(seq)); err != nil {
			return err
		}
		if err := b.putOutboxID(s.ID, seq, rules.OutboxSettled); err != nil {
			return err
		}
		if item.SessionID == "" {
			if err := b.table(tableEffectAges).Put(aged(b.store.opts.Now(), s.ID), nil); err != nil {
				return err
			}
		}
	}
	return b.reorder(lane, remove)
}

// outboxItem returns the row of an item that an index names.
func (r *reader) outboxItem(seq uint64) (item state.OutboxItem, err error) {
	found, err := r.row(tableOutbox, u64(seq), &item)
	if err == nil && !found {
		err = fmt.Errorf("outbox item %d is in an index only: %w", seq, state.ErrCorrupt)
	}
	item.Seq = seq
	return item, err
}

func (b *batch) putItem(item state.OutboxItem) error {
	seq := item.Seq
	item.Seq = 0 // it is the key
	return b.putRow(tableOutbox, u64(seq), item)
}

// claimOp counts an attempt at what is due.
type claimOp struct {
	now     time.Time
	limit   int
	claimed []state.OutboxItem
}

// ClaimOutbox implements [state.Outbox].
func (s *Store) ClaimOutbox(ctx context.Context, now time.Time, limit int) ([]state.OutboxItem, error) {
	op := &claimOp{now: now, limit: limit}
	if err := s.submit(ctx, op, 0); err != nil {
		return nil, fmt.Errorf("claim outbox items: %w", err)
	}
	slices.SortFunc(op.claimed, func(a, b state.OutboxItem) int { return cmp.Compare(a.Seq, b.Seq) })
	return op.claimed, nil
}

func (o *claimOp) check(b *batch) (bool, error) {
	err := b.store.eachHead(&b.reader, b.claims, func(_, seq uint64, _ string) (bool, error) {
		if len(o.claimed) >= o.limit {
			return false, nil
		}
		item, err := b.outboxItem(seq)
		if err != nil || item.NotBefore.After(o.now) {
			return false, err
		}
		item.Attempts++
		o.claimed = append(o.claimed, item)
		return true, nil
	})
	return len(o.claimed) > 0, err
}

func (o *claimOp) write(b *batch) error {
	for _, item := range o.claimed {
		if err := b.putItem(item); err != nil {
			return err
		}
		if b.claims == nil {
			b.claims = map[string]string{}
		}
		b.claims[rules.Lane(item)] = item.ID
	}
	return nil
}

func (*claimOp) done(*Store) {}

// eachHead calls fn for the first open item of each lane that has no claim,
// those that are due first in front.
func (s *Store) eachHead(r *reader, more map[string]string, fn func(due, seq uint64, lane string) (bool, error)) error {
	return r.after(tableOutboxDue, nil, func(k, v []byte) (bool, error) {
		lane := string(v)
		if s.claimed(lane) || more[lane] != "" {
			return true, nil
		}
		return fn(binary.BigEndian.Uint64(k), binary.BigEndian.Uint64(k[8:]), lane)
	})
}

func (s *Store) claimed(lane string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claims[lane] != ""
}

// NextOutbox implements [state.Outbox].
func (s *Store) NextOutbox(ctx context.Context) (time.Time, bool, error) {
	var due time.Time
	var found bool
	err := s.view(ctx, func(r *reader) error {
		return s.eachHead(r, nil, func(_, seq uint64, _ string) (bool, error) {
			item, err := r.outboxItem(seq)
			due, found = item.NotBefore, err == nil
			return false, err
		})
	})
	return due, found, err
}

// OutboxItems implements [state.Outbox].
func (s *Store) OutboxItems(ctx context.Context, sessionID string) ([]state.OutboxItem, error) {
	var items []state.OutboxItem
	of := append([]byte(sessionID), 0)
	if sessionID == "" {
		of = []byte(rules.NoSession)
	}
	err := s.view(ctx, func(r *reader) error {
		items = nil
		add := func(rest, _ []byte) (bool, error) {
			item, err := r.outboxItem(number(rest[max(0, len(rest)-8):]))
			items = append(items, item)
			return true, err
		}
		if err := r.prefixed(tableOutboxOrder, of, add); err != nil {
			return err
		}
		return r.prefixed(tableHolds, holdKey(sessionID, holdItem, ""), add)
	})
	slices.SortFunc(items, func(a, b state.OutboxItem) int { return cmp.Compare(a.Seq, b.Seq) })
	return items, err
}
