package bridge

import (
	"context"
	"os"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// fakeCall is a call of a tool by the fake bridge.
type fakeCall struct {
	Tool   string
	ID     string         `json:",omitempty"`
	Args   map[string]any `json:",omitempty"`
	Token  string         `json:",omitempty"` // instead of the right one
	Broken bool           `json:",omitempty"` // give up the first request at once, and ask again
}

// fakeCallback is where the fake bridge calls tools.
type fakeCallback struct{ url, token string }

// callTool returns the message that reports the answer.
func (f *fakeBridge) callTool(agentID string, c fakeCall) fakeStep {
	f.mu.Lock()
	to := f.tools
	f.mu.Unlock()
	if to.url == "" {
		to = fakeCallback{os.Getenv("CURSOR_SDK_TOOL_CALLBACK_URL"), os.Getenv("CURSOR_SDK_TOOL_CALLBACK_AUTH_TOKEN")}
	}
	if c.Token != "" {
		to.token = c.Token
	}
	args, err := structpb.NewStruct(c.Args)
	if err != nil {
		return message("tool_call", "call_id", c.ID, "name", "mcp", "status", "error", "result", err.Error())
	}
	req := &sdkv1.CallCustomToolRequest{ToolName: c.Tool, Args: args, AgentId: agentID}
	if c.ID != "" {
		req.ToolCallId = &c.ID
	}
	connections := newHTTPClient(to.token)
	defer connections.CloseIdleConnections()
	client := sdkv1connect.NewSdkCustomToolCallbackServiceClient(connections, to.url, connect.WithProtoJSON())
	if c.Broken {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, _ = client.CallCustomTool(ctx, connect.NewRequest(req))
	}
	// No deadline, as in the vendor's bridge.
	res, err := client.CallCustomTool(context.Background(), connect.NewRequest(req))
	if err != nil {
		return message("tool_call", "call_id", c.ID, "name", "mcp", "status", "error",
			"result", map[string]any{"error": strings.ReplaceAll(err.Error(), to.url, "URL")})
	}
	return message("tool_call", "call_id", c.ID, "name", "mcp", "status", "completed", "result", res.Msg.GetResult().AsMap())
}
