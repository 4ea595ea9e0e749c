package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// keep lays down an output of the newest turn of k, as a tool does.
func (h *house) keep(name, data string) {
	h.t.Helper()
	turn := h.lastTurn("k")
	if err := h.engine.KeepOutput(context.Background(), turn.SessionID, turn.ID, name, json.RawMessage(data)); err != nil {
		h.t.Error(err)
	}
}

func outputOf(t Turn) string { return fmt.Sprintf("%s", t.Outputs) }

// sayOutputs has the world told, at the end of a turn, what was laid down in it.
func (h *house) sayOutputs() {
	h.world.effects = func(t Turn, r Report) ([]Effect, error) {
		if r.Moment != MomentCompleted {
			return nil, nil
		}
		payload, err := json.Marshal(outputOf(t))
		return []Effect{{Name: "done", Kind: "say", Payload: payload}}, err
	}
}

func TestOutputsComeWithTheEndOfATurn(t *testing.T) {
	inHouse(t, func(h *house) {
		h.sayOutputs()
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			h.keep("submit_review", `{"n": 1}`)
			h.keep("submit_review", `{"n": 12345678901234567890, "text": "<`+secret+`>"}`)
			h.keep("other", `[1]`)
			return think(ctx, r, time.Second)
		}
		h.send(push("a", "", 1))
		h.wait(2 * time.Second)
		h.wantSaid(`map[other:[1] submit_review:{"n":12345678901234567890,"text":"<[redacted]>"}]`)
	})
}

// What a run laid down stays with it; another run begins with nothing.
func TestOutputsStayWithTheirRun(t *testing.T) {
	for name, c := range map[string]struct {
		outlives bool
		said     string
	}{
		"the run goes on after a crash": {true, `map[review:{"v":1}]`},
		"the run is lost with a crash":  {false, `map[]`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newLiveBridge(c.outlives, time.Minute)
			inHouseWith(t, b.behind, func(h *house) {
				h.sayOutputs()
				h.send(push("a", "", 1))
				h.wait(20 * time.Second)
				h.keep("review", `{"v":1}`)
				h.dieAndLive(b, 0)
				h.wait(5 * time.Minute)
				h.wantSaid(c.said)
			})
		})
	}
}

// A turn that waits for its provider and begins anew has nothing laid down.
func TestOutputsOfAnAttemptThatFailedAreDropped(t *testing.T) {
	inHouse(t, func(h *house) {
		h.sayOutputs()
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			if h.lastTurn("k").Attempts == 1 {
				h.keep("review", `1`)
				return bridge.Result{}, &RetryError{Err: errors.New("busy")}
			}
			return think(ctx, r, time.Second)
		}
		h.send(push("a", "", 1))
		h.wait(time.Hour)
		h.wantSaid(`map[]`)
	})
}

func TestRefusedOutputs(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(500 * time.Millisecond)
		turn := h.lastTurn("k")
		keep := func(turnID, name, data string) error {
			return h.engine.KeepOutput(context.Background(), turn.SessionID, turnID, name, json.RawMessage(data))
		}
		text := func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
		for name, c := range map[string]struct{ got, want error }{
			"another turn":        {keep("trn_nobody", "a", `1`), ErrTurnNotRunning},
			"no name":             {keep(turn.ID, "", `1`), state.ErrInvalid},
			"no JSON":             {keep(turn.ID, "a", `{`), state.ErrInvalid},
			"nothing":             {keep(turn.ID, "a", ``), state.ErrInvalid},
			"the largest":         {keep(turn.ID, "a", text(MaxOutput-1)), nil},
			"one more":            {keep(turn.ID, "a", text(MaxOutput)), ErrOutputTooLarge},
			"no room for another": {keep(turn.ID, "b", `1`), ErrOutputTooLarge},
			"in its place":        {keep(turn.ID, "a", `1`), nil},
			"after that":          {keep(turn.ID, "b", `1`), nil},
		} {
			if !errors.Is(c.got, c.want) || c.want == nil && c.got != nil {
				t.Errorf("%s: %v, want %v", name, c.got, c.want)
			}
		}
		h.wait(2 * time.Second)
		if err := keep(turn.ID, "a", `1`); !errors.Is(err, ErrTurnNotRunning) {
			t.Errorf("after the end: %v", err)
		}
	})
}
