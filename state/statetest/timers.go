package statetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

func lifecycle(typ, sessionID string) state.LifecycleEvent {
	return state.LifecycleEvent{Event: state.Event{
		Type: typ, SessionID: sessionID, TurnID: "trn_0", At: at(3), Data: json.RawMessage(`{"n":1}`)}}
}

func runTimers(t *testing.T, open Open) {
	timer := func(id string, due time.Time) state.Timer {
		return state.Timer{ID: id, SessionID: "ses_1", Due: due, Kind: "expire", Payload: json.RawMessage(`{}`)}
	}
	ids := func(timers []state.Timer) []string {
		out := []string{}
		for _, t := range timers {
			out = append(out, t.ID)
		}
		return out
	}

	t.Run("they fire in order, never early, until cancelled", func(t *testing.T) {
		s := open(t)
		if _, ok, err := s.NextTimer(t.Context()); ok || err != nil {
			t.Errorf("a timer is next in an empty store (%v)", err)
		}
		commit(t, s, state.Change{Timers: []state.Timer{
			timer("late", at(30)), timer("first", at(10)), timer("b", at(20)), timer("a", at(20)), timer("past", time.Time{}),
		}})
		due := func(now time.Time, limit int) []string {
			t.Helper()
			return ids(must(s.DueTimers(t.Context(), now, limit))(t))
		}
		wantJSON(t, due(at(10).Add(-1), 9), []string{"past"}, "one nanosecond early")
		wantJSON(t, due(at(10), 9), []string{"past", "first"}, "on time")
		wantJSON(t, due(at(10), 9), []string{"past", "first"}, "again, since it was not cancelled")
		wantJSON(t, due(at(99), 4), []string{"past", "first", "a", "b"}, "four of them")
		commit(t, s, state.Change{CancelTimers: []string{"past", "first", "unknown"}})
		wantJSON(t, due(at(99), 9), []string{"a", "b", "late"}, "after cancelling")
		next, ok, err := s.NextTimer(t.Context())
		if err != nil || !ok || !next.Equal(at(20)) {
			t.Errorf("next is %v (%t, %v)", next, ok, err)
		}
	})

	t.Run("setting replaces, and wins over cancelling in one change", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{Timers: []state.Timer{timer("t", at(10))}})
		commit(t, s, state.Change{Timers: []state.Timer{timer("t", at(20))}, CancelTimers: []string{"t"}})
		if got := must(s.DueTimers(t.Context(), at(19), 9))(t); len(got) != 0 {
			t.Errorf("fired at its old time: %+v", got)
		}
		got := must(s.DueTimers(t.Context(), at(20), 9))(t)
		wantJSON(t, got, []state.Timer{timer("t", at(20))}, "at its new time")
		commit(t, s, state.Change{Timers: []state.Timer{timer("t", at(5))}})
		got = must(s.DueTimers(t.Context(), at(20), 9))(t)
		wantJSON(t, got, []state.Timer{timer("t", at(5))}, "after it was set without cancelling")
	})

	t.Run("wakes come with decisions and stay until done", func(t *testing.T) {
		s := open(t)
		wake := func(id string) state.Wake {
			return state.Wake{ID: id, SessionID: "ses_1", Kind: "decided", Payload: json.RawMessage(`{"a":1}`), At: at(1)}
		}
		commit(t, s, state.Change{Wakes: []state.Wake{wake("w2"), wake("w1"), wake("w3")}})
		wantJSON(t, must(s.PendingWakes(t.Context(), "", 2))(t), []state.Wake{wake("w1"), wake("w2")}, "first page")
		wantJSON(t, must(s.PendingWakes(t.Context(), "w2", 2))(t), []state.Wake{wake("w3")}, "second page")
		commit(t, s, state.Change{DoneWakes: []string{"w1", "w2", "unknown"}, Wakes: []state.Wake{wake("w2")}})
		wantJSON(t, must(s.PendingWakes(t.Context(), "", 9))(t), []state.Wake{wake("w2"), wake("w3")}, "after some were done")
	})

	t.Run("dead letters come by page", func(t *testing.T) {
		s := open(t)
		for _, id := range []string{"c", "a", "b"} {
			d := accept(t, s, id)
			commit(t, s, state.Change{Deliveries: []state.DeliveryUpdate{{Seq: d.Seq, Status: state.DeliveryDead}}})
		}
		page := must(s.DeadLetters(t.Context(), "delivery:github:a", 1))(t)
		if len(page) != 1 || page[0].ID != "delivery:github:b" {
			t.Errorf("second page of one: %+v", page)
		}
	})
}

func runLifecycle(t *testing.T, open Open) {
	t.Run("events are pending until their commit is confirmed", func(t *testing.T) {
		s := open(t)
		first := commit(t, s, state.Change{Lifecycle: []state.LifecycleEvent{
			lifecycle("session.started", "ses_1"), lifecycle("turn.queued", "ses_1")}})
		second := commit(t, s, state.Change{Lifecycle: []state.LifecycleEvent{lifecycle("turn.started", "ses_2")}})
		got := must(s.PendingLifecycle(t.Context()))(t)
		want := []state.LifecycleEvent{
			lifecycle("session.started", "ses_1"), lifecycle("turn.queued", "ses_1"), lifecycle("turn.started", "ses_2")}
		want[0].Commit, want[1].Commit, want[2].Commit = first, first, second
		want[1].Ordinal = 1
		wantJSON(t, got, want, "pending events")
		commit(t, s, state.Change{Confirm: []uint64{first, 999}})
		wantJSON(t, must(s.PendingLifecycle(t.Context()))(t), want[2:], "after the first was confirmed")
		commit(t, s, state.Change{Confirm: []uint64{second}, Facts: []state.Fact{{Key: "f"}}})
		if got := must(s.PendingLifecycle(t.Context()))(t); len(got) != 0 {
			t.Errorf("pending in the end: %+v", got)
		}
	})
}

func runAdmin(t *testing.T, open Open) {
	t.Run("a store that is open can be written", func(t *testing.T) {
		s := open(t)
		if err := s.Check(t.Context()); err != nil {
			t.Error(err)
		}
		if s.Epoch() == 0 {
			t.Error("the epoch is 0")
		}
	})

	t.Run("after Close everything is unavailable", func(t *testing.T) {
		s := open(t)
		accept(t, s, "a")
		for range 2 {
			if err := s.Close(); err != nil {
				t.Fatalf("Close: %v", err)
			}
		}
		ctx := t.Context()
		calls := map[string]func() error{
			"Accept":       func() error { _, err := s.Accept(ctx, delivery("b")); return err },
			"Accept again": func() error { _, err := s.Accept(ctx, delivery("a")); return err },
			"Commit":       func() error { _, err := s.Commit(ctx, state.Change{Facts: []state.Fact{{Key: "f"}}}); return err },
			"Confirm":      func() error { _, err := s.Commit(ctx, state.Change{Confirm: []uint64{1}}); return err },
			"Due":          func() error { _, err := s.Due(ctx, at(0), 0, 1); return err },
			"FactBy":       func() error { _, _, err := s.FactBy(ctx, "f"); return err },
			"Pending":      func() error { _, err := s.Pending(ctx, 0, 1); return err },
			"Delivery":     func() error { _, err := s.Delivery(ctx, "github", "a"); return err },
			"Deliveries":   func() error { _, _, err := s.Deliveries(ctx, state.DeliveryFilter{}, 1); return err },
			"Recent":       func() error { _, err := s.RecentSessions(ctx, state.SessionFilter{}, 1); return err },
			"Session":      func() error { _, err := s.Session(ctx, "ses_1"); return err },
			"ListSessions": func() error { _, err := s.ListSessions(ctx, "", 1); return err },
			"OpenTurns":    func() error { _, err := s.OpenTurns(ctx); return err },
			"ClaimOutbox":  func() error { _, err := s.ClaimOutbox(ctx, at(0), 1); return err },
			"NextTimer":    func() error { _, _, err := s.NextTimer(ctx); return err },
			"Check":        func() error { return s.Check(ctx) },
			"AgentRecord":  func() error { _, err := s.AgentRecord(ctx, state.RecordAgent, "a"); return err },
			"AgentRecords": func() error { _, err := s.AgentRecords(ctx, state.RecordAgent, "", "", 1); return err },
			"Create":       func() error { return s.CreateAgentRecord(ctx, agentRecord("a")) },
			"Delete":       func() error { return s.DeleteAgentRecord(ctx, state.RecordAgent, "a") },
			"Append":       func() error { _, err := s.AppendRunEvent(ctx, "r", state.RunEvent{}); return err },
			"RunEvents":    func() error { _, err := s.RunEvents(ctx, "r", 0, 1); return err },
		}
		for name, call := range calls {
			wantErr(t, call(), state.ErrUnavailable, name)
		}
		select {
		case <-s.Failed():
			t.Error("closing counts as a failure")
		default:
		}
	})
}
