package boltstore

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// acceptOp stores one delivery.
type acceptOp struct {
	key     []byte // of tableDeliveryIDs
	letter  []byte
	row     []byte
	body    []byte
	seq     uint64
	known   bool
	outcome state.Outcome
}

// bodies lends buffers for encoded bodies, which bbolt uses until the commit.
type bodies struct{ pool sync.Pool }

func (b *bodies) get() *[]byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		return buf
	}
	return new([]byte)
}

// keepBuffer is the largest buffer worth keeping: a pull request's payload fits.
const keepBuffer = 64 << 10

func (b *bodies) put(buf *[]byte) {
	if cap(*buf) <= keepBuffer {
		*buf = (*buf)[:0]
		b.pool.Put(buf)
	}
}

// Accept implements [state.Inbox]. Everything that does not need the file is
// done here, by the caller's goroutine, not by the writer.
func (s *Store) Accept(ctx context.Context, d state.Delivery) (state.Outcome, error) {
	if err := rules.Accept(d); err != nil {
		return 0, err
	}
	outcome, err := s.accept(ctx, d)
	if err != nil {
		return 0, fmt.Errorf("accept delivery %s:%s: %w", d.Source, d.ID, err)
	}
	return outcome, nil
}

func (s *Store) accept(ctx context.Context, d state.Delivery) (state.Outcome, error) {
	op := acceptOp{key: pair(d.Source, d.ID)}
	if s.recent.has(op.key) {
		if err := s.open(); err != nil {
			return 0, err
		}
		return state.Duplicate, nil
	}
	buf := s.bodies.get()
	defer s.bodies.put(buf)
	*buf = encodeBody(*buf, d.Body)
	op.body = *buf
	op.letter = []byte(rules.DeliveryLetterID(d.Source, d.ID))
	d.Headers = rules.Headers(d.Headers)
	var err error
	op.row, err = json.Marshal(state.StoredDelivery{Delivery: d, Status: state.DeliveryPending})
	if err != nil {
		return 0, fmt.Errorf("%w: %w", err, state.ErrInvalid)
	}
	if err := s.submit(ctx, &op, len(op.body)+len(op.row)); err != nil {
		return 0, err
	}
	return op.outcome, nil
}

func (o *acceptOp) check(b *batch) (bool, error) {
	if raw := b.table(tableDeliveryIDs).Get(o.key); raw != nil {
		o.seq, o.known = number(raw), true
		if b.table(tableLetters).Get(o.letter) == nil {
			o.outcome = state.Duplicate
			return false, nil
		}
	}
	return true, b.store.roomFor(b, len(o.body)+len(o.row))
}

func (o *acceptOp) write(b *batch) error {
	deliveries, stored := b.table(tableDeliveries), b.table(tableBodies)
	if o.known {
		o.outcome = state.Rearmed
		if err := b.table(tableLetters).Delete(o.letter); err != nil {
			return err
		}
	} else {
		o.outcome = state.Fresh
		var err error
		if o.seq, err = deliveries.NextSequence(); err != nil {
			return err
		}
		if err := b.table(tableDeliveryIDs).Put(o.key, u64(o.seq)); err != nil {
			return err
		}
	}
	key := u64(o.seq)
	// Bodies only ever come at the end: their pages can be filled.
	stored.FillPercent = 1
	if err := stored.Put(key, o.body); err != nil {
		return err
	}
	if err := deliveries.Put(key, o.row); err != nil {
		return err
	}
	return b.table(tablePending).Put(key, nil)
}

func (o *acceptOp) done(s *Store) {
	s.recent.add(o.key)
	if o.outcome != state.Duplicate {
		signal(s.accepted)
	}
}
