package sessions

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

func TestDeliveryBecomesAnAnswer(t *testing.T) {
	inHouse(t, func(h *house) {
		id := h.send(push("a", "", 1))
		h.wait(2 * time.Second)
		h.wantDelivery(id, state.DeliveryDone, "queued as turn trn_")
		h.wantTurns("k", "a:completed")
		h.wantSaid("a in progress", "a success", "done: review a")
		h.wantEvents("k", "session.started", "message.received", "turn.queued", "turn.started",
			"turn.completed", "session.waiting")
		s := h.session("k")
		if s.Channel != "test" || s.Mode != state.ModeChat || s.Principal != "mona" || s.Surface["comment"] == "" {
			t.Errorf("session is %+v", s)
		}
		if turn := h.lastTurn("k"); turn.Usage.TotalTokens != 7 || turn.RunID == "" || turn.Attempts != 1 {
			t.Errorf("turn is %+v", turn)
		}
		if d := h.delivery(id); d.SessionID != s.ID || d.TurnID != h.lastTurn("k").ID {
			t.Errorf("delivery does not name what it led to: %+v", d)
		}
		if pending, _ := h.store.PendingLifecycle(context.Background()); len(pending) != 0 {
			t.Errorf("%d events are unconfirmed though the session rests", len(pending))
		}
	})
}

func TestDeliveriesThatStartNothing(t *testing.T) {
	for name, c := range map[string]struct {
		body     string
		source   string
		status   state.DeliveryStatus
		decision string
	}{
		"ignored with a reason":      {`{"do":"ignore"}`, "test", state.DeliveryIgnored, "draft"},
		"cannot be decoded":          {`{`, "test", state.DeliveryDead, "cannot be understood"},
		"refused by the channel":     {`{"do":"error"}`, "test", state.DeliveryDead, "no pull request in it"},
		"panic is contained":         {`{"do":"panic"}`, "test", state.DeliveryDead, "panicked: unexpected shape [redacted]"},
		"unknown source":             {`{}`, "nowhere", state.DeliveryDead, `no channel "nowhere" is configured`},
		"unknown action":             {`{"do":"odd"}`, "test", state.DeliveryDead, "unknown action 99"},
		"no continuation key":        {`{"do":"nokey"}`, "test", state.DeliveryDead, "impossible key"},
		"archive of what is not":     {`{"do":"archive","key":"k"}`, "test", state.DeliveryIgnored, "no session to archive"},
		"key that no store can hold": {`{"key":"` + strings.Repeat("k", 2000) + `"}`, "test", state.DeliveryDead, "impossible key"},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				ctx := context.Background()
				if _, err := h.store.Accept(ctx, state.Delivery{Source: c.source, ID: "x", Body: []byte(c.body)}); err != nil {
					t.Fatal(err)
				}
				h.settle()
				d, err := h.store.Delivery(ctx, c.source, "x")
				if err != nil || d.Status != c.status || !strings.Contains(d.Decision, c.decision) {
					t.Errorf("settled as %s (%q), %v; want %s (…%s…)", d.Status, d.Decision, err, c.status, c.decision)
				}
				if string(d.Body) != c.body {
					t.Errorf("the raw delivery was not kept: %q", d.Body)
				}
				letters, _ := h.store.DeadLetters(ctx, "", 10)
				if dead := c.status == state.DeliveryDead; dead != (len(letters) == 1) {
					t.Errorf("dead letters are %v", letters)
				}
				if all, _ := h.store.ListSessions(ctx, "", 10); len(all) != 0 {
					t.Errorf("sessions were made: %v", all)
				}
				if strings.Contains(h.logs.String(), secret) {
					t.Error("a secret is in the log")
				}
			})
		})
	}
}

// At night the log answers why nothing happened on a pull request.
func TestTheLogSaysWhatBecameOfEachDelivery(t *testing.T) {
	inHouse(t, func(h *house) {
		h.sendAs("new", push("b", "a", 2))
		h.settle()
		h.sendAs("old", push("a", "", 1))
		h.sendAs("draft", request{Do: "ignore"})
		h.sendAs("broken", request{Do: "error"})
		h.settle()
		for _, want := range []string{
			`msg="delivery taken up" delivery=test:new event=e reason="queued as turn`,
			`msg="delivery ignored" delivery=test:old event=e reason="about a, which is older than b`,
			`msg="delivery ignored" delivery=test:draft event=e reason=draft`,
			`msg="delivery given up" delivery=test:broken event=e reason=`,
		} {
			if strings.Count(h.logs.String(), want) != 1 {
				t.Errorf("not once in the log: %s\n%s", want, h.logs)
			}
		}
	})
}

func TestDeadDeliveryRunsWhenItIsDeliveredAgain(t *testing.T) {
	inHouse(t, func(h *house) {
		h.sendAs("x", request{Do: "error"})
		h.send(push("a", "", 1))
		h.settle()
		h.sendAs("x", request{Key: "other", Rev: "b", At: 1})
		h.wait(2 * time.Second)
		h.wantDelivery("x", state.DeliveryDone, "queued as turn")
		h.wantTurns("other", "b:completed")
	})
}

func TestOneFactIsDecidedOnce(t *testing.T) {
	inHouse(t, func(h *house) {
		r := push("a", "", 1)
		r.Fact = "opened/k/a"
		var ids []string
		for range 50 {
			ids = append(ids, h.send(r))
		}
		h.wait(5 * time.Second)
		h.wantTurns("k", "a:completed")
		h.wantSaid("a in progress", "a success", "done: review a")
		h.wantDelivery(ids[0], state.DeliveryDone, "queued")
		for _, id := range ids[1:] {
			h.wantDelivery(id, state.DeliveryIgnored, "duplicate of test:"+ids[0])
		}
	})
}

func TestOneDeliveryIdFiftyTimes(t *testing.T) {
	inHouse(t, func(h *house) {
		for range 50 {
			h.sendAs("same", push("a", "", 1))
		}
		h.wait(5 * time.Second)
		h.wantTurns("k", "a:completed")
		h.wantSaid("a in progress", "a success", "done: review a")
	})
}

func TestPushInterruptsTheRunOfTheOldHead(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(500 * time.Millisecond)
		h.send(push("b", "a", 2))
		h.settle()
		h.wantTurns("k", "a:interrupted", "b:running")
		h.wait(3 * time.Second)
		h.wantTurns("k", "a:interrupted", "b:completed")
		h.wantSaid("a in progress", "a cancelled: superseded by b", "b in progress", "b success", "done: review b")
		h.wantEvents("k", "session.started", "message.received", "turn.queued", "turn.started",
			"turn.failed", "message.received", "turn.queued", "turn.started", "turn.completed", "session.waiting")
		for _, ev := range h.events("k") {
			if ev.Type == EventTurnFailed && !strings.Contains(string(ev.Data), `"error":"turn interrupted"`) {
				t.Errorf("interruption is recorded as %s", ev.Data)
			}
		}
		if h.runner.overlap {
			t.Error("two runs of one session overlapped")
		}
	})
}

func TestInterruptedRunMustBeGoneBeforeTheNextStarts(t *testing.T) {
	inHouse(t, func(h *house) {
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			if r.Prompt == "review a" {
				<-ctx.Done()
				time.Sleep(5 * time.Second) // the bridge takes its time to cancel
				return bridge.Result{Status: bridge.RunCancelled}, nil
			}
			return think(ctx, r, time.Second)
		}
		h.send(push("a", "", 1))
		h.settle()
		h.send(push("b", "a", 2))
		h.wait(4 * time.Second)
		h.wantTurns("k", "a:interrupted", "b:queued")
		h.wait(3 * time.Second)
		h.wantTurns("k", "a:interrupted", "b:completed")
		if h.runner.overlap {
			t.Error("two runs of one session overlapped")
		}
	})
}

func TestPushesDropWhatIsQueued(t *testing.T) {
	inHouseWith(t, func(o *Options) { o.MaxRunningTurns = 1 }, func(h *house) {
		h.send(request{Key: "busy", Rev: "x", At: 1, Text: "long"})
		h.settle()
		h.send(push("a", "", 1))
		h.send(push("b", "a", 2))
		h.send(push("c", "b", 3))
		h.wait(10 * time.Second)
		h.wantTurns("k", "a:interrupted", "b:interrupted", "c:completed")
		for _, said := range h.world.said() { // nobody had heard of a and b
			if strings.HasPrefix(said, "a ") || strings.HasPrefix(said, "b ") {
				t.Errorf("the world was told %q", said)
			}
		}
	})
}

func TestOldRevisionsChangeNothing(t *testing.T) {
	for name, c := range map[string]struct {
		first, second request
		status        state.DeliveryStatus
		decision      string
	}{
		"older by time":         {push("b", "a", 2), push("a", "", 1), state.DeliveryIgnored, "about a, which is older than b"},
		"older by the chain":    {push("b", "a", 1), push("a", "", 1), state.DeliveryIgnored, "about a, which is older than b"},
		"older, no time at all": {push("b", "a", 0), push("a", "", 0), state.DeliveryIgnored, "about a, which is older than b"},
		"the same":              {push("a", "", 1), push("a", "", 2), state.DeliveryIgnored, "a is completed already, as turn trn_"},
		"an old close":          {push("b", "a", 2), request{Do: "archive", Key: "k", Rev: "b", At: 1}, state.DeliveryIgnored, "older"},
		"the same, by force":    {push("a", "", 1), request{Key: "k", Rev: "a", At: 1, Force: true}, state.DeliveryDone, "queued as"},
		"older, by force":       {push("b", "a", 2), request{Key: "k", Rev: "a", At: 1, Force: true}, state.DeliveryIgnored, "about a, which is older than b"},
		"forced back":           {push("b", "a", 1), push("a", "b", 2), state.DeliveryDone, "queued as"},
		"in doubt":              {push("a", "", 1), push("b", "", 1), state.DeliveryDone, "queued as"},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				h.send(c.first)
				h.wait(2 * time.Second)
				before := h.session("k").Revision
				id := h.send(c.second)
				h.wait(2 * time.Second)
				h.wantDelivery(id, c.status, c.decision)
				if c.status == state.DeliveryIgnored && h.session("k").Revision.ID != before.ID {
					t.Errorf("revision moved from %v to %v", before, h.session("k").Revision)
				}
			})
		})
	}
}

func TestFollowUpsWaitWhenTheyCoalesce(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(request{Key: "k", Text: "one", Coalesce: true})
		h.settle()
		h.send(request{Key: "k", Text: "two", Coalesce: true})
		h.settle()
		h.wantTurns("k", ":running", ":queued")
		h.wait(5 * time.Second)
		h.wantTurns("k", ":completed", ":completed")
		if got := strings.Join(h.runner.prompts(), ","); got != "one,two" {
			t.Errorf("ran %s", got)
		}
		if a, b := h.runner.requests[0].AgentID, h.runner.requests[1].AgentID; a != b || a == "" {
			t.Errorf("agents %q and %q, want one conversation", a, b)
		}
	})
}

func TestCloseArchivesAndReopenGoesOn(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(500 * time.Millisecond)
		h.send(request{Do: "archive", Key: "k", Rev: "a", At: 2})
		h.wait(2 * time.Second)
		h.wantTurns("k", "a:interrupted")
		if s := h.session("k"); s.Status != state.SessionArchived {
			t.Errorf("session is %s", s.Status)
		}
		late := h.send(push("a", "", 1))
		h.wait(2 * time.Second)
		h.wantDelivery(late, state.DeliveryIgnored, "older")
		// The review of a was cut short, so opening it again must bring one.
		h.send(push("a", "", 3))
		h.wait(2 * time.Second)
		h.wantTurns("k", "a:interrupted", "a:completed")
		if s := h.session("k"); s.Status != state.SessionActive {
			t.Errorf("session is %s", s.Status)
		}
		h.send(request{Do: "archive", Key: "k", Rev: "a", At: 4})
		id := h.send(push("a", "", 5))
		h.wait(2 * time.Second)
		h.wantDelivery(id, state.DeliveryIgnored, "a is completed already")
		if s := h.session("k"); s.Status != state.SessionActive {
			t.Errorf("session that was opened again is %s", s.Status)
		}
		// A late word from before the second opening must not close it.
		h.send(request{Do: "archive", Key: "k", Rev: "a", At: 4})
		h.wait(2 * time.Second)
		if s := h.session("k"); s.Status != state.SessionActive {
			t.Errorf("session was closed by an old delivery")
		}
	})
}

func TestTaskTakesNoFollowUp(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(request{Key: "k", Text: "once", Mode: state.ModeTask})
		h.wait(2 * time.Second)
		id := h.send(request{Key: "k", Text: "again", Mode: state.ModeTask})
		h.wait(2 * time.Second)
		h.wantDelivery(id, state.DeliveryIgnored, "takes no follow-up")
		h.wantTurns("k", ":completed")
		types := h.eventTypes("k")
		if types[len(types)-1] != EventSessionCompleted {
			t.Errorf("events are %v", types)
		}
	})
}

func TestAliasesFollowTheSession(t *testing.T) {
	inHouse(t, func(h *house) {
		r := push("a", "", 1)
		r.Aliases = []string{"pr:old/name#1"}
		h.send(r)
		h.settle()
		r = push("b", "a", 2)
		r.Aliases = []string{"pr:new/name#1"}
		h.send(r)
		h.wait(3 * time.Second)
		id := h.session("k").ID
		for _, alias := range []string{"pr:old/name#1", "pr:new/name#1"} {
			if got := h.session(alias).ID; got != id {
				t.Errorf("%s names %s, want %s", alias, got, id)
			}
		}
	})
}

// What is said later does not rename a conversation that is named by its beginning.
func TestATitleThatStays(t *testing.T) {
	inHouse(t, func(h *house) {
		for _, title := range []string{"first", "second"} {
			h.send(request{Key: "k", Text: "hi", Coalesce: true, Title: title})
			h.wait(time.Minute)
		}
		if got := h.session("k").Title; got != "first" {
			t.Errorf("the session is called %q", got)
		}
		h.send(request{Key: "k", Text: "hi", Coalesce: true})
		h.settle()
		if got := h.session("k").Title; got != "about k" {
			t.Errorf("a renamed subject is called %q", got)
		}
	})
}
