package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/liaison-bot/liaison/internal/bench/load"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
	"github.com/liaison-bot/liaison/state/eventlog"
)

// database is the store's file in a state directory.
func database(dir string) string { return filepath.Join(dir, "liaison.db") }

// fillers is how many goroutines write at once: enough to share each sync.
const fillers = 256

// pending stores deliveries that no one has decided about, as a service leaves
// them that was killed in a storm.
func pending(ctx context.Context, b *bench, dir string, n int) (err error) {
	s, err := boltstore.Open(database(dir), boltstore.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	hook := load.PullRequest()
	return accept(ctx, s, n, func(int) state.Delivery {
		k := b.deliveries.Add(1)
		return state.Delivery{
			Source: "github", ID: hook.Delivery(k), Event: hook.Name, Body: hook.Body(k), ReceivedAt: time.Now(),
			Headers: map[string]string{"Content-Type": "application/json", "X-Github-Event": hook.Name},
		}
	})
}

// accept stores n deliveries, many at once.
func accept(ctx context.Context, s state.Inbox, n int, delivery func(i int) state.Delivery) error {
	var next atomic.Int64
	_, err := together(fillers, func(int, *atomic.Int64) error {
		for i := next.Add(1); i <= int64(n); i = next.Add(1) {
			if _, err := s.Accept(ctx, delivery(int(i-1))); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// age is that of the sessions in a template: at rest for longer than workspaces
// are kept, and not long enough to be removed.
const age = 48 * time.Hour

// The names in a template, by the number of the session.
func sessionID(i int) string  { return fmt.Sprintf("ses_%026d", i) }
func turnID(i int) string     { return fmt.Sprintf("trn_%026d", i) }
func sessionKey(i int) string { return fmt.Sprintf("github:repo:%d:pull:%d", 770_000_000+i%977, i) }
func oldDelivery(i int) state.Delivery {
	return state.Delivery{
		Source: "github", ID: load.GitHubDelivery(uint64(i) + 1<<40), Event: "pull_request",
		Body: []byte(`{"action":"opened"}`), ReceivedAt: time.Now().Add(-age),
	}
}

// fill stores n sessions that are at rest: each with its key, its decided
// delivery, what it decided about, one turn that has ended, and a packed record.
func fill(ctx context.Context, dir string, n int, progress func(string, ...any)) (err error) {
	s, err := boltstore.Open(database(dir), boltstore.Options{Now: func() time.Time { return time.Now().Add(-age) }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	l, err := eventlog.Open(dir, eventlog.Options{Index: s})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	const page = 2000
	for from := 0; from < n; from += page {
		end := min(from+page, n)
		if err := accept(ctx, s, end-from, func(i int) state.Delivery { return oldDelivery(from + i) }); err != nil {
			return err
		}
		var c state.Change
		ids := make([]string, 0, page)
		for i := from; i < end; i++ {
			settled(&c, i)
			ids = append(ids, sessionID(i))
		}
		if _, err := s.Commit(ctx, c); err != nil {
			return err
		}
		if err := record(ctx, l, ids); err != nil {
			return err
		}
		if end%100_000 == 0 {
			progress("%d sessions written", end)
		}
	}
	return nil
}

// record gives sessions a record of a turn, and packs it.
func record(ctx context.Context, l *eventlog.Log, ids []string) error {
	for _, id := range ids {
		events := make([]state.Event, 10)
		for i := range events {
			events[i] = said(id)
		}
		if err := l.Append(ctx, id, false, events...); err != nil {
			return err
		}
	}
	packed, err := l.Pack(ctx, time.Now(), ids)
	if err == nil && packed != len(ids) {
		err = fmt.Errorf("%d of %d sessions at rest were packed", packed, len(ids))
	}
	return err
}

// settled adds a session at rest to a change.
func settled(c *state.Change, i int) {
	at := time.Now().Add(-age)
	id, turn, key := sessionID(i), turnID(i), sessionKey(i)
	revision := state.Revision{ID: fmt.Sprintf("%040x", i), At: at}
	c.Facts = append(c.Facts, state.Fact{Key: "github:pull_request:opened:" + key, By: "github:" + id})
	c.Deliveries = append(c.Deliveries, state.DeliveryUpdate{
		Seq: uint64(i) + 1, Status: state.DeliveryDone, Decision: "pull_request.opened: ran as turn " + turn, SessionID: id, TurnID: turn,
	})
	c.Sessions = append(c.Sessions, state.Session{
		ID: id, Channel: "github", Key: key, Title: "octo-load/storefront-services#17 Wait for the earlier payment", Mode: state.ModeChat,
		Principal: fmt.Sprintf("github:user:%d", i%500), Status: state.SessionActive, Revision: revision, AgentID: "agent-" + id,
		Surface: map[string]string{"comment": fmt.Sprint(2_000_000_000 + i)}, CreatedAt: at, UpdatedAt: at,
	})
	c.Keys = append(c.Keys, state.KeyLink{Key: key, SessionID: id})
	c.Turns = append(c.Turns, state.Turn{
		ID: turn, SessionID: id, Status: state.TurnCompleted, Principal: "github:user:1", Message: "Review the pull request.",
		Revision: revision, Attempts: 1, Epoch: 1, RunID: "run-" + id, QueuedAt: at, StartedAt: at, EndedAt: at.Add(time.Minute),
		Usage: state.Usage{InputTokens: 20_000, OutputTokens: 900, TotalTokens: 20_900},
	})
}
