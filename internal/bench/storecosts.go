package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
	"github.com/liaison-bot/liaison/state/eventlog"
)

// opened is a store with its log, and how many sessions are in it.
type opened struct {
	sessions int
	store    *boltstore.Store
	log      *eventlog.Log
	random   *rand.Rand
	fresh    int // counts what was added
}

func openTemplate(dir string, n int) (*opened, error) {
	s, err := boltstore.Open(database(dir), boltstore.Options{})
	if err != nil {
		return nil, err
	}
	l, err := eventlog.Open(dir, eventlog.Options{Index: s})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &opened{sessions: n, store: s, log: l, random: rand.New(rand.NewPCG(1, uint64(n)))}, nil
}

func (o *opened) close() error { return errors.Join(o.log.Close(), o.store.Close()) }

// any is a session on file.
func (o *opened) any() int { return o.random.IntN(o.sessions) }

// liveSessions is of how many sessions most is heard, spread over all.
const liveSessions = 1000

// lately is one of the sessions that were asked for lately, as most are. Another
// one has to come into memory first, which costs what the system takes for pages.
func (o *opened) lately() int {
	return o.random.IntN(liveSessions) * (o.sessions / liveSessions)
}

// another is the number of a session that is not on file.
func (o *opened) another() int {
	o.fresh++
	return o.sessions + o.fresh
}

// operation is one call of the store, which is measured many times.
type operation struct {
	name  string
	times int
	do    func(ctx context.Context, o *opened) error
}

func operations(b *bench) []operation {
	synced, cheap := pick(b, 300, 30), pick(b, 10_000, 300)
	return []operation{
		{"look up a key", cheap, func(ctx context.Context, o *opened) error {
			_, err := o.store.SessionByKey(ctx, sessionKey(o.lately()))
			return err
		}},
		{"look up any key", cheap, func(ctx context.Context, o *opened) error {
			_, err := o.store.SessionByKey(ctx, sessionKey(o.any()))
			return err
		}},
		{"know a duplicate", cheap, func(ctx context.Context, o *opened) error {
			outcome, err := o.store.Accept(ctx, oldDelivery(o.lately()))
			if err == nil && outcome != state.Duplicate {
				err = fmt.Errorf("a delivery that is on file counts as new (%d)", outcome)
			}
			return err
		}},
		{"store a delivery", synced, func(ctx context.Context, o *opened) error {
			_, err := o.store.Accept(ctx, oldDelivery(o.another()))
			return err
		}},
		{"decide on a session", synced, func(ctx context.Context, o *opened) error {
			var c state.Change
			settled(&c, o.another())
			c.Deliveries = nil
			_, err := o.store.Commit(ctx, c)
			return err
		}},
		{"append an event", cheap, func(ctx context.Context, o *opened) error {
			id := sessionID(o.sessions + o.random.IntN(100))
			return o.log.Append(ctx, id, false, said(id))
		}},
		{"read a packed record", synced, func(ctx context.Context, o *opened) error {
			for _, err := range o.log.Read(ctx, sessionID(o.any()), 0) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

// storeRounds is how often each operation is measured in each store, in turns,
// so that what else happens on the machine meets both.
const storeRounds = 7

// storeCosts measures operations in several stores beside each other.
func storeCosts(ctx context.Context, b *bench, dirs []string, sizes []int) (rows []Row, err error) {
	var stores []*opened
	defer func() {
		for _, o := range stores {
			err = errors.Join(err, o.close())
		}
	}()
	for i, n := range sizes {
		o, err := openTemplate(dirs[i], n)
		if err != nil {
			return nil, err
		}
		stores = append(stores, o)
		rows = append(rows, Row{Case: fmt.Sprintf("%d sessions", n)})
	}
	for _, op := range operations(b) {
		costs := make([][]time.Duration, len(stores))
		for round := range storeRounds + 1 {
			for i, o := range stores {
				each, err := cost(ctx, o, op)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", op.name, err)
				}
				if round > 0 { // the first one warms up
					costs[i] = append(costs[i], each)
				}
			}
		}
		for i, all := range costs {
			slices.Sort(all)
			rows[i].add(op.name, "µs", float64(all[len(all)/2].Nanoseconds())/1000)
		}
	}
	return rows, nil
}

// cost is what an operation takes.
func cost(ctx context.Context, o *opened, op operation) (time.Duration, error) {
	begin := time.Now()
	for range op.times {
		if err := op.do(ctx, o); err != nil {
			return 0, err
		}
	}
	return time.Since(begin) / time.Duration(op.times), nil
}
