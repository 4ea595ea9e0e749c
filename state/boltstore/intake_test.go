package boltstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
)

// killed returns the path of a copy of what kill -9 would leave now.
func killed(t testing.TB, path string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "killed")
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, filepath.Base(path))
}

func pendingIDs(t testing.TB, s state.Store) []string {
	t.Helper()
	pending, err := s.Pending(t.Context(), 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, d := range pending {
		if len(d.Body) != len(delivery(d.ID).Body) {
			t.Errorf("%s has a body of %d bytes", d.ID, len(d.Body))
		}
		ids = append(ids, d.ID)
	}
	return ids
}

func decide(t testing.TB, s state.Store, status state.DeliveryStatus, seqs ...uint64) {
	t.Helper()
	var c state.Change
	for _, seq := range seqs {
		c.Deliveries = append(c.Deliveries, state.DeliveryUpdate{Seq: seq, Status: status, Decision: "because"})
	}
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func want(t testing.TB, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestDeliveriesAreTakenWhileTheDatabaseIsBusy(t *testing.T) {
	t.Parallel()
	var s *boltstore.Store
	taken := make(chan struct{})
	meanwhile := func() {
		defer close(taken)
		for i := range 20 {
			accept(t, s, fmt.Sprint(i))
		}
		if outcome, err := s.Accept(t.Context(), delivery("7")); err != nil || outcome != state.Duplicate {
			t.Errorf("a redelivery: %d, %v", outcome, err)
		}
		want(t, "pending", len(pendingIDs(t, s)), 20)
	}
	path := filepath.Join(t.TempDir(), "liaison.db")
	s = open(t, path, boltstore.AfterCopy(boltstore.Options{}, meanwhile))
	if _, err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-taken
	decide(t, s, state.DeliveryDone, 5)
	want(t, "pending after kill -9", len(pendingIDs(t, open(t, killed(t, path), boltstore.Options{}))), 19)
}

func TestMoreThanIsRememberedGetsRowsAndTwiceAsMuchIsRefused(t *testing.T) {
	t.Parallel()
	const most = 20
	var s *boltstore.Store
	taken := 0
	busy := func() { // nothing can get its row
		for ; taken < 10*most; taken++ {
			_, err := s.Accept(t.Context(), delivery(fmt.Sprint(taken)))
			if errors.Is(err, state.ErrUnavailable) {
				break
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "liaison.db")
	s = open(t, path, boltstore.AfterCopy(boltstore.Options{MaxUndecided: most}, busy))
	if _, err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if taken < 2*most || taken > 3*most {
		t.Errorf("%d were taken, and %d may be remembered", taken, most)
	}
	for {
		_, err := s.Accept(t.Context(), delivery("now"))
		if err == nil {
			break
		}
		if !errors.Is(err, state.ErrUnavailable) {
			t.Fatal(err)
		}
		if err := s.Check(t.Context()); err != nil { // waits for the database
			t.Fatal(err)
		}
	}
	want(t, "pending", len(pendingIDs(t, s)), taken+1)
	crashed := open(t, killed(t, path), boltstore.Options{})
	want(t, "pending after kill -9", pendingIDs(t, crashed), pendingIDs(t, s))
	if outcome, err := crashed.Accept(t.Context(), delivery("3")); err != nil || outcome != state.Duplicate {
		t.Errorf("a redelivery: %d, %v", outcome, err)
	}
	for i, d := range pendingIDs(t, s) {
		decide(t, s, state.DeliveryDone, uint64(i+1))
		if got, err := s.Delivery(t.Context(), "github", d); err != nil || got.Seq != uint64(i+1) || got.Event != "push" {
			t.Errorf("%s is %d, %v", d, got.Seq, err)
		}
	}
	want(t, "pending in the end", len(pendingIDs(t, s)), 0)
}

func TestManyPendingDeliveriesSurviveARestart(t *testing.T) {
	t.Parallel()
	const n = 3000
	path := filepath.Join(t.TempDir(), "liaison.db")
	s := open(t, path, boltstore.Options{})
	var next atomic.Int64
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for i := next.Add(1); i <= n; i = next.Add(1) {
				accept(t, s, fmt.Sprint(i))
			}
		})
	}
	all.Wait()
	decide(t, s, state.DeliveryDone, 2, n/2)
	for range 2 {
		path = killed(t, path)
		s = open(t, path, boltstore.Options{})
		select {
		case <-s.Accepted():
		default:
			t.Error("no one is told that deliveries are pending")
		}
		want(t, "pending", len(pendingIDs(t, s)), n-2)
	}
	rows, _, err := s.Deliveries(t.Context(), state.DeliveryFilter{Status: state.DeliveryDone}, 10)
	if err != nil || len(rows) != 2 || rows[0].Seq != n/2 || rows[1].Seq != 2 {
		t.Errorf("%d done, %v", len(rows), err)
	}
}

// What was decided and removed since must not come back from the journal.
func TestARemovedDeliveryStaysRemovedAfterACrash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "liaison.db")
	s := open(t, path, boltstore.Options{})
	accept(t, s, "waits")
	accept(t, s, "goes")
	decide(t, s, state.DeliveryDone, 2)
	if n, _, err := s.DropDeliveries(t.Context(), time.Now().Add(time.Hour), 10); n != 1 || err != nil {
		t.Fatalf("%d deliveries removed, %v", n, err)
	}
	want(t, "pending after kill -9", pendingIDs(t, open(t, killed(t, path), boltstore.Options{})), []string{"waits"})
}

func TestADeadDeliveryIsRearmedWhollyOrNotAtAll(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "liaison.db")
	var armed atomic.Bool
	s := open(t, path, boltstore.Options{BeforeCommit: func() error {
		// The journal first, then the database.
		if armed.CompareAndSwap(true, false) {
			return nil
		}
		if _, err := os.Stat(path + ".broken"); err == nil {
			return errors.New("input/output error")
		}
		return nil
	}})
	accept(t, s, "a")
	decide(t, s, state.DeliveryDead, 1)
	if err := os.WriteFile(path+".broken", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	armed.Store(true)
	again := delivery("a")
	again.Body = []byte("another")
	if _, err := s.Accept(t.Context(), again); !errors.Is(err, state.ErrUnavailable) {
		t.Fatalf("Accept: %v, want ErrUnavailable", err)
	}
	<-s.Failed()
	mustClose(t, s)
	s = open(t, path, boltstore.Options{})
	d, err := s.Delivery(t.Context(), "github", "a")
	if err != nil || d.Status != state.DeliveryDead || string(d.Body) != string(delivery("a").Body) {
		t.Errorf("after the failure it is %s with %d bytes, %v", d.Status, len(d.Body), err)
	}
	if outcome, err := s.Accept(t.Context(), again); err != nil || outcome != state.Rearmed {
		t.Errorf("the next time: %d, %v", outcome, err)
	}
	s = open(t, killed(t, path), boltstore.Options{})
	if d, err = s.Delivery(t.Context(), "github", "a"); err != nil || d.Status != state.DeliveryPending || string(d.Body) != "another" {
		t.Errorf("after kill -9 it is %s with %q, %v", d.Status, d.Body, err)
	}
}

func TestADamagedBodyStopsNoOther(t *testing.T) {
	t.Parallel()
	for name, decided := range map[string]bool{"without a row": false, "with a row": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "liaison.db")
			s := open(t, path, boltstore.Options{})
			for _, id := range []string{"a", "b", "c"} {
				accept(t, s, id)
			}
			if decided {
				decide(t, s, state.DeliveryPending, 1, 2, 3)
			}
			segment := filepath.Join(filepath.Dir(path), boltstore.JournalFolder, "00000001.log")
			raw, err := os.ReadFile(segment)
			if err != nil {
				t.Fatal(err)
			}
			body := delivery("b").Body
			at := strings.Index(string(raw), string(body[:100]))
			if at < 0 {
				t.Fatal("the body is not in the journal as it came")
			}
			raw[at] ^= 1
			if err := os.WriteFile(segment, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			pending, err := s.Pending(t.Context(), 0, 9)
			if err != nil || len(pending) != 3 {
				t.Fatalf("%d pending, %v", len(pending), err)
			}
			for i, d := range pending {
				if got, want := len(d.Body) > 0, d.ID != "b"; got != want || d.Seq != uint64(i+1) || d.Status != state.DeliveryPending {
					t.Errorf("%s: body %t, want %t; number %d, %s", d.ID, got, want, d.Seq, d.Status)
				}
			}
			decide(t, s, state.DeliveryDead, 2)
			if letters, err := s.DeadLetters(t.Context(), "", 9); err != nil || len(letters) != 1 {
				t.Errorf("%d letters, %v", len(letters), err)
			}
		})
	}
}

// Where nothing came for long, the database knew of no later segment than the
// one that goes, and nothing is missed that was meant to go.
func TestARemovedSegmentIsNotMissed(t *testing.T) {
	t.Parallel()
	const week = 7 * 24 * time.Hour
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var log bytes.Buffer
	opts := boltstore.Options{Now: func() time.Time { return now }, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	path := filepath.Join(t.TempDir(), "liaison.db")
	s := open(t, path, opts)
	accept(t, s, "a")
	decide(t, s, state.DeliveryDone, 1)
	for range 3 {
		now = now.Add(week + time.Hour)
		for more := true; more; {
			var err error
			if _, more, err = s.DropBodies(t.Context(), now.Add(-week), 100); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(path), boltstore.JournalFolder, "00000001.log")); err == nil {
		t.Error("the segment is still there")
	}
	s = open(t, killed(t, path), opts)
	if strings.Contains(log.String(), "ERROR") {
		t.Errorf("the log says %s", log.String())
	}
	accept(t, s, "b")
	want(t, "pending", pendingIDs(t, s), []string{"b"})
}

func TestAFileAndAJournalThatDoNotBelongTogetherAreRefused(t *testing.T) {
	t.Parallel()
	path := written(t)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := boltstore.Open(path, boltstore.Options{})
		if !errors.Is(err, state.ErrCorrupt) || !strings.Contains(err.Error(), "another database") {
			t.Errorf("Open: %v, want ErrCorrupt", err)
		}
	}
	if err := os.RemoveAll(filepath.Join(filepath.Dir(path), boltstore.JournalFolder)); err != nil {
		t.Fatal(err)
	}
	accept(t, open(t, path, boltstore.Options{}), "a")
}

func TestOldSegmentsGoAndWhatIsNeededMoves(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	var mu sync.Mutex
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pass := func(d time.Duration) time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
		return now
	}
	path := filepath.Join(t.TempDir(), "liaison.db")
	s := open(t, path, boltstore.Options{Now: func() time.Time { return pass(0) }})
	for _, id := range []string{"done1", "dead", "done2", "waits", "done3", "done4", "replayed", "done5", "undecided", "done6"} {
		accept(t, s, id)
	}
	decide(t, s, state.DeliveryDone, 1, 3, 5, 6, 7, 8, 10)
	decide(t, s, state.DeliveryDead, 2)
	decide(t, s, state.DeliveryPending, 4)
	segment := func(n int) bool {
		_, err := os.Stat(filepath.Join(filepath.Dir(path), boltstore.JournalFolder, fmt.Sprintf("%08d.log", n)))
		return err == nil
	}
	drop := func(keep time.Duration) (removed int) {
		t.Helper()
		for more := true; more; {
			var n int
			var err error
			n, more, err = s.DropBodies(t.Context(), pass(0).Add(-keep), 100)
			if err != nil {
				t.Fatal(err)
			}
			removed += n
		}
		return removed
	}
	pass(2 * day)
	accept(t, s, "later") // begins a segment
	want(t, "bodies removed early", drop(7*day), 0)
	decide(t, s, state.DeliveryPending, 7)
	pass(6 * day)
	want(t, "bodies removed", drop(7*day), 6)
	if !segment(1) {
		t.Error("the first segment went while it was young")
	}
	pass(2 * day)
	want(t, "bodies removed later", drop(7*day), 0)
	if segment(1) || !segment(2) {
		t.Errorf("the first segment is there: %t, the second: %t", segment(1), segment(2))
	}
	for _, s := range []*boltstore.Store{s, open(t, killed(t, path), boltstore.Options{})} {
		want(t, "pending", pendingIDs(t, s), []string{"waits", "replayed", "undecided", "later"})
		for id, kept := range map[string]bool{"dead": true, "done1": false, "done6": false} {
			d, err := s.Delivery(t.Context(), "github", id)
			if err != nil || len(d.Body) > 0 != kept {
				t.Errorf("%s has %d bytes, %v", id, len(d.Body), err)
			}
		}
	}
	// The rest of the old segments goes once nothing is needed of it.
	decide(t, s, state.DeliveryDone, 4, 7, 9, 11)
	decide(t, s, state.DeliveryIgnored, 2)
	pass(9 * day)
	drop(7 * day)
	// A segment of which most was needed once is looked at again by the next opening.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, boltstore.Options{Now: func() time.Time { return pass(0) }})
	pass(9 * day)
	drop(7 * day)
	if u, err := s.Usage(t.Context()); err != nil || u.Journal > 2000 {
		t.Errorf("the journal has %d bytes in the end, %v", u.Journal, err)
	}
}
