package sessions

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// uses is an agent that uses so much in a run, and more of it each minute.
func uses(perMinute ...bridge.Payload) func(context.Context, RunRequest, func(bridge.Event)) (bridge.Result, error) {
	return func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
		var last bridge.Usage
		for _, p := range perMinute {
			observe(bridge.Event{RunID: "run-" + r.TurnID, Payload: p})
			if tokens, ok := p.(bridge.Tokens); ok {
				last = tokens.Usage
			}
			select {
			case <-ctx.Done():
				return bridge.Result{RunID: "run-" + r.TurnID, Status: bridge.RunCancelled, Usage: last}, nil
			case <-time.After(time.Minute):
			}
		}
		return bridge.Result{RunID: "run-" + r.TurnID, Status: bridge.RunFinished, Text: "done", Model: "m", Usage: last}, nil
	}
}

func used(in, out int64) bridge.Tokens {
	return bridge.Tokens{Usage: bridge.Usage{InputTokens: in, OutputTokens: out, TotalTokens: in + out}}
}

func TestATurnHasLimits(t *testing.T) {
	call := func(id string) bridge.ToolCall {
		return bridge.ToolCall{CallID: id, Name: "read", Status: bridge.ToolRunning}
	}
	three := []bridge.Payload{
		bridge.System{Model: "m"}, used(400, 100), call("1"), call("1"), call("2"), used(800, 200), call("3"), used(1200, 300),
	}
	for name, c := range map[string]struct {
		limits TurnLimits
		reason string
		tokens int64
		calls  int
	}{
		"within all":           {TurnLimits{Tokens: 1500, ToolCalls: 3, CostUSD: 1.8}, "", 1500, 3},
		"tokens":               {TurnLimits{Tokens: 1499}, "it used 1500 tokens, and 1499 is the most for one turn", 1500, 3},
		"tokens early":         {TurnLimits{Tokens: 500}, "it used 1000 tokens, and 500 is the most", 1000, 2},
		"tool calls":           {TurnLimits{ToolCalls: 2}, "it used 3 tool calls, and 2 is the most", 1000, 3},
		"money":                {TurnLimits{CostUSD: 1.79}, "it used an estimated 1.80 USD, and 1.79 is the most", 1500, 3},
		"none":                 {TurnLimits{Tokens: -1, ToolCalls: -1, CostUSD: -1}, "", 1500, 3},
		"defaults are large":   {TurnLimits{}, "", 1500, 3},
		"the first of several": {TurnLimits{Tokens: 1, ToolCalls: 1}, "it used 500 tokens", 500, 0},
		"money at once":        {TurnLimits{CostUSD: 0.0001}, "estimated", 500, 0},
	} {
		t.Run(name, func(t *testing.T) {
			adjust := func(o *Options) {
				o.Limits = c.limits
				o.Prices = map[string]Price{"m": {InputUSD: 1000, OutputUSD: 2000}}
			}
			inHouseWith(t, adjust, func(h *house) {
				h.runner.run = uses(three...)
				h.send(push("a", "", 1))
				h.wait(time.Hour)
				turn := h.lastTurn("k")
				cost := float64(c.tokens) * 1.2 / 1000
				if turn.Usage.TotalTokens != c.tokens || turn.ToolCalls != c.calls || math.Abs(turn.CostUSD-cost) > 1e-9 || turn.Model != "m" {
					t.Errorf("the turn has used %+v, %d calls, %f USD of %q, want %d tokens, %d calls, %f USD",
						turn.Usage, turn.ToolCalls, turn.CostUSD, turn.Model, c.tokens, c.calls, cost)
				}
				record := h.recordOf(turn.SessionID)
				if c.reason == "" {
					h.wantTurns("k", "a:completed")
					if !strings.Contains(record, `"toolCalls":3,"costUsd":1.8,"model":"m"`) {
						t.Errorf("the record says\n%s", record)
					}
					return
				}
				h.wantTurns("k", "a:failed")
				if said := h.world.said(); !strings.Contains(said[1], c.reason) || !strings.HasPrefix(said[1], "a failure: the turn was stopped: ") {
					t.Errorf("the world was told %q", said)
				}
				if !strings.Contains(record, c.reason) || !strings.Contains(record, `"costUsd":`) {
					t.Errorf("the record says\n%s", record)
				}
			})
		})
	}
}

func TestAModelWithoutAPriceHasNoCost(t *testing.T) {
	adjust := func(o *Options) { o.Limits.CostUSD = 0.0001; o.Prices = map[string]Price{"other": {InputUSD: 1e6}} }
	inHouseWith(t, adjust, func(h *house) {
		h.runner.run = uses(used(1e6, 1e6))
		h.send(push("a", "", 1))
		h.wait(time.Hour)
		h.wantTurns("k", "a:completed")
		if turn := h.lastTurn("k"); turn.CostUSD != 0 || strings.Contains(h.recordOf(turn.SessionID), "costUsd") {
			t.Errorf("the turn costs %f", turn.CostUSD)
		}
	})
}

// All attempts at a turn are paid for, so all of them count.
func TestUsageOfAllAttemptsAddsUp(t *testing.T) {
	refused := &RetryError{Err: errors.New("not now")}
	run := uses(bridge.ToolCall{CallID: "1"}, used(100, 0))
	for name, c := range map[string]struct {
		limit  int64
		status state.TurnStatus
		tokens int64
		calls  int
	}{
		"both":       {1000, state.TurnCompleted, 200, 2},
		"over limit": {199, state.TurnFailed, 200, 2},
	} {
		t.Run(name, func(t *testing.T) {
			inHouseWith(t, func(o *Options) { o.Limits.Tokens = c.limit }, func(h *house) {
				n := 0
				h.runner.run = func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
					result, err := run(ctx, r, observe)
					if n++; n == 1 {
						result.Status, err = bridge.RunError, refused
					}
					return result, err
				}
				h.send(push("a", "", 1))
				h.wait(time.Hour)
				if turn := h.lastTurn("k"); turn.Status != c.status || turn.Usage.TotalTokens != c.tokens || turn.ToolCalls != c.calls || turn.Attempts != 2 {
					t.Errorf("turn is %+v", turn)
				}
			})
		})
	}
}

// An attempt whose run is found again by the next one is counted once.
func TestARunThatIsFoundAgainIsCountedOnce(t *testing.T) {
	inHouse(t, func(h *house) {
		n := 0
		h.runner.run = func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
			if err := r.Note(ctx, state.Sending{RunID: "run-" + r.TurnID}); err != nil {
				t.Error(err)
			}
			result, _ := uses(bridge.ToolCall{CallID: "1"}, used(100, 0))(ctx, r, observe)
			if n++; n == 1 {
				return bridge.Result{}, &RetryError{Err: errors.New("the stream broke")}
			}
			return result, nil
		}
		h.send(push("a", "", 1))
		h.wait(time.Hour)
		if turn := h.lastTurn("k"); turn.Usage.TotalTokens != 100 || turn.ToolCalls != 1 || turn.Attempts != 2 {
			t.Errorf("turn is %+v", turn)
		}
	})
}

// What an interrupted turn has used is on its row and in the record, and what it
// used until it had stopped is on the row.
func TestAnInterruptedTurnIsPaidForToo(t *testing.T) {
	inHouse(t, func(h *house) {
		h.runner.run = func(ctx context.Context, _ RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
			observe(bridge.Event{Payload: used(100, 0)})
			<-ctx.Done()
			time.Sleep(time.Second)
			return bridge.Result{RunID: "run", Status: bridge.RunCancelled, Usage: bridge.Usage{InputTokens: 150, TotalTokens: 150}}, nil
		}
		sent := h.talk(Message{Text: "one"})
		h.wait(time.Second)
		if _, err := h.engine.Stop(context.Background(), StopRequest{SessionID: sent.SessionID, Operator: true}); err != nil {
			t.Fatal(err)
		}
		if record := h.recordOf(sent.SessionID); !strings.Contains(record, `"interrupted":true,"usage":{"inputTokens":100,`) {
			t.Errorf("the record says\n%s", record)
		}
		h.wait(5 * time.Second)
		if _, turns := h.stored(sent.SessionID); turns[0].Usage.TotalTokens != 150 || turns[0].Status != state.TurnInterrupted {
			t.Errorf("turn is %+v", turns[0])
		}
	})
}

func TestCostOf(t *testing.T) {
	p := Price{InputUSD: 3, OutputUSD: 15, CacheReadUSD: 0.3, CacheWriteUSD: 3.75}
	for name, c := range map[string]struct {
		p    Price
		u    state.Usage
		want float64
	}{
		"nothing":              {p, state.Usage{}, 0},
		"input and output":     {p, state.Usage{InputTokens: 1e6, OutputTokens: 1e6, TotalTokens: 2e6}, 18},
		"cached input within":  {p, state.Usage{InputTokens: 1e6, CacheReadTokens: 4e5, OutputTokens: 1e5, TotalTokens: 11e5}, 0.6*3 + 0.4*0.3 + 1.5},
		"cached input beside":  {p, state.Usage{InputTokens: 6e5, CacheReadTokens: 4e5, OutputTokens: 1e5, TotalTokens: 11e5}, 0.6*3 + 0.4*0.3 + 1.5},
		"cache that was taken": {p, state.Usage{InputTokens: 1e5, CacheWriteTokens: 1e6, TotalTokens: 11e5}, 0.3 + 3.75},
		"a cache for nothing":  {Price{InputUSD: 3}, state.Usage{InputTokens: 1e6, CacheReadTokens: 4e5, TotalTokens: 1e6}, 1.8},
		"odd numbers":          {p, state.Usage{InputTokens: 1, CacheReadTokens: 1e6, TotalTokens: 1}, 0.3},
	} {
		if got := c.p.CostOf(c.u); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s costs %f, want %f", name, got, c.want)
		}
	}
}
