package statetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/liaison-bot/liaison/state"
)

func runFacts(t *testing.T, open Open) {
	t.Run("a fact is claimed once and names who has it", func(t *testing.T) {
		s := open(t)
		claim := func(by string) error {
			_, err := s.Commit(t.Context(), state.Change{Facts: []state.Fact{{Key: "opened:7:sha1", By: by}}})
			return err
		}
		if err := claim("github:a"); err != nil {
			t.Fatal(err)
		}
		claimed, ok := errors.AsType[*state.FactClaimedError](claim("github:b"))
		if !ok || claimed.By != "github:a" || claimed.Fact != "opened:7:sha1" {
			t.Errorf("the second claim: %+v", claimed)
		}
		for fact, want := range map[string]string{"opened:7:sha1": "github:a", "opened:7": "", "": ""} {
			by, known, err := s.FactBy(t.Context(), fact)
			if err != nil || by != want || known != (want != "") {
				t.Errorf("fact %q is claimed by %q: %v, %v", fact, by, known, err)
			}
		}
	})

	t.Run("a fact has one winner among many at the same time", func(t *testing.T) {
		s := open(t)
		var all sync.WaitGroup
		wins := make(chan int, 32)
		for i := range cap(wins) {
			all.Go(func() {
				_, err := s.Commit(t.Context(), state.Change{
					Facts:    []state.Fact{{Key: "f", By: fmt.Sprint(i)}},
					Sessions: []state.Session{session(fmt.Sprintf("ses_%d", i))},
				})
				if err == nil {
					wins <- i
				} else if _, ok := errors.AsType[*state.FactClaimedError](err); !ok {
					t.Error(err)
				}
			})
		}
		all.Wait()
		close(wins)
		sessions := must(s.ListSessions(t.Context(), "", 100))(t)
		if len(wins) != 1 || len(sessions) != 1 || sessions[0].ID != fmt.Sprintf("ses_%d", <-wins) {
			t.Errorf("%d sessions stored: %+v", len(sessions), sessions)
		}
	})

	t.Run("a fact twice in one change is refused", func(t *testing.T) {
		s := open(t)
		_, err := s.Commit(t.Context(), state.Change{Facts: []state.Fact{{Key: "f", By: "a"}, {Key: "f", By: "b"}}})
		if _, ok := errors.AsType[*state.FactClaimedError](err); !ok {
			t.Errorf("error %v", err)
		}
	})
}

func runSessions(t *testing.T, open Open) {
	t.Run("a session comes back as it was stored, one version on", func(t *testing.T) {
		s := open(t)
		want := session("ses_1")
		commit(t, s, state.Change{Sessions: []state.Session{want}})
		got := must(s.Session(t.Context(), "ses_1"))(t)
		want.Version = 1
		wantJSON(t, got, want, "session")
		got.Surface["comment"] = "changed"
		if again := must(s.Session(t.Context(), "ses_1"))(t); again.Surface["comment"] != "17" {
			t.Error("the store gave its own memory away")
		}
	})

	t.Run("a stale version conflicts", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{Sessions: []state.Session{session("ses_1")}})
		for version, want := range map[uint64]error{0: state.ErrConflict, 2: state.ErrConflict, 1: nil} {
			next := session("ses_1")
			next.Version = version
			_, err := s.Commit(t.Context(), state.Change{Sessions: []state.Session{next}})
			wantErr(t, err, want, fmt.Sprintf("commit of version %d over 1", version))
			if want == nil {
				return // the order of a map is random: what comes after has another version
			}
		}
	})

	t.Run("a version has one winner among many at the same time", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{Sessions: []state.Session{session("ses_1")}})
		var all sync.WaitGroup
		wins := make(chan string, 32)
		for i := range cap(wins) {
			all.Go(func() {
				next := session("ses_1")
				next.Version, next.Title = 1, fmt.Sprint(i)
				if _, err := s.Commit(t.Context(), state.Change{Sessions: []state.Session{next}}); err == nil {
					wins <- next.Title
				} else if !errors.Is(err, state.ErrConflict) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		close(wins)
		got := must(s.Session(t.Context(), "ses_1"))(t)
		if len(wins) != 1 || got.Version != 2 || got.Title != <-wins {
			t.Errorf("stored %+v", got)
		}
	})

	t.Run("keys find sessions, conflict, and aliases move", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{
			Sessions: []state.Session{session("ses_1"), session("ses_2")},
			Keys: []state.KeyLink{
				{Key: "github:repo:1:pull:1", SessionID: "ses_1"},
				{Key: "pr:o/r#1", SessionID: "ses_1", Alias: true},
			},
		})
		names := func(key, want string) {
			t.Helper()
			if got := must(s.SessionByKey(t.Context(), key))(t); got.ID != want {
				t.Errorf("key %s names %s, want %s", key, got.ID, want)
			}
		}
		names("github:repo:1:pull:1", "ses_1")
		names("pr:o/r#1", "ses_1")
		link := func(key, id string, alias bool) error {
			_, err := s.Commit(t.Context(), state.Change{Keys: []state.KeyLink{{Key: key, SessionID: id, Alias: alias}}})
			return err
		}
		wantErr(t, link("github:repo:1:pull:1", "ses_1", false), nil, "linking again to the same")
		wantErr(t, link("github:repo:1:pull:1", "ses_2", false), state.ErrConflict, "linking a key to another")
		wantErr(t, link("github:repo:1:pull:1", "ses_2", true), state.ErrConflict, "an alias over another's key")
		wantErr(t, link("github:repo:1:pull:1", "ses_1", true), nil, "an alias over its own key")
		wantErr(t, link("github:repo:1:pull:1", "ses_2", false), state.ErrConflict, "the key after that")
		wantErr(t, link("pr:o/r#1", "ses_2", true), nil, "moving an alias")
		names("pr:o/r#1", "ses_2")
		wantErr(t, link("pr:o/r#1", "ses_1", false), nil, "a key over an alias")
		wantErr(t, link("pr:o/r#1", "ses_2", true), state.ErrConflict, "an alias over what became a key")
		wantErr(t, link("k", "ses_none", false), state.ErrNotFound, "linking to no session")
		_, err := s.SessionByKey(t.Context(), "nothing")
		wantErr(t, err, state.ErrNotFound, "an unknown key")
	})

	t.Run("they are listed by page in order of id", func(t *testing.T) {
		s := open(t)
		for _, id := range []string{"ses_3", "ses_1", "ses_5", "ses_2", "ses_4"} {
			commit(t, s, state.Change{Sessions: []state.Session{session(id)}})
		}
		var ids []string
		for after := ""; ; {
			page := must(s.ListSessions(t.Context(), after, 2))(t)
			if len(page) == 0 {
				break
			}
			for _, row := range page {
				ids = append(ids, row.ID)
				after = row.ID
			}
		}
		wantJSON(t, ids, []string{"ses_1", "ses_2", "ses_3", "ses_4", "ses_5"}, "sessions")
		_, err := s.Session(t.Context(), "ses_9")
		wantErr(t, err, state.ErrNotFound, "an unknown session")
	})
}

func runTurns(t *testing.T, open Open) {
	started := func(s state.Store, id string) state.Turn {
		next := turn(id, "ses_1")
		next.Status, next.Epoch, next.Attempts = state.TurnRunning, s.Epoch(), 1
		return next
	}

	t.Run("a turn goes its way and leaves the open ones", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{
			Sessions: []state.Session{session("ses_1"), session("ses_2")},
			Turns:    []state.Turn{turn("trn_1", "ses_1"), turn("trn_2", "ses_1"), turn("trn_3", "ses_2")},
		})
		openIDs := func() (ids []string) {
			for _, row := range must(s.OpenTurns(t.Context()))(t) {
				ids = append(ids, row.ID)
			}
			return ids
		}
		wantJSON(t, openIDs(), []string{"trn_1", "trn_2", "trn_3"}, "open turns")
		running := must(s.Turn(t.Context(), "trn_1"))(t)
		running.Status, running.Epoch = state.TurnRunning, s.Epoch()
		commit(t, s, state.Change{Turns: []state.Turn{running}})
		running.Version++
		running.Status, running.Usage = state.TurnCompleted, state.Usage{TotalTokens: 7}
		commit(t, s, state.Change{Turns: []state.Turn{running}})
		wantJSON(t, openIDs(), []string{"trn_2", "trn_3"}, "open turns after one ended")
		running.Version++
		wantJSON(t, must(s.Turn(t.Context(), "trn_1"))(t), running, "the ended turn")
		if got := must(s.Turns(t.Context(), "ses_1"))(t); len(got) != 2 || got[0].ID != "trn_1" || got[1].ID != "trn_2" {
			t.Errorf("turns of the session: %+v", got)
		}
		back := running
		back.Status = state.TurnQueued
		_, err := s.Commit(t.Context(), state.Change{Turns: []state.Turn{back}})
		wantErr(t, err, state.ErrInvalid, "queueing an ended turn")
	})

	t.Run("a running turn of another epoch is fenced", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{Sessions: []state.Session{session("ses_1")}, Turns: []state.Turn{turn("trn_1", "ses_1")}})
		next := started(s, "trn_1")
		next.Version = 1
		next.Epoch--
		_, err := s.Commit(t.Context(), state.Change{Turns: []state.Turn{next}})
		wantErr(t, err, state.ErrFenced, "starting under an earlier epoch")
		next.Epoch++
		commit(t, s, state.Change{Turns: []state.Turn{next}})
		late := next
		late.Version, late.Status, late.Epoch = 2, state.TurnCompleted, next.Epoch-1
		_, err = s.Commit(t.Context(), state.Change{Turns: []state.Turn{late}})
		wantErr(t, err, state.ErrFenced, "ending what was started since")
	})

	t.Run("one turn of a session runs at a time", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{Sessions: []state.Session{session("ses_1")}, Turns: []state.Turn{started(s, "trn_1")}})
		_, err := s.Commit(t.Context(), state.Change{Turns: []state.Turn{started(s, "trn_2")}})
		wantErr(t, err, state.ErrConflict, "starting a second one")
		stopped := started(s, "trn_1")
		stopped.Version, stopped.Status = 1, state.TurnInterrupted
		// The new one may come first in the change.
		commit(t, s, state.Change{Turns: []state.Turn{started(s, "trn_2"), stopped}})
		_, err = s.Commit(t.Context(), state.Change{Turns: []state.Turn{started(s, "trn_3")}})
		wantErr(t, err, state.ErrConflict, "starting a third one")
	})

	t.Run("a turn needs its session and keeps it", func(t *testing.T) {
		s := open(t)
		_, err := s.Commit(t.Context(), state.Change{Turns: []state.Turn{turn("trn_1", "ses_1")}})
		wantErr(t, err, state.ErrNotFound, "a turn without session")
		commit(t, s, state.Change{
			Sessions: []state.Session{session("ses_1"), session("ses_2")}, Turns: []state.Turn{turn("trn_1", "ses_1")}})
		moved := turn("trn_1", "ses_2")
		moved.Version = 1
		_, err = s.Commit(t.Context(), state.Change{Turns: []state.Turn{moved}})
		wantErr(t, err, state.ErrInvalid, "moving a turn")
		_, err = s.Turn(t.Context(), "trn_9")
		wantErr(t, err, state.ErrNotFound, "an unknown turn")
	})
}
