package boltstore

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/state/internal/journal"
)

const (
	// reclaimBatch bounds what is moved in one transaction, and reclaimBytes what
	// is held in memory meanwhile.
	reclaimBatch = 256
	reclaimBytes = 8 << 20
)

// reclaim removes the oldest segment of the journal that was last written before
// a time, if most of it is needed no longer: bodies that still are move to the
// end first. It reports whether there may be another one.
func (s *Store) reclaim(ctx context.Context, before time.Time) (bool, error) {
	if err := s.journal.Seal(); err != nil {
		return false, fmt.Errorf("reclaim the journal: %w", s.journalError(err))
	}
	segments := s.journal.Segments()
	for i, n := range segments {
		ended, ok := s.journal.Ended(n)
		if !ok || !ended.Before(before) || s.crammed[n] {
			continue
		}
		if err := s.reclaimSegment(ctx, n, segments[i+1]); err != nil {
			return false, fmt.Errorf("reclaim the journal: %w", err)
		}
		return i+1 < len(segments), nil
	}
	return false, nil
}

func (s *Store) reclaimSegment(ctx context.Context, n, next uint64) error {
	if err := s.spillAll(ctx); err != nil {
		return err
	}
	move := &moveOp{}
	var total, needed int64
	var live []journal.Position
	err := s.journal.Each(n, func(r journal.Record, at journal.Position) error {
		total += int64(at.Length)
		ok, err := s.needs(ctx, r.Seq, at)
		if ok {
			needed += int64(at.Length)
			live = append(live, at)
		}
		return err
	})
	if err != nil {
		return err
	}
	if needed > total/2 {
		s.crammed[n] = true // not again before the next opening
		return nil
	}
	from := s.journal.Reader()
	defer from.Close()
	for i, at := range live {
		r, err := from.Record(at)
		if err != nil {
			return err
		}
		r.Kind, r.Body = journal.Moved, bytes.Clone(r.Body)
		move.add(r, at)
		if i+1 < len(live) && len(move.records) < reclaimBatch && move.bytes < reclaimBytes {
			continue
		}
		if err := s.move(ctx, move); err != nil {
			return err
		}
		move = &moveOp{}
	}
	if err := s.submit(ctx, passOp{journal.Start(next)}, 0); err != nil {
		return err
	}
	// Whoever has read where a body was has also read it, or waits.
	s.removal.Lock()
	defer s.removal.Unlock()
	freed, err := s.journal.Remove(n)
	if err == nil {
		s.opts.Logger.Info("old deliveries' bodies removed", "segment", n, "bytes", freed, "moved", len(live))
	}
	return err
}

// needs reports whether the body of a delivery is the record at a place.
func (s *Store) needs(ctx context.Context, seq uint64, at journal.Position) (ok bool, err error) {
	err = s.view(ctx, func(r *reader) error {
		d, found, err := r.delivery(seq)
		ok = found && d.At == at
		return err
	})
	return ok, err
}

// moveOp names the new places of records.
type moveOp struct {
	records  []journal.Record
	from, to []journal.Position
	bytes    int
}

func (o *moveOp) add(r journal.Record, from journal.Position) {
	o.records = append(o.records, r)
	o.from = append(o.from, from)
	o.bytes += len(r.Body)
}

func (s *Store) move(ctx context.Context, o *moveOp) error {
	entries := make([]*journal.Entry, len(o.records))
	for i, r := range o.records {
		entries[i] = s.journal.Entry(r, func(dst, raw []byte) []byte { return append(dst, raw...) })
		defer s.journal.Release(entries[i])
	}
	if err := s.journal.Append(entries...); err != nil {
		return s.journalError(err)
	}
	for _, e := range entries {
		o.to = append(o.to, e.At)
	}
	return s.submit(ctx, o, len(o.records)*1024)
}

func (*moveOp) check(*batch) (bool, error) { return true, nil }

func (o *moveOp) write(b *batch) error {
	for i, r := range o.records {
		d, found, err := b.delivery(r.Seq)
		if err != nil {
			return err
		}
		if !found || d.At != o.from[i] {
			continue // removed, or rearmed with another body, meanwhile
		}
		d.At = o.to[i]
		if err := b.putDelivery(d); err != nil {
			return err
		}
	}
	return nil
}

func (*moveOp) done(*Store) {}

// passOp notes that an opening need not look for what comes before a place: what
// is removed there would be missed.
type passOp struct{ to journal.Position }

func (passOp) check(*batch) (bool, error) { return true, nil }

func (o passOp) write(b *batch) error {
	b.passed = true
	b.undecided.pass(o.to)
	return nil
}

func (passOp) done(*Store) {}
