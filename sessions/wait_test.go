package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// limited has the provider of models refuse the first n runs.
func limited(h *house, n int, after time.Duration) {
	h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
		h.runner.mu.Lock()
		n--
		refused := n >= 0
		h.runner.mu.Unlock()
		if refused {
			err := &bridge.Error{Op: "send", SDKCode: codeLimited, Message: "slow down, " + secret}
			return bridge.Result{}, &RetryError{After: after, WaitsFor: rateLimit, Err: err}
		}
		return think(ctx, r, time.Second)
	}
}

func TestARateLimitIsWaitedForVisibly(t *testing.T) {
	inHouseWith(t, func(o *Options) { o.MaxRunningTurns = 1 }, func(h *house) {
		limited(h, 1, 10*time.Minute)
		began := time.Now()
		h.send(push("a", "", 1))
		h.settle()
		until := began.Add(10*time.Minute + maxTurnJitter/2).UTC().Format("15:04:05")
		h.wantSaid("a in progress", "a waits for the model's rate limit until "+until+
			": bridge: send:  (RATE_LIMIT_EXCEEDED): slow down, [redacted]")
		if s := h.engine.Status(); s.RunningTurns != 0 {
			t.Errorf("the wait holds a place: %+v", s)
		}
		// Another session uses the only place meanwhile.
		h.send(request{Key: "other", Rev: "z", At: 1, Text: "z"})
		h.wait(5 * time.Second)
		h.wantTurns("other", "z:completed")
		var queued turnQueued
		for _, ev := range h.events("k") {
			if ev.Type == EventTurnQueued {
				queued = turnQueued{}
				if err := json.Unmarshal(ev.Data, &queued); err != nil {
					t.Fatal(err)
				}
			}
		}
		if queued.NotBefore == nil || queued.WaitsFor != rateLimit || !strings.Contains(queued.Reason, codeLimited) {
			t.Errorf("the record says %+v", queued)
		}
		h.wait(time.Until(began.Add(10 * time.Minute)))
		h.wantTurns("k", "a:queued")
		h.wait(maxTurnJitter)
		h.wantTurns("k", "a:completed")
		if said := h.world.said(); !strings.Contains(strings.Join(said, "|"), "|a goes on|a success|done: review a") {
			t.Errorf("the world was told %q", said)
		}
	})
}

func TestAWaitSurvivesTheProcess(t *testing.T) {
	for name, again := range map[string]func(*house){
		"restart": (*house).restart,
		"crash": func(h *house) {
			h.crash()
			h.store = h.store.Reopen()
			h.start()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				limited(h, 1, time.Hour)
				h.send(push("a", "", 1))
				h.wait(time.Minute)
				again(h)
				h.wait(58 * time.Minute)
				if n := len(h.runner.prompts()); n != 1 {
					t.Errorf("%d runs before the time", n)
				}
				h.wait(5 * time.Minute)
				h.wantTurns("k", "a:completed")
				if said := h.world.said(); len(said) != 5 || said[2] != "a goes on" {
					t.Errorf("the world was told %q", said)
				}
			})
		})
	}
}

func TestWaitsForARateLimitAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		after  time.Duration
		within time.Duration
		runs   int
		reason string
	}{
		"in number":           {time.Minute, 24 * time.Hour, maxTurnRetries + 1, "gave up after 13 tries"},
		"in length":           {maxTurnWait + time.Second, time.Minute, 1, "would take 6h0m1s"},
		"just short enough":   {maxTurnWait, 24 * 7 * time.Hour, maxTurnRetries + 1, "gave up after 13 tries"},
		"without an end":      {0, 24 * time.Hour, maxTurnRetries + 1, "gave up after 13 tries"},
		"longer than allowed": {1 << 62, time.Minute, 1, "are the most"},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				limited(h, 1000, c.after)
				h.send(push("a", "", 1))
				h.wait(c.within)
				turn := h.lastTurn("k")
				if turn.Status != state.TurnFailed || !strings.Contains(turn.Reason, c.reason) || !strings.Contains(turn.Reason, codeLimited) {
					t.Errorf("turn is %s (%s)", turn.Status, turn.Reason)
				}
				if n := len(h.runner.prompts()); n != c.runs {
					t.Errorf("%d runs, want %d", n, c.runs)
				}
				said := h.world.said()
				if last := said[len(said)-1]; !strings.Contains(last, "a failure: ") || !strings.Contains(last, "slow down") {
					t.Errorf("the world was told %q in the end", last)
				}
				wantCode(t, h, codeLimited)
			})
		})
	}
}

// wantCode checks the code that the record gives for the last failure.
func wantCode(t *testing.T, h *house, code string) {
	t.Helper()
	var failed turnFailed
	for _, ev := range h.events("k") {
		if ev.Type == EventTurnFailed {
			if err := json.Unmarshal(ev.Data, &failed); err != nil {
				t.Fatal(err)
			}
		}
	}
	if failed.Code != code {
		t.Errorf("the record gives the code %q, want %q", failed.Code, code)
	}
}

func TestAPushEndsTheWait(t *testing.T) {
	inHouse(t, func(h *house) {
		limited(h, 1, time.Hour)
		h.send(push("a", "", 1))
		h.wait(time.Minute)
		h.send(push("b", "a", 2))
		h.wait(5 * time.Second)
		h.wantTurns("k", "a:interrupted", "b:completed")
		h.wait(2 * time.Hour) // the timer of the first is gone
		h.wantTurns("k", "a:interrupted", "b:completed")
		said := h.world.said()
		if len(said) != 6 || said[2] != "a cancelled: superseded by b" {
			t.Errorf("the world was told %q", said)
		}
	})
}

// The code of a failed run, and of a refusal, is kept for whoever looks for it.
func TestTheRecordHasTheCodeOfAFailure(t *testing.T) {
	for name, c := range map[string]struct {
		result bridge.Result
		err    error
		code   string
	}{
		"run":     {bridge.Result{Status: bridge.RunError, Reason: "no", ErrorCode: "out_of_credits"}, nil, "out_of_credits"},
		"refusal": {bridge.Result{}, &bridge.Error{SDKCode: "INVALID_MODEL", Message: "no such model"}, "INVALID_MODEL"},
		"fault":   {bridge.Result{}, errors.New("no code at all"), ""},
		"secret":  {bridge.Result{Status: bridge.RunError, ErrorCode: secret}, nil, "[redacted]"},
		"long":    {bridge.Result{Status: bridge.RunError, ErrorCode: strings.Repeat("x", 1000)}, nil, clip(strings.Repeat("x", 1000), maxCodeText)},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				h.runner.run = func(context.Context, RunRequest, func(bridge.Event)) (bridge.Result, error) {
					return c.result, c.err
				}
				h.send(push("a", "", 1))
				h.wait(time.Second)
				wantCode(t, h, c.code)
			})
		})
	}
}
