package statetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
	"github.com/liaison-bot/liaison/state/memstore"
)

// runModel does the same random things to the engine and to the store in
// memory, with crashes in between, and expects the same answers from both.
func runModel(t *testing.T, open OpenAt) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		m := &model{t: t, dir: filepath.Join(dir, fmt.Sprint(n)), open: open}
		m.path = filepath.Join(m.dir, "first", "liaison.db")
		m.engine = open(t, m.path)
		m.memory = memstore.New(memstore.Options{Now: func() time.Time { return at(0) }})
		defer func() {
			if err := errors.Join(m.engine.Close(), os.RemoveAll(m.dir)); err != nil {
				rt.Error(err)
			}
		}()
		rt.Repeat(map[string]func(*rapid.T){
			"accept":  m.accept,
			"commit":  m.commit,
			"settle":  m.settle,
			"decide":  m.decide,
			"claim":   m.claim,
			"confirm": m.confirm,
			"record":  m.record,
			"approve": m.approve,
			"say":     m.say,
			"secret":  m.secret,
			"crash":   m.crash,
			"close":   m.close,
			"":        m.compare,
		})
	})
}

type model struct {
	t      testing.TB
	dir    string
	path   string
	open   OpenAt
	engine state.Store
	memory *memstore.Store
	copies int
	facts  int
}

func (m *model) accept(t *rapid.T) {
	d := delivery(fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "id")))
	d.Body = rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "body")
	got, err := m.engine.Accept(m.t.Context(), d)
	want, wantErr := m.memory.Accept(m.t.Context(), d)
	same(t, got, want, err, wantErr)
}

// commit is a change of a few random rows, most of them valid.
func (m *model) commit(t *rapid.T) {
	var c state.Change
	for _, id := range someOf(t, "sessions", 3) {
		row := session(id)
		row.Version = m.version(id, t)
		row.Principal, row.Channel = "owner of "+id[:5], "channel of "+id[:5]
		row.Title = rapid.StringN(0, 5, 20).Draw(t, "title")
		c.Sessions = append(c.Sessions, row)
	}
	for _, id := range someOf(t, "turns", 3) {
		row, err := m.memory.Turn(m.t.Context(), id)
		if err != nil {
			row = turn(id, sessionOf(id))
		}
		row.Status = rapid.SampledFrom([]state.TurnStatus{
			state.TurnQueued, state.TurnRunning, state.TurnRunning, state.TurnCompleted}).Draw(t, "status")
		row.Epoch = m.memory.Epoch() - rapid.SampledFrom([]uint64{0, 0, 0, 1}).Draw(t, "epochs ago")
		c.Turns = append(c.Turns, row)
	}
	for _, id := range someOf(t, "keys", 2) {
		c.Keys = append(c.Keys, state.KeyLink{
			Key: "key_" + id, SessionID: sessionOf(id + rapid.SampledFrom([]string{"", "x"}).Draw(t, "of")),
			Alias: rapid.Bool().Draw(t, "alias")})
	}
	for _, id := range someOf(t, "unlink", 2) {
		c.Unlink = append(c.Unlink, "key_"+id)
	}
	for _, id := range someOf(t, "owed", 4) {
		row := owed(id, sessionOf(id))
		row.NotBefore = at(rapid.IntRange(-1, 3).Draw(t, "not before"))
		row.Line = rapid.SampledFrom([]string{"", "", "line", "ses_a"}).Draw(t, "line")
		c.Outbox = append(c.Outbox, row)
	}
	for _, id := range someOf(t, "timers", 3) {
		if rapid.Bool().Draw(t, "cancel") {
			c.CancelTimers = append(c.CancelTimers, id)
			continue
		}
		c.Timers = append(c.Timers, state.Timer{ID: id, SessionID: sessionOf(id), Due: at(rapid.IntRange(0, 5).Draw(t, "due"))})
	}
	for _, id := range someOf(t, "wakes", 2) {
		if rapid.Bool().Draw(t, "done") {
			c.DoneWakes = append(c.DoneWakes, id)
			continue
		}
		c.Wakes = append(c.Wakes, state.Wake{ID: id, SessionID: sessionOf(id), At: at(0)})
	}
	for _, id := range someOf(t, "counts", 2) {
		c.Counts = append(c.Counts, state.Count{
			Key: id, Limit: rapid.SampledFrom([]int{3, 50, 50, 50}).Draw(t, "limit"), Expires: at(rapid.IntRange(0, 9).Draw(t, "expires"))})
	}
	for _, id := range someOf(t, "loose", 2) {
		row := owed("loose_"+id, "")
		row.NotBefore = at(rapid.IntRange(-1, 3).Draw(t, "not before"))
		c.Outbox = append(c.Outbox, row)
	}
	if rapid.IntRange(0, 3).Draw(t, "facts") == 0 {
		c.Facts = []state.Fact{{Key: fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "fact")), By: "model"}}
	}
	if rapid.Bool().Draw(t, "lifecycle") {
		c.Lifecycle = []state.LifecycleEvent{lifecycle("turn.queued", "ses_1"), lifecycle("turn.started", "ses_1")}
	}
	m.both(t, c)
}

// version is most often the right one.
func (m *model) version(id string, t *rapid.T) uint64 {
	row, err := m.memory.Session(m.t.Context(), id)
	if err != nil {
		return 0
	}
	return row.Version - rapid.SampledFrom([]uint64{0, 0, 0, 0, 1}).Draw(t, "versions ago")
}

func (m *model) settle(t *rapid.T) {
	var c state.Change
	ids := someOf(t, "owed", 2)
	for _, id := range someOf(t, "loose", 1) {
		ids = append(ids, "loose_"+id)
	}
	for _, id := range ids {
		c.Settle = append(c.Settle, state.OutboxSettlement{
			ID:      id,
			Result:  rapid.SampledFrom([]state.OutboxResult{state.OutboxDone, state.OutboxRetry, state.OutboxDead}).Draw(t, "result"),
			RetryAt: at(rapid.IntRange(0, 3).Draw(t, "retry")), Note: "model",
		})
	}
	m.both(t, c)
}

func (m *model) decide(t *rapid.T) {
	m.both(t, state.Change{Deliveries: []state.DeliveryUpdate{{
		Seq: uint64(rapid.IntRange(1, 9).Draw(t, "seq")),
		Status: rapid.SampledFrom([]state.DeliveryStatus{
			state.DeliveryDone, state.DeliveryIgnored, state.DeliveryDead, state.DeliveryPending}).Draw(t, "status"),
		Attempts: 1, NotBefore: at(3), Decision: "model", Replay: rapid.Bool().Draw(t, "replay"),
	}}})
}

func (m *model) confirm(t *rapid.T) {
	m.facts++
	m.both(t, state.Change{
		Confirm: []uint64{uint64(rapid.IntRange(1, 20).Draw(t, "commit"))},
		Facts:   []state.Fact{{Key: fmt.Sprint("confirmed ", m.facts)}},
	})
}

func (m *model) claim(t *rapid.T) {
	now, limit := at(rapid.IntRange(0, 4).Draw(t, "now")), rapid.IntRange(0, 3).Draw(t, "limit")
	got, err := m.engine.ClaimOutbox(m.t.Context(), now, limit)
	want, wantErr := m.memory.ClaimOutbox(m.t.Context(), now, limit)
	same(t, got, want, err, wantErr)
}

// crash goes on with a copy of the folder, as after kill -9.
func (m *model) crash(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "spared") != 0 {
		return // opening takes its time
	}
	m.copies++
	to := filepath.Join(m.dir, fmt.Sprint("copy", m.copies))
	if err := errors.Join(os.CopyFS(to, os.DirFS(filepath.Dir(m.path))), m.engine.Close()); err != nil {
		t.Fatal(err)
	}
	to = filepath.Join(to, "liaison.db")
	m.path, m.engine, m.memory = to, m.open(m.t, to), m.memory.Reopen()
}

func (m *model) close(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "spared") != 0 {
		return
	}
	if err := m.engine.Close(); err != nil {
		t.Fatal(err)
	}
	m.engine, m.memory = m.open(m.t, m.path), m.memory.Reopen()
}

// both commits a change to both stores.
func (m *model) both(t *rapid.T, c state.Change) {
	if rules.Lazy(c) {
		return // its id may be lost in a crash, and then those of the two differ
	}
	got, err := m.engine.Commit(m.t.Context(), c)
	want, wantErr := m.memory.Commit(m.t.Context(), c)
	same(t, got, want, err, wantErr)
}

// compare looks at everything that can be read.
func (m *model) compare(t *rapid.T) {
	ctx := m.t.Context()
	if got, want := mustJSON(m.t, dump(m.t, m.engine)), mustJSON(m.t, dump(m.t, m.memory)); got != want {
		t.Fatalf("the stores differ:\nengine %s\nmodel  %s", got, want)
	}
	got, ok, err := m.engine.NextOutbox(ctx)
	want, wantOK, wantErr := m.memory.NextOutbox(ctx)
	same(t, fmt.Sprint(got, ok), fmt.Sprint(want, wantOK), err, wantErr)
	got, ok, err = m.engine.NextTimer(ctx)
	want, wantOK, wantErr = m.memory.NextTimer(ctx)
	same(t, fmt.Sprint(got, ok), fmt.Sprint(want, wantOK), err, wantErr)
	for _, now := range []int{0, 3} {
		due, err := m.engine.Due(ctx, at(now), 1, 2)
		wantDue, wantErr := m.memory.Due(ctx, at(now), 1, 2)
		for _, page := range []state.DuePage{due, wantDue} {
			for i, d := range page.Deliveries {
				page.Deliveries[i] = timeless(d)
			}
		}
		same(t, due, wantDue, err, wantErr)
	}
	for i := range 20 {
		by, claimed, err := m.engine.FactBy(ctx, fmt.Sprint(i))
		wantBy, wantClaimed, wantErr := m.memory.FactBy(ctx, fmt.Sprint(i))
		same(t, fmt.Sprint(by, claimed), fmt.Sprint(wantBy, wantClaimed), err, wantErr)
	}
	for i := range 10 {
		id := fmt.Sprint(i)
		d, err := m.engine.Delivery(ctx, "github", id)
		wantD, wantErr := m.memory.Delivery(ctx, "github", id)
		same(t, timeless(d), timeless(wantD), err, wantErr)
	}
	for _, id := range names {
		row, err := m.engine.SessionByKey(ctx, "key_"+id)
		wantRow, wantErr := m.memory.SessionByKey(ctx, "key_"+id)
		same(t, row, wantRow, err, wantErr)
	}
}

var names = []string{"a", "b", "c", "d"}

// sessionOf puts several names into one session.
func sessionOf(id string) string { return "ses_" + id[:1] }

// someOf draws up to most of the names of a kind.
func someOf(t *rapid.T, kind string, most int) []string {
	if rapid.Bool().Draw(t, "no "+kind) {
		return nil
	}
	ids := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, most, rapid.ID).Draw(t, kind)
	if kind == "sessions" {
		for i, id := range ids {
			ids[i] = sessionOf(id)
		}
	}
	return ids
}

// same compares two answers: values in full, errors by what callers branch on.
func same(t *rapid.T, got, want any, err, wantErr error) {
	t.Helper()
	if kind(err) != kind(wantErr) {
		t.Fatalf("engine says %v, model says %v", err, wantErr)
	}
	if err != nil {
		return
	}
	g, gerr := json.Marshal(got)
	w, werr := json.Marshal(want)
	if gerr != nil || werr != nil || string(g) != string(w) {
		t.Fatalf("engine answers %s, model answers %s (%v, %v)", g, w, gerr, werr)
	}
}

func kind(err error) string {
	if err == nil {
		return "none"
	}
	if claimed, ok := errors.AsType[*state.FactClaimedError](err); ok {
		return "claimed by " + claimed.By
	}
	if spent, ok := errors.AsType[*state.BudgetError](err); ok {
		return "spent " + spent.Key
	}
	for _, known := range []error{
		state.ErrInvalid, state.ErrNotFound, state.ErrExists, state.ErrFenced, state.ErrConflict, state.ErrUnavailable} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "unknown: " + err.Error()
}
