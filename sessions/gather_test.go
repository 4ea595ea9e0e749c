package sessions

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// later is a follow-up that leaves the running turn alone.
func later(m Message) Message {
	m.Admission = AdmitCoalesce
	return m
}

func TestWhatComesMeanwhileIsOneTurn(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(request{Key: "k", Text: "one", Coalesce: true})
		h.wait(500 * time.Millisecond)
		two := h.send(request{Key: "k", Text: "two", Coalesce: true, By: "bob"})
		h.settle()
		three := h.send(request{Key: "k", Text: "three " + secret, Coalesce: true})
		h.settle()
		id := h.session("k").ID
		h.wantAsked(id, "one:running", "two+three [redacted]:queued")
		running, queued := func() (state.Turn, state.Turn) { _, all := h.stored(id); return all[0], all[1] }()
		h.wantDelivery(two, state.DeliveryDone, "queued as turn "+queued.ID+", behind turn "+running.ID+": because of "+two)
		h.wantDelivery(three, state.DeliveryDone, "gathered into turn "+queued.ID+", queued behind turn "+running.ID+": because of "+three)
		if g := queued.Gathered[0]; queued.Principal != "bob" || g.Principal != "mona" || g.DeliveryID != "test:"+three || g.At.IsZero() || len(g.Request) == 0 {
			t.Errorf("gathered %+v into a turn of %s", g, queued.Principal)
		}
		if d := h.delivery(three); d.TurnID != queued.ID {
			t.Errorf("the gathered delivery led to %q", d.TurnID)
		}
		h.wait(5 * time.Second)
		h.wantAsked(id, "one:completed", "two+three [redacted]:completed")
		if got := strings.Join(h.runner.prompts(), ","); got != "one,two\nthree [redacted]" {
			t.Errorf("ran %q", got)
		}
		record := h.recordOf(id)
		if strings.Count(record, "message.received") != 3 || strings.Count(record, `"gathered":true`) != 1 || strings.Count(record, "turn.queued") != 2 {
			t.Errorf("the record says\n%s", record)
		}
	})
}

func TestATurnGathersSoMuch(t *testing.T) {
	for name, c := range map[string]struct {
		n    int
		text string
		want []int // messages of each turn
	}{
		"up to the number": {1 + maxGathered, "x", []int{1 + maxGathered}},
		"one more":         {2 + maxGathered, "x", []int{1 + maxGathered, 1}},
		"up to the bytes":  {3, strings.Repeat("x", maxGatheredBytes/2), []int{3}},
		"a byte more":      {3, strings.Repeat("x", maxGatheredBytes/2+1), []int{2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				first := h.talk(Message{Text: "first"})
				h.wait(500 * time.Millisecond)
				for range c.n {
					first = h.talk(later(first.reply(c.text)))
				}
				_, turns := h.stored(first.SessionID)
				var got []int
				for _, turn := range turns[1:] {
					got = append(got, 1+len(turn.Gathered))
				}
				if len(got) != len(c.want) || got[0] != c.want[0] || got[len(got)-1] != c.want[len(got)-1] {
					t.Errorf("turns have %v messages, want %v", got, c.want)
				}
			})
		})
	}
}

// What a message takes the place of, and what it leaves.
func TestAdmissionsMix(t *testing.T) {
	type step func(h *house)
	delivery := func(r request) step {
		r.Key = "k"
		return func(h *house) { h.send(r); h.settle() }
	}
	message := func(text string, a Admission) step {
		return func(h *house) {
			s := h.session("k")
			h.talk(Message{SessionID: s.ID, Token: s.Key, Operator: true, Text: text, Admission: a})
		}
	}
	ask := func(text string) step { return delivery(request{Text: text, Coalesce: true}) }
	review := func(rev, prev string, at int) step { return delivery(push(rev, prev, at)) }
	for name, c := range map[string]struct {
		steps []step
		runs  string
		want  string
	}{
		"a message runs before what gathered": {
			[]step{ask("one"), ask("two"), ask("three"), message("now", AdmitPreempt)},
			"one,now,two\nthree", "one:interrupted two+three:completed now:completed",
		},
		"the newest of two messages wins": {
			[]step{ask("one"), message("now", AdmitPreempt), message("no, this", AdmitPreempt)},
			"one,no, this", "one:interrupted now:interrupted no, this:completed",
		},
		"what coalesces does not join a message that may be replaced": {
			[]step{ask("one"), message("now", AdmitPreempt), message("and", AdmitCoalesce), message("no, this", AdmitPreempt)},
			"one,no, this,and", "one:interrupted now:interrupted and:completed no, this:completed",
		},
		"channels do not gather each other's": {
			[]step{ask("one"), ask("two"), message("direct", AdmitCoalesce), ask("three")},
			"one,two\nthree,direct", "one:completed two+three:completed direct:completed",
		},
		"a message interrupts a review, and leaves a queued one": {
			[]step{review("a", "", 1), review("b", "a", 2), message("why?", AdmitPreempt)},
			"review a,review b,why?", "review a:interrupted review b:completed why?:completed",
		},
		"a review of a running head is interrupted by a message": {
			[]step{review("a", "", 1), message("why?", AdmitPreempt)},
			"review a,why?", "review a:interrupted why?:completed",
		},
		"a push leaves the questions": {
			[]step{ask("one"), ask("two"), review("a", "", 1)},
			"one,review a,two", "one:completed two:completed review a:completed",
		},
		"a push drops what is about the old head, questions too": {
			[]step{review("a", "", 1), delivery(request{Rev: "a", At: 1, Text: "about a", Coalesce: true, Force: true}), review("b", "a", 2)},
			"review a,review b", "review a:interrupted about a:interrupted review b:completed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
					result, err := think(ctx, r, 10*time.Second)
					if ctx.Err() != nil {
						time.Sleep(5 * time.Second) // the bridge takes its time to cancel
					}
					return result, err
				}
				for _, s := range c.steps {
					s(h)
				}
				h.wait(time.Minute)
				h.wantAsked(h.session("k").ID, strings.Split(c.want, " ")...)
				if got := strings.Join(h.runner.prompts(), ","); got != c.runs {
					t.Errorf("ran %q, want %q", got, c.runs)
				}
			})
		})
	}
}

// The order in which turns run survives the process.
func TestTheOrderOfTurnsSurvivesACrash(t *testing.T) {
	inHouse(t, func(h *house) {
		first := h.talk(Message{Text: "one"})
		h.wait(500 * time.Millisecond)
		second := h.talk(later(first.reply("two")))
		h.talk(second.reply("now"))
		h.crash()
		h.store = h.store.Reopen()
		h.start()
		h.wait(time.Minute)
		h.wantAsked(first.SessionID, "one:interrupted", "two:completed", "now:completed")
		// The second may have begun just before the crash, and begins again then.
		if got := strings.Join(slices.Compact(h.runner.prompts()), ","); got != "one,now,two" {
			t.Errorf("ran %q", got)
		}
	})
}

// A person's wish to have it decided anew goes before what was decided about the
// meaning or the revision, though not before what is newer.
func TestAReplayIsDecidedAnew(t *testing.T) {
	first := push("b", "a", 2)
	first.Fact = "opened/b"
	for name, c := range map[string]struct {
		again    request
		decision string
		turns    []string
	}{
		"a review that is done":     {first, "replay 1: queued as turn trn_", []string{"b:completed", "b:completed"}},
		"a head that was overtaken": {push("a", "", 1), "replay 1: about a, which is older than b", []string{"b:completed"}},
		"one that is ignored":       {request{Do: "ignore"}, "replay 1: draft", []string{"b:completed"}},
		"one that closes":           {request{Do: "archive", Key: "k", Rev: "b", At: 2, Fact: "opened/b"}, "replay 1: archived", []string{"b:completed"}},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				h.send(first)
				h.wait(2 * time.Second)
				id := h.send(c.again)
				h.wait(2 * time.Second)
				h.replay(id)
				h.wait(5 * time.Second)
				if d := h.delivery(id); !strings.HasPrefix(d.Decision, c.decision) {
					t.Errorf("decided %s (%q), want %q", d.Status, d.Decision, c.decision)
				}
				h.wantTurns("k", c.turns...)
			})
		})
	}
}

// replay makes a settled delivery pending again, as a person does.
func (h *house) replay(id string) {
	h.t.Helper()
	u := state.DeliveryUpdate{Seq: h.delivery(id).Seq, Status: state.DeliveryPending, Replay: true}
	if _, err := h.store.Commit(context.Background(), state.Change{Deliveries: []state.DeliveryUpdate{u}}); err != nil {
		h.t.Fatal(err)
	}
}
