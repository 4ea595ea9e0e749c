package statetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/liaison-bot/liaison/state"
)

// OpenEventLog opens an empty log and arranges that it is closed with the test.
type OpenEventLog func(t testing.TB) state.EventLog

// RunEventLog proves what every event log promises.
func RunEventLog(t *testing.T, open OpenEventLog) {
	t.Run("events come back as they were, with dense indexes", func(t *testing.T) {
		l := open(t)
		want := []state.Event{
			{Type: "turn.started", SessionID: "ses_1", TurnID: "trn_1", At: at(1), Data: json.RawMessage(`{"text":"a <b> & \u2028\n"}`), Commit: 7},
			{Type: "message.delta", SessionID: "ses_1", At: at(2), Data: json.RawMessage(`{}`)},
			{Type: "turn.completed", SessionID: "ses_1", At: at(3), Data: json.RawMessage(`[1]`), Commit: 9},
		}
		add(t, l, "ses_1", want[:2]...)
		add(t, l, "ses_1", want[2:]...)
		for i := range want {
			want[i].Index = int64(i)
		}
		wantEvents(t, read(t, l, "ses_1", 0), want)
		wantEvents(t, read(t, l, "ses_1", 1), want[1:])
		wantEvents(t, read(t, l, "ses_1", 3), nil)
		wantEvents(t, read(t, l, "ses_1", 99), nil)
		wantEvents(t, read(t, l, "ses_1", -1), want)
	})

	t.Run("sessions are apart, and an unknown one is empty", func(t *testing.T) {
		l := open(t)
		add(t, l, "ses_1", event("ses_1", "a"))
		add(t, l, "ses_2", event("ses_2", "b"))
		add(t, l, "ses_1", event("ses_1", "c"))
		if got := types(read(t, l, "ses_1", 0)); got != "a c" {
			t.Errorf("events of the first: %s", got)
		}
		if got := read(t, l, "ses_2", 0); len(got) != 1 || got[0].Index != 0 {
			t.Errorf("events of the second: %+v", got)
		}
		if got := read(t, l, "ses_3", 0); len(got) != 0 {
			t.Errorf("events of no one: %+v", got)
		}
	})

	t.Run("without data an event has an empty object", func(t *testing.T) {
		l := open(t)
		add(t, l, "ses_1", state.Event{Type: "a", SessionID: "ses_1", At: at(0)})
		if got := read(t, l, "ses_1", 0); string(got[0].Data) != "{}" {
			t.Errorf("data %q", got[0].Data)
		}
	})

	t.Run("reading can end early and go on", func(t *testing.T) {
		l := open(t)
		for i := range 1000 {
			add(t, l, "ses_1", event("ses_1", fmt.Sprint("e", i)))
		}
		for _, from := range []int64{0, 1, 17, 499, 500, 998, 999} {
			for e, err := range l.Read(t.Context(), "ses_1", from) {
				if err != nil || e.Index != from || e.Type != fmt.Sprint("e", from) {
					t.Fatalf("from %d: %+v, %v", from, e, err)
				}
				break
			}
		}
	})

	t.Run("the number of events is known", func(t *testing.T) {
		l := open(t)
		for want := range int64(3) {
			if n, err := l.Len(t.Context(), "ses_1"); n != want || err != nil {
				t.Errorf("%d events, %v; want %d", n, err, want)
			}
			add(t, l, "ses_1", event("ses_1", "a"))
			add(t, l, "ses_2", event("ses_2", "b"))
		}
	})

	t.Run("a reading ends with what was there when it began", func(t *testing.T) {
		l := open(t)
		add(t, l, "ses_1", event("ses_1", "a"), event("ses_1", "b"))
		n := 0
		for _, err := range l.Read(t.Context(), "ses_1", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n < 100 {
				add(t, l, "ses_1", event("ses_1", "c"))
			}
		}
		if n != 2 {
			t.Errorf("%d events, want 2", n)
		}
	})

	t.Run("events of another session are refused, all of them", func(t *testing.T) {
		l := open(t)
		err := l.Append(t.Context(), "ses_1", false, event("ses_1", "a"), event("ses_2", "b"))
		wantErr(t, err, state.ErrInvalid, "Append")
		if got := read(t, l, "ses_1", 0); len(got) != 0 {
			t.Errorf("a part was appended: %+v", got)
		}
	})

	t.Run("an id that could be a path is refused", func(t *testing.T) {
		l := open(t)
		for _, id := range []string{"", ".", "..", "../ses_1", "a/b", `a\b`, "a.b", "-rf", "a\x00", "é", "C:", strings.Repeat("a", 129)} {
			wantErr(t, l.Append(t.Context(), id, false, event(id, "a")), state.ErrInvalid, fmt.Sprintf("Append to %q", id))
		}
	})

	t.Run("commits are found, also among many, and only theirs", func(t *testing.T) {
		l := open(t)
		add(t, l, "ses_1", committed("turn.queued", 3), committed("turn.started", 5))
		for range 500 {
			add(t, l, "ses_1", event("ses_1", "message.delta"))
		}
		add(t, l, "ses_1", committed("turn.completed", 9), committed("turn.queued", 8))
		for _, tc := range []struct {
			commit uint64
			typ    string
			want   bool
		}{
			{3, "turn.queued", true}, {5, "turn.started", true}, {9, "turn.completed", true}, {8, "turn.queued", true},
			{3, "turn.started", false}, {4, "turn.queued", false}, {10, "turn.queued", false}, {0, "message.delta", false},
		} {
			got, err := l.HasCommit(t.Context(), "ses_1", tc.commit, tc.typ)
			if err != nil || got != tc.want {
				t.Errorf("commit %d of %s: %t, %v; want %t", tc.commit, tc.typ, got, err, tc.want)
			}
		}
		if got, err := l.HasCommit(t.Context(), "ses_2", 3, "turn.queued"); got || err != nil {
			t.Errorf("in an unknown session: %t, %v", got, err)
		}
	})

	t.Run("readers see whole events while one writes", func(t *testing.T) {
		l := open(t)
		const n = 400
		var all sync.WaitGroup
		all.Go(func() {
			for i := range n {
				if err := l.Append(t.Context(), "ses_1", false, event("ses_1", fmt.Sprint("e", i))); err != nil {
					t.Error(err)
				}
			}
		})
		for range 4 {
			all.Go(func() {
				for next := int64(0); next < n && !t.Failed(); {
					for e, err := range l.Read(t.Context(), "ses_1", next) {
						if err != nil || e.Index != next || e.Type != fmt.Sprint("e", next) {
							t.Errorf("event %d came as %+v, %v", next, e, err)
							return
						}
						next++
					}
				}
			})
		}
		all.Wait()
	})

	t.Run("many writers of many sessions lose nothing", func(t *testing.T) {
		l := open(t)
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				id := fmt.Sprint("ses_", i%20)
				if err := l.Append(t.Context(), id, i%50 == 0, event(id, "a"), event(id, "b")); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i := range 20 {
			if got := read(t, l, fmt.Sprint("ses_", i), 0); len(got) != 20 || got[19].Index != 19 {
				t.Errorf("session %d has %d events", i, len(got))
			}
		}
	})

	t.Run("reading a session that is just beginning disturbs no one", func(t *testing.T) {
		l := open(t)
		var all sync.WaitGroup
		for i := range 50 {
			id := fmt.Sprint("ses_", i)
			all.Go(func() {
				if err := l.Append(t.Context(), id, false, event(id, "a")); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				for _, err := range l.Read(t.Context(), id, 0) {
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	})

	t.Run("a cancelled context ends a reading, and appends nothing", func(t *testing.T) {
		l := open(t)
		add(t, l, "ses_1", event("ses_1", "a"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		wantErr(t, l.Append(ctx, "ses_1", false, event("ses_1", "b")), context.Canceled, "Append")
		var last error
		for _, err := range l.Read(ctx, "ses_1", 0) {
			last = err
		}
		wantErr(t, last, context.Canceled, "Read")
	})

	t.Run("nothing is appended after Close", func(t *testing.T) {
		l := open(t)
		add(t, l, "ses_1", event("ses_1", "a"))
		if err := errors.Join(l.Close(), l.Close()); err != nil {
			t.Fatal(err)
		}
		if err := l.Append(t.Context(), "ses_1", false, event("ses_1", "b")); err == nil {
			t.Error("appended after Close")
		}
	})
}

func event(sessionID, typ string) state.Event {
	return state.Event{Type: typ, SessionID: sessionID, At: at(0), Data: json.RawMessage(`{"n":1}`)}
}

func committed(typ string, commit uint64) state.Event {
	e := event("ses_1", typ)
	e.Commit = commit
	return e
}

func add(t testing.TB, l state.EventLog, sessionID string, events ...state.Event) {
	t.Helper()
	if err := l.Append(t.Context(), sessionID, false, events...); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, l state.EventLog, sessionID string, from int64) []state.Event {
	t.Helper()
	var events []state.Event
	for e, err := range l.Read(t.Context(), sessionID, from) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

func types(events []state.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, e.Type)
	}
	return strings.Join(out, " ")
}

func wantEvents(t testing.TB, got, want []state.Event) {
	t.Helper()
	wantJSON(t, got, want, "events")
}
