package statetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// Open opens an empty store and arranges that it is closed with the test.
type Open func(t testing.TB) state.Store

// Run proves what every engine promises.
func Run(t *testing.T, open Open) {
	t.Run("Inbox", func(t *testing.T) { runInbox(t, open) })
	t.Run("Queue", func(t *testing.T) { runQueue(t, open) })
	t.Run("Facts", func(t *testing.T) { runFacts(t, open) })
	t.Run("Sessions", func(t *testing.T) { runSessions(t, open) })
	t.Run("Turns", func(t *testing.T) { runTurns(t, open) })
	t.Run("Commit", func(t *testing.T) { runCommit(t, open) })
	t.Run("Counts", func(t *testing.T) { runCounts(t, open) })
	t.Run("Outbox", func(t *testing.T) { runOutbox(t, open) })
	t.Run("Approvals", func(t *testing.T) { runApprovals(t, open) })
	t.Run("Audit", func(t *testing.T) { runAudit(t, open) })
	t.Run("Listings", func(t *testing.T) { runListings(t, open) })
	t.Run("Timers", func(t *testing.T) { runTimers(t, open) })
	t.Run("Lifecycle", func(t *testing.T) { runLifecycle(t, open) })
	t.Run("AgentRecords", func(t *testing.T) { runAgentRecords(t, open) })
	t.Run("RunEvents", func(t *testing.T) { runRunEvents(t, open) })
	t.Run("Vault", func(t *testing.T) { runVault(t, open) })
	t.Run("Admin", func(t *testing.T) { runAdmin(t, open) })
}

// epochDay is when everything in the suites happens.
var epochDay = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return epochDay.Add(time.Duration(seconds) * time.Second) }

func delivery(id string) state.Delivery {
	return state.Delivery{
		Source: "github", ID: id, Event: "pull_request",
		Headers:    map[string]string{"X-Github-Event": "pull_request"},
		Body:       fmt.Appendf(nil, `{"action":"opened","id":%q}`, id),
		ReceivedAt: at(0),
	}
}

func session(id string) state.Session {
	return state.Session{
		ID: id, Channel: "github", Key: "github:repo:1:pull:" + id, Title: "Fix the build",
		Mode: state.ModeChat, Status: state.SessionActive,
		Revision:  state.Revision{ID: "sha1", At: at(1)},
		Surface:   map[string]string{"comment": "17"},
		CreatedAt: at(0), UpdatedAt: at(0),
	}
}

func turn(id, sessionID string) state.Turn {
	return state.Turn{
		ID: id, SessionID: sessionID, Status: state.TurnQueued, Message: "review",
		Request: json.RawMessage(`{"n":1}`), QueuedAt: at(0),
		Outputs: map[string]json.RawMessage{"review": json.RawMessage(`{"findings":[]}`)},
		Writes:  []state.Write{{Key: "begun"}, {Key: "done", Answer: json.RawMessage(`{"text":"pushed"}`)}},
	}
}

func owed(id, sessionID string) state.OutboxItem {
	return state.OutboxItem{
		ID: id, SessionID: sessionID, Channel: "github", Kind: "comment",
		Payload: json.RawMessage(`{"body":"hello"}`), CreatedAt: at(0),
	}
}

// The must functions end the test on an error.

func accept(t testing.TB, s state.Store, id string) state.StoredDelivery {
	t.Helper()
	outcome, err := s.Accept(t.Context(), delivery(id))
	if err != nil || outcome != state.Fresh {
		t.Fatalf("Accept %s: outcome %d, error %v; want Fresh", id, outcome, err)
	}
	return must(s.Delivery(t.Context(), "github", id))(t)
}

func commit(t testing.TB, s state.Store, c state.Change) uint64 {
	t.Helper()
	id, err := s.Commit(t.Context(), c)
	if err != nil {
		t.Fatalf("Commit: %v", err)
	}
	return id
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func wantErr(t testing.TB, err, want error, doing string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", doing, err, want)
	}
}

// wantJSON compares what two values say.
func wantJSON(t testing.TB, got, want any, what string) {
	t.Helper()
	g, w := mustJSON(t, got), mustJSON(t, want)
	if g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}

func mustJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// signalled reports whether a merged signal has come; it must have, since
// engines send before they answer.
func signalled(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func itemIDs(items []state.OutboxItem) []string {
	ids := make([]string, 0, len(items))
	for _, item := range items {
		ids = append(ids, item.ID)
	}
	return ids
}
