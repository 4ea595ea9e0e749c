package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

func TestHowTurnsEnd(t *testing.T) {
	answer := func(r bridge.Result, err error) func(*house) {
		return func(h *house) {
			h.runner.run = func(context.Context, RunRequest, func(bridge.Event)) (bridge.Result, error) { return r, err }
		}
	}
	prepare := func(err error) func(*house) {
		return func(h *house) {
			h.world.prepare = func(context.Context, Turn, string) (Brief, error) { return Brief{}, err }
		}
	}
	for name, c := range map[string]struct {
		arrange func(*house)
		status  state.TurnStatus
		said    string
		reason  string
	}{
		"answer": {
			answer(bridge.Result{Status: bridge.RunFinished, Text: "fine"}, nil),
			state.TurnCompleted, "fine", "",
		},
		"failed run gives its last status message": {
			answer(bridge.Result{Status: bridge.RunError, Reason: "out of tokens", ErrorCode: "X"}, nil),
			state.TurnFailed, "a failure: out of tokens", "out of tokens",
		},
		"failed run with a code only": {
			answer(bridge.Result{Status: bridge.RunError, ErrorCode: "E42"}, nil),
			state.TurnFailed, "a failure: the agent's run failed and gave no reason but the code E42", "E42",
		},
		"failed run without a word": {
			answer(bridge.Result{Status: bridge.RunError}, nil),
			state.TurnFailed, "a failure: the agent's run failed and gave no reason", "gave no reason",
		},
		"expired run": {
			answer(bridge.Result{Status: bridge.RunExpired, ErrorCode: "force_send"}, nil),
			state.TurnFailed, "a failure: the agent's run expired: no reason but the code force_send", "expired",
		},
		"run cancelled by someone else": {
			answer(bridge.Result{Status: bridge.RunCancelled}, nil),
			state.TurnInterrupted, "a cancelled: the run was cancelled at the bridge", "cancelled",
		},
		"bridge fault": {
			answer(bridge.Result{}, errors.New("bridge: dead")),
			state.TurnFailed, "a failure: bridge: dead", "bridge: dead",
		},
		"runner panic": {
			func(h *house) {
				h.runner.run = func(context.Context, RunRequest, func(bridge.Event)) (bridge.Result, error) { panic("boom " + secret) }
			},
			state.TurnFailed, "a failure: Runner panicked: boom [redacted]", "boom",
		},
		"evidence failed": {
			prepare(errors.New("diff cannot be read")),
			state.TurnFailed, "a failure: diff cannot be read", "diff",
		},
		"evidence panics": {
			func(h *house) {
				h.world.prepare = func(context.Context, Turn, string) (Brief, error) { panic("nil user") }
			},
			state.TurnFailed, "a failure: Prepare of channel test panicked: nil user", "nil user",
		},
		"nothing left to do": {
			prepare(&UnneededError{Reason: "the pull request was closed"}),
			state.TurnInterrupted, "a cancelled: the pull request was closed", "closed",
		},
		"superseded by itself is a fault": {
			prepare(&SupersededError{Revision: state.Revision{ID: "a"}}),
			state.TurnFailed, "a failure: the channel said that a is superseded by itself", "itself",
		},
		"secret in the reason": {
			answer(bridge.Result{Status: bridge.RunError, Reason: "key " + secret + " refused"}, nil),
			state.TurnFailed, "a failure: key [redacted] refused", "[redacted]",
		},
		"secret in the answer": {
			answer(bridge.Result{Status: bridge.RunFinished, Text: "found " + secret}, nil),
			state.TurnCompleted, "found [redacted]", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				c.arrange(h)
				h.send(push("a", "", 1))
				h.wait(5 * time.Second)
				turn := h.lastTurn("k")
				if turn.Status != c.status || !strings.Contains(turn.Reason, c.reason) {
					t.Errorf("turn is %s (%q), want %s (…%s…)", turn.Status, turn.Reason, c.status, c.reason)
				}
				said := h.world.said()
				if len(said) < 2 || said[len(said)-1] != c.said {
					t.Errorf("the world was told %q, want %q at the end", said, c.said)
				}
				if got := h.engine.Status(); got.RunningTurns != 0 || got.ActiveSessions != 0 {
					t.Errorf("something is left over: %+v", got)
				}
				types := h.eventTypes("k")
				if types[len(types)-1] != EventSessionWaiting {
					t.Errorf("events are %v", types)
				}
				record, _ := json.Marshal(h.events("k"))
				if strings.Contains(string(record), secret) || strings.Contains(h.logs.String(), secret) {
					t.Error("a secret is on record")
				}
			})
		})
	}
}

func TestTurnThatTakesTooLongFails(t *testing.T) {
	inHouse(t, func(h *house) {
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			return think(ctx, r, time.Hour)
		}
		h.send(push("a", "", 1))
		h.wait(DefaultTurnTimeout - time.Second)
		h.wantTurns("k", "a:running")
		h.wait(2 * time.Second)
		h.wantSaid("a in progress", "a failure: the turn took longer than 30m0s and was stopped")
	})
}

func TestEvidenceFindsThatTheHeadHasMoved(t *testing.T) {
	inHouse(t, func(h *house) {
		h.world.prepare = func(_ context.Context, turn Turn, _ string) (Brief, error) {
			if turn.Revision.ID == "a" {
				return Brief{}, &SupersededError{
					Revision: state.Revision{ID: "b", Previous: "a"}, Request: json.RawMessage(`{"rev":"b"}`),
				}
			}
			return Brief{Prompt: string(turn.Request)}, nil
		}
		h.send(push("a", "", 1))
		h.settle()
		h.wantTurns("k", "a:interrupted", "b:running")
		// The delivery that speaks of b comes late and finds b under way.
		late := h.send(push("b", "a", 2))
		h.wait(3 * time.Second)
		h.wantDelivery(late, state.DeliveryIgnored, "b is running already")
		h.wantTurns("k", "a:interrupted", "b:completed")
		h.wantSaid("a in progress", "a cancelled: superseded by b", "b in progress", "b success", `done: {"rev":"b"}`)
	})
}

func TestEvidenceIsTriedAgain(t *testing.T) {
	inHouse(t, func(h *house) {
		tries := 0
		h.world.prepare = func(_ context.Context, turn Turn, _ string) (Brief, error) {
			if tries++; tries < 3 {
				return Brief{}, &RetryError{After: time.Minute, Err: errors.New("rate limited")}
			}
			return Brief{Prompt: fmt.Sprint("attempt ", turn.Attempt)}, nil
		}
		h.send(push("a", "", 1))
		h.wait(59 * time.Second)
		h.wantTurns("k", "a:queued")
		if s := h.engine.Status(); s.RunningTurns != 0 || s.QueuedTurns != 0 {
			t.Errorf("a waiting turn holds a place: %+v", s)
		}
		h.wait(3 * time.Minute)
		h.wantTurns("k", "a:completed")
		h.wantSaid("a in progress", "a success", "done: attempt 3")
		if turn := h.lastTurn("k"); turn.Retries != 2 || turn.Lost != 0 {
			t.Errorf("turn is %+v", turn)
		}
	})
}

// At night the log answers what a turn waits for, and how it ended.
func TestTheLogFollowsEachTurn(t *testing.T) {
	inHouse(t, func(h *house) {
		tries := 0
		h.world.prepare = func(context.Context, Turn, string) (Brief, error) {
			switch tries++; tries {
			case 1:
				return Brief{}, &RetryError{Err: errors.New("answered with 502")}
			case 2:
				return Brief{Prompt: "review"}, nil
			case 3:
				return Brief{}, &UnneededError{Reason: "closed meanwhile"}
			}
			return Brief{}, errors.New("no evidence: " + secret)
		}
		for i, rev := range []string{"a", "b", "c"} {
			h.send(push(rev, "", i+1))
			h.wait(time.Minute)
		}
		for want, times := range map[string]int{
			`level=INFO msg="turn running" session=ses_`:      4,
			`level=INFO msg="turn queued again" session=ses_`: 1,
			`reason="answered with 502"`:                      1,
			`level=INFO msg="turn completed"`:                 1,
			`level=INFO msg="turn interrupted"`:               1,
			`reason="closed meanwhile"`:                       1,
			`level=WARN msg="turn failed"`:                    1,
			`reason="no evidence: [redacted]"`:                1,
		} {
			if got := strings.Count(h.logs.String(), want); got != times {
				t.Errorf("%d times instead of %d: %s\n%s", got, times, want, h.logs)
			}
		}
	})
}

func TestWaitForAnotherTrySurvivesARestart(t *testing.T) {
	inHouse(t, func(h *house) {
		var blocked atomic.Bool
		blocked.Store(true)
		var tries atomic.Int32
		h.world.prepare = func(context.Context, Turn, string) (Brief, error) {
			if tries.Add(1); blocked.Load() {
				return Brief{}, &RetryError{After: time.Hour, Err: errors.New("rate limited")}
			}
			return Brief{Prompt: "p"}, nil
		}
		h.send(push("a", "", 1))
		h.wait(time.Minute)
		h.restart()
		blocked.Store(false)
		h.wait(58 * time.Minute)
		if n := tries.Load(); n != 1 {
			t.Errorf("tried %d times before the wait was over", n)
		}
		h.wait(3 * time.Minute)
		h.wantTurns("k", "a:completed")
	})
}

func TestTriesAreBounded(t *testing.T) {
	inHouse(t, func(h *house) {
		h.world.prepare = func(context.Context, Turn, string) (Brief, error) {
			return Brief{}, &RetryError{Err: errors.New("502")}
		}
		h.send(push("a", "", 1))
		h.wait(24 * time.Hour)
		h.wantSaid("a in progress", "a failure: gave up after 13 tries: 502")
	})
}

func TestPausedSurfaceIsWaitedForWithoutAStorm(t *testing.T) {
	inHouse(t, func(h *house) {
		var suspended atomic.Bool
		suspended.Store(true)
		var tries atomic.Int32
		h.world.prepare = func(context.Context, Turn, string) (Brief, error) {
			if tries.Add(1); suspended.Load() {
				return Brief{}, &RetryError{Paused: true, Err: errors.New("installation suspended")}
			}
			return Brief{Prompt: "p"}, nil
		}
		h.world.deliver = func(_ context.Context, item Item) (Receipt, error) {
			if suspended.Load() {
				return Receipt{}, &RetryError{Paused: true, Err: errors.New("installation suspended")}
			}
			return h.world.write(item), nil
		}
		h.send(push("a", "", 1))
		h.wait(48 * time.Hour)
		if s := h.session("k"); s.Paused != "installation suspended" {
			t.Errorf("session shows %q", s.Paused)
		}
		if n := tries.Load(); n < 2 || n > 200 {
			t.Errorf("%d tries in two days", n)
		}
		if n := strings.Count(h.logs.String(), "session paused"); n != 1 {
			t.Errorf("%d lines of log about the pause", n)
		}
		suspended.Store(false)
		h.wait(time.Hour)
		h.wantTurns("k", "a:completed")
		h.wantSaid("a in progress", "a success", "done: p")
		if s := h.session("k"); s.Paused != "" {
			t.Errorf("session still shows %q", s.Paused)
		}
	})
}

func TestPushOvertakesATurnThatWaits(t *testing.T) {
	inHouse(t, func(h *house) {
		h.world.prepare = func(_ context.Context, turn Turn, _ string) (Brief, error) {
			if turn.Revision.ID == "a" {
				return Brief{}, &RetryError{After: time.Hour, Err: errors.New("502")}
			}
			return Brief{Prompt: turn.Message}, nil
		}
		h.send(push("a", "", 1))
		h.wait(time.Second)
		h.send(push("b", "a", 2))
		h.wait(5 * time.Second)
		h.wantSaid("a in progress", "a cancelled: superseded by b", "b in progress", "b success", "done: review b")
		if _, waiting, _ := h.store.NextTimer(context.Background()); waiting {
			t.Error("a timer is left of a turn that is over")
		}
	})
}

func TestPlacesAreSharedFairly(t *testing.T) {
	inHouseWith(t, func(o *Options) { o.MaxRunningTurns = 2 }, func(h *house) {
		for i := range 3 {
			h.send(request{Key: "busy", Text: fmt.Sprint("busy ", i), Coalesce: true})
			h.settle()
		}
		for i := range 3 {
			h.send(request{Key: fmt.Sprint("other", i), Text: fmt.Sprint("other ", i), Coalesce: true})
			h.settle()
		}
		if s := h.engine.Status(); s.RunningTurns != 2 || s.QueuedTurns != 2 || s.MaxRunningTurns != 2 || !s.Running {
			t.Errorf("status is %+v", s)
		}
		h.wait(10 * time.Second)
		if h.runner.most != 2 {
			t.Errorf("%d turns ran at once", h.runner.most)
		}
		got := h.runner.prompts()
		if got[len(got)-1] != "busy 1\nbusy 2" {
			t.Errorf("the busy session kept others waiting: %v", got)
		}
		for _, ev := range h.events("other2") {
			if ev.Type == EventTurnQueued && string(ev.Data) != `{"position":2}` {
				t.Errorf("queued with %s", ev.Data)
			}
		}
	})
}

func TestAgentGetsAPrivateWorkspaceAndAMaskedPrompt(t *testing.T) {
	inHouseWith(t, func(o *Options) { o.Agent = func() Agent { return Agent{Model: "big"} } }, func(h *house) {
		h.world.prepare = func(_ context.Context, _ Turn, dir string) (Brief, error) {
			return Brief{Prompt: "see " + secret}, os.WriteFile(filepath.Join(dir, "evidence"), nil, 0o600)
		}
		h.send(push("a", "", 1))
		h.wait(2 * time.Second)
		r := h.runner.requests[0]
		id := h.session("k").ID
		if want := filepath.Join(h.dir, "sessions", id, "workspace"); r.Dir != want || h.engine.Workspace(id) != want {
			t.Errorf("workspace is %s, want %s", r.Dir, want)
		}
		if r.Prompt != "see [redacted]" || r.Model != "big" || r.AgentID != h.session("k").AgentID || !r.Force {
			t.Errorf("request is %+v", r)
		}
		info, err := os.Stat(r.Dir)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("workspace: %v, %v", info, err)
		}
	})
}

func TestChannelThatCannotSayItsAnswer(t *testing.T) {
	inHouse(t, func(h *house) {
		h.world.effects = func(_ Turn, r Report) ([]Effect, error) {
			switch r.Moment {
			case MomentAccepted, MomentStarted:
				panic("no")
			case MomentCompleted:
				return []Effect{{Name: "c", Payload: json.RawMessage(`{`)}}, nil
			default:
				text, _ := json.Marshal("failed: " + r.Reason)
				return []Effect{{Name: "c", Payload: text}}, nil
			}
		}
		h.send(push("a", "", 1))
		h.wait(2 * time.Second)
		h.wantTurns("k", "a:failed")
		h.wantSaid(`failed: the answer could not be handed over: channel test made an effect that cannot be stored: "c"`)
	})
}
