package boltstore

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/liaison-bot/liaison/state"
)

const (
	// spillBatch is how many deliveries get their rows in one transaction.
	spillBatch = 1024
	// maxTail is how long the part of the journal may be that an opening has to
	// read again.
	maxTail = 256 << 20
)

// isCrowded reports whether the oldest deliveries without a row should get theirs.
func (s *Store) isCrowded() bool {
	n, first, end := s.undecided.size()
	behind := int64(end.Segment-first.Segment)*(64<<20) + int64(end.Offset) - int64(first.Offset)
	return n > s.opts.MaxUndecided || n > 0 && behind > maxTail
}

// spill is the goroutine that gives rows to what stays undecided for long.
func (s *Store) spill() {
	defer close(s.spilled)
	for {
		select {
		case <-s.spilling:
			return
		case <-s.crowded:
		}
		for s.isCrowded() {
			if err := s.spillOldest(context.Background(), spillBatch); err != nil {
				break // the next delivery asks again
			}
		}
	}
}

// spillAll gives rows to all that are undecided now.
func (s *Store) spillAll(ctx context.Context) error {
	if err := s.open(); err != nil {
		return err
	}
	for n, _, _ := s.undecided.size(); n > 0; n -= spillBatch {
		if err := s.spillOldest(ctx, min(n, spillBatch)); err != nil {
			return err
		}
	}
	return nil
}

// spillOp gives deliveries their rows, as pending ones.
type spillOp struct {
	entries []undecidedEntry
	rows    [][]byte
}

func (s *Store) spillOldest(ctx context.Context, n int) error {
	op := &spillOp{entries: s.undecided.after(0, n)}
	bare := make([]deliveryRow, len(op.entries))
	for i, e := range op.entries {
		bare[i] = e.row()
	}
	s.removal.RLock()
	whole := s.complete(bare, false)
	s.removal.RUnlock()
	size := 0
	for i, d := range whole {
		d.Seq = 0 // it is the key
		row, err := json.Marshal(deliveryRow{StoredDelivery: d, At: op.entries[i].at})
		if err != nil {
			return fmt.Errorf("delivery %s:%s: %w: %w", d.Source, d.ID, err, state.ErrInvalid)
		}
		op.rows = append(op.rows, row)
		size += len(row)
	}
	return s.submit(ctx, op, size)
}

func (o *spillOp) check(*batch) (bool, error) { return len(o.entries) > 0, nil }

func (o *spillOp) write(b *batch) error {
	for i, e := range o.entries {
		if _, waits := b.undecided.get(e.seq); !waits || b.adopted[e.seq] {
			continue // decided meanwhile
		}
		if err := b.own(e); err != nil {
			return err
		}
		if err := b.table(tableDeliveries).Put(u64(e.seq), o.rows[i]); err != nil {
			return err
		}
		if err := b.table(tablePending).Put(u64(e.seq), nil); err != nil {
			return err
		}
	}
	return nil
}

func (*spillOp) done(*Store) {}
