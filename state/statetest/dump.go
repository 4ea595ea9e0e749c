package statetest

import (
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// snapshot is all that can be seen of a store, except when deliveries were
// decided and letters were written.
type snapshot struct {
	Pending   []state.StoredDelivery
	All       []state.StoredDelivery
	Bodies    []string
	Letters   []state.DeadLetter
	Sessions  []state.Session
	Recent    []state.Session
	Turns     []state.Turn
	OpenTurns []state.Turn
	Approvals []state.Approval
	Audit     []state.AuditEntry
	Items     []state.OutboxItem
	Loose     []state.OutboxItem
	Counts    []int
	Keys      []state.KeyLink
	Timers    []state.Timer
	Wakes     []state.Wake
	Lifecycle []state.LifecycleEvent
	Records   []state.AgentRecord
	RunEvents []state.RunEvent
	Vault     []state.Secret
}

const all = 1 << 20

var farFuture = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

func dump(t testing.TB, s state.Store) snapshot {
	t.Helper()
	ctx := t.Context()
	snap := snapshot{
		Pending:   must(s.Pending(ctx, 0, all))(t),
		Letters:   must(s.DeadLetters(ctx, "", all))(t),
		All:       everyDelivery(t, s, state.DeliveryFilter{}, all),
		Sessions:  must(s.ListSessions(ctx, "", all))(t),
		Recent:    must(s.RecentSessions(ctx, state.SessionFilter{}, all))(t),
		OpenTurns: must(s.OpenTurns(ctx))(t),
		Loose:     must(s.OutboxItems(ctx, ""))(t),
		Keys:      must(s.SessionKeys(ctx, "", "", all))(t),
		Approvals: must(s.ListApprovals(ctx, state.ApprovalFilter{}, all))(t),
		Audit:     must(s.AuditEntries(ctx, time.Time{}, 0, all))(t),
		Timers:    must(s.DueTimers(ctx, farFuture, all))(t),
		Wakes:     must(s.PendingWakes(ctx, "", all))(t),
		Lifecycle: must(s.PendingLifecycle(ctx))(t),
		Vault:     must(s.Secrets(ctx, "", all))(t),
	}
	for i, d := range snap.Pending {
		snap.Bodies = append(snap.Bodies, string(d.Body))
		snap.Pending[i] = timeless(d)
	}
	for i, d := range snap.All {
		snap.All[i] = timeless(d)
	}
	for i := range snap.Letters {
		snap.Letters[i].At = time.Time{}
	}
	for _, row := range snap.Sessions {
		snap.Turns = append(snap.Turns, must(s.Turns(ctx, row.ID))(t)...)
		snap.Items = append(snap.Items, must(s.OutboxItems(ctx, row.ID))(t)...)
	}
	for _, key := range names {
		snap.Counts = append(snap.Counts, must(s.Counted(ctx, key))(t))
	}
	for _, kind := range []state.RecordKind{state.RecordAgent, state.RecordRun, state.RecordCheckpoint} {
		snap.Records = append(snap.Records, must(s.AgentRecords(ctx, kind, "", "", all))(t)...)
	}
	for _, r := range snap.Records {
		snap.RunEvents = append(snap.RunEvents, must(s.RunEvents(ctx, r.ID, 0, all))(t)...)
	}
	return snap
}

// timeless is a delivery of which only whether it was decided is known, not when.
func timeless(d state.StoredDelivery) state.StoredDelivery {
	if !d.DecidedAt.IsZero() {
		d.DecidedAt = at(0)
	}
	return d
}

// everyDelivery lists deliveries by pages.
func everyDelivery(t testing.TB, s state.Store, f state.DeliveryFilter, page int) []state.StoredDelivery {
	t.Helper()
	var rows []state.StoredDelivery
	for {
		found, next, err := s.Deliveries(t.Context(), f, page)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > page {
			t.Fatalf("a page of %d has %d deliveries", page, len(found))
		}
		rows = append(rows, found...)
		if next == 0 {
			return rows
		}
		if f.Before != 0 && next >= f.Before {
			t.Fatalf("the page before %d goes on before %d", f.Before, next)
		}
		f.Before = next
	}
}
