package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
)

// Run checks a store. Each subtest opens one of its own, which must be empty and
// is closed by what open has told the test's cleanup.
func Run(t *testing.T, open func(t *testing.T) bridge.Store) {
	t.Helper()
	for _, tt := range []struct {
		name string
		run  func(*testing.T, bridge.Store)
	}{
		{"RecordsComeBack", recordsComeBack},
		{"MissesAreNamed", missesAreNamed},
		{"CreateIsOnce", createIsOnce},
		{"UpdateReplaces", updateReplaces},
		{"KindsAreApart", kindsAreApart},
		{"IDsAreBytes", idsAreBytes},
		{"DataIsTheStores", dataIsTheStores},
		{"ListIsInOrder", listIsInOrder},
		{"ListOfOneAgent", listOfOneAgent},
		{"EventsAreNumbered", eventsAreNumbered},
		{"EventsOfNoRun", eventsOfNoRun},
		{"EventsComeBack", eventsComeBack},
		{"DeleteOfAnAgent", deleteOfAnAgent},
		{"DeleteOfARun", deleteOfARun},
		{"DeleteOfACheckpoint", deleteOfACheckpoint},
		{"ConcurrentAppends", concurrentAppends},
		{"ConcurrentCreates", concurrentCreates},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.run(t, open(t))
		})
	}
}

func agent(id string) bridge.Record {
	return bridge.Record{Kind: bridge.RecordAgent, ID: id, Data: []byte(`{"agentId":"` + id + `"}`)}
}

func run(agentID, id string) bridge.Record {
	return bridge.Record{Kind: bridge.RecordRun, ID: id, AgentID: agentID, Data: []byte(`{"runId":"` + id + `"}`)}
}

func checkpoint(agentID, id string, data ...byte) bridge.Record {
	return bridge.Record{Kind: bridge.RecordCheckpoint, ID: agentID + "/" + id, AgentID: agentID, Data: data}
}

func event(kind, payload string) bridge.RunEvent {
	return bridge.RunEvent{Type: kind, At: time.Date(2026, 3, 4, 5, 6, 7, 8_000_000, time.UTC), Payload: json.RawMessage(payload)}
}

func create(t *testing.T, s bridge.Store, records ...bridge.Record) {
	t.Helper()
	for _, r := range records {
		if err := s.Create(context.Background(), r); err != nil {
			t.Fatalf("create %s %q: %v", r.Kind, r.ID, err)
		}
	}
}

func mustGet(t *testing.T, s bridge.Store, want bridge.Record) {
	t.Helper()
	got, err := s.Get(context.Background(), want.Kind, want.ID)
	if err != nil {
		t.Fatalf("get %s %q: %v", want.Kind, want.ID, err)
	}
	if got.Kind != want.Kind || got.ID != want.ID || got.AgentID != want.AgentID || !bytes.Equal(got.Data, want.Data) {
		t.Errorf("get %s %q = %+v, want %+v", want.Kind, want.ID, got, want)
	}
}

func mustMiss(t *testing.T, s bridge.Store, kind bridge.RecordKind, id string) {
	t.Helper()
	if _, err := s.Get(context.Background(), kind, id); !errors.Is(err, bridge.ErrNoRecord) {
		t.Errorf("get %s %q: error %v, want ErrNoRecord", kind, id, err)
	}
}

func mustList(t *testing.T, s bridge.Store, kind bridge.RecordKind, agentID, after string, limit int, want ...string) {
	t.Helper()
	records, err := s.List(context.Background(), kind, agentID, after, limit)
	if err != nil {
		t.Fatalf("list %s of %q after %q: %v", kind, agentID, after, err)
	}
	var got []string
	for _, r := range records {
		got = append(got, r.ID)
		if r.Kind != kind {
			t.Errorf("list %s gave %s %q", kind, r.Kind, r.ID)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("list %s of %q after %q, at most %d = %q, want %q", kind, agentID, after, limit, got, want)
	}
}

func recordsComeBack(t *testing.T, s bridge.Store) {
	all := []bridge.Record{
		agent("a"), run("a", "r"),
		checkpoint("a", "c", 0, 1, 2, 0xff, '"', '\n'), // bytes, not text
		checkpoint("a", "large", bytes.Repeat([]byte{7}, 1<<20)...),
	}
	create(t, s, all...)
	for _, r := range all {
		mustGet(t, s, r)
	}
}

func missesAreNamed(t *testing.T, s bridge.Store) {
	ctx := context.Background()
	for _, r := range []bridge.Record{agent("a"), run("a", "r"), checkpoint("a", "c", 1)} {
		mustMiss(t, s, r.Kind, r.ID)
		if err := s.Update(ctx, r); !errors.Is(err, bridge.ErrNoRecord) {
			t.Errorf("update of %s %q that is not there: error %v, want ErrNoRecord", r.Kind, r.ID, err)
		}
		mustMiss(t, s, r.Kind, r.ID)
		if err := s.Delete(ctx, r.Kind, r.ID); err != nil {
			t.Errorf("delete of %s %q that is not there: %v", r.Kind, r.ID, err)
		}
		mustList(t, s, r.Kind, "", "", 10)
	}
}

func createIsOnce(t *testing.T, s bridge.Store) {
	first, second := agent("a"), agent("a")
	second.Data = []byte(`{"other":true}`)
	create(t, s, first)
	if err := s.Create(context.Background(), second); !errors.Is(err, bridge.ErrRecordExists) {
		t.Errorf("second create: error %v, want ErrRecordExists", err)
	}
	mustGet(t, s, first)
}

func updateReplaces(t *testing.T, s bridge.Store) {
	ctx := context.Background()
	for _, r := range []bridge.Record{agent("a"), run("a", "r"), checkpoint("a", "c", 1, 2, 3)} {
		create(t, s, r)
		for _, data := range []string{`{"longer":"than before, by a good deal"}`, `{}`} {
			r.Data = []byte(data)
			if err := s.Update(ctx, r); err != nil {
				t.Fatalf("update %s: %v", r.Kind, err)
			}
			mustGet(t, s, r)
		}
	}
}

func kindsAreApart(t *testing.T, s bridge.Store) {
	same := []bridge.Record{
		{Kind: bridge.RecordAgent, ID: "x", Data: []byte(`{"n":1}`)},
		{Kind: bridge.RecordRun, ID: "x", AgentID: "other", Data: []byte(`{"n":2}`)},
	}
	create(t, s, same...)
	for _, r := range same {
		mustGet(t, s, r)
		mustList(t, s, r.Kind, "", "", 10, "x")
	}
	if err := s.Delete(context.Background(), bridge.RecordAgent, "x"); err != nil {
		t.Fatal(err)
	}
	mustGet(t, s, same[1])
}

// Ids are a caller's, and nothing may be mistaken for a part of a key or a path.
func idsAreBytes(t *testing.T, s bridge.Store) {
	ids := []string{"A", "a", "a b", "a.", "a..", "..", "a%2fb", "ä", "a:b", "con", "日本", "a\\b", "a|b", "a\u00a0b"}
	for _, id := range ids {
		create(t, s, agent(id), run(id, "run of "+id), checkpoint(id, "c/"+id, 1))
	}
	for _, id := range ids {
		mustGet(t, s, agent(id))
		mustList(t, s, bridge.RecordRun, id, "", 10, "run of "+id)
		mustList(t, s, bridge.RecordCheckpoint, id, "", 10, id+"/c/"+id)
	}
}

func dataIsTheStores(t *testing.T, s bridge.Store) {
	ctx := context.Background()
	r := checkpoint("a", "c", 1, 2, 3)
	given := bytes.Clone(r.Data)
	mine := r
	mine.Data = given
	create(t, s, mine)
	given[0] = 99
	got, err := s.Get(ctx, r.Kind, r.ID)
	if err != nil {
		t.Fatal(err)
	}
	got.Data[1] = 99
	listed, err := s.List(ctx, r.Kind, "", "", 10)
	if err != nil || len(listed) != 1 {
		t.Fatalf("list = %v, %v", listed, err)
	}
	listed[0].Data[2] = 99
	mustGet(t, s, r)
}

func listIsInOrder(t *testing.T, s bridge.Store) {
	for _, id := range []string{"b", "d", "a", "c", "aa", "B"} {
		create(t, s, agent(id))
	}
	for _, tt := range []struct {
		after string
		limit int
		want  []string
	}{
		{"", 100, []string{"B", "a", "aa", "b", "c", "d"}},
		{"", 2, []string{"B", "a"}},
		{"a", 2, []string{"aa", "b"}},
		{"ab", 2, []string{"b", "c"}}, // after an id that is not there
		{"c", 2, []string{"d"}},
		{"d", 2, nil},
		{"z", 2, nil},
	} {
		mustList(t, s, bridge.RecordAgent, "", tt.after, tt.limit, tt.want...)
	}
}

func listOfOneAgent(t *testing.T, s bridge.Store) {
	for _, id := range []string{"a", "aa", "b"} {
		create(t, s, agent(id), run(id, "r2"+id), run(id, "r1"+id), checkpoint(id, "c", 1), checkpoint(id, "d", 2))
	}
	mustList(t, s, bridge.RecordRun, "a", "", 10, "r1a", "r2a")
	mustList(t, s, bridge.RecordRun, "a", "r1a", 10, "r2a")
	mustList(t, s, bridge.RecordRun, "aa", "", 1, "r1aa")
	mustList(t, s, bridge.RecordRun, "nobody", "", 10)
	mustList(t, s, bridge.RecordRun, "", "r1aa", 3, "r1b", "r2a", "r2aa")
	mustList(t, s, bridge.RecordCheckpoint, "a", "", 10, "a/c", "a/d")
	mustList(t, s, bridge.RecordCheckpoint, "b", "b/c", 10, "b/d")
}

func eventsAreNumbered(t *testing.T, s bridge.Store) {
	ctx := context.Background()
	create(t, s, run("a", "r"), run("a", "other"))
	for i := 1; i <= 12; i++ { // past nine, so that numbers are not ordered as text
		for _, id := range []string{"r", "other"} {
			if seq, err := s.Append(ctx, id, event("e", fmt.Sprint(i))); err != nil || seq != i {
				t.Fatalf("append %d = %d, %v", i, seq, err)
			}
		}
	}
	for _, tt := range []struct{ after, limit, first, count int }{
		{0, 100, 1, 12}, {0, 3, 1, 3}, {3, 3, 4, 3}, {10, 100, 11, 2}, {12, 5, 0, 0}, {99, 5, 0, 0},
	} {
		events, err := s.Events(ctx, "r", tt.after, tt.limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(events) != tt.count {
			t.Errorf("events after %d, at most %d: got %d, want %d", tt.after, tt.limit, len(events), tt.count)
		}
		for i, e := range events {
			if e.Seq != tt.first+i || string(e.Payload) != fmt.Sprint(tt.first+i) {
				t.Errorf("event %d after %d has number %d and payload %s", i, tt.after, e.Seq, e.Payload)
			}
		}
	}
}

func eventsOfNoRun(t *testing.T, s bridge.Store) {
	ctx := context.Background()
	if _, err := s.Append(ctx, "r", event("e", "1")); !errors.Is(err, bridge.ErrNoRecord) {
		t.Errorf("append to a run that is not there: error %v, want ErrNoRecord", err)
	}
	if events, err := s.Events(ctx, "r", 0, 10); len(events) > 0 || err != nil && !errors.Is(err, bridge.ErrNoRecord) {
		t.Errorf("events of a run that is not there = %v, %v; want none, with or without ErrNoRecord", events, err)
	}
	create(t, s, run("a", "r"))
	if events, err := s.Events(ctx, "r", 0, 10); err != nil || len(events) > 0 {
		t.Errorf("events of a run that said nothing = %v, %v", events, err)
	}
}

func eventsComeBack(t *testing.T, s bridge.Store) {
	ctx := context.Background()
	create(t, s, run("a", "r"))
	var want []bridge.RunEvent
	for i, payload := range []string{`null`, `{"text":"ä \u0000 \" \\"}`, `[1,2]`, `"x"`, `{"large":"` + string(bytes.Repeat([]byte("x"), 1<<20)) + `"}`} {
		e := event(fmt.Sprintf("type %d/ä", i), payload)
		e.At = e.At.Add(time.Duration(i) * time.Millisecond)
		if _, err := s.Append(ctx, "r", e); err != nil {
			t.Fatal(err)
		}
		e.Seq = i + 1
		want = append(want, e)
	}
	got, err := s.Events(ctx, "r", 0, 100)
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %d events, %v; want %d", len(got), err, len(want))
	}
	for i, w := range want {
		if g := got[i]; g.Seq != w.Seq || g.Type != w.Type || !g.At.Equal(w.At) || !bytes.Equal(g.Payload, w.Payload) {
			t.Errorf("event %d = %d %q %s %.60s, want %d %q %s %.60s", i, g.Seq, g.Type, g.At, g.Payload, w.Seq, w.Type, w.At, w.Payload)
		}
	}
}

func deleteOfAnAgent(t *testing.T, s bridge.Store) {
	ctx := context.Background()
	for _, id := range []string{"a", "ab"} {
		create(t, s, agent(id), run(id, "r-"+id), run(id, "q-"+id), checkpoint(id, "c", 1))
		if _, err := s.Append(ctx, "r-"+id, event("e", "1")); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second finds nothing
		if err := s.Delete(ctx, bridge.RecordAgent, "a"); err != nil {
			t.Fatal(err)
		}
	}
	mustMiss(t, s, bridge.RecordAgent, "a")
	mustMiss(t, s, bridge.RecordRun, "r-a")
	mustMiss(t, s, bridge.RecordRun, "q-a")
	mustMiss(t, s, bridge.RecordCheckpoint, "a/c")
	mustList(t, s, bridge.RecordRun, "a", "", 10)
	mustList(t, s, bridge.RecordRun, "", "", 10, "q-ab", "r-ab")
	mustList(t, s, bridge.RecordCheckpoint, "", "", 10, "ab/c")
	mustGet(t, s, agent("ab"))
	if events, err := s.Events(ctx, "r-ab", 0, 10); err != nil || len(events) != 1 {
		t.Errorf("events of the other agent's run = %v, %v", events, err)
	}
	mustStartAfresh(t, s, "a", "r-a")
}

func deleteOfARun(t *testing.T, s bridge.Store) {
	ctx := context.Background()
	create(t, s, agent("a"), run("a", "r"), run("a", "r2"), checkpoint("a", "c", 1))
	for _, id := range []string{"r", "r2"} {
		if _, err := s.Append(ctx, id, event("e", "1")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete(ctx, bridge.RecordRun, "r"); err != nil {
		t.Fatal(err)
	}
	mustMiss(t, s, bridge.RecordRun, "r")
	mustList(t, s, bridge.RecordRun, "a", "", 10, "r2")
	mustGet(t, s, agent("a"))
	mustGet(t, s, checkpoint("a", "c", 1))
	if events, err := s.Events(ctx, "r2", 0, 10); err != nil || len(events) != 1 {
		t.Errorf("events of the other run = %v, %v", events, err)
	}
	mustStartAfresh(t, s, "a", "r")
}

// mustStartAfresh checks that a run with the id of a deleted one has nothing of it.
func mustStartAfresh(t *testing.T, s bridge.Store, agentID, runID string) {
	t.Helper()
	ctx := context.Background()
	create(t, s, run(agentID, runID))
	if events, err := s.Events(ctx, runID, 0, 10); err != nil || len(events) > 0 {
		t.Errorf("events of a new run with the id of a deleted one = %v, %v", events, err)
	}
	if seq, err := s.Append(ctx, runID, event("e", "1")); err != nil || seq != 1 {
		t.Errorf("its first event has number %d, %v", seq, err)
	}
}

func deleteOfACheckpoint(t *testing.T, s bridge.Store) {
	create(t, s, agent("a"), run("a", "r"), checkpoint("a", "c", 1), checkpoint("a", "cc", 2))
	if err := s.Delete(context.Background(), bridge.RecordCheckpoint, "a/c"); err != nil {
		t.Fatal(err)
	}
	mustMiss(t, s, bridge.RecordCheckpoint, "a/c")
	mustGet(t, s, checkpoint("a", "cc", 2))
	mustGet(t, s, agent("a"))
	mustGet(t, s, run("a", "r"))
}

func concurrentAppends(t *testing.T, s bridge.Store) {
	const writers, each = 8, 10
	ctx := context.Background()
	create(t, s, run("a", "r"))
	var all sync.WaitGroup
	var mu sync.Mutex
	given := map[int]bool{}
	for w := range writers {
		all.Go(func() {
			last := 0
			for i := range each {
				seq, err := s.Append(ctx, "r", event("e", fmt.Sprintf("[%d,%d]", w, i)))
				if err != nil {
					t.Errorf("append: %v", err)
					return
				}
				if seq <= last {
					t.Errorf("number %d came after %d", seq, last)
				}
				last = seq
				mu.Lock()
				given[seq] = true
				mu.Unlock()
			}
		})
	}
	all.Wait()
	events, err := s.Events(ctx, "r", 0, 1000)
	if err != nil || len(events) != writers*each || len(given) != writers*each {
		t.Fatalf("%d events, %d numbers, %v; want %d", len(events), len(given), err, writers*each)
	}
	for i, e := range events {
		if e.Seq != i+1 {
			t.Errorf("event %d has number %d", i, e.Seq)
		}
	}
}

func concurrentCreates(t *testing.T, s bridge.Store) {
	var all sync.WaitGroup
	var mu sync.Mutex
	created := 0
	for i := range 8 {
		all.Go(func() {
			r := agent("a")
			r.Data = fmt.Appendf(nil, `{"n":%d}`, i)
			err := s.Create(context.Background(), r)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				created++
			} else if !errors.Is(err, bridge.ErrRecordExists) {
				t.Errorf("create: %v", err)
			}
		})
	}
	all.Wait()
	if created != 1 {
		t.Errorf("%d creates of one id succeeded, want 1", created)
	}
}
