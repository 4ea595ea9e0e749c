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

func agentRecord(id string) state.AgentRecord {
	return state.AgentRecord{Kind: state.RecordAgent, ID: id, Data: fmt.Appendf(nil, `{"agentId":%q}`, id)}
}

func runRecord(id, agentID string) state.AgentRecord {
	return state.AgentRecord{Kind: state.RecordRun, ID: id, AgentID: agentID, Data: fmt.Appendf(nil, `{"runId":%q}`, id)}
}

// checkpoint holds bytes that are no text.
func checkpoint(id, agentID string) state.AgentRecord {
	return state.AgentRecord{Kind: state.RecordCheckpoint, ID: id, AgentID: agentID, Data: []byte{0, 0xff, '\n', 0xfe}}
}

// remember creates records that are not there.
func remember(t testing.TB, s state.Store, records ...state.AgentRecord) {
	t.Helper()
	for _, r := range records {
		if err := s.CreateAgentRecord(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

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

func runAgentRecords(t *testing.T, open Open) {
	t.Run("what was created is there, and is the caller's", func(t *testing.T) {
		s := open(t)
		for _, r := range []state.AgentRecord{
			agentRecord("a"), runRecord("a", "a"), checkpoint("a/1", "a"),
			{Kind: state.RecordAgent, ID: "empty"},
			{Kind: state.RecordCheckpoint, ID: "a/large", AgentID: "a", Data: bytes.Repeat([]byte("checkpoint "), 50_000)},
		} {
			given := r
			given.Data = bytes.Clone(r.Data)
			remember(t, s, given)
			clear(given.Data)
			got := must(s.AgentRecord(t.Context(), r.Kind, r.ID))(t)
			wantJSON(t, got, r, "the record")
			clear(got.Data)
			wantJSON(t, must(s.AgentRecord(t.Context(), r.Kind, r.ID))(t), r, "the record once more")
			wantErr(t, s.CreateAgentRecord(t.Context(), r), state.ErrExists, "creating it again")
		}
	})

	t.Run("what is not there is said", func(t *testing.T) {
		s := open(t)
		remember(t, s, agentRecord("a"))
		_, err := s.AgentRecord(t.Context(), state.RecordRun, "a")
		wantErr(t, err, state.ErrNotFound, "reading a run under an agent's id")
		wantErr(t, s.UpdateAgentRecord(t.Context(), runRecord("a", "a")), state.ErrNotFound, "updating it")
		if err := s.DeleteAgentRecord(t.Context(), state.RecordRun, "a"); err != nil {
			t.Errorf("deleting it: %v", err)
		}
		must(s.AgentRecord(t.Context(), state.RecordAgent, "a"))(t)
	})

	t.Run("an update replaces, also the agent", func(t *testing.T) {
		s := open(t)
		remember(t, s, runRecord("r", "a"))
		moved := runRecord("r", "b")
		moved.Data = nil
		if err := s.UpdateAgentRecord(t.Context(), moved); err != nil {
			t.Fatal(err)
		}
		wantJSON(t, must(s.AgentRecord(t.Context(), state.RecordRun, "r"))(t), moved, "the record")
		wantRecords(t, s, state.RecordRun, "a", "", 9)
		wantRecords(t, s, state.RecordRun, "b", "", 9, "r")
	})

	t.Run("lists come in order, by page and by agent", func(t *testing.T) {
		s := open(t)
		// One agent's id begins with the other's.
		remember(t, s, runRecord("r3", "a"), runRecord("r1", "ab"), runRecord("r2", "a"), runRecord("r10", "a"),
			agentRecord("a"), agentRecord("ab"), checkpoint("a/2", "a"), checkpoint("a/1", "a"))
		wantRecords(t, s, state.RecordRun, "", "", 9, "r1", "r10", "r2", "r3")
		wantRecords(t, s, state.RecordRun, "", "", 2, "r1", "r10")
		wantRecords(t, s, state.RecordRun, "", "r10", 2, "r2", "r3")
		wantRecords(t, s, state.RecordRun, "a", "", 9, "r10", "r2", "r3")
		wantRecords(t, s, state.RecordRun, "a", "r10", 1, "r2")
		wantRecords(t, s, state.RecordRun, "a", "r15", 9, "r2", "r3")
		wantRecords(t, s, state.RecordRun, "ab", "", 9, "r1")
		wantRecords(t, s, state.RecordRun, "nobody", "", 9)
		wantRecords(t, s, state.RecordAgent, "", "", 9, "a", "ab")
		wantRecords(t, s, state.RecordCheckpoint, "a", "", 9, "a/1", "a/2")
		wantRecords(t, s, state.RecordRun, "", "", 0)
		wantRecords(t, s, state.RecordRun, "a", "", -1)
	})

	t.Run("an agent takes what is its own with it", func(t *testing.T) {
		s := open(t)
		remember(t, s, agentRecord("a"), agentRecord("ab"), runRecord("r1", "a"), runRecord("r2", "a"), runRecord("r3", "ab"),
			checkpoint("a/1", "a"), checkpoint("ab/1", "ab"))
		say(t, s, "r1", "one", "two")
		say(t, s, "r3", "three")
		for range 2 {
			if err := s.DeleteAgentRecord(t.Context(), state.RecordAgent, "a"); err != nil {
				t.Fatal(err)
			}
		}
		wantRecords(t, s, state.RecordAgent, "", "", 9, "ab")
		wantRecords(t, s, state.RecordRun, "", "", 9, "r3")
		wantRecords(t, s, state.RecordCheckpoint, "", "", 9, "ab/1")
		wantRunEvents(t, s, "r1", 0, 9)
		wantRunEvents(t, s, "r3", 0, 9, "1 three")
		remember(t, s, agentRecord("a"), runRecord("r1", "a"))
		say(t, s, "r1", "anew")
		wantRunEvents(t, s, "r1", 0, 9, "1 anew")
	})

	t.Run("runs whose agent has no record go with its name", func(t *testing.T) {
		s := open(t)
		remember(t, s, runRecord("r", "a"))
		if err := s.DeleteAgentRecord(t.Context(), state.RecordAgent, "a"); err != nil {
			t.Fatal(err)
		}
		wantRecords(t, s, state.RecordRun, "", "", 9)
	})

	t.Run("what no store can hold is refused", func(t *testing.T) {
		s := open(t)
		large := checkpoint("a/1", "a")
		large.Data = make([]byte, state.MaxRecord+1)
		for name, r := range map[string]state.AgentRecord{
			"an unknown kind":          {Kind: "runEvents", ID: "a"},
			"no id":                    {Kind: state.RecordAgent},
			"an id with NUL":           {Kind: state.RecordAgent, ID: "a\x00b"},
			"an id of a megabyte":      {Kind: state.RecordAgent, ID: strings.Repeat("x", 1<<20)},
			"a run of no agent":        {Kind: state.RecordRun, ID: "r"},
			"an agent of an agent":     {Kind: state.RecordAgent, ID: "a", AgentID: "b"},
			"a run of a broken agent":  {Kind: state.RecordRun, ID: "r", AgentID: "a\x00"},
			"one byte above the limit": large,
		} {
			wantErr(t, s.CreateAgentRecord(t.Context(), r), state.ErrInvalid, name)
			wantErr(t, s.UpdateAgentRecord(t.Context(), r), state.ErrInvalid, name)
		}
		large.Data = large.Data[1:]
		remember(t, s, large)
		_, err := s.AgentRecord(t.Context(), "x", "a")
		wantErr(t, err, state.ErrInvalid, "reading an unknown kind")
		_, err = s.AgentRecords(t.Context(), "x", "", "", 1)
		wantErr(t, err, state.ErrInvalid, "listing an unknown kind")
		wantErr(t, s.DeleteAgentRecord(t.Context(), state.RecordRun, ""), state.ErrInvalid, "deleting nothing")
	})
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

func wantRecords(t testing.TB, s state.Store, kind state.RecordKind, agentID, after string, limit int, want ...string) {
	t.Helper()
	got := []string{}
	for _, r := range must(s.AgentRecords(t.Context(), kind, agentID, after, limit))(t) {
		if r.Kind != kind || agentID != "" && r.AgentID != agentID {
			t.Errorf("listed among %s of %q: %+v", kind, agentID, r)
		}
		got = append(got, r.ID)
	}
	wantJSON(t, got, append([]string{}, want...), fmt.Sprintf("%d %s of %q after %q", limit, kind, agentID, after))
}

func wantRunEvents(t testing.TB, s state.Store, runID string, after, limit int, want ...string) {
	t.Helper()
	got := []string{}
	for _, e := range must(s.RunEvents(t.Context(), runID, after, limit))(t) {
		got = append(got, fmt.Sprintf("%d %s", e.Seq, e.Type))
	}
	wantJSON(t, got, append([]string{}, want...), fmt.Sprintf("%d events of %q after %d", limit, runID, after))
}

// record creates, changes or removes a random record in both stores.
func (m *model) record(t *rapid.T) {
	agent := rapid.SampledFrom(names).Draw(t, "agent")
	r := agentRecord(agent)
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 1:
		r = runRecord(rapid.SampledFrom(names).Draw(t, "run"), agent)
	case 2:
		r = checkpoint(agent+"/1", agent)
	}
	r.Data = rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "data")
	do := rapid.IntRange(0, 4).Draw(t, "do")
	change := func(s state.Store) error {
		switch do {
		case 0:
			return s.DeleteAgentRecord(m.t.Context(), r.Kind, r.ID)
		case 1:
			return s.UpdateAgentRecord(m.t.Context(), r)
		default:
			return s.CreateAgentRecord(m.t.Context(), r)
		}
	}
	same(t, nil, nil, change(m.engine), change(m.memory))
}

// say adds to what a random run said.
func (m *model) say(t *rapid.T) {
	run, e := rapid.SampledFrom(names).Draw(t, "run"), runEvent(rapid.SampledFrom(names).Draw(t, "type"))
	got, err := m.engine.AppendRunEvent(m.t.Context(), run, e)
	want, wantErr := m.memory.AppendRunEvent(m.t.Context(), run, e)
	same(t, got, want, err, wantErr)
}
