package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/tools"
)

func parking() tools.Tool {
	return tools.Tool{Name: "park", Effect: tools.Reads, Run: func(context.Context, tools.Call) (tools.Result, error) {
		return tools.Result{Text: "pending", Final: true}, nil
	}}
}

// An agent that does not end its turn when it shall is ended, and its turn is none
// that failed.
func TestATurnThatShallEndEnds(t *testing.T) {
	for name, c := range map[string]struct {
		says string
		goes bool
		want string
	}{
		"it ends by itself":     {"I wait for ana.", false, "done"},
		"it goes on":            {"I wait for ana.", true, "I wait for ana."},
		"it goes on wordlessly": {"", true, "I ended my turn here, because park asked for it."},
	} {
		t.Run(name, func(t *testing.T) {
			withTools(t, func(h *house) {
				h.runner.run = func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
					first, err := callHost(ctx, r, "park", "1", `{}`)
					if err != nil || !strings.Contains(first.Content[0].Text, "pending\n\nEnd your turn now") {
						t.Errorf("%+v, %v", first, err)
					}
					again, err := callHost(ctx, r, "park", "2", `{}`)
					if err != nil || !again.IsError || !strings.Contains(again.Content[0].Text, "Nothing was run, because park asked") {
						t.Errorf("%+v, %v", again, err)
					}
					observe(bridge.Event{Payload: bridge.Assistant{Text: c.says}})
					if !c.goes {
						return bridge.Result{Status: bridge.RunFinished, Text: "done"}, nil
					}
					for i := 0; ctx.Err() == nil && i < 100; i++ {
						observe(bridge.Event{Payload: bridge.ToolCall{CallID: fmt.Sprint("c", i), Name: "read", Status: bridge.ToolRunning}})
					}
					return bridge.Result{Status: bridge.RunCancelled, RunID: "run"}, nil
				}
				h.send(push("a", "", 1))
				h.wait(2 * time.Second)
				h.wantTurns("k", "a:completed")
				if said := h.world.said(); !strings.HasPrefix(said[len(said)-1], c.want) {
					t.Errorf("the world was told %q", said)
				}
				if turn := h.lastTurn("k"); turn.Sending != nil || turn.Status != state.TurnCompleted {
					t.Errorf("turn is %+v", turn)
				}
			}, parking())
		})
	}
}

// A call that waits is not lost when others came in the same breath.
func TestCallsOfTheSameBreathDoNotEndARun(t *testing.T) {
	withTools(t, func(h *house) {
		h.runner.run = func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
			if _, err := callHost(ctx, r, "park", "1", `{}`); err != nil {
				t.Error(err)
			}
			for i := range maxAfterFinal {
				for _, status := range []bridge.ToolCallStatus{bridge.ToolRunning, bridge.ToolCompleted} {
					observe(bridge.Event{Payload: bridge.ToolCall{CallID: fmt.Sprint("c", i), Name: "read", Status: status}})
				}
			}
			if ctx.Err() != nil {
				t.Error("the run was ended")
			}
			return bridge.Result{Status: bridge.RunFinished, Text: "done"}, nil
		}
		h.send(push("a", "", 1))
		h.wait(2 * time.Second)
		h.wantTurns("k", "a:completed")
	}, parking())
}

// In a dry run what reads is done and what writes is acknowledged, and the record
// tells them apart.
func TestADryRunReadsAndAcknowledgesWrites(t *testing.T) {
	made := map[string]int{}
	tool := func(name string, effect tools.Effect, dry json.RawMessage) tools.Tool {
		return tools.Tool{
			Name: name, DryRun: dry, Effect: func(json.RawMessage) tools.Effect { return effect },
			Run: func(context.Context, tools.Call) (tools.Result, error) {
				made[name]++
				return tools.Result{Text: "did " + name}, nil
			},
		}
	}
	withTools(t, func(h *house) {
		h.runner.run = func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
			for i, want := range []struct{ tool, text string }{
				{"look", "did look"}, {"push", "Operation acknowledged."}, {"label", `{"id":7}`},
			} {
				id := fmt.Sprint(i)
				observe(bridge.Event{Payload: bridge.ToolCall{CallID: id, Name: want.tool, Status: bridge.ToolRunning}})
				result, err := callHost(ctx, r, want.tool, id, `{}`)
				if err != nil || result.IsError || result.Content[0].Text != want.text {
					t.Errorf("%s: %+v, %v", want.tool, result, err)
				}
				observe(bridge.Event{Payload: bridge.ToolCall{CallID: id, Name: want.tool, Status: bridge.ToolCompleted}})
			}
			return think(ctx, r, time.Second)
		}
		sent := h.talk(Message{Text: "one", DryRun: true})
		h.wait(2 * time.Second)
		if made["look"] != 1 || made["push"]+made["label"] != 0 {
			t.Errorf("made %v", made)
		}
		record := h.recordOf(sent.SessionID)
		for _, want := range []string{
			`action.result {"callId":"0","name":"look"}`, `action.result {"callId":"1","name":"push","stubbed":true}`,
			`action.result {"callId":"2","name":"label","stubbed":true}`,
		} {
			if !strings.Contains(record, want) {
				t.Errorf("the record lacks %s:\n%s", want, record)
			}
		}
		if _, turns := h.stored(sent.SessionID); turns[0].Acted != "" {
			t.Errorf("a dry run has acted: %s", turns[0].Acted)
		}
	}, tool("look", tools.Read, nil), tool("push", tools.Write, nil), tool("label", tools.Write, json.RawMessage(`{"id":7}`)))
}
