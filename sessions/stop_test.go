package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

func TestAStopEndsWhatRunsAndWhatWaits(t *testing.T) {
	inHouse(t, func(h *house) {
		first := h.talk(Message{Text: "one"})
		h.wait(500 * time.Millisecond)
		next := first.reply("two")
		next.Admission = AdmitCoalesce
		second := h.talk(next)
		done, err := h.engine.Stop(context.Background(), StopRequest{SessionID: first.SessionID, Principal: "api:alice"})
		if err != nil || done.Interrupted != first.TurnID || !slices.Equal(done.Dropped, []string{second.TurnID}) {
			t.Errorf("stopped %+v, %v", done, err)
		}
		h.wait(3 * time.Second)
		h.wantAsked(first.SessionID, "one:interrupted", "two:interrupted")
		record := h.recordOf(first.SessionID)
		if !strings.Contains(record, `"error":"turn interrupted"`) || !strings.Contains(record, `"reason":"stopped by api:alice"`) ||
			strings.Count(record, "session.waiting") != 1 {
			t.Errorf("the record says\n%s", record)
		}
		again, err := h.engine.Stop(context.Background(), StopRequest{SessionID: first.SessionID, Principal: "api:alice"})
		if err != nil || again.Interrupted != "" || len(again.Dropped) != 0 {
			t.Errorf("a second stop ended %+v, %v", again, err)
		}
		h.talk(second.reply("three")) // the session goes on
		h.wait(2 * time.Second)
		h.wantAsked(first.SessionID, "one:interrupted", "two:interrupted", "three:completed")
	})
}

// A stop needs no place in the turn queue.
func TestAStopOvertakesTheQueue(t *testing.T) {
	inHouseWith(t, func(o *Options) { o.MaxRunningTurns = 1 }, func(h *house) {
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			return think(ctx, r, 10*time.Minute)
		}
		h.talk(Message{Text: "long"})
		h.wait(time.Second)
		waiting := h.talk(Message{Text: "waits"})
		done, err := h.engine.Stop(context.Background(), StopRequest{SessionID: waiting.SessionID, Operator: true, Reason: "not needed"})
		if err != nil || !slices.Equal(done.Dropped, []string{waiting.TurnID}) {
			t.Errorf("stopped %+v, %v", done, err)
		}
		if s := h.engine.Status(); s.QueuedTurns != 0 || s.RunningTurns != 1 {
			t.Errorf("status is %+v", s)
		}
		h.wantAsked(waiting.SessionID, "waits:interrupted")
	})
}

func TestAStoppedTaskIsOver(t *testing.T) {
	inHouse(t, func(h *house) {
		sent := h.talk(Message{Text: "one", Mode: state.ModeTask})
		h.wait(500 * time.Millisecond)
		if _, err := h.engine.Stop(context.Background(), StopRequest{SessionID: sent.SessionID, Principal: "api:alice"}); err != nil {
			t.Fatal(err)
		}
		sess, _ := h.stored(sent.SessionID)
		if record := h.recordOf(sent.SessionID); sess.Status != state.SessionArchived || !strings.Contains(record, `session.failed {"reason":"stopped by api:alice"}`) {
			t.Errorf("session is %s:\n%s", sess.Status, record)
		}
	})
}

func TestRefusedStops(t *testing.T) {
	inHouse(t, func(h *house) {
		sent := h.talk(Message{Text: "one"})
		h.wait(500 * time.Millisecond)
		for name, c := range map[string]struct {
			r    StopRequest
			want error
		}{
			"unknown session":    {StopRequest{SessionID: "ses_nobody", Operator: true}, state.ErrNotFound},
			"impossible session": {StopRequest{SessionID: "..", Operator: true}, state.ErrNotFound},
			"stranger":           {StopRequest{SessionID: sent.SessionID, Principal: "api:mallory"}, ErrNotAllowed},
			"nobody":             {StopRequest{SessionID: sent.SessionID}, ErrNotAllowed},
		} {
			if _, err := h.engine.Stop(context.Background(), c.r); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
		h.wait(time.Second)
		h.wantAsked(sent.SessionID, "one:completed")
		if _, err := h.engine.Stop(context.Background(), StopRequest{SessionID: sent.SessionID, Principal: "api:mallory"}); !errors.Is(err, ErrNotAllowed) {
			t.Errorf("a stranger's stop of an idle session: %v", err)
		}
	})
}

// Somebody who asked for a turn may stop that one, and not the others.
func TestARequesterStopsTheirOwn(t *testing.T) {
	inHouse(t, func(h *house) {
		first := h.talk(Message{Text: "one"})
		h.wait(500 * time.Millisecond)
		m := first.reply("two")
		m.Principal, m.Operator, m.Admission = "api:bob", true, AdmitCoalesce
		second := h.talk(m)
		done, err := h.engine.Stop(context.Background(), StopRequest{SessionID: first.SessionID, Principal: "api:bob"})
		if err != nil || done.Interrupted != "" || !slices.Equal(done.Dropped, []string{second.TurnID}) {
			t.Errorf("stopped %+v, %v", done, err)
		}
		h.wait(2 * time.Second)
		h.wantAsked(first.SessionID, "one:completed", "two:interrupted")
	})
}

// vouching is a channel that says who may stop.
type vouching struct {
	*world
	may func(ctx context.Context, q StopQuestion) (bool, error)
}

func (v vouching) MayStop(ctx context.Context, q StopQuestion) (bool, error) { return v.may(ctx, q) }

// witnessing is a channel that is told what came of stops.
type witnessing struct {
	*world
	seen *[]StopVerdict
}

func (w witnessing) StopEffects(_ json.RawMessage, v StopVerdict) []Effect {
	*w.seen = append(*w.seen, v)
	return nil
}

// A channel is told whether something ended, and whether something goes on that
// who asked may not stop.
func TestWhatCameOfAStop(t *testing.T) {
	var seen []StopVerdict
	adjust := func(o *Options) { o.Channels = []Channel{witnessing{o.Channels[0].(*world), &seen}} }
	inHouseWith(t, adjust, func(h *house) {
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			return think(ctx, r, time.Minute)
		}
		stop := func(by string) {
			h.send(request{Do: "stop", Key: "k", By: by})
			h.settle()
		}
		stop("mona") // before there is a session
		h.send(request{Key: "k", Text: "one", Coalesce: true})
		h.settle()
		h.send(request{Key: "k", Text: "two", By: "eve", Coalesce: true})
		h.settle()
		for _, by := range []string{"mallory", "eve", "mona", "mona"} {
			stop(by)
		}
	})
	want := []StopVerdict{{}, {Refused: true}, {Ended: true, Refused: true}, {Ended: true}, {}}
	if !slices.Equal(seen, want) {
		t.Errorf("told %+v, want %+v", seen, want)
	}
}

func TestStopDeliveries(t *testing.T) {
	yes := func(context.Context, StopQuestion) (bool, error) { return true, nil }
	no := func(context.Context, StopQuestion) (bool, error) { return false, nil }
	for name, c := range map[string]struct {
		by       string
		may      func(context.Context, StopQuestion) (bool, error)
		status   state.DeliveryStatus
		decision string
		stops    bool
	}{
		"by the owner":            {"mona", nil, state.DeliveryDone, "stopped turn trn_", true},
		"by a stranger":           {"mallory", nil, state.DeliveryIgnored, "mallory may not stop turn trn_", false},
		"by nobody":               {"-", nil, state.DeliveryIgnored, "somebody unknown may not stop turn trn_", false},
		"vouched for":             {"maintainer", yes, state.DeliveryDone, "stopped turn trn_", true},
		"not vouched for":         {"mallory", no, state.DeliveryIgnored, "mallory may not stop turn trn_", false},
		"the owner is not judged": {"mona", no, state.DeliveryDone, "stopped turn trn_", true},
		"nobody can say": {"maintainer", func(context.Context, StopQuestion) (bool, error) {
			return true, errors.New("the platform is down")
		}, state.DeliveryIgnored, "(nobody could say whether they may: the platform is down)", false},
		"no answer": {"maintainer", func(ctx context.Context, _ StopQuestion) (bool, error) {
			<-ctx.Done()
			time.Sleep(time.Hour)
			return true, nil
		}, state.DeliveryIgnored, "no answer within 10s", false},
		"panic": {"maintainer", func(context.Context, StopQuestion) (bool, error) {
			panic(secret)
		}, state.DeliveryIgnored, "panicked: [redacted]", false},
	} {
		t.Run(name, func(t *testing.T) {
			adjust := func(o *Options) {
				if c.may != nil {
					o.Channels = []Channel{vouching{o.Channels[0].(*world), c.may}}
				}
			}
			inHouseWith(t, adjust, func(h *house) {
				h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
					return think(ctx, r, time.Minute)
				}
				h.send(request{Key: "k", Text: "one", Coalesce: true})
				h.settle()
				id := h.send(request{Do: "stop", Key: "k", By: c.by})
				h.wait(2 * time.Hour)
				h.wantDelivery(id, c.status, c.decision)
				if c.stops {
					h.wantTurns("k", ":interrupted")
				} else {
					h.wantTurns("k", ":completed")
				}
			})
		})
	}
}

func TestAStopThatFindsNothing(t *testing.T) {
	inHouse(t, func(h *house) {
		early := h.send(request{Do: "stop", Key: "k"})
		h.settle()
		h.wantDelivery(early, state.DeliveryIgnored, "no session to stop")
		h.send(push("a", "", 1))
		h.wait(2 * time.Second)
		late := h.send(request{Do: "stop", Key: "k", By: "mallory"})
		h.settle()
		h.wantDelivery(late, state.DeliveryIgnored, "nothing to stop")
	})
}

// A button that stops one turn does not stop those that come after it.
func TestAStopOfATurnThatHasEnded(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(request{Key: "k", Text: "one", Coalesce: true})
		h.wait(time.Minute)
		ended := h.lastTurn("k").ID
		h.send(request{Key: "k", Text: "two", Coalesce: true})
		h.settle()
		id := h.send(request{Do: "stop", Key: "k", Note: Note{TurnID: ended}})
		h.settle()
		h.wantDelivery(id, state.DeliveryIgnored, "nothing to stop")
		id = h.send(request{Do: "stop", Key: "k", Note: Note{TurnID: h.lastTurn("k").ID}})
		h.settle()
		h.wantDelivery(id, state.DeliveryDone, "stopped turn")
		h.wantTurns("k", ":completed", ":interrupted")
	})
}

// What comes while a channel thinks about a stop is not what was to be stopped.
func TestAStopEndsOnlyWhatWasThere(t *testing.T) {
	slow := func(o *Options) {
		o.Channels = []Channel{vouching{o.Channels[0].(*world), func(_ context.Context, q StopQuestion) (bool, error) {
			time.Sleep(5 * time.Second)
			return len(q.Turns) == 1 && q.Turns[0].Message == "one" && q.Principal == "maintainer", nil
		}}}
	}
	inHouseWith(t, slow, func(h *house) {
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			return think(ctx, r, time.Minute)
		}
		h.send(request{Key: "k", Text: "one", Coalesce: true})
		h.settle()
		id := h.send(request{Do: "stop", Key: "k", By: "maintainer"})
		h.wait(time.Second)
		h.send(request{Key: "k", Text: "two", Coalesce: true})
		h.wait(2 * time.Hour)
		h.wantDelivery(id, state.DeliveryDone, "stopped turn")
		h.wantTurns("k", ":interrupted", ":completed")
	})
}

// A stop that nobody has judged yet when the service stops is judged after the start.
func TestAStopThatWasNotJudgedIsNotLost(t *testing.T) {
	judged := 0
	slow := func(o *Options) {
		o.Channels = []Channel{vouching{o.Channels[0].(*world), func(ctx context.Context, _ StopQuestion) (bool, error) {
			if judged++; judged == 1 {
				<-ctx.Done()
				return false, ctx.Err()
			}
			return true, nil
		}}}
	}
	inHouseWith(t, slow, func(h *house) {
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			return think(ctx, r, time.Minute)
		}
		h.send(request{Key: "k", Text: "one"})
		h.settle()
		id := h.send(request{Do: "stop", Key: "k", By: "maintainer"})
		h.settle()
		h.restart()
		h.wait(time.Hour)
		h.wantDelivery(id, state.DeliveryDone, "stopped turn")
		h.wantTurns("k", ":interrupted")
	})
}
