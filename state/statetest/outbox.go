package statetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/liaison-bot/liaison/state"
)

func runOutbox(t *testing.T, open Open) {
	settle := func(t testing.TB, s state.Store, id string, result state.OutboxResult, retry int) {
		t.Helper()
		settlement := state.OutboxSettlement{ID: id, Result: result, Note: "because"}
		if result == state.OutboxRetry {
			settlement.RetryAt = at(retry)
		}
		commit(t, s, state.Change{Settle: []state.OutboxSettlement{settlement}})
	}
	claim := func(t testing.TB, s state.Store, now, limit int) []state.OutboxItem {
		t.Helper()
		return must(s.ClaimOutbox(t.Context(), at(now), limit))(t)
	}

	t.Run("items of a session come one after another, sessions beside each other", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("a1", "A"), owed("a2", "A"), owed("b1", "B"), owed("c1", "C")}})
		wantJSON(t, itemIDs(claim(t, s, 0, 2)), []string{"a1", "b1"}, "first claim")
		wantJSON(t, itemIDs(claim(t, s, 0, 9)), []string{"c1"}, "second claim")
		wantJSON(t, itemIDs(claim(t, s, 0, 9)), []string{}, "third claim")
		settle(t, s, "a1", state.OutboxDone, 0)
		items := claim(t, s, 0, 9)
		wantJSON(t, itemIDs(items), []string{"a2"}, "after the first was settled")
		if items[0].Seq != 2 || items[0].Attempts != 1 || string(items[0].Payload) != `{"body":"hello"}` {
			t.Errorf("claimed %+v", items[0])
		}
	})

	t.Run("an id is owed once, also after it was settled", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("a1", "A"), owed("a1", "A")}})
		commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("a1", "A")}})
		if items := claim(t, s, 0, 9); len(items) != 1 {
			t.Fatalf("claimed %v", itemIDs(items))
		}
		other := owed("a1", "A")
		other.Kind = "another"
		commit(t, s, state.Change{Outbox: []state.OutboxItem{other}})
		if items := must(s.OutboxItems(t.Context(), "A"))(t); len(items) != 1 || items[0].Kind != "comment" {
			t.Errorf("the stored item was changed: %+v", items)
		}
		settle(t, s, "a1", state.OutboxDone, 0)
		commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("a1", "A")}})
		if items := claim(t, s, 0, 9); len(items) != 0 {
			t.Errorf("owed again: %v", itemIDs(items))
		}
	})

	t.Run("each attempt is counted, and a retry waits", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("a1", "A"), owed("a2", "A")}})
		claim(t, s, 0, 9)
		settle(t, s, "a1", state.OutboxRetry, 60)
		if items := claim(t, s, 59, 9); len(items) != 0 {
			t.Errorf("claimed too early, or out of order: %v", itemIDs(items))
		}
		due, ok, err := s.NextOutbox(t.Context())
		if err != nil || !ok || !due.Equal(at(60)) {
			t.Errorf("next is due at %v (%t, %v), want %v", due, ok, err, at(60))
		}
		items := claim(t, s, 60, 9)
		if len(items) != 1 || items[0].ID != "a1" || items[0].Attempts != 2 {
			t.Errorf("claimed %+v", items)
		}
		if _, ok, _ := s.NextOutbox(t.Context()); ok {
			t.Error("something is next while the session's first is claimed")
		}
	})

	t.Run("a new item can wait from the start", func(t *testing.T) {
		s := open(t)
		item := owed("a1", "A")
		item.NotBefore, item.Attempts, item.Seq = at(10), 5, 77
		commit(t, s, state.Change{Outbox: []state.OutboxItem{item, owed("b1", "B")}})
		wantJSON(t, itemIDs(claim(t, s, 9, 9)), []string{"b1"}, "before its time")
		items := claim(t, s, 10, 9)
		if len(items) != 1 || items[0].Attempts != 1 || items[0].Seq != 1 {
			t.Errorf("at its time: %+v", items)
		}
	})

	t.Run("what is due first is claimed first, and returned in order", func(t *testing.T) {
		s := open(t)
		var items []state.OutboxItem
		for i, due := range []int{30, 10, 20} {
			item := owed(fmt.Sprint(i), fmt.Sprint("S", i))
			item.NotBefore = at(due)
			items = append(items, item)
		}
		commit(t, s, state.Change{Outbox: items})
		wantJSON(t, itemIDs(claim(t, s, 40, 2)), []string{"1", "2"}, "claimed")
		wantJSON(t, itemIDs(claim(t, s, 40, 2)), []string{"0"}, "claimed next")
	})

	t.Run("a dead one becomes a letter and holds no one up", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("a1", "A"), owed("a2", "A")}})
		claim(t, s, 0, 9)
		settle(t, s, "a1", state.OutboxDead, 0)
		letters := must(s.DeadLetters(t.Context(), "", 9))(t)
		if len(letters) != 1 || letters[0].ID != "outbox:a1" || letters[0].Kind != "outbox" || letters[0].Reason != "because" {
			t.Errorf("dead letters %+v", letters)
		}
		wantJSON(t, itemIDs(claim(t, s, 0, 9)), []string{"a2"}, "claimed")
		wantJSON(t, itemIDs(must(s.OutboxItems(t.Context(), "A"))(t)), []string{"a2"}, "unsettled")

		// A person asks to try it again: it is still first, but the other runs.
		settle(t, s, "a1", state.OutboxRetry, 0)
		if items := claim(t, s, 0, 9); len(items) != 0 {
			t.Errorf("two items of one session at once: %v", itemIDs(items))
		}
		settle(t, s, "a2", state.OutboxDone, 0)
		items := claim(t, s, 0, 9)
		if len(items) != 1 || items[0].ID != "a1" || items[0].Attempts != 2 {
			t.Errorf("claimed %+v", items)
		}
		if letters := must(s.DeadLetters(t.Context(), "", 9))(t); len(letters) != 0 {
			t.Errorf("dead letters after the retry: %+v", letters)
		}
	})

	t.Run("an item that was never claimed can be settled", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("a1", "A"), owed("a2", "A"), owed("a3", "A")}})
		settle(t, s, "a2", state.OutboxDone, 0)
		wantJSON(t, itemIDs(must(s.OutboxItems(t.Context(), "A"))(t)), []string{"a1", "a3"}, "unsettled")
		settle(t, s, "a1", state.OutboxDone, 0)
		wantJSON(t, itemIDs(claim(t, s, 0, 9)), []string{"a3"}, "claimed")
	})

	t.Run("a claim has one winner among many at the same time", func(t *testing.T) {
		s := open(t)
		var items []state.OutboxItem
		for i := range 20 {
			items = append(items, owed(fmt.Sprint(i), fmt.Sprint("S", i%5)))
		}
		commit(t, s, state.Change{Outbox: items})
		var mu sync.Mutex
		won := map[string]int{}
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				claimed, err := s.ClaimOutbox(t.Context(), at(0), 2)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, item := range claimed {
					won[item.ID]++
				}
			})
		}
		all.Wait()
		wantJSON(t, won, map[string]int{"0": 1, "1": 1, "2": 1, "3": 1, "4": 1}, "claims")
	})

	t.Run("adding and settling signal", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("a1", "A")}})
		if !signalled(s.OutboxAdded()) {
			t.Error("adding did not signal")
		}
		claim(t, s, 0, 9)
		settle(t, s, "a1", state.OutboxDone, 0)
		if !signalled(s.OutboxAdded()) {
			t.Error("settling did not signal")
		}
	})

	t.Run("items without a session hold no one up", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("l1", ""), owed("l2", ""), owed("a1", "A")}})
		commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("l1", "")}})
		wantJSON(t, itemIDs(must(s.OutboxItems(t.Context(), ""))(t)), []string{"l1", "l2"}, "items of no session")
		wantJSON(t, itemIDs(claim(t, s, 0, 9)), []string{"l1", "l2", "a1"}, "claimed")
		settle(t, s, "l1", state.OutboxRetry, 60)
		settle(t, s, "l2", state.OutboxDead, 0)
		commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("l3", "")}})
		wantJSON(t, itemIDs(claim(t, s, 0, 9)), []string{"l3"}, "claimed while others wait")
		settle(t, s, "l2", state.OutboxRetry, 0)
		wantJSON(t, itemIDs(claim(t, s, 0, 9)), []string{"l2"}, "one that was given up, tried again")
		settle(t, s, "l2", state.OutboxDone, 0)
		wantJSON(t, itemIDs(claim(t, s, 60, 9)), []string{"l1"}, "one that had to wait")
		settle(t, s, "l1", state.OutboxDone, 0)
		settle(t, s, "l3", state.OutboxDone, 0)
		commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("l1", "")}})
		wantJSON(t, itemIDs(must(s.OutboxItems(t.Context(), ""))(t)), []string{}, "owed again")
	})

	t.Run("a line of its own runs beside its session, and is of it", func(t *testing.T) {
		s := open(t)
		lined := func(id, sessionID, line string) state.OutboxItem {
			item := owed(id, sessionID)
			item.Line = line
			return item
		}
		// No line can be taken for a session, nor for an item without one.
		commit(t, s, state.Change{Outbox: []state.OutboxItem{
			owed("a1", "A"), lined("x1", "A", "X"), lined("x2", "B", "X"), lined("s1", "A", "A"), owed("a2", "A"),
			lined("n1", "", "l1"), owed("l1", ""), lined("n2", "", "l1"),
		}})
		wantJSON(t, itemIDs(must(s.OutboxItems(t.Context(), "A"))(t)), []string{"a1", "x1", "s1", "a2"}, "items of A")
		wantJSON(t, itemIDs(must(s.OutboxItems(t.Context(), "B"))(t)), []string{"x2"}, "items of B")
		wantJSON(t, itemIDs(must(s.OutboxItems(t.Context(), ""))(t)), []string{"n1", "l1", "n2"}, "items of no session")
		items := claim(t, s, 0, 9)
		wantJSON(t, itemIDs(items), []string{"a1", "x1", "s1", "n1", "l1"}, "claimed")
		if items[1].Line != "X" || items[1].SessionID != "A" {
			t.Errorf("claimed %+v", items[1])
		}
		wantJSON(t, itemIDs(claim(t, s, 0, 9)), []string{}, "claimed while all lines are busy")
		settle(t, s, "x1", state.OutboxRetry, 60)
		settle(t, s, "a1", state.OutboxDone, 0)
		wantJSON(t, itemIDs(claim(t, s, 0, 9)), []string{"a2"}, "claimed while the line waits")
		wantJSON(t, itemIDs(claim(t, s, 60, 9)), []string{"x1"}, "the line goes on")
		settle(t, s, "x1", state.OutboxDead, 0)
		wantJSON(t, itemIDs(claim(t, s, 60, 9)), []string{"x2"}, "after one that was given up")
		wantJSON(t, itemIDs(must(s.OutboxItems(t.Context(), "A"))(t)), []string{"s1", "a2"}, "unsettled items of A")
		settle(t, s, "n1", state.OutboxDone, 0)
		wantJSON(t, itemIDs(claim(t, s, 60, 9)), []string{"n2"}, "a line of no session goes on")
		_, err := s.Commit(t.Context(), state.Change{Outbox: []state.OutboxItem{lined("y", "A", "a\x00b")}})
		wantErr(t, err, state.ErrInvalid, "a line that no store can hold")
	})

	t.Run("a session whose id begins like another's is apart", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{Outbox: []state.OutboxItem{owed("1", "A"), owed("2", "AB"), owed("3", "A"), owed("4", "")}})
		wantJSON(t, itemIDs(claim(t, s, 0, 9)), []string{"1", "2", "4"}, "claimed")
		wantJSON(t, itemIDs(must(s.OutboxItems(t.Context(), "A"))(t)), []string{"1", "3"}, "items of A")
	})
}
