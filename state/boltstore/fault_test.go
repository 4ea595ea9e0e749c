package boltstore_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
)

func TestAfterAFailedCommitNothingIsTrusted(t *testing.T) {
	t.Parallel()
	broken := errors.New("input/output error")
	for name, fault := range map[string]func() error{
		"error": func() error { return broken },
		"panic": func() error { panic(broken) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var failing atomic.Bool
			path := filepath.Join(t.TempDir(), "liaison.db")
			s := open(t, path, boltstore.Options{BeforeCommit: func() error {
				if failing.Load() {
					return fault()
				}
				return nil
			}})
			ctx := t.Context()
			accept(t, s, "kept")
			failing.Store(true)
			if _, err := s.Accept(ctx, delivery("lost")); !errors.Is(err, state.ErrUnavailable) {
				t.Fatalf("Accept while the disk fails: %v, want ErrUnavailable", err)
			}
			<-s.Failed()
			failing.Store(false)
			for name, call := range map[string]func() error{
				"Accept":     func() error { _, err := s.Accept(ctx, delivery("b")); return err },
				"Accept old": func() error { _, err := s.Accept(ctx, delivery("kept")); return err },
				"Commit":     func() error { _, err := s.Commit(ctx, state.Change{Facts: []state.Fact{{Key: "f"}}}); return err },
				"Confirm":    func() error { _, err := s.Commit(ctx, state.Change{Confirm: []uint64{1}}); return err },
				"Pending":    func() error { _, err := s.Pending(ctx, 0, 9); return err },
				"Delivery":   func() error { _, err := s.Delivery(ctx, "github", "kept"); return err },
				"Check":      func() error { return s.Check(ctx) },
			} {
				if err := call(); !errors.Is(err, state.ErrUnavailable) {
					t.Errorf("%s after the failure: %v, want ErrUnavailable", name, err)
				}
			}
			mustClose(t, s)

			if _, err := os.Stat(path + ".suspect"); err != nil {
				t.Errorf("the next opening is not asked to check the file: %v", err)
			}
			again := open(t, path, boltstore.Options{})
			if _, err := os.Stat(path + ".suspect"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the mark stays after the check: %v", err)
			}
			pending, err := again.Pending(ctx, 0, 9)
			if err != nil || len(pending) != 1 || pending[0].ID != "kept" {
				t.Errorf("after the reopen: %d pending, %v", len(pending), err)
			}
			accept(t, again, "lost") // it was never acknowledged
		})
	}
}

func TestEveryoneInAFailedTransactionIsRefused(t *testing.T) {
	t.Parallel()
	var failing atomic.Bool
	s := open(t, filepath.Join(t.TempDir(), "liaison.db"), boltstore.Options{BeforeCommit: func() error {
		if failing.Load() {
			return errors.New("input/output error")
		}
		return nil
	}})
	failing.Store(true)
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			if _, err := s.Accept(t.Context(), delivery(fmt.Sprint(i))); !errors.Is(err, state.ErrUnavailable) {
				t.Errorf("Accept: %v, want ErrUnavailable", err)
			}
		})
	}
	all.Wait()
}

// TestAFullStoreRefusesDeliveriesAndStillDecides fills a store up to its limit.
func TestAFullStoreRefusesDeliveriesAndStillDecides(t *testing.T) {
	t.Parallel()
	for _, limit := range []int64{2 << 20, 48 << 20} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "liaison.db")
			s := open(t, path, boltstore.Options{MaxSize: limit})
			ctx := t.Context()
			body := make([]byte, limit/100)
			_, _ = rand.Read(body) // it cannot be compressed
			kept := 0
			for {
				d := delivery(fmt.Sprint(kept))
				d.Body = body
				_, err := s.Accept(ctx, d)
				if errors.Is(err, state.ErrUnavailable) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if kept++; kept > 200 {
					t.Fatal("the limit holds nothing back")
				}
			}
			if kept < 20 {
				t.Errorf("full after %d deliveries", kept)
			}
			select {
			case <-s.Failed():
				t.Fatal("a full store counts as failed")
			default:
			}
			if err := s.Check(ctx); err != nil {
				t.Errorf("Check: %v", err)
			}
			pending, err := s.Pending(ctx, 0, 1000)
			if err != nil || len(pending) != kept {
				t.Fatalf("%d of %d pending, %v", len(pending), kept, err)
			}
			for _, d := range pending {
				_, err := s.Commit(ctx, state.Change{
					Facts:      []state.Fact{{Key: d.ID}},
					Deliveries: []state.DeliveryUpdate{{Seq: d.Seq, Status: state.DeliveryDone, Decision: "decided"}},
				})
				if err != nil {
					t.Fatalf("deciding %s in a full store: %v", d.ID, err)
				}
			}
			if _, err := s.Accept(ctx, delivery("0")); err != nil {
				t.Errorf("a redelivery of what is stored: %v", err)
			}
			mustClose(t, s)
			size := int64(0)
			err = filepath.WalkDir(filepath.Dir(path), func(_ string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				info, err := e.Info()
				size += info.Size()
				return err
			})
			if err != nil || size > limit {
				t.Errorf("the files have %d bytes (%v), more than %d", size, err, limit)
			}
			open(t, path, boltstore.Options{MaxSize: limit})
		})
	}
}

func TestABodyTooLargeForTheLimitFailsNothing(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var mu sync.Mutex
	s := open(t, filepath.Join(t.TempDir(), "liaison.db"), boltstore.Options{MaxSize: 2 << 20, Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}})
	big := make([]byte, 3<<20)
	_, _ = rand.Read(big)
	d := delivery("big")
	d.Body = big
	if _, err := s.Accept(t.Context(), d); !errors.Is(err, state.ErrUnavailable) {
		t.Errorf("Accept: %v, want ErrUnavailable", err)
	}
	// A change has no reserve to respect, so this one reaches bbolt's own limit.
	item := state.OutboxItem{ID: "a", Payload: fmt.Appendf(nil, "%q", fmt.Sprintf("%x", big))}
	if _, err := s.Commit(t.Context(), state.Change{Outbox: []state.OutboxItem{item}}); !errors.Is(err, state.ErrUnavailable) {
		t.Errorf("Commit: %v, want ErrUnavailable", err)
	}
	if err := s.Check(t.Context()); !errors.Is(err, state.ErrUnavailable) {
		t.Errorf("just after: %v, want ErrUnavailable", err)
	}
	accept(t, s, "a") // the journal has room
	if _, err := s.Pending(t.Context(), 0, 1); err != nil {
		t.Errorf("reading a full store: %v", err)
	}
	mu.Lock()
	now = now.Add(2 * time.Second)
	mu.Unlock()
	accept(t, s, "small")
	select {
	case <-s.Failed():
		t.Error("a full store counts as failed")
	default:
	}
}

func TestAConfirmationAloneIsLazyAndNotLostByClosing(t *testing.T) {
	t.Parallel()
	var commits atomic.Int32
	path := filepath.Join(t.TempDir(), "liaison.db")
	s := open(t, path, boltstore.Options{BeforeCommit: func() error {
		commits.Add(1)
		return nil
	}})
	id, err := s.Commit(t.Context(), state.Change{Lifecycle: []state.LifecycleEvent{
		{Event: state.Event{Type: "turn.queued", SessionID: "ses_1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	before := commits.Load()
	if _, err := s.Commit(t.Context(), state.Change{Confirm: []uint64{id}}); err != nil {
		t.Fatal(err)
	}
	if n := commits.Load() - before; n != 0 {
		t.Errorf("a confirmation took %d transactions", n)
	}
	mustClose(t, s)
	again := open(t, path, boltstore.Options{})
	if events, err := again.PendingLifecycle(t.Context()); err != nil || len(events) != 0 {
		t.Errorf("pending after closing: %+v, %v", events, err)
	}
}

func TestWritersShareATransaction(t *testing.T) {
	t.Parallel()
	var commits atomic.Int32
	entered, leave := make(chan struct{}), make(chan struct{})
	s := open(t, filepath.Join(t.TempDir(), "liaison.db"), boltstore.Options{BeforeCommit: func() error {
		if commits.Add(1) == 1 {
			close(entered)
			<-leave
		}
		return nil
	}})
	var all sync.WaitGroup
	all.Go(func() { accept(t, s, "first") })
	<-entered
	const n = 40
	var waiting sync.WaitGroup
	for i := range n {
		waiting.Add(1)
		all.Go(func() {
			waiting.Done()
			accept(t, s, fmt.Sprint(i))
		})
	}
	waiting.Wait()
	close(leave)
	all.Wait()
	if got := commits.Load(); got > n/2 {
		t.Errorf("%d transactions for %d deliveries that waited for one", got, n)
	}
}

// What agents keep must not take the room that decisions need.
func TestAFullStoreRefusesAgentRecordsAndStillDecides(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "liaison.db"), boltstore.Options{MaxSize: 2 << 20})
	ctx := t.Context()
	run := state.AgentRecord{Kind: state.RecordRun, ID: "run", AgentID: "agent"}
	if err := s.CreateAgentRecord(ctx, run); err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 10_000)
	_, _ = rand.Read(noise) // it cannot be compressed
	event := state.RunEvent{Type: "assistant", Payload: fmt.Appendf(nil, "%q", fmt.Sprintf("%x", noise))}
	said := 0
	for {
		_, err := s.AppendRunEvent(ctx, "run", event)
		if errors.Is(err, state.ErrUnavailable) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if said++; said > 200 {
			t.Fatal("the limit holds nothing back")
		}
	}
	large := make([]byte, 5*len(noise))
	_, _ = rand.Read(large)
	run.ID, run.Data = "other", large
	if err := s.CreateAgentRecord(ctx, run); !errors.Is(err, state.ErrUnavailable) {
		t.Errorf("a record in a full store: %v, want ErrUnavailable", err)
	}
	for i := range 20 {
		if _, err := s.Commit(ctx, state.Change{Facts: []state.Fact{{Key: fmt.Sprint(i)}}}); err != nil {
			t.Fatalf("deciding in a full store: %v", err)
		}
	}
	if events, err := s.RunEvents(ctx, "run", 0, 1000); err != nil || len(events) != said {
		t.Errorf("%d of %d events, %v", len(events), said, err)
	}
	// Forgetting the agent makes room, which the next transaction may use.
	if err := errors.Join(s.DeleteAgentRecord(ctx, state.RecordAgent, "agent"), s.Check(ctx)); err != nil {
		t.Fatal(err)
	}
	run.ID = "again"
	if err := s.CreateAgentRecord(ctx, run); err != nil {
		t.Errorf("after an agent was forgotten: %v", err)
	}
}
