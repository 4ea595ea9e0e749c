package statetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/liaison-bot/liaison/state"
)

// say appends events of these types to a run.
func say(t testing.TB, s state.Store, runID string, types ...string) {
	t.Helper()
	for _, typ := range types {
		must(s.AppendRunEvent(t.Context(), runID, runEvent(typ)))(t)
	}
}

func runEvent(typ string) state.RunEvent {
	return state.RunEvent{Type: typ, At: at(7), Payload: fmt.Appendf(nil, `{"type":%q}`, typ)}
}

func runRunEvents(t *testing.T, open Open) {
	t.Run("they are numbered from 1 without holes, whoever writes", func(t *testing.T) {
		s := open(t)
		remember(t, s, runRecord("r", "a"), runRecord("r2", "a"))
		var writers sync.WaitGroup
		for range 5 {
			writers.Go(func() {
				for range 8 {
					if _, err := s.AppendRunEvent(t.Context(), "r", runEvent("x")); err != nil {
						t.Error(err)
					}
					if _, err := s.AppendRunEvent(t.Context(), "r2", runEvent("y")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		for i, e := range must(s.RunEvents(t.Context(), "r", 0, all))(t) {
			if e.Seq != i+1 {
				t.Fatalf("event %d has number %d", i, e.Seq)
			}
		}
		if n := must(s.AppendRunEvent(t.Context(), "r", runEvent("last")))(t); n != 41 {
			t.Errorf("the next number is %d, want 41", n)
		}
	})

	t.Run("they come in order and by page", func(t *testing.T) {
		s := open(t)
		remember(t, s, runRecord("r", "a"), runRecord("r0", "a"))
		say(t, s, "r", "a", "b", "c")
		say(t, s, "r0", "other")
		wantRunEvents(t, s, "r", 0, 9, "1 a", "2 b", "3 c")
		wantRunEvents(t, s, "r", 0, 2, "1 a", "2 b")
		wantRunEvents(t, s, "r", 2, 2, "3 c")
		wantRunEvents(t, s, "r", -1, 1, "1 a")
		wantRunEvents(t, s, "r", 3, 9)
		wantRunEvents(t, s, "r", 0, 0)
		wantRunEvents(t, s, "nobody", 0, 9)
		wantRunEvents(t, s, "", 0, 9)
	})

	t.Run("what was said is there, and is the caller's", func(t *testing.T) {
		s := open(t)
		remember(t, s, runRecord("r", "a"))
		for i, payload := range []string{"", `{ "a": ["<b>", 1] }`, `"` + strings.Repeat("long ", 50_000) + `"`} {
			given := []byte(payload)
			n := must(s.AppendRunEvent(t.Context(), "r", state.RunEvent{Seq: 99, Type: "t", At: at(i), Payload: given}))(t)
			clear(given)
			got := must(s.RunEvents(t.Context(), "r", n-1, 1))(t)
			if len(got) != 1 || got[0].Seq != i+1 || got[0].Type != "t" || !got[0].At.Equal(at(i)) || string(got[0].Payload) != payload {
				t.Errorf("event %d is %+v", i, got)
			}
		}
	})

	t.Run("a run must be there, and be a run", func(t *testing.T) {
		s := open(t)
		remember(t, s, agentRecord("a"), runRecord("r", "a"))
		_, err := s.AppendRunEvent(t.Context(), "a", runEvent("x"))
		wantErr(t, err, state.ErrNotFound, "an event of an agent")
		say(t, s, "r", "x")
		if err := s.DeleteAgentRecord(t.Context(), state.RecordRun, "r"); err != nil {
			t.Fatal(err)
		}
		_, err = s.AppendRunEvent(t.Context(), "r", runEvent("late"))
		wantErr(t, err, state.ErrNotFound, "an event of a run that was deleted")
		wantRunEvents(t, s, "r", 0, 9)
	})

	t.Run("what no store can hold is refused", func(t *testing.T) {
		s := open(t)
		remember(t, s, runRecord("r", "a"))
		for name, e := range map[string]state.RunEvent{
			"broken JSON":  {Payload: json.RawMessage(`{"a":`)},
			"a long type":  {Type: strings.Repeat("t", state.MaxID+1)},
			"a huge value": {Payload: append(append([]byte{'"'}, bytes.Repeat([]byte("a"), state.MaxRecord)...), '"')},
		} {
			_, err := s.AppendRunEvent(t.Context(), "r", e)
			wantErr(t, err, state.ErrInvalid, name)
		}
		_, err := s.AppendRunEvent(t.Context(), "a\x00", runEvent("x"))
		wantErr(t, err, state.ErrInvalid, "a run whose id holds NUL")
		wantRunEvents(t, s, "r", 0, 9)
	})
}

func wantRunEvents(t testing.TB, s state.Store, runID string, after, limit int, want ...string) {
	t.Helper()
	got := []string{}
	for _, e := range must(s.RunEvents(t.Context(), runID, after, limit))(t) {
		got = append(got, fmt.Sprintf("%d %s", e.Seq, e.Type))
	}
	wantJSON(t, got, append([]string{}, want...), fmt.Sprintf("%d events of %q after %d", limit, runID, after))
}

// say adds to what a random run said.
func (m *model) say(t *rapid.T) {
	run, e := rapid.SampledFrom(names).Draw(t, "run"), runEvent(rapid.SampledFrom(names).Draw(t, "type"))
	got, err := m.engine.AppendRunEvent(m.t.Context(), run, e)
	want, wantErr := m.memory.AppendRunEvent(m.t.Context(), run, e)
	same(t, got, want, err, wantErr)
}
