package bridge

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// testBox is a toolbox whose agent "a" has a run under way.
type testBox struct {
	*toolbox
	log logBuffer
	// end ends the run.
	end func()
}

func newTestBox(t *testing.T, tools ...Tool) *testBox {
	t.Helper()
	offered, err := checkTools(tools)
	if err != nil {
		t.Fatal(err)
	}
	box := new(testBox)
	mask := func(s string) string { return strings.ReplaceAll(s, "hush-hush", "[redacted]") }
	box.toolbox = newToolbox(slog.New(slog.NewTextHandler(&box.log, nil)), mask, new(gate))
	box.offer("a", offered)
	t.Cleanup(func() {
		box.toolbox.end()
		if left := box.under.close(testContext(t)); left > 0 {
			t.Errorf("%d calls have not returned", left)
		}
	})
	return box
}

func startedBox(t *testing.T, tools ...Tool) *testBox {
	t.Helper()
	box := newTestBox(t, tools...)
	named, end := box.begin(context.Background(), "a")
	named("run-1")
	box.end = end
	return box
}

// call, which any goroutine may call, calls a tool of agent "a" without an id and returns the result's JSON.
func (b *testBox) call(t *testing.T, tool, args string) string {
	t.Helper()
	return b.callAs(t, "a", "", tool, args)
}

func (b *testBox) callAs(t *testing.T, agentID, callID, tool, args string) string {
	t.Helper()
	result, err := b.toolbox.call(testContext(t), toolRequest(t, agentID, callID, tool, args))
	if err != nil {
		t.Errorf("call: %v", err)
		return ""
	}
	return resultJSON(t, result)
}

func toolRequest(t testing.TB, agentID, callID, tool, args string) *sdkv1.CallCustomToolRequest {
	t.Helper()
	in := new(structpb.Struct)
	if err := in.UnmarshalJSON([]byte(args)); err != nil {
		t.Error(err)
	}
	r := &sdkv1.CallCustomToolRequest{AgentId: agentID, ToolName: tool, Args: in}
	if callID != "" {
		r.ToolCallId = &callID
	}
	return r
}

// resultJSON is a result with its keys in order.
func resultJSON(t testing.TB, s *structpb.Struct) string {
	t.Helper()
	data, err := json.Marshal(s.AsMap())
	if err != nil {
		t.Error(err)
	}
	return string(data)
}
