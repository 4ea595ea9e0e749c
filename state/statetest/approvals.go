package statetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/liaison-bot/liaison/state"
)

func approval(id, sessionID string, created int) state.Approval {
	return state.Approval{ID: id, SessionID: sessionID, CreatedAt: at(created), Record: json.RawMessage(`{"tool":"deploy"}`)}
}

func audited(seconds int, what string) state.AuditEntry {
	return state.AuditEntry{At: at(seconds), Entry: fmt.Appendf(nil, `{"action":%q}`, what)}
}

func runApprovals(t *testing.T, open Open) {
	t.Run("what was stored is there, and is the caller's", func(t *testing.T) {
		s := open(t)
		row := approval("apr_1", "ses_1", 5)
		commit(t, s, state.Change{Sessions: []state.Session{session("ses_1")}, Approvals: []state.Approval{row}})
		clear(row.Record)
		want := approval("apr_1", "ses_1", 5)
		want.Version = 1
		got := must(s.Approval(t.Context(), "apr_1"))(t)
		wantJSON(t, got, want, "stored")
		clear(got.Record)
		wantJSON(t, must(s.Approval(t.Context(), "apr_1"))(t), want, "once more")
		listed := must(s.ListApprovals(t.Context(), state.ApprovalFilter{}, 9))(t)
		clear(listed[0].Record)
		wantJSON(t, must(s.ListApprovals(t.Context(), state.ApprovalFilter{}, 9))(t), []state.Approval{want}, "listed")
		for _, id := range []string{"apr_2", "apr_", ""} {
			_, err := s.Approval(t.Context(), id)
			wantErr(t, err, state.ErrNotFound, "reading "+id)
		}
	})

	t.Run("one of many decisions at the same time wins", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{Sessions: []state.Session{session("ses_1")}, Approvals: []state.Approval{approval("apr_1", "ses_1", 0)}})
		seen := must(s.Approval(t.Context(), "apr_1"))(t)
		var mu sync.Mutex
		var won []string
		var racers sync.WaitGroup
		for i := range 50 {
			racers.Go(func() {
				mine := seen
				mine.Ended = i%2 == 0
				mine.Record = fmt.Appendf(nil, `{"by":"%d"}`, i)
				_, err := s.Commit(t.Context(), state.Change{
					Approvals: []state.Approval{mine},
					Audit:     []state.AuditEntry{audited(i, fmt.Sprint(i))},
					Outbox:    []state.OutboxItem{owed(fmt.Sprint("out_", i), "ses_1")},
				})
				if err != nil {
					wantErr(t, err, state.ErrConflict, "a decision that came too late")
					return
				}
				mu.Lock()
				defer mu.Unlock()
				won = append(won, string(mine.Record))
			})
		}
		racers.Wait()
		got := must(s.Approval(t.Context(), "apr_1"))(t)
		entries := must(s.AuditEntries(t.Context(), time.Time{}, 0, all))(t)
		items := must(s.OutboxItems(t.Context(), "ses_1"))(t)
		if len(won) != 1 || string(got.Record) != won[0] || got.Version != 2 || len(entries) != 1 || len(items) != 1 {
			t.Errorf("%d decisions won, with %d lines and %d items; stored is %s", len(won), len(entries), len(items), got.Record)
		}
	})

	t.Run("what can never be is refused", func(t *testing.T) {
		s := open(t)
		ended := approval("apr_ended", "ses_1", 0)
		ended.Ended = true
		commit(t, s, state.Change{
			Sessions:  []state.Session{session("ses_1"), session("ses_2")},
			Approvals: []state.Approval{approval("apr_1", "ses_1", 0), ended},
		})
		for name, c := range map[string]struct {
			change func(*state.Approval)
			want   error
		}{
			"no id":                  {func(a *state.Approval) { a.ID, a.Version = "", 0 }, state.ErrInvalid},
			"no session":             {func(a *state.Approval) { a.SessionID = "" }, state.ErrInvalid},
			"an unknown session":     {func(a *state.Approval) { a.ID, a.Version, a.SessionID = "apr_2", 0, "ses_3" }, state.ErrNotFound},
			"another session":        {func(a *state.Approval) { a.SessionID = "ses_2" }, state.ErrInvalid},
			"another time":           {func(a *state.Approval) { a.CreatedAt = at(1) }, state.ErrInvalid},
			"broken JSON":            {func(a *state.Approval) { a.Record = json.RawMessage(`{`) }, state.ErrInvalid},
			"an older version":       {func(a *state.Approval) { a.Version = 0 }, state.ErrConflict},
			"a version to come":      {func(a *state.Approval) { a.Version = 2 }, state.ErrConflict},
			"one that is not there":  {func(a *state.Approval) { a.ID = "apr_2" }, state.ErrConflict},
			"one that ended, opened": {func(a *state.Approval) { a.ID = "apr_ended" }, state.ErrInvalid},
			"one byte too many": {func(a *state.Approval) {
				a.Record = json.RawMessage(`"` + strings.Repeat("x", state.MaxApproval-1) + `"`)
			}, state.ErrInvalid},
		} {
			row := approval("apr_1", "ses_1", 0)
			row.Version = 1
			c.change(&row)
			_, err := s.Commit(t.Context(), state.Change{Approvals: []state.Approval{row}, Audit: []state.AuditEntry{audited(0, "no")}})
			wantErr(t, err, c.want, name)
		}
		twice := approval("apr_2", "ses_1", 0)
		_, err := s.Commit(t.Context(), state.Change{Approvals: []state.Approval{twice, twice}})
		wantErr(t, err, state.ErrInvalid, "the same twice")
		if entries := must(s.AuditEntries(t.Context(), time.Time{}, 0, 9))(t); len(entries) != 0 {
			t.Errorf("what was refused is in the audit log: %v", entries)
		}
		whole := approval("apr_whole", "ses_1", 0)
		whole.Record = json.RawMessage(`"` + strings.Repeat("x", state.MaxApproval-2) + `"`)
		commit(t, s, state.Change{Approvals: []state.Approval{whole}})
		if got := must(s.Approval(t.Context(), "apr_whole"))(t); string(got.Record) != string(whole.Record) {
			t.Errorf("of %d bytes %d are stored", len(whole.Record), len(got.Record))
		}
		// One that has ended can still be told how its cards are.
		ended.Version, ended.Record = 1, json.RawMessage(`{"cards":[]}`)
		commit(t, s, state.Change{Approvals: []state.Approval{ended}})
	})

	t.Run("lists come newest first, by page and filter", func(t *testing.T) { listsApprovals(t, open(t)) })
}

func listsApprovals(t *testing.T, s state.Store) {
	commit(t, s, state.Change{Sessions: []state.Session{session("ses_1"), session("ses_2"), session("ses_11")}})
	add := func(id, sessionID string, created int, ended bool) {
		row := approval(id, sessionID, created)
		row.Ended = ended
		commit(t, s, state.Change{Approvals: []state.Approval{row}})
	}
	// The order of ids, of times and of commits differ.
	add("apr_e", "ses_1", 10, false)
	add("apr_b", "ses_2", 30, true)
	add("apr_d", "ses_1", 20, true)
	add("apr_a", "ses_1", 40, false)
	add("apr_c", "ses_1", 30, false)
	add("apr_f", "ses_11", 50, false)
	// One ends later.
	c := must(s.Approval(t.Context(), "apr_c"))(t)
	c.Ended = true
	commit(t, s, state.Change{Approvals: []state.Approval{c}})
	for name, test := range map[string]struct {
		filter state.ApprovalFilter
		want   []string
	}{
		"all":                  {state.ApprovalFilter{}, []string{"apr_f", "apr_a", "apr_c", "apr_b", "apr_d", "apr_e"}},
		"open":                 {state.ApprovalFilter{Open: true}, []string{"apr_f", "apr_a", "apr_e"}},
		"of a session":         {state.ApprovalFilter{SessionID: "ses_1"}, []string{"apr_a", "apr_c", "apr_d", "apr_e"}},
		"open, of a session":   {state.ApprovalFilter{SessionID: "ses_1", Open: true}, []string{"apr_a", "apr_e"}},
		"of a session without": {state.ApprovalFilter{SessionID: "ses_3"}, []string{}},
		"older":                {state.ApprovalFilter{Before: "apr_c"}, []string{"apr_b", "apr_d", "apr_e"}},
		"older and open":       {state.ApprovalFilter{Before: "apr_b", Open: true}, []string{"apr_e"}},
		"older, of a session":  {state.ApprovalFilter{Before: "apr_b", SessionID: "ses_1"}, []string{"apr_d", "apr_e"}},
		"older than the last":  {state.ApprovalFilter{Before: "apr_e"}, []string{}},
	} {
		for _, limit := range []int{-1, 0, 1, 2, 9} {
			ids := []string{}
			for _, row := range must(s.ListApprovals(t.Context(), test.filter, limit))(t) {
				ids = append(ids, row.ID)
			}
			wantJSON(t, ids, test.want[:min(max(limit, 0), len(test.want))], fmt.Sprintf("%s, at most %d", name, limit))
		}
	}
	_, err := s.ListApprovals(t.Context(), state.ApprovalFilter{Before: "apr_z"}, 9)
	wantErr(t, err, state.ErrNotFound, "going on after one that is unknown")
}

func runAudit(t *testing.T, open Open) {
	whats := func(t testing.TB, s state.Store, since time.Time, after uint64, limit int) string {
		t.Helper()
		var out []string
		for _, e := range must(s.AuditEntries(t.Context(), since, after, limit))(t) {
			var line struct{ Action string }
			if err := json.Unmarshal(e.Entry, &line); err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprint(e.Seq, line.Action))
		}
		return strings.Join(out, " ")
	}
	t.Run("lines come in their order, by page and time", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{Audit: []state.AuditEntry{audited(10, "a"), audited(5, "b")}})
		commit(t, s, state.Change{Audit: []state.AuditEntry{{Seq: 77, At: at(20), Entry: json.RawMessage(`{"action":"c"}`)}}})
		commit(t, s, state.Change{Facts: []state.Fact{{Key: "f"}}})
		commit(t, s, state.Change{Audit: []state.AuditEntry{audited(20, "d")}})
		for _, test := range []struct {
			since time.Time
			after uint64
			limit int
			want  string
		}{
			{time.Time{}, 0, 9, "1a 2b 3c 4d"},
			{time.Time{}, 0, 2, "1a 2b"},
			{time.Time{}, 2, 9, "3c 4d"},
			{time.Time{}, 4, 9, ""},
			{time.Time{}, 0, 0, ""},
			{time.Time{}, 0, -1, ""},
			{at(10), 0, 9, "1a 3c 4d"},
			{at(10), 1, 1, "3c"},
			{at(21), 0, 9, ""},
		} {
			if got := whats(t, s, test.since, test.after, test.limit); got != test.want {
				t.Errorf("since %v after %d, at most %d: %q, want %q", test.since, test.after, test.limit, got, test.want)
			}
		}
		got := must(s.AuditEntries(t.Context(), time.Time{}, 0, 1))(t)
		clear(got[0].Entry)
		if got := whats(t, s, time.Time{}, 0, 1); got != "1a" {
			t.Errorf("a caller changed the log: %q", got)
		}
	})

	t.Run("what can never be is refused", func(t *testing.T) {
		s := open(t)
		for name, entry := range map[string]json.RawMessage{
			"nothing": nil, "broken JSON": json.RawMessage(`{"a"`),
			"one byte too many": json.RawMessage(`"` + strings.Repeat("x", state.MaxAuditEntry-1) + `"`),
		} {
			_, err := s.Commit(t.Context(), state.Change{Audit: []state.AuditEntry{audited(0, "ok"), {At: at(0), Entry: entry}}})
			wantErr(t, err, state.ErrInvalid, name)
		}
		if got := whats(t, s, time.Time{}, 0, 9); got != "" {
			t.Errorf("the log has %q", got)
		}
	})
}

// keepsAudit is about what goes with its session, and what does not.
func keepsAudit(t *testing.T, s KeepingStore, c *clock) {
	ctx := t.Context()
	numbers := func(want ...uint64) {
		t.Helper()
		got := []uint64{}
		for _, e := range must(s.AuditEntries(ctx, time.Time{}, 0, 99))(t) {
			got = append(got, e.Seq)
		}
		wantJSON(t, got, append([]uint64{}, want...), "the lines left")
	}
	open, ended := approval("apr_open", "ses_open", 0), approval("apr_ended", "ses_ended", 0)
	ended.Ended = true
	lived(t, s, "ses_open")
	lived(t, s, "ses_ended")
	commit(t, s, state.Change{
		Approvals: []state.Approval{open, ended},
		Audit:     []state.AuditEntry{audited(0, "a"), audited(10, "b"), audited(50, "c"), audited(20, "d")},
	})
	c.at = at(7200)
	dropped(t, "old sessions", 1, false)(s.DropSessions(ctx, at(3600), 100))
	_, err := s.Approval(ctx, "apr_ended")
	wantErr(t, err, state.ErrNotFound, "the approval of a removed session")
	wantJSON(t, len(must(s.ListApprovals(ctx, state.ApprovalFilter{}, 9))(t)), 1, "approvals listed")
	wantJSON(t, len(must(s.ListApprovals(ctx, state.ApprovalFilter{SessionID: "ses_ended"}, 9))(t)), 0, "listed of the removed session")
	numbers(1, 2, 3, 4)

	dropped(t, "too early", 0, false)(s.DropAudit(ctx, at(0), 9))
	dropped(t, "none", 0, false)(s.DropAudit(ctx, at(100), 0))
	dropped(t, "the first", 1, true)(s.DropAudit(ctx, at(30), 1))
	numbers(2, 3, 4)
	dropped(t, "up to one that stays", 1, false)(s.DropAudit(ctx, at(30), 9))
	numbers(3, 4)
	dropped(t, "all", 2, false)(s.DropAudit(ctx, at(100), 9))
	numbers()
	commit(t, s, state.Change{Audit: []state.AuditEntry{audited(60, "e")}})
	numbers(5)

	// What ends lets its session go.
	open.Version, open.Ended = 1, true
	commit(t, s, state.Change{Approvals: []state.Approval{open}})
	c.at = at(5 * 3600)
	dropped(t, "the other session", 1, false)(s.DropSessions(ctx, at(4*3600), 100))
	if left := must(s.ListApprovals(ctx, state.ApprovalFilter{}, 9))(t); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
}

func numbersAuditOn(t *testing.T, open OpenAt, again again) {
	path := t.TempDir() + "/liaison.db"
	s := open(t, path)
	commit(t, s, state.Change{Audit: []state.AuditEntry{audited(1, "a"), audited(2, "b")}})
	keeper, ok := s.(state.Retainer)
	if !ok {
		t.Fatal("the store lets nothing go")
	}
	dropped(t, "all", 2, false)(keeper.DropAudit(t.Context(), at(9), 9))
	s = again(t, s, path)
	commit(t, s, state.Change{Audit: []state.AuditEntry{audited(3, "c")}})
	if got := must(s.AuditEntries(t.Context(), time.Time{}, 0, 9))(t); len(got) != 1 || got[0].Seq != 3 {
		t.Errorf("the log is %+v, want one line, the third", got)
	}
}

// approve stores a random approval, or a step of one, in both stores.
func (m *model) approve(t *rapid.T) {
	id := rapid.SampledFrom(names).Draw(t, "id")
	row, err := m.memory.Approval(m.t.Context(), id)
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		t.Fatal(err)
	}
	if err != nil {
		row = approval(id, sessionOf(id), rapid.IntRange(0, 3).Draw(t, "created"))
	}
	row.Version -= rapid.SampledFrom([]uint64{0, 0, 0, 1}).Draw(t, "versions ago")
	row.Ended = rapid.Bool().Draw(t, "ended")
	row.Record = fmt.Appendf(nil, `{"n":%d}`, rapid.IntRange(0, 9).Draw(t, "n"))
	m.both(t, state.Change{
		Approvals: []state.Approval{row},
		Audit:     []state.AuditEntry{audited(rapid.IntRange(0, 9).Draw(t, "at"), id)},
	})
	f := state.ApprovalFilter{
		SessionID: rapid.SampledFrom([]string{"", "ses_a", "ses_b"}).Draw(t, "of"),
		Open:      rapid.Bool().Draw(t, "open"),
		Before:    rapid.SampledFrom([]string{"", "", "a", "b", "c"}).Draw(t, "before"),
	}
	limit := rapid.IntRange(0, 3).Draw(t, "limit")
	got, err := m.engine.ListApprovals(m.t.Context(), f, limit)
	want, wantErr := m.memory.ListApprovals(m.t.Context(), f, limit)
	same(t, got, want, err, wantErr)
}
