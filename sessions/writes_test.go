package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/tools"
)

// An agent whose run outlives the process may repeat its calls to the next one.
func TestAWriteIsNotMadeAgainAfterACrash(t *testing.T) {
	b := newLiveBridge(true, time.Minute)
	inHouseWith(t, b.behind, func(h *house) {
		pushed := 0
		call := func(id, input string) tools.Result {
			t.Helper()
			registry, err := tools.New(tools.Tool{Name: "push", Run: func(context.Context, tools.Call) (tools.Result, error) {
				pushed++
				return tools.Result{Text: fmt.Sprintf("pushed %d with %s", pushed, secret)}, nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			turn := h.lastTurn("k")
			c := tools.Call{Turn: tools.Turn{SessionID: turn.SessionID, TurnID: turn.ID}, AgentID: "a", CallID: id, Input: json.RawMessage(input)}
			result, err := registry.Call(context.Background(), c, "push", ledger{h.engine})
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		h.send(push("a", "", 1))
		h.wait(20 * time.Second)
		call("1", `{}`)
		turn := h.lastTurn("k")
		lost := tools.Call{Turn: tools.Turn{SessionID: turn.SessionID, TurnID: turn.ID}, AgentID: "a", CallID: "2", Input: json.RawMessage(`{}`)}
		if err := (ledger{h.engine}).Acting(context.Background(), lost, "push"); err != nil {
			t.Fatal(err)
		}
		h.dieAndLive(b, 0)
		h.wait(time.Second)
		if again := call("1", `{}`); pushed != 1 || again.IsError || !strings.HasPrefix(again.Text, "pushed 1 with ") || strings.Contains(again.Text, secret) {
			t.Errorf("repeated: pushed %d times, %+v", pushed, again)
		}
		if unknown := call("2", `{}`); pushed != 1 || !unknown.IsError || !strings.Contains(unknown.Text, "not known what became of it") {
			t.Errorf("cut short: pushed %d times, %+v", pushed, unknown)
		}
		if other := call("1", `{"branch":"b"}`); pushed != 2 || other.IsError {
			t.Errorf("another call: pushed %d times, %+v", pushed, other)
		}
		for range 2 * maxWrites {
			call("many", fmt.Sprintf(`{"n":%d}`, pushed))
		}
		writes, size := h.lastTurn("k").Writes, 0
		for _, w := range writes {
			size += len(w.Answer)
		}
		if len(writes) != maxWrites || size > maxKeptAnswers || size == 0 {
			t.Errorf("%d writes with answers of %d bytes are remembered", len(writes), size)
		}
		if last := call("many", fmt.Sprintf(`{"n":%d}`, pushed-1)); !strings.HasPrefix(last.Text, fmt.Sprintf("pushed %d ", pushed)) {
			t.Errorf("the newest is forgotten: %+v", last)
		}
		h.wait(5 * time.Minute)
	})
}
