package boltstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
)

// verbose stores sessions with long titles.
func verbose(t testing.TB, s *boltstore.Store, from, to int) {
	t.Helper()
	for i := from; i < to; i += 50 {
		var c state.Change
		for n := i; n < min(i+50, to); n++ {
			id := fmt.Sprintf("ses_%04d", n)
			c.Sessions = append(c.Sessions, state.Session{ID: id, Channel: "http", Title: strings.Repeat("long ", 800)})
			c.Keys = append(c.Keys, state.KeyLink{Key: "key " + id, SessionID: id})
		}
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

// shorten takes the long titles away.
func shorten(t testing.TB, s *boltstore.Store, n int) {
	t.Helper()
	var c state.Change
	for i := range n {
		c.Sessions = append(c.Sessions, state.Session{ID: fmt.Sprintf("ses_%04d", i), Version: 1, Channel: "http"})
	}
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func wantSessions(t testing.TB, s *boltstore.Store, n int) {
	t.Helper()
	rows, err := s.ListSessions(t.Context(), "", 1<<20)
	if err != nil || len(rows) != n {
		t.Fatalf("%d sessions, %v; want %d", len(rows), err, n)
	}
	for _, row := range rows {
		if got, err := s.SessionByKey(t.Context(), "key "+row.ID); err != nil || got.ID != row.ID {
			t.Fatalf("by key: %+v, %v", got, err)
		}
	}
	if u, err := s.Usage(t.Context()); err != nil || u.Sessions != int64(n) {
		t.Errorf("usage %+v, %v", u, err)
	}
}

func TestCompactGivesBackWhatIsFree(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "liaison.db")
	s := open(t, path, boltstore.Options{})
	verbose(t, s, 0, 2000)
	shorten(t, s, 2000)
	before, err := s.Usage(t.Context())
	if err != nil || before.Database.Free < before.Database.Size/2 {
		t.Fatalf("usage %+v, %v", before, err)
	}
	done, err := s.Compact(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || done.Before != before.Database.Size || done.After != info.Size() || done.After > done.Before/3 {
		t.Errorf("compaction %+v, size %d, %v", done, info.Size(), err)
	}
	if _, err := os.Stat(path + ".compact"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy is left: %v", err)
	}
	wantSessions(t, s, 2000)
	verbose(t, s, 2000, 2100) // it goes on
	if _, err := boltstore.Open(path, boltstore.Options{LockTimeout: 1}); !errors.Is(err, state.ErrLocked) {
		t.Errorf("a second opening: %v, want ErrLocked", err)
	}
	mustClose(t, s)
	s = open(t, path, boltstore.Options{Verify: true})
	wantSessions(t, s, 2100)
}

// Nothing that is numbered is numbered twice after a compaction.
func TestCompactKeepsTheNumbers(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "liaison.db"), boltstore.Options{})
	accept(t, s, "1")
	n, err := s.NewSegment(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.Commit(t.Context(), state.Change{
		Sessions: []state.Session{{ID: "ses_1"}}, Outbox: []state.OutboxItem{{ID: "o1", SessionID: "ses_1"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(context.Context) error{
		func(ctx context.Context) error { return s.ForgetSegment(ctx, n) },
		func(ctx context.Context) error {
			_, err := s.Commit(ctx, state.Change{Settle: []state.OutboxSettlement{{ID: "o1", Result: state.OutboxDone}}})
			return err
		},
		func(ctx context.Context) error { _, err := s.Compact(ctx); return err },
	} {
		if err := change(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	accept(t, s, "2")
	if d, err := s.Delivery(t.Context(), "github", "2"); err != nil || d.Seq != 2 {
		t.Errorf("delivery %d, %v", d.Seq, err)
	}
	if again, err := s.NewSegment(t.Context()); err != nil || again == n {
		t.Errorf("segment %d, %v", again, err)
	}
	id, err := s.Commit(t.Context(), state.Change{Outbox: []state.OutboxItem{{ID: "o2", SessionID: "ses_1"}}})
	if err != nil || id <= first {
		t.Errorf("commit %d after %d, %v", id, first, err)
	}
	if items, err := s.OutboxItems(t.Context(), "ses_1"); err != nil || len(items) != 1 || items[0].Seq != 2 {
		t.Errorf("items %+v, %v", items, err)
	}
}

// What a crash leaves before the copy is in place is the old file and rubbish.
func TestACrashWhileCompactingLeavesTheOldFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left := filepath.Join(t.TempDir(), "left")
	crash := func() {
		if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
			t.Error(err)
		}
	}
	s := open(t, filepath.Join(dir, "liaison.db"), boltstore.AfterCopy(boltstore.Options{}, crash))
	verbose(t, s, 0, 200)
	if _, err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(left, "liaison.db")
	if err := os.Truncate(path+".compact", 5000); err != nil { // it may also be torn
		t.Fatal(err)
	}
	s = open(t, path, boltstore.Options{})
	wantSessions(t, s, 200)
	if _, err := os.Stat(path + ".compact"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy is left: %v", err)
	}
}

func TestReadingsGoOnAndCommitsWaitForACompaction(t *testing.T) {
	t.Parallel()
	var s *boltstore.Store
	var all sync.WaitGroup
	committed := make(chan error, 1)
	meanwhile := func() {
		// The copy is made: what is decided now must be in the new file.
		all.Go(func() {
			_, err := s.Commit(t.Context(), state.Change{Sessions: []state.Session{{ID: "ses_meanwhile", Channel: "http"}},
				Keys: []state.KeyLink{{Key: "key ses_meanwhile", SessionID: "ses_meanwhile"}}})
			committed <- err
		})
		if _, err := s.Session(t.Context(), "ses_0001"); err != nil {
			t.Errorf("reading meanwhile: %v", err)
		}
		select {
		case err := <-committed:
			t.Errorf("a commit did not wait: %v", err)
		default:
		}
	}
	s = open(t, filepath.Join(t.TempDir(), "liaison.db"), boltstore.AfterCopy(boltstore.Options{}, meanwhile))
	verbose(t, s, 0, 300)
	stop := make(chan struct{})
	for i := range 4 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := s.Session(t.Context(), fmt.Sprintf("ses_%04d", i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 3 {
		if _, err := s.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-committed; err != nil && !errors.Is(err, state.ErrConflict) { // it is there from the first round
			t.Error(err)
		}
	}
	close(stop)
	all.Wait()
	wantSessions(t, s, 301)
}

func TestACompactionCanBeCancelled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "liaison.db")
	s := open(t, path, boltstore.Options{})
	verbose(t, s, 0, 100)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Compact(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("compact: %v", err)
	}
	if _, err := os.Stat(path + ".compact"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy is left: %v", err)
	}
	wantSessions(t, s, 100)
	mustClose(t, s)
	if _, err := s.Compact(t.Context()); !errors.Is(err, state.ErrUnavailable) {
		t.Errorf("compact a closed store: %v", err)
	}
}

func TestASnapshotIsAWholeFileOfOneMoment(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "liaison.db"), boltstore.Options{})
	verbose(t, s, 0, 300)
	copied := filepath.Join(t.TempDir(), "liaison.db")
	err := s.Snapshot(t.Context(), func(snap boltstore.Snapshot) error {
		verbose(t, s, 300, 400)
		shorten(t, s, 300)
		var buf bytes.Buffer
		n, err := snap.WriteTo(&buf)
		if err != nil || n != snap.Size || snap.Schema < 3 || snap.Commit == 0 {
			t.Errorf("wrote %d of %+v, %v", n, snap, err)
		}
		return os.WriteFile(copied, buf.Bytes(), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	if schema, err := boltstore.Verify(copied); err != nil || schema < 3 {
		t.Errorf("schema %d, %v", schema, err)
	}
	wantSessions(t, open(t, copied, boltstore.Options{}), 300)
	wantSessions(t, s, 400)
}

// What people decided is there afterwards, and lines of the audit log are never
// numbered anew, even where none is left.
func TestCompactKeepsApprovalsAndTheNumbersOfTheAuditLog(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "liaison.db"), boltstore.Options{})
	ctx := t.Context()
	line := state.Change{Audit: []state.AuditEntry{{Entry: []byte(`{"action":"asked"}`)}}}
	asked := line
	asked.Sessions = []state.Session{{ID: "ses_1"}}
	asked.Approvals = []state.Approval{{ID: "apr_1", SessionID: "ses_1", Record: []byte(`{"tool":"deploy"}`)}}
	for _, c := range []state.Change{asked, line} {
		if _, err := s.Commit(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	if n, _, err := s.DropAudit(ctx, time.Unix(1, 0), 9); n != 2 || err != nil {
		t.Fatalf("%d lines removed, %v", n, err)
	}
	if _, err := s.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	open, err := s.ListApprovals(ctx, state.ApprovalFilter{SessionID: "ses_1", Open: true}, 9)
	if err != nil || len(open) != 1 || string(open[0].Record) != `{"tool":"deploy"}` {
		t.Errorf("open approvals: %+v, %v", open, err)
	}
	if _, err := s.Commit(ctx, line); err != nil {
		t.Fatal(err)
	}
	if lines, err := s.AuditEntries(ctx, time.Time{}, 0, 9); err != nil || len(lines) != 1 || lines[0].Seq != 3 {
		t.Errorf("lines: %+v, %v; want the third", lines, err)
	}
}
