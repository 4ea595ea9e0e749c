package statetest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/liaison-bot/liaison/state"
)

// OpenAt opens the store in the file at path, which need not exist, and
// arranges that it is closed with the test.
type OpenAt func(t testing.TB, path string) state.Store

// RunDurable proves what an engine promises that keeps its store in one file.
// Its folder may be copied while no call is under way, and the copy opened: that
// is what a crash leaves.
func RunDurable(t *testing.T, open OpenAt) {
	for name, again := range map[string]func(t testing.TB, s state.Store, path string) state.Store{
		"close":   reopen(open),
		"kill -9": crash(open),
	} {
		t.Run("everything is there after "+name, func(t *testing.T) { survives(t, open, again) })
		t.Run("claims are lost and counted after "+name, func(t *testing.T) { losesClaims(t, open, again) })
		t.Run("lines of the audit log are numbered on after "+name, func(t *testing.T) { numbersAuditOn(t, open, again) })
		t.Run("running turns are told from those of a dead process after "+name, func(t *testing.T) { tellsEpochs(t, open, again) })
	}
	t.Run("model", func(t *testing.T) { runModel(t, open) })
}

func reopen(open OpenAt) func(testing.TB, state.Store, string) state.Store {
	return func(t testing.TB, s state.Store, path string) state.Store {
		t.Helper()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return open(t, path)
	}
}

func crash(open OpenAt) func(testing.TB, state.Store, string) state.Store {
	return func(t testing.TB, _ state.Store, path string) state.Store {
		t.Helper()
		return open(t, copyFolder(t, path))
	}
}

// copyFolder copies what a killed process would leave beside path, and returns
// the path of the copy.
func copyFolder(t testing.TB, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(to, filepath.Base(path))
}

type again func(t testing.TB, s state.Store, path string) state.Store

func survives(t *testing.T, open OpenAt, again again) {
	path := filepath.Join(t.TempDir(), "liaison.db")
	s := open(t, path)
	prepare(t, s)
	last := commit(t, s, everything(s))
	want := dump(t, s)
	epoch := s.Epoch()

	s = again(t, s, path)
	wantJSON(t, dump(t, s), want, "the store after the reopen")
	if s.Epoch() <= epoch {
		t.Errorf("epoch %d after %d", s.Epoch(), epoch)
	}
	if outcome := must(s.Accept(t.Context(), delivery("a")))(t); outcome != state.Duplicate {
		t.Errorf("a known delivery: outcome %d, want Duplicate", outcome)
	}
	if d := accept(t, s, "new"); d.Seq != 3 {
		t.Errorf("the next delivery has number %d, want 3", d.Seq)
	}
	_, err := s.Commit(t.Context(), state.Change{Facts: []state.Fact{{Key: "new"}}})
	if claimed, ok := errors.AsType[*state.FactClaimedError](err); !ok || claimed.By != "me" {
		t.Errorf("claiming a known fact: %v", err)
	}
	if got := must(s.SessionByKey(t.Context(), "alias_1"))(t); got.ID != "ses_1" {
		t.Errorf("an alias names %s", got.ID)
	}
	if id := commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("out_9", "ses_9")}}); id <= last {
		t.Errorf("commit %d after %d", id, last)
	}
	if items := must(s.OutboxItems(t.Context(), "ses_9"))(t); len(items) != 0 {
		t.Errorf("an effect that was settled is owed again: %+v", items)
	}
}

func losesClaims(t *testing.T, open OpenAt, again again) {
	path := filepath.Join(t.TempDir(), "liaison.db")
	s := open(t, path)
	commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("a1", "A"), owed("a2", "A")}})
	must(s.ClaimOutbox(t.Context(), at(0), 9))(t)
	s = again(t, s, path)
	items := must(s.ClaimOutbox(t.Context(), at(0), 9))(t)
	if len(items) != 1 || items[0].ID != "a1" || items[0].Attempts != 2 {
		t.Errorf("claimed %+v, want the first again with two attempts", items)
	}
}

func tellsEpochs(t *testing.T, open OpenAt, again again) {
	path := filepath.Join(t.TempDir(), "liaison.db")
	s := open(t, path)
	running := turn("trn_1", "ses_1")
	running.Status, running.Epoch, running.Attempts = state.TurnRunning, s.Epoch(), 1
	commit(t, s, state.Change{Sessions: []state.Session{session("ses_1")}, Turns: []state.Turn{running}})

	s = again(t, s, path)
	left := must(s.OpenTurns(t.Context()))(t)
	if len(left) != 1 || left[0].Status != state.TurnRunning || left[0].Epoch >= s.Epoch() {
		t.Fatalf("open turns %+v in epoch %d", left, s.Epoch())
	}
	stale := left[0]
	stale.Usage.TotalTokens = 5
	_, err := s.Commit(t.Context(), state.Change{Turns: []state.Turn{stale}})
	wantErr(t, err, state.ErrFenced, "going on with the turn of a dead process")
	queued := left[0]
	queued.Status = state.TurnQueued
	commit(t, s, state.Change{Turns: []state.Turn{queued}})
	queued.Version++
	queued.Status, queued.Epoch, queued.Attempts = state.TurnRunning, s.Epoch(), 2
	commit(t, s, state.Change{Turns: []state.Turn{queued}})
}
