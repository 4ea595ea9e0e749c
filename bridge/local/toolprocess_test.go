package local

import (
	"context"
	"strings"
	"testing"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// The executable, its flags and the test model together, as another program
// would use them.
func TestTheExecutableCallsCustomTools(t *testing.T) {
	t.Parallel()
	box := serveTools(t, func(ctx context.Context, r *sdkv1.CallCustomToolRequest) (*sdkv1.CallCustomToolResponse, error) {
		if r.GetToolName() == "hang" {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return answers(t, `{"content":[{"type":"text","text":"done"}]}`)(ctx, r)
	})
	c := spawn(t, t.TempDir(), "--test-model", "--tool-callback-url", box.url, "--tool-callback-auth-token", box.token)
	ctx := testContext(t)
	o := options(t.TempDir())
	withTools("work", "hang")(o)
	created, err := c.agents().CreateAgent(ctx, connect.NewRequest(&sdkv1.CreateAgentRequest{Options: o}))
	if err != nil {
		t.Fatal(err)
	}
	send := func(text string) *stream {
		s, err := c.agents().Send(ctx, connect.NewRequest(&sdkv1.SendRequest{
			AgentId: created.Msg.GetAgentId(), Message: &sdkv1.UserMessage{Text: text},
		}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	if got := result(t, rest(t, send(`call work {"n":1}`))).GetResult().GetResult(); got != "done" {
		t.Errorf("got %q", got)
	}
	<-box.seen

	// A bridge that stops does not wait for a tool that never answers.
	s := send("call hang {}")
	<-box.seen
	if _, err := sdkv1connect.NewSdkBridgeControlServiceClient(c.client, c.url).Shutdown(ctx, connect.NewRequest(&sdkv1.ShutdownRequest{})); err != nil {
		t.Fatal(err)
	}
	if r := result(t, rest(t, s)); r.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_CANCELLED || r.GetErrorCode() != "bridge_shutdown" {
		t.Errorf("the run ended as %v", r)
	}
	if err := c.wait(t); err != nil {
		t.Errorf("the bridge ended with %v", err)
	}
	if strings.Contains(c.stderr.String(), box.token) {
		t.Error("the token is in the log")
	}
}
