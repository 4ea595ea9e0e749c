package boltstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/journal"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// Accept implements [state.Inbox]. Everything but the flush of the journal is
// done here, by the caller's goroutine.
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

func (s *Store) accept(ctx context.Context, d state.Delivery) (outcome state.Outcome, err error) {
	key := string(pair(d.Source, d.ID))
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := s.open(); err != nil {
			return 0, err
		}
		if s.recent.has(key) {
			return state.Duplicate, nil
		}
		known, other := s.undecided.begin(key)
		if known {
			return state.Duplicate, nil
		}
		if other == nil {
			break
		}
		<-other.done
		if other.stored {
			return state.Duplicate, nil
		}
	}
	defer func() { s.undecided.finish(key, err == nil) }()
	return s.take(ctx, key, d)
}

// take stores a delivery that no one else is storing.
func (s *Store) take(ctx context.Context, key string, d state.Delivery) (state.Outcome, error) {
	op := rearmOp{key: []byte(key), letter: []byte(rules.DeliveryLetterID(d.Source, d.ID))}
	known := false
	err := s.view(ctx, func(r *reader) error {
		raw := r.table(tableDeliveryIDs).Get(op.key)
		if known = raw != nil; known {
			op.seq = number(raw)
			op.dead = r.table(tableLetters).Get(op.letter) != nil
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if known && !op.dead {
		s.recent.add(key)
		return state.Duplicate, nil
	}
	d.Headers = rules.Headers(d.Headers)
	rec := journal.Record{
		Kind: journal.Accepted, Source: d.Source, ID: d.ID, Event: d.Event,
		Headers: d.Headers, ReceivedAt: d.ReceivedAt, Body: d.Body,
	}
	if known {
		rec.Kind, rec.Seq = journal.Rearmed, op.seq
	}
	at, err := s.append(key, rec, encodeBody)
	if err != nil || !known {
		return state.Fresh, err
	}
	// The record counts once the row names it.
	row := deliveryRow{StoredDelivery: state.StoredDelivery{Delivery: d, Status: state.DeliveryPending}, At: at}
	if op.row, err = json.Marshal(row); err != nil {
		return 0, fmt.Errorf("%w: %w", err, state.ErrInvalid)
	}
	if err := s.submit(ctx, &op, len(op.row)); err != nil {
		return 0, err
	}
	if !op.dead {
		return state.Duplicate, nil
	}
	return state.Rearmed, nil
}

// append stores one record and returns its place.
func (s *Store) append(key string, rec journal.Record, body func(dst, raw []byte) []byte) (journal.Position, error) {
	// A row could not say when it came.
	if year := rec.ReceivedAt.Year(); year < 0 || year > 9999 {
		return journal.Position{}, fmt.Errorf("received in the year %d: %w", year, state.ErrInvalid)
	}
	e := s.journal.Entry(rec, body)
	defer s.journal.Release(e)
	size := int64(e.Size())
	defer s.arriving.Add(-size)
	if err := s.roomForDelivery(s.arriving.Add(size)); err != nil {
		return journal.Position{}, err
	}
	e.Key = key
	if err := s.journal.Append(e); err != nil {
		return journal.Position{}, s.journalError(err)
	}
	return e.At, nil
}

func (s *Store) journalError(err error) error {
	if failure := s.usable(); failure != nil {
		return failure
	}
	if errors.Is(err, journal.ErrClosed) {
		return errClosed
	}
	return err
}

// rearmOp makes a dead delivery pending again, with another body.
type rearmOp struct {
	key, letter []byte
	seq         uint64
	row         []byte
	dead        bool
}

func (o *rearmOp) check(b *batch) (bool, error) {
	// Someone may have decided about it meanwhile.
	o.dead = b.table(tableLetters).Get(o.letter) != nil
	return o.dead, nil
}

func (o *rearmOp) write(b *batch) error {
	if err := b.table(tableLetters).Delete(o.letter); err != nil {
		return err
	}
	if err := b.table(tableDeliveries).Put(u64(o.seq), o.row); err != nil {
		return err
	}
	return b.table(tablePending).Put(u64(o.seq), nil)
}

func (o *rearmOp) done(s *Store) {
	if o.dead {
		s.recent.add(string(o.key))
		signal(s.accepted)
	}
}
