package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/eventlog"
)

// events measures appends to records, as turns make them: most events are
// written at once and synced with the next that a decision depends on.
func events(ctx context.Context, b *bench, _ func(string, ...any)) ([]Row, error) {
	var rows []Row
	for _, c := range []struct {
		sessions int
		sync     bool
	}{{1, false}, {64, false}, {1000, false}, {1, true}, {64, true}} {
		rate, err := appendRate(ctx, b, c.sessions, c.sync)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%d sessions at once", c.sessions)
		if c.sync {
			name += ", each synced"
		}
		row := Row{Case: name}
		row.add("events", "/s", rate)
		rows = append(rows, row)
	}
	return rows, nil
}

// said is an event of the usual size: some words of an answer.
func said(session string) state.Event {
	return state.Event{
		Type: "message.appended", SessionID: session, TurnID: "trn_01J0000000000000000000000A", At: time.Unix(1_770_000_000, 0).UTC(),
		Data: json.RawMessage(`{"text":"the retry of a payment now waits for its predecessor, so that a slow bank is not asked twice, and every caller learns what became of it"}`),
	}
}

func appendRate(ctx context.Context, b *bench, sessions int, sync bool) (rate float64, err error) {
	dir, err := b.dir()
	if err != nil {
		return 0, err
	}
	l, err := eventlog.Open(filepath.Join(dir), eventlog.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	lasts := pick(b, 3*time.Second, 300*time.Millisecond)
	begin := time.Now()
	n, err := together(sessions, func(i int, count *atomic.Int64) error {
		event := said(fmt.Sprintf("ses_%026d", i))
		for time.Since(begin) < lasts {
			if err := l.Append(ctx, event.SessionID, sync, event); err != nil {
				return err
			}
			count.Add(1)
		}
		return nil
	})
	return float64(n) / time.Since(begin).Seconds(), err
}

// together runs n goroutines, which count what they do, and returns the sum.
func together(n int, fn func(i int, count *atomic.Int64) error) (int64, error) {
	var all sync.WaitGroup
	var count atomic.Int64
	failures := make([]error, n)
	for i := range n {
		all.Go(func() { failures[i] = fn(i, &count) })
	}
	all.Wait()
	return count.Load(), errors.Join(failures...)
}
