package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
	"github.com/liaison-bot/liaison/state/eventlog"
	"github.com/liaison-bot/liaison/state/memstore"
)

// attic is a state folder with a clock, and a keeper of it.
type attic struct {
	dir   string
	now   time.Time
	store *boltstore.Store
	log   *eventlog.Log
}

// usualRetention is that of a service without settings.
func usualRetention() state.Retention {
	const day = 24 * time.Hour
	return state.Retention{Bodies: 7 * day, Deliveries: 30 * day, Workspaces: day, Sessions: 90 * day, Audit: 400 * day}
}

func newAttic(t *testing.T) *attic {
	t.Helper()
	a := &attic{dir: t.TempDir(), now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	var err error
	if a.store, err = boltstore.Open(filepath.Join(a.dir, "liaison.db"), boltstore.Options{Now: a.clock}); err != nil {
		t.Fatal(err)
	}
	if a.log, err = eventlog.Open(a.dir, eventlog.Options{Index: a.store}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(a.log.Close(), a.store.Close()); err != nil {
			t.Error(err)
		}
	})
	return a
}

func (a *attic) clock() time.Time { return a.now }

func (a *attic) keeper(r state.Retention) *Keeper {
	return NewKeeper(KeeperOptions{Store: a.store, Log: a.log, Retention: r, Now: a.clock})
}

// live stores a session with one of everything that ages.
func (a *attic) live(t *testing.T, id string) {
	t.Helper()
	ctx := t.Context()
	if _, err := a.store.Accept(ctx, state.Delivery{Source: "github", ID: id, Body: []byte("{}"), ReceivedAt: a.now}); err != nil {
		t.Fatal(err)
	}
	d, err := a.store.Delivery(ctx, "github", id)
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.store.Commit(ctx, state.Change{
		Facts:      []state.Fact{{Key: "fact " + id, By: id}},
		Deliveries: []state.DeliveryUpdate{{Seq: d.Seq, Status: state.DeliveryDone, SessionID: id}},
		Sessions:   []state.Session{{ID: id, AgentID: "agt_" + id}},
		Keys:       []state.KeyLink{{Key: "key " + id, SessionID: id}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.log.Append(ctx, id, true, state.Event{Type: "said", SessionID: id, At: a.now}); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(a.dir, "sessions", id, "workspace"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := a.store.CreateAgentRecord(ctx, state.AgentRecord{Kind: state.RecordAgent, ID: "agt_" + id}); err != nil {
		t.Fatal(err)
	}
}

// left says what is left of a session.
func (a *attic) left(t *testing.T, id string) string {
	t.Helper()
	ctx := t.Context()
	out := ""
	d, err := a.store.Delivery(ctx, "github", id)
	if err == nil {
		out += "delivery "
	}
	if len(d.Body) > 0 {
		out += "body "
	}
	if _, err := a.store.Commit(ctx, state.Change{Facts: []state.Fact{{Key: "fact " + id}}}); err != nil {
		out += "fact "
	}
	if _, err := a.store.SessionByKey(ctx, "key "+id); err == nil {
		out += "session "
	}
	if _, err := a.store.AgentRecord(ctx, state.RecordAgent, "agt_"+id); err == nil {
		out += "agent "
	}
	if n, err := a.log.Len(ctx, id); err != nil || n > 0 {
		out += "record "
	}
	if _, err := os.Stat(filepath.Join(a.dir, "sessions", id)); !errors.Is(err, fs.ErrNotExist) {
		out += "folder "
	}
	return out
}

func TestWhatIsOldGoesStepByStep(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, tc := range []struct {
		name  string
		after time.Duration
		keep  state.Retention
		want  string
	}{
		{"young", time.Hour, usualRetention(), "delivery body fact session agent record folder "},
		{"settled", 2 * day, usualRetention(), "delivery body fact session agent record "},
		{"a week", 8 * day, usualRetention(), "delivery fact session agent record "},
		{"a month", 31 * day, usualRetention(), "session agent record "},
		{"a quarter", 91 * day, usualRetention(), ""},
		{"a year, for ever", 365 * day, state.Retention{}, "delivery body fact session agent record folder "},
		{"sessions for ever", 365 * day, state.Retention{Deliveries: day}, "session agent record folder "},
		{"a session that was not packed", 365 * day, state.Retention{Sessions: day}, "delivery body fact "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a := newAttic(t)
			const n = keeperSessions + 5 // more than one step takes
			for i := range n {
				a.live(t, fmt.Sprint("ses_old", i))
			}
			a.now = a.now.Add(tc.after)
			a.live(t, "ses_new")
			if err := a.keeper(tc.keep).Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, i := range []int{0, n - 1} {
				if got := a.left(t, fmt.Sprint("ses_old", i)); got != tc.want {
					t.Errorf("of %d is left %q, want %q", i, got, tc.want)
				}
			}
			if got := a.left(t, "ses_new"); got != "delivery body fact session agent record folder " {
				t.Errorf("of what is new is left %q", got)
			}
			usage, err := a.keeper(tc.keep).Usage(t.Context())
			if err != nil || usage.Volume.Size == 0 || usage.Database.Size == 0 {
				t.Errorf("usage %+v, %v", usage, err)
			}
		})
	}
}

// The audit log has a retention of its own: it outlives the sessions that it tells of.
func TestTheAuditLogOutlivesSessions(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, tc := range []struct {
		name  string
		after time.Duration
		keep  state.Retention
		want  int
	}{
		{"its session is gone", 399 * day, usualRetention(), 2},
		{"past its time", 401 * day, usualRetention(), 1},
		{"for ever", 4000 * day, state.Retention{Sessions: day}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a := newAttic(t)
			a.live(t, "ses_1")
			write := func() {
				line := state.Change{Audit: []state.AuditEntry{{At: a.now, Entry: []byte(`{"action":"asked"}`)}}}
				if _, err := a.store.Commit(t.Context(), line); err != nil {
					t.Fatal(err)
				}
			}
			write()
			a.now = a.now.Add(tc.after)
			write()
			if err := a.keeper(tc.keep).Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := a.store.Session(t.Context(), "ses_1"); !errors.Is(err, state.ErrNotFound) {
				t.Errorf("the session: %v", err)
			}
			lines, err := a.store.AuditEntries(t.Context(), time.Time{}, 0, 9)
			if err != nil || len(lines) != tc.want || lines[len(lines)-1].Seq != 2 {
				t.Errorf("lines %+v, %v; want %d", lines, err, tc.want)
			}
		})
	}
}

// What a session leaves is removed only once it is gone, also after a crash.
func TestASessionThatCameBackKeepsItsFiles(t *testing.T) {
	t.Parallel()
	a := newAttic(t)
	a.live(t, "ses_1")
	a.now = a.now.Add(time.Hour)
	if n, _, err := a.store.DropSessions(t.Context(), a.now, 10); err != nil || n != 1 {
		t.Fatalf("%d sessions, %v", n, err)
	}
	if _, err := a.store.Commit(t.Context(), state.Change{Sessions: []state.Session{{ID: "ses_1"}},
		Keys: []state.KeyLink{{Key: "key ses_1", SessionID: "ses_1"}}}); err != nil {
		t.Fatal(err)
	}
	if err := a.keeper(state.Retention{}).Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := a.left(t, "ses_1"); got != "delivery body fact session record folder " {
		t.Errorf("left %q", got)
	}
	if gone, err := a.store.Dropped(t.Context(), 10); err != nil || len(gone) != 0 {
		t.Errorf("still to be removed: %v, %v", gone, err)
	}
}

// quiet is a store without a disk, and quietLog a record of nothing.
type quiet struct {
	*memstore.Store
	mu    sync.Mutex
	facts []time.Time // when old facts were asked for
}

func (q *quiet) DropFacts(context.Context, time.Time, int) (int, bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.facts = append(q.facts, time.Now())
	return 0, false, nil
}

func (*quiet) Compact(context.Context) (state.Compaction, error) {
	return state.Compaction{Before: 2, After: 1}, nil
}

func (*quiet) Usage(context.Context) (state.DiskUsage, error) { return state.DiskUsage{}, nil }

type quietLog struct{}

func (quietLog) Pack(context.Context, time.Time, []string) (int, error) { return 0, nil }
func (quietLog) Reclaim(context.Context) (bool, error)                  { return false, nil }
func (quietLog) Remove(context.Context, string) error                   { return nil }
func (quietLog) Packed(context.Context) (int, int64, error)             { return 3, 30, nil }

func TestTheKeeperTakesItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &quiet{Store: memstore.New(memstore.Options{})}
		k := NewKeeper(KeeperOptions{Store: store, Log: quietLog{}, Retention: usualRetention()})
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Minute)
		defer cancel()
		k.Run(ctx)
		var after []time.Duration
		for _, at := range store.facts {
			after = append(after, at.Sub(begun))
		}
		if fmt.Sprint(after) != "[5m0s 20m0s 35m0s]" {
			t.Errorf("rounds after %v", after)
		}
		if u, err := k.Usage(t.Context()); err != nil || u.Packed.Segments != 3 || u.Packed.Size != 30 {
			t.Errorf("usage %+v, %v", u, err)
		}
	})
}

// A clock that was set forward makes nothing old before a day has passed, in
// which it can be set right.
func TestAClockThatIsSetForwardRemovesNothingAtOnce(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	type set struct{ after, by time.Duration }
	for _, tc := range []struct {
		name  string
		clock []set
		ask   []time.Duration // whether old data is removed then
		want  string
	}{
		{"right", nil, []time.Duration{time.Hour, day}, "[true true]"},
		{"by half an hour", []set{{time.Hour, 30 * time.Minute}}, []time.Duration{2 * time.Hour}, "[true]"},
		{"back by an hour", []set{{time.Hour, -time.Hour}}, []time.Duration{2 * time.Hour}, "[true]"},
		{
			"by a month", []set{{time.Hour, 30 * day}},
			[]time.Duration{2 * time.Hour, 20 * time.Hour, 26 * time.Hour, 27 * time.Hour}, "[false false true true]",
		},
		{
			"by a month, and set right", []set{{time.Hour, 30 * day}, {3 * time.Hour, 0}},
			[]time.Duration{2 * time.Hour, 4 * time.Hour}, "[false true]",
		},
		{
			"twice", []set{{time.Hour, 30 * day}, {40 * time.Hour, 60 * day}},
			[]time.Duration{2 * time.Hour, 30 * time.Hour, 41 * time.Hour, 66 * time.Hour}, "[false true false true]",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				clock := func() time.Time {
					now := time.Now()
					var by time.Duration
					for _, s := range tc.clock {
						if now.Sub(begun) >= s.after {
							by = s.by
						}
					}
					return now.Round(0).Add(by)
				}
				store := &quiet{Store: memstore.New(memstore.Options{})}
				k := NewKeeper(KeeperOptions{Store: store, Log: quietLog{}, Retention: usualRetention(), Now: clock})
				var got []bool
				for _, at := range tc.ask {
					// Doubt begins with the first round that sees it, as Run would soon.
					for time.Since(begun) < at {
						<-time.After(min(keeperEvery, at-time.Since(begun)))
						store.facts = nil
						if err := k.Round(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					got = append(got, len(store.facts) > 0)
				}
				if fmt.Sprint(got) != tc.want {
					t.Errorf("removed: %v, want %s", got, tc.want)
				}
			})
		})
	}
}

func TestOneThingAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &quiet{Store: memstore.New(memstore.Options{})}
		begun, end := make(chan struct{}), make(chan struct{})
		k := NewKeeper(KeeperOptions{Store: store, Log: quietLog{}, Retention: usualRetention(),
			Backup: func(context.Context, io.Writer) (state.BackupInfo, error) {
				close(begun)
				<-end
				return state.BackupInfo{Files: 1}, nil
			}})
		var all sync.WaitGroup
		all.Go(func() {
			if info, err := k.Backup(t.Context(), io.Discard); err != nil || info.Files != 1 {
				t.Errorf("backup: %+v, %v", info, err)
			}
		})
		<-begun
		compacted, rounded := false, false
		all.Go(func() {
			done, err := k.Compact(t.Context())
			if compacted = true; err != nil || done.After != 1 {
				t.Errorf("compact: %+v, %v", done, err)
			}
		})
		all.Go(func() {
			err := k.Round(t.Context())
			if rounded = true; err != nil {
				t.Error(err)
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		all.Go(func() {
			if _, err := k.Compact(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("a compaction that nobody waits for: %v", err)
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		if compacted || rounded {
			t.Error("something else went on during a backup")
		}
		close(end)
		all.Wait()
		if !compacted || !rounded || len(store.facts) != 1 {
			t.Error("what waited did not go on")
		}
	})
}
