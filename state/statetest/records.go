package statetest

import (
	"bytes"
	"fmt"
	"strings"
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
