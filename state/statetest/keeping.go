package statetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// KeepingStore is a store that lets old things go.
type KeepingStore interface {
	state.Store
	state.Retainer
	state.PackIndex
}

// OpenKeeping opens an empty store with a clock and arranges that it is closed
// with the test.
type OpenKeeping func(t testing.TB, now func() time.Time) KeepingStore

// clock is what a test of ages sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// RunKeeping proves what every engine promises about what is old.
func RunKeeping(t *testing.T, open OpenKeeping) {
	for name, run := range map[string]func(*testing.T, KeepingStore, *clock){
		"bodies":                      keepsBodies,
		"deliveries":                  keepsDeliveries,
		"facts":                       keepsFacts,
		"counts":                      keepsCounts,
		"effects of no session":       keepsEffects,
		"sessions go whole":           dropsSessions,
		"sessions in use stay":        keepsOpenSessions,
		"approvals and the audit log": keepsAudit,
		"an agent goes step by step":  dropsAgents,
		"settled sessions are packed": findsSettled,
		"packed records":              indexesPacked,
	} {
		t.Run("Keeping/"+name, func(t *testing.T) {
			c := &clock{at: epochDay}
			run(t, open(t, c.now), c)
		})
	}
}

func decide(t testing.TB, s state.Store, id string, status state.DeliveryStatus) {
	t.Helper()
	d := must(s.Delivery(t.Context(), "github", id))(t)
	commit(t, s, state.Change{Deliveries: []state.DeliveryUpdate{{Seq: d.Seq, Status: status, Decision: "because"}}})
}

// dropped checks what a call that removes by age says.
func dropped(t testing.TB, doing string, want int, wantMore bool) func(int, bool, error) {
	return func(n int, more bool, err error) {
		t.Helper()
		if err != nil || n != want || more != wantMore {
			t.Errorf("%s: %d, more %t, %v; want %d, %t", doing, n, more, err, want, wantMore)
		}
	}
}

func keepsBodies(t *testing.T, s KeepingStore, c *clock) {
	ctx := t.Context()
	for _, id := range []string{"done", "ignored", "dead", "pending", "late", "replayed"} {
		accept(t, s, id)
	}
	decide(t, s, "done", state.DeliveryDone)
	decide(t, s, "ignored", state.DeliveryIgnored)
	decide(t, s, "dead", state.DeliveryDead)
	decide(t, s, "replayed", state.DeliveryDone)
	c.at = at(100)
	decide(t, s, "late", state.DeliveryDone)
	decide(t, s, "replayed", state.DeliveryPending)

	dropped(t, "too early", 0, false)(s.DropBodies(ctx, at(0), 10))
	dropped(t, "the first", 1, true)(s.DropBodies(ctx, at(50), 1))
	dropped(t, "the second", 1, false)(s.DropBodies(ctx, at(50), 10))
	dropped(t, "again", 0, false)(s.DropBodies(ctx, at(50), 10))
	for id, kept := range map[string]bool{
		"done": false, "ignored": false, "dead": true, "pending": true, "late": true, "replayed": true,
	} {
		d := must(s.Delivery(ctx, "github", id))(t)
		if got := len(d.Body) > 0; got != kept {
			t.Errorf("%s keeps its body: %t, want %t", id, got, kept)
		}
		if outcome, err := s.Accept(ctx, delivery(id)); id != "dead" && (err != nil || outcome != state.Duplicate) {
			t.Errorf("%s comes again: %v, %v", id, outcome, err)
		}
	}
	// What is decided anew is as old as its last decision.
	c.at = at(200)
	decide(t, s, "replayed", state.DeliveryDone)
	dropped(t, "the late one", 1, false)(s.DropBodies(ctx, at(150), 10))
}

func keepsDeliveries(t *testing.T, s KeepingStore, c *clock) {
	ctx := t.Context()
	for _, id := range []string{"a", "b", "dead", "pending", "late"} {
		accept(t, s, id)
	}
	decide(t, s, "a", state.DeliveryDone)
	dropped(t, "a body", 1, false)(s.DropBodies(ctx, at(50), 10))
	decide(t, s, "b", state.DeliveryIgnored)
	decide(t, s, "dead", state.DeliveryDead)
	c.at = at(100)
	decide(t, s, "late", state.DeliveryDone)

	dropped(t, "old ones, with a body and without", 2, false)(s.DropDeliveries(ctx, at(50), 10))
	for id, kept := range map[string]bool{"a": false, "b": false, "dead": true, "pending": true, "late": true} {
		_, err := s.Delivery(ctx, "github", id)
		if got := err == nil; got != kept || err != nil && !errors.Is(err, state.ErrNotFound) {
			t.Errorf("%s: %v, kept %t", id, err, kept)
		}
	}
	if got := must(s.Pending(ctx, 0, 10))(t); len(got) != 1 || got[0].ID != "pending" {
		t.Errorf("pending: %+v", got)
	}
	// An id that was forgotten is new.
	if outcome, err := s.Accept(ctx, delivery("a")); err != nil || outcome != state.Fresh {
		t.Errorf("a comes again: %v, %v", outcome, err)
	}
}

func keepsFacts(t *testing.T, s KeepingStore, c *clock) {
	ctx := t.Context()
	commit(t, s, state.Change{Facts: []state.Fact{{Key: "old", By: "1"}, {Key: "older", By: "1"}}})
	c.at = at(100)
	commit(t, s, state.Change{Facts: []state.Fact{{Key: "new", By: "2"}}})
	dropped(t, "one", 1, true)(s.DropFacts(ctx, at(50), 1))
	dropped(t, "the other", 1, false)(s.DropFacts(ctx, at(50), 10))
	commit(t, s, state.Change{Facts: []state.Fact{{Key: "old", By: "3"}, {Key: "older", By: "3"}}})
	_, err := s.Commit(ctx, state.Change{Facts: []state.Fact{{Key: "new", By: "3"}}})
	if _, claimed := errors.AsType[*state.FactClaimedError](err); !claimed {
		t.Errorf("a fact that is kept: %v", err)
	}
	dropped(t, "those claimed anew", 0, false)(s.DropFacts(ctx, at(50), 10))
	dropped(t, "all", 3, false)(s.DropFacts(ctx, at(200), 10))
	dropped(t, "none is left", 0, false)(s.DropFacts(ctx, at(200), 10))
}

func keepsCounts(t *testing.T, s KeepingStore, _ *clock) {
	ctx := t.Context()
	count := func(key string, expires int) {
		t.Helper()
		commit(t, s, state.Change{Counts: []state.Count{{Key: key, Limit: 9, Expires: at(expires)}}})
	}
	count("a", 10)
	count("b", 20)
	count("c", 30)
	count("a", 40) // the last one holds
	dropped(t, "too early", 0, false)(s.DropCounts(ctx, at(20), 10))
	dropped(t, "the first", 1, true)(s.DropCounts(ctx, at(35), 1))
	dropped(t, "the second", 1, false)(s.DropCounts(ctx, at(35), 10))
	for key, want := range map[string]int{"a": 2, "b": 0, "c": 0} {
		if n := must(s.Counted(ctx, key))(t); n != want {
			t.Errorf("%d are counted under %s, want %d", n, key, want)
		}
	}
	count("b", 50) // begins anew
	dropped(t, "all", 2, false)(s.DropCounts(ctx, at(60), 10))
	dropped(t, "none is left", 0, false)(s.DropCounts(ctx, at(60), 10))
}

func keepsEffects(t *testing.T, s KeepingStore, c *clock) {
	ctx := t.Context()
	owe := func(ids ...string) {
		t.Helper()
		var c state.Change
		for _, id := range ids {
			c.Outbox = append(c.Outbox, owed(id, ""))
		}
		commit(t, s, c)
	}
	settle := func(id string, result state.OutboxResult) {
		t.Helper()
		commit(t, s, state.Change{Settle: []state.OutboxSettlement{{ID: id, Result: result}}})
	}
	owe("done", "dead", "open", "late")
	commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("of a session", "ses_1")}})
	settle("done", state.OutboxDone)
	settle("of a session", state.OutboxDone)
	settle("dead", state.OutboxDead)
	c.at = at(100)
	settle("late", state.OutboxDone)
	dropped(t, "too early", 0, false)(s.DropEffects(ctx, at(0), 10))
	dropped(t, "the old one", 1, false)(s.DropEffects(ctx, at(50), 10))
	owe("done", "dead", "open", "late") // only the first is new
	if got := itemIDs(must(s.OutboxItems(ctx, ""))(t)); fmt.Sprint(got) != "[open done]" {
		t.Errorf("owed: %v", got)
	}
	settle("dead", state.OutboxDone) // a person let it go
	dropped(t, "the others", 2, false)(s.DropEffects(ctx, at(200), 10))
	dropped(t, "none is left", 0, false)(s.DropEffects(ctx, at(200), 10))
}

// lived stores a session that has had everything, and has nothing open.
func lived(t testing.TB, s state.Store, id string) {
	t.Helper()
	ctx := t.Context()
	row := session(id)
	row.AgentID, row.Principal = "agt_"+id, "me"
	trn := turn("trn_"+id, id)
	trn.Status = state.TurnCompleted
	c := commit(t, s, state.Change{
		Sessions: []state.Session{row},
		Keys:     []state.KeyLink{{Key: row.Key, SessionID: id}, {Key: "alias:" + id, SessionID: id, Alias: true}},
		Turns:    []state.Turn{trn},
		Outbox:   []state.OutboxItem{owed(trn.ID+"/done", id), owed(trn.ID+"/dead", id)},
		Timers:   []state.Timer{{ID: "tim_" + id, SessionID: id, Due: at(10)}},
		Wakes:    []state.Wake{{ID: "wak_" + id, SessionID: id}},
		Lifecycle: []state.LifecycleEvent{{Event: state.Event{
			Type: "turn.completed", SessionID: id, TurnID: trn.ID, At: at(0)}}},
	})
	for _, end := range []state.OutboxSettlement{
		{ID: trn.ID + "/done", Result: state.OutboxDone},
		{ID: trn.ID + "/dead", Result: state.OutboxDead, Note: "no way"},
	} {
		commit(t, s, state.Change{Settle: []state.OutboxSettlement{end}})
	}
	commit(t, s, state.Change{CancelTimers: []string{"tim_" + id}, DoneWakes: []string{"wak_" + id}, Confirm: []uint64{c}})
	for _, r := range []state.AgentRecord{
		{Kind: state.RecordAgent, ID: "agt_" + id}, {Kind: state.RecordRun, ID: "run_" + id, AgentID: "agt_" + id},
	} {
		if err := s.CreateAgentRecord(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
}

func dropsSessions(t *testing.T, s KeepingStore, c *clock) {
	ctx := t.Context()
	lived(t, s, "ses_other")
	want := dump(t, s)
	c.at = at(-7200)
	lived(t, s, "ses_old")
	if err := errors.Join(s.FilesGone(ctx, at(0), []string{"ses_old"})); err != nil {
		t.Fatal(err)
	}
	c.at = at(0)
	if _, err := s.Pack(ctx, at(0), []state.PackMove{{SessionID: "ses_old", To: state.PackedRecord{Segment: 7, Length: 9}}}); err != nil {
		t.Fatal(err)
	}

	dropped(t, "old sessions", 1, false)(s.DropSessions(ctx, at(-3600), 10))
	gone := must(s.Dropped(ctx, 10))(t)
	if len(gone) != 1 || gone[0] != (state.DroppedSession{ID: "ses_old", AgentID: "agt_ses_old"}) {
		t.Errorf("dropped: %+v", gone)
	}
	dropped(t, "its agent", 2, false)(s.DropAgent(ctx, "agt_ses_old", 100))
	if err := errors.Join(s.ForgetDropped(ctx, "ses_old"), s.ForgetDropped(ctx, "ses_never")); err != nil {
		t.Error(err)
	}
	if left := must(s.Dropped(ctx, 10))(t); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}

	wantJSON(t, dump(t, s), want, "what is left")
	for _, key := range []string{session("ses_old").Key, "alias:ses_old"} {
		_, err := s.SessionByKey(ctx, key)
		wantErr(t, err, state.ErrNotFound, "its key "+key)
	}
	_, err := s.Turn(ctx, "trn_ses_old")
	wantErr(t, err, state.ErrNotFound, "its turn")
	_, err = s.Packed(ctx, "ses_old")
	wantErr(t, err, state.ErrNotFound, "its packed record")
	if segments := must(s.Segments(ctx))(t); len(segments) != 1 || segments[0].Live != 0 {
		t.Errorf("segments: %+v", segments)
	}
	if index, ok := s.(state.SessionIndex); ok {
		for _, f := range []state.SessionFilter{{}, {Principal: "me"}, {Channel: "github"}} {
			if rows := must(index.RecentSessions(ctx, f, 10))(t); len(rows) != 1 || rows[0].ID != "ses_other" {
				t.Errorf("listed with %+v: %+v", f, rows)
			}
		}
	}
	// All of it can come again, with the ids of what it owed.
	lived(t, s, "ses_old")
	if items := must(s.OutboxItems(ctx, "ses_old"))(t); len(items) != 0 {
		t.Errorf("items: %+v", items)
	}
}

func keepsOpenSessions(t *testing.T, s KeepingStore, c *clock) {
	ctx := t.Context()
	running := turn("trn_running", "ses_running")
	running.Status, running.Epoch = state.TurnRunning, s.Epoch()
	for id, open := range map[string]state.Change{
		"ses_queued":   {Turns: []state.Turn{turn("trn_queued", "ses_queued")}},
		"ses_running":  {Turns: []state.Turn{running}},
		"ses_owing":    {Outbox: []state.OutboxItem{owed("o", "ses_owing")}},
		"ses_timed":    {Timers: []state.Timer{{ID: "t", SessionID: "ses_timed", Due: at(10)}}},
		"ses_asking":   {Approvals: []state.Approval{approval("apr_asking", "ses_asking", 0)}},
		"ses_lined":    {Outbox: []state.OutboxItem{{ID: "l", SessionID: "ses_lined", Line: "line"}}},
		"ses_woken":    {Wakes: []state.Wake{{ID: "w", SessionID: "ses_woken"}}},
		"ses_unlogged": {Lifecycle: []state.LifecycleEvent{{Event: state.Event{Type: "a", SessionID: "ses_unlogged"}}}},
	} {
		lived(t, s, id)
		commit(t, s, open)
	}
	lived(t, s, "ses_idle")
	before := dump(t, s)
	c.at = at(7200)
	if got, more, err := s.Settled(ctx, at(3600), 100); err != nil || more || fmt.Sprint(got) != "[ses_idle]" {
		t.Errorf("settled: %v, more %t, %v", got, more, err)
	}
	// Those in use count as changed then, so that they are not looked at again.
	if got, more, err := s.Settled(ctx, at(3600), 1); err != nil || !more || fmt.Sprint(got) != "[ses_idle]" {
		t.Errorf("settled again: %v, more %t, %v", got, more, err)
	}
	c.at = at(4 * 3600)
	dropped(t, "old sessions", 1, false)(s.DropSessions(ctx, at(3*3600), 100))
	dropped(t, "those in use, again", 0, false)(s.DropSessions(ctx, at(3*3600), 100))
	after := dump(t, s)
	if len(after.Sessions) != len(before.Sessions)-1 || len(after.OpenTurns) != 2 || len(after.Timers) != 1 || len(after.Wakes) != 1 {
		t.Errorf("left: %+v", after.Sessions)
	}
	// What ends lets its session go.
	asked := must(s.Approval(ctx, "apr_asking"))(t)
	asked.Ended = true
	commit(t, s, state.Change{
		CancelTimers: []string{"t"}, DoneWakes: []string{"w"}, Approvals: []state.Approval{asked},
		Settle: []state.OutboxSettlement{{ID: "o", Result: state.OutboxDone}, {ID: "l", Result: state.OutboxDone}},
	})
	c.at = at(10 * 3600)
	dropped(t, "those that ended", 5, false)(s.DropSessions(ctx, at(9*3600), 100))
}

func dropsAgents(t *testing.T, s KeepingStore, _ *clock) {
	ctx := t.Context()
	put := func(kind state.RecordKind, id, agent string) {
		t.Helper()
		if err := s.CreateAgentRecord(ctx, state.AgentRecord{Kind: kind, ID: id, AgentID: agent}); err != nil {
			t.Fatal(err)
		}
	}
	for _, agent := range []string{"a", "b"} {
		put(state.RecordAgent, agent, "")
		put(state.RecordCheckpoint, "c"+agent, agent)
		for i := range 3 {
			run := fmt.Sprint("r", agent, i)
			put(state.RecordRun, run, agent)
			for range 4 {
				must(s.AppendRunEvent(ctx, run, state.RunEvent{Type: "x"}))(t)
			}
		}
	}
	total := 0
	for more := true; more; {
		var n int
		var err error
		if n, more, err = s.DropAgent(ctx, "a", 3); err != nil || n > 3 || more && n == 0 {
			t.Fatalf("%d, more %t, %v", n, more, err)
		}
		total += n
	}
	if total != 1+1+3+12 {
		t.Errorf("removed %d rows", total)
	}
	left := dump(t, s)
	if len(left.Records) != 5 || len(left.RunEvents) != 12 {
		t.Errorf("left %d records and %d events", len(left.Records), len(left.RunEvents))
	}
	for _, r := range left.Records {
		if r.ID != "b" && r.AgentID != "b" {
			t.Errorf("left: %+v", r)
		}
	}
}

func findsSettled(t *testing.T, s KeepingStore, c *clock) {
	ctx := t.Context()
	for i, id := range []string{"ses_b", "ses_a"} {
		c.at = at(3600 * i)
		lived(t, s, id)
	}
	settled := func(before time.Time, want string) {
		t.Helper()
		if got, _, err := s.Settled(ctx, before, 10); err != nil || fmt.Sprint(got) != want {
			t.Errorf("settled before %v: %v, %v; want %s", before, got, err, want)
		}
	}
	settled(at(0), "[]")
	settled(at(3600), "[ses_b]")
	settled(at(7200), "[ses_b ses_a]")
	if err := s.FilesGone(ctx, at(3600), []string{"ses_b", "ses_a", "ses_none"}); err != nil {
		t.Fatal(err)
	}
	settled(at(7200), "[ses_a]") // it changed since, so it may have files
	c.at = at(7200)
	commit(t, s, state.Change{Turns: []state.Turn{turn("trn_more", "ses_b")}})
	settled(at(14400), "[ses_a]") // the other is open again
	stored := must(s.Turn(ctx, "trn_more"))(t)
	stored.Status = state.TurnFailed
	commit(t, s, state.Change{Turns: []state.Turn{stored}})
	settled(at(14400), "[ses_a ses_b]")
}

func indexesPacked(t *testing.T, s KeepingStore, c *clock) {
	ctx := t.Context()
	for _, id := range []string{"ses_a", "ses_b", "ses_c"} {
		lived(t, s, id)
	}
	c.at = at(7200)
	commit(t, s, state.Change{Turns: []state.Turn{turn("trn_more", "ses_b")}})
	one, two := must(s.NewSegment(ctx))(t), must(s.NewSegment(ctx))(t)
	if one == two {
		t.Errorf("segment %d twice", one)
	}
	a := state.PackedRecord{Segment: one, Offset: 10, Length: 20, Events: 3, Size: 400}
	moved := must(s.Pack(ctx, at(3600), []state.PackMove{
		{SessionID: "ses_a", To: a}, {SessionID: "ses_b", To: a}, {SessionID: "ses_c", To: a}, {SessionID: "ses_none", To: a},
	}))(t)
	if fmt.Sprint(moved) != "[true false true false]" {
		t.Errorf("packed: %v", moved)
	}
	if got := must(s.Packed(ctx, "ses_a"))(t); got != a {
		t.Errorf("position %+v", got)
	}
	wantLive := func(want string) {
		t.Helper()
		if got := must(s.Segments(ctx))(t); fmt.Sprint(got) != want {
			t.Errorf("segments %v, want %s", got, want)
		}
	}
	wantLive(fmt.Sprintf("[{%d 40} {%d 0}]", one, two))
	wantErr(t, s.ForgetSegment(ctx, one), state.ErrConflict, "forget a segment in use")

	moves := must(s.InSegment(ctx, one, "", 1))(t)
	moves = append(moves, must(s.InSegment(ctx, one, moves[0].SessionID, 10))(t)...)
	wantJSON(t, moves, []state.PackMove{{SessionID: "ses_a", From: a}, {SessionID: "ses_c", From: a}}, "in the segment")

	b := a
	b.Segment, b.Length = two, 21
	if err := s.Unpack(ctx, "ses_c"); err != nil {
		t.Fatal(err)
	}
	for i := range moves {
		moves[i].To = b
	}
	if got := must(s.Pack(ctx, time.Time{}, moves))(t); fmt.Sprint(got) != "[true false]" {
		t.Errorf("moved: %v", got) // the second has a file of its own meanwhile
	}
	wantLive(fmt.Sprintf("[{%d 0} {%d 21}]", one, two))
	if err := s.ForgetSegment(ctx, one); err != nil {
		t.Error(err)
	}
	wantLive(fmt.Sprintf("[{%d 21}]", two))
	if three := must(s.NewSegment(ctx))(t); three == one || three == two {
		t.Errorf("segment %d again", three)
	}
	_, err := s.Packed(ctx, "ses_c")
	wantErr(t, err, state.ErrNotFound, "an unpacked session")
}
