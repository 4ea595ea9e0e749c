package statetest

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/liaison-bot/liaison/state"
)

func runCommit(t *testing.T, open Open) {
	t.Run("ids grow", func(t *testing.T) {
		s := open(t)
		last := uint64(0)
		for _, c := range []state.Change{
			{Sessions: []state.Session{session("ses_1")}},
			{Confirm: []uint64{1}}, {},
			{Facts: []state.Fact{{Key: "f"}}},
		} {
			id := commit(t, s, c)
			if id <= last {
				t.Errorf("commit %d after %d", id, last)
			}
			last = id
		}
	})

	t.Run("ids grow among many at the same time", func(t *testing.T) {
		s := open(t)
		var mu sync.Mutex
		ids := map[uint64]bool{}
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				id, err := s.Commit(t.Context(), state.Change{Facts: []state.Fact{{Key: string(rune('a' + i))}}})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				ids[id] = true
			})
		}
		all.Wait()
		if len(ids) != 40 {
			t.Errorf("%d ids for 40 commits", len(ids))
		}
	})

	for name, spoil := range spoilers() {
		t.Run("nothing is applied when refused: "+name, func(t *testing.T) {
			s := open(t)
			prepare(t, s)
			before := dump(t, s)
			c := everything(s)
			want := spoil(s, &c)
			_, err := s.Commit(t.Context(), c)
			if errors.Is(want, errSpent) {
				if spent, ok := errors.AsType[*state.BudgetError](err); !ok || spent.Key != "a" {
					t.Errorf("Commit: error %v, want a budget that is spent", err)
				}
			} else if want != nil {
				wantErr(t, err, want, "Commit")
			} else if _, ok := errors.AsType[*state.FactClaimedError](err); !ok {
				t.Errorf("Commit: error %v, want a claimed fact", err)
			}
			wantJSON(t, dump(t, s), before, "the store afterwards")
			commit(t, s, everything(s))
			if mustJSON(t, dump(t, s)) == mustJSON(t, before) {
				t.Error("the change without the fault changed nothing: the test proves nothing")
			}
		})
	}

	t.Run("a cancelled context commits nothing", func(t *testing.T) {
		s := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.Commit(ctx, state.Change{Facts: []state.Fact{{Key: "f"}}})
		wantErr(t, err, context.Canceled, "Commit")
		commit(t, s, state.Change{Facts: []state.Fact{{Key: "f"}}})
	})
}

// prepare stores what everything changes.
func prepare(t testing.TB, s state.Store) {
	accept(t, s, "a")
	accept(t, s, "b")
	commit(t, s, state.Change{
		Facts:      []state.Fact{{Key: "taken", By: "someone"}},
		Counts:     []state.Count{{Key: "a", Limit: 1, Expires: at(9)}},
		Sessions:   []state.Session{session("ses_0"), session("ses_9")},
		Keys:       []state.KeyLink{{Key: "key_9", SessionID: "ses_9"}, {Key: "old_9", SessionID: "ses_9"}},
		Turns:      []state.Turn{turn("trn_0", "ses_0")},
		Approvals:  []state.Approval{approval("apr_0", "ses_0", 0)},
		Audit:      []state.AuditEntry{audited(0, "asked")},
		Outbox:     []state.OutboxItem{owed("out_0", "ses_0"), owed("out_9", "ses_9")},
		Timers:     []state.Timer{{ID: "tmr_0", SessionID: "ses_0", Due: at(9)}},
		Wakes:      []state.Wake{{ID: "wak_0", SessionID: "ses_0", At: at(0)}},
		Deliveries: []state.DeliveryUpdate{{Seq: 2, Status: state.DeliveryDone}},
		Settle:     nil,
	})
	commit(t, s, state.Change{Settle: []state.OutboxSettlement{{ID: "out_9", Result: state.OutboxDone}}})
	commit(t, s, state.Change{Lifecycle: []state.LifecycleEvent{lifecycle("turn.queued", "ses_0")}})
	remember(t, s, agentRecord("agt_0"), runRecord("run_0", "agt_0"), checkpoint("agt_0/0", "agt_0"))
	say(t, s, "run_0", "status", "assistant")
}

// everything is a change with all kinds of rows, valid after prepare.
func everything(s state.Store) state.Change {
	old := session("ses_0")
	old.Version = 1
	decided := approval("apr_0", "ses_0", 0)
	decided.Version, decided.Ended = 1, true
	running := turn("trn_0", "ses_0")
	running.Version, running.Status, running.Epoch = 1, state.TurnRunning, s.Epoch()
	return state.Change{
		Facts:        []state.Fact{{Key: "new", By: "me"}},
		Counts:       []state.Count{{Key: "a", Limit: 2, Expires: at(9)}, {Key: "b", Limit: 1, Expires: at(9)}},
		Deliveries:   []state.DeliveryUpdate{{Seq: 1, Status: state.DeliveryDone, Decision: "ran"}},
		Sessions:     []state.Session{old, session("ses_1")},
		Keys:         []state.KeyLink{{Key: "key_1", SessionID: "ses_1"}, {Key: "alias_1", SessionID: "ses_1", Alias: true}},
		Unlink:       []string{"old_9"},
		Turns:        []state.Turn{running, turn("trn_1", "ses_1")},
		Approvals:    []state.Approval{decided, approval("apr_1", "ses_1", 1)},
		Audit:        []state.AuditEntry{audited(1, "approved"), audited(1, "asked")},
		Outbox:       []state.OutboxItem{owed("out_1", "ses_1")},
		Settle:       []state.OutboxSettlement{{ID: "out_0", Result: state.OutboxDead, Note: "gone"}},
		Timers:       []state.Timer{{ID: "tmr_1", SessionID: "ses_1", Due: at(5)}},
		CancelTimers: []string{"tmr_0"},
		Wakes:        []state.Wake{{ID: "wak_1", SessionID: "ses_1", At: at(1)}},
		DoneWakes:    []string{"wak_0"},
		Lifecycle:    []state.LifecycleEvent{lifecycle("turn.started", "ses_0")},
		Confirm:      []uint64{3},
	}
}

// errSpent stands for a budget that is spent.
var errSpent = errors.New("budget")

// spoilers make the change fail on one precondition each, and say how; nil is a
// claimed fact.
func spoilers() map[string]func(state.Store, *state.Change) error {
	return map[string]func(state.Store, *state.Change) error{
		"a claimed fact": func(_ state.Store, c *state.Change) error {
			c.Facts = append(c.Facts, state.Fact{Key: "taken"})
			return nil
		},
		"a claimed fact and a spent budget": func(_ state.Store, c *state.Change) error {
			c.Facts = append(c.Facts, state.Fact{Key: "taken"})
			c.Counts[0].Limit = 1
			return nil
		},
		"a spent budget": func(_ state.Store, c *state.Change) error {
			c.Counts[0].Limit = 1
			return errSpent
		},
		"a budget of nothing": func(_ state.Store, c *state.Change) error {
			c.Counts[0].Limit = 0
			return errSpent
		},
		"a spent budget and a stale session": func(_ state.Store, c *state.Change) error {
			c.Counts[0].Limit, c.Sessions[0].Version = 1, 7
			return state.ErrConflict
		},
		"a budget below nothing": func(_ state.Store, c *state.Change) error {
			c.Counts[0].Limit = -1
			return state.ErrInvalid
		},
		"a count twice": func(_ state.Store, c *state.Change) error {
			c.Counts = append(c.Counts, c.Counts[1])
			return state.ErrInvalid
		},
		"an output that is no JSON": func(_ state.Store, c *state.Change) error {
			c.Turns[0].Outputs = map[string]json.RawMessage{"review": json.RawMessage("{")}
			return state.ErrInvalid
		},
		"an answer that is no JSON": func(_ state.Store, c *state.Change) error {
			c.Turns[0].Writes = []state.Write{{Key: "k", Answer: json.RawMessage("{")}}
			return state.ErrInvalid
		},
		"a stale session": func(_ state.Store, c *state.Change) error {
			c.Sessions[0].Version = 7
			return state.ErrConflict
		},
		"a stale turn": func(_ state.Store, c *state.Change) error {
			c.Turns[0].Version = 7
			return state.ErrConflict
		},
		"a fenced turn": func(s state.Store, c *state.Change) error {
			c.Turns[0].Epoch = s.Epoch() - 1
			return state.ErrFenced
		},
		"a second running turn": func(s state.Store, c *state.Change) error {
			second := turn("trn_2", "ses_0")
			second.Status, second.Epoch = state.TurnRunning, s.Epoch()
			c.Turns = append(c.Turns, second)
			return state.ErrConflict
		},
		"a stale approval": func(_ state.Store, c *state.Change) error {
			c.Approvals[0].Version = 7
			return state.ErrConflict
		},
		"an approval of no session": func(_ state.Store, c *state.Change) error {
			c.Approvals = append(c.Approvals, approval("apr_2", "ses_2", 0))
			return state.ErrNotFound
		},
		"an audit entry that is no JSON": func(_ state.Store, c *state.Change) error {
			c.Audit[0].Entry = json.RawMessage("{")
			return state.ErrInvalid
		},
		"a key of another session": func(_ state.Store, c *state.Change) error {
			c.Keys = append(c.Keys, state.KeyLink{Key: "key_9", SessionID: "ses_1"})
			return state.ErrConflict
		},
		"a key of no session": func(_ state.Store, c *state.Change) error {
			c.Keys = append(c.Keys, state.KeyLink{Key: "key_2", SessionID: "ses_2"})
			return state.ErrNotFound
		},
		"another owner": func(_ state.Store, c *state.Change) error {
			c.Sessions[0].Principal = "someone"
			return state.ErrInvalid
		},
		"a replay of what is pending": func(_ state.Store, c *state.Change) error {
			c.Deliveries[0] = state.DeliveryUpdate{Seq: 1, Status: state.DeliveryPending, Replay: true}
			return state.ErrConflict
		},
		"a replay that settles": func(_ state.Store, c *state.Change) error {
			c.Deliveries = append(c.Deliveries, state.DeliveryUpdate{Seq: 2, Status: state.DeliveryDone, Replay: true})
			return state.ErrInvalid
		},
		"an unknown delivery": func(_ state.Store, c *state.Change) error {
			c.Deliveries = append(c.Deliveries, state.DeliveryUpdate{Seq: 99, Status: state.DeliveryDone})
			return state.ErrNotFound
		},
		"a settled delivery": func(_ state.Store, c *state.Change) error {
			c.Deliveries = append(c.Deliveries, state.DeliveryUpdate{Seq: 2, Status: state.DeliveryIgnored})
			return state.ErrConflict
		},
		"an unknown outbox item": func(_ state.Store, c *state.Change) error {
			c.Settle = append(c.Settle, state.OutboxSettlement{ID: "out_7", Result: state.OutboxDone})
			return state.ErrNotFound
		},
		"a settled outbox item": func(_ state.Store, c *state.Change) error {
			c.Settle = append(c.Settle, state.OutboxSettlement{ID: "out_9", Result: state.OutboxRetry})
			return state.ErrConflict
		},
		"broken JSON": func(_ state.Store, c *state.Change) error {
			c.Outbox[0].Payload = json.RawMessage(`{"a":`)
			return state.ErrInvalid
		},
		"an empty id": func(_ state.Store, c *state.Change) error {
			c.Wakes = append(c.Wakes, state.Wake{})
			return state.ErrInvalid
		},
		"a session twice": func(_ state.Store, c *state.Change) error {
			c.Sessions = append(c.Sessions, c.Sessions[0])
			return state.ErrInvalid
		},
		"a key twice": func(_ state.Store, c *state.Change) error {
			c.Keys = append(c.Keys, state.KeyLink{Key: "key_1", SessionID: "ses_0"})
			return state.ErrInvalid
		},
		"a result that is none": func(_ state.Store, c *state.Change) error {
			c.Settle[0].Result = "maybe"
			return state.ErrInvalid
		},
	}
}
