package sessions

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/bridge/storetest"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
	"github.com/liaison-bot/liaison/state/memstore"
)

func TestAgentStoreIsABridgesStore(t *testing.T) {
	t.Parallel()
	t.Run("bbolt", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(t *testing.T) bridge.Store {
			s, err := boltstore.Open(filepath.Join(t.TempDir(), "liaison.db"), boltstore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			return NewAgentStore(s)
		})
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(*testing.T) bridge.Store { return NewAgentStore(memstore.New(memstore.Options{})) })
	})
}

// A bridge branches on its own errors, an operator on those of state.
func TestAgentStoreTellsErrorsApart(t *testing.T) {
	t.Parallel()
	store := memstore.New(memstore.Options{})
	agents, ctx := NewAgentStore(store), t.Context()
	a := bridge.Record{Kind: bridge.RecordAgent, ID: "a", Data: []byte(`{"name":"x"}`)}
	run := bridge.Record{Kind: bridge.RecordRun, ID: "r", AgentID: "a"}
	if err := errors.Join(agents.Create(ctx, a), agents.Create(ctx, run)); err != nil {
		t.Fatal(err)
	}
	_, getting := agents.Get(ctx, bridge.RecordRun, "x")
	_, appending := agents.Append(ctx, "x", bridge.RunEvent{Type: "t"})
	_, listing := agents.List(ctx, "unknown", "", "", 1)
	for name, c := range map[string]struct{ err, bridge, state error }{
		"a record that is not there": {getting, bridge.ErrNoRecord, state.ErrNotFound},
		"an update of it":            {agents.Update(ctx, bridge.Record{Kind: bridge.RecordAgent, ID: "x"}), bridge.ErrNoRecord, state.ErrNotFound},
		"an event of it":             {appending, bridge.ErrNoRecord, state.ErrNotFound},
		"a record that is there":     {agents.Create(ctx, a), bridge.ErrRecordExists, state.ErrExists},
		"an unknown kind":            {listing, state.ErrInvalid, state.ErrInvalid},
	} {
		if !errors.Is(c.err, c.bridge) || !errors.Is(c.err, c.state) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if _, err := agents.Append(ctx, "r", bridge.RunEvent{Type: "t", At: time.Unix(1, 0), Payload: []byte(`1`)}); err != nil {
		t.Error(err)
	}
	if events, err := agents.Events(ctx, "r", 0, 9); err != nil || len(events) != 1 || events[0].Seq != 1 || string(events[0].Payload) != "1" {
		t.Errorf("%+v, %v", events, err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := agents.Delete(ctx, bridge.RecordAgent, "a"); !errors.Is(err, state.ErrUnavailable) || errors.Is(err, bridge.ErrNoRecord) {
		t.Errorf("a closed store says %v", err)
	}
}
