package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/liaison-bot/liaison/internal/bench/process"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
	"github.com/liaison-bot/liaison/state/eventlog"
)

// scale measures the store's operations, a start and the memory with few and
// with very many sessions on file.
func scale(ctx context.Context, b *bench, progress func(string, ...any)) ([]Row, error) {
	var operations, starts, memories []Row
	for _, n := range []int{1_000, pick(b, 1_000_000, 20_000)} {
		dir, err := b.template(ctx, n, progress)
		if err != nil {
			return nil, err
		}
		row, err := storeCosts(ctx, b, dir, n)
		if err != nil {
			return nil, err
		}
		operations = append(operations, row)
		progress("the store's operations with %d sessions are measured", n)
		for _, end := range []struct {
			name string
			end  func(*process.Service)
		}{{"a stop", (*process.Service).Stop}, {"kill -9", (*process.Service).Kill}} {
			took, err := startAgain(ctx, b, dir, end.end)
			if err != nil {
				return nil, err
			}
			starts = append(starts, spread(fmt.Sprintf("start with %d sessions, after %s", n, end.name), took))
		}
		row, err = memoryWith(ctx, b, dir, n)
		if err != nil {
			return nil, err
		}
		memories = append(memories, row)
	}
	return append(append(operations, starts...), memories...), nil
}

// template returns a directory with n sessions at rest, from an earlier run if
// there is one. What follows changes it.
func (b *bench) template(ctx context.Context, n int, progress func(string, ...any)) (string, error) {
	dir, err := b.dir()
	if err != nil {
		return "", err
	}
	if b.templates == "" {
		return dir, fill(ctx, dir, n, progress)
	}
	kept := filepath.Join(b.templates, fmt.Sprint("sessions-", n))
	if _, err := os.Stat(kept); errors.Is(err, os.ErrNotExist) {
		making := kept + ".making"
		if err := errors.Join(os.RemoveAll(making), os.MkdirAll(making, 0o700)); err != nil {
			return "", err
		}
		if err := fill(ctx, making, n, progress); err != nil {
			return "", err
		}
		if err := os.Rename(making, kept); err != nil {
			return "", err
		}
	}
	return dir, os.CopyFS(dir, os.DirFS(kept))
}

// storeCosts measures single operations of the store, each many times.
func storeCosts(ctx context.Context, b *bench, dir string, n int) (row Row, err error) {
	row = Row{Case: fmt.Sprintf("%d sessions", n)}
	s, err := boltstore.Open(database(dir), boltstore.Options{})
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	l, err := eventlog.Open(dir, eventlog.Options{Index: s})
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	random := rand.New(rand.NewPCG(1, uint64(n)))
	synced, cheap := pick(b, 2_000, 100), pick(b, 20_000, 1_000)
	for _, o := range []struct {
		name  string
		times int
		do    func(i int) error
	}{
		{"look up a key", cheap, func(int) error {
			_, err := s.SessionByKey(ctx, sessionKey(random.IntN(n)))
			return err
		}},
		{"know a duplicate", cheap, func(int) error {
			outcome, err := s.Accept(ctx, oldDelivery(random.IntN(n)))
			if err == nil && outcome != state.Duplicate {
				err = fmt.Errorf("a delivery that is on file counts as new (%d)", outcome)
			}
			return err
		}},
		{"store a delivery", synced, func(int) error {
			_, err := s.Accept(ctx, oldDelivery(n+int(b.deliveries.Add(1))))
			return err
		}},
		{"decide on a session", synced, func(i int) error {
			var c state.Change
			settled(&c, n+i)
			c.Deliveries = nil
			_, err := s.Commit(ctx, c)
			return err
		}},
		{"append an event", cheap, func(i int) error {
			id := sessionID(n + i%100)
			return l.Append(ctx, id, false, said(id))
		}},
		{"read a packed record", pick(b, 5_000, 100), func(int) error {
			for _, err := range l.Read(ctx, sessionID(random.IntN(n)), 0) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		each, err := cost(o.times, o.do)
		if err != nil {
			return row, fmt.Errorf("%s: %w", o.name, err)
		}
		row.add(o.name, "µs", float64(each.Nanoseconds())/1000)
	}
	return row, nil
}

// cost is what an operation takes, after a tenth as many that do not count.
func cost(times int, do func(i int) error) (time.Duration, error) {
	var begin time.Time
	warm := times / 10
	for i := range warm + times {
		if i == warm {
			begin = time.Now()
		}
		if err := do(i); err != nil {
			return 0, err
		}
	}
	return time.Since(begin) / time.Duration(times), nil
}

func memoryWith(ctx context.Context, b *bench, dir string, n int) (Row, error) {
	s, err := b.ready(ctx, dir)
	if err != nil {
		return Row{}, err
	}
	defer s.Kill()
	row, err := taken(ctx, b, s, fmt.Sprintf("memory with %d sessions", n))
	if errors.Is(err, errors.ErrUnsupported) {
		return Row{Case: row.Case}, nil
	}
	return row, err
}
