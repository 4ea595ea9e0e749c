package local

import (
	"strings"
	"testing"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

func TestSendRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	agent := b.createAgent()
	key := "k"
	tests := []struct {
		name   string
		change func(*sdkv1.SendRequest)
		code   connect.Code
		sdk    sdkv1.SdkErrorCode
	}{
		{"no text", func(r *sdkv1.SendRequest) { r.Message.Text = " \n" }, connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR},
		{"no message", func(r *sdkv1.SendRequest) { r.Message = nil }, connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR},
		{"unknown agent", func(r *sdkv1.SendRequest) { r.AgentId = "agent-x" }, connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_NOT_FOUND},
		{"an id that is a path", func(r *sdkv1.SendRequest) { r.AgentId = "../../etc" }, connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR},
		{"unknown model", func(r *sdkv1.SendRequest) {
			r.Options = &sdkv1.SendOptions{Model: &sdkv1.ModelSelection{Id: "nope"}}
		}, connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INVALID_MODEL},
		{"idempotency key", func(r *sdkv1.SendRequest) { r.IdempotencyKey = &key }, connect.CodeUnimplemented, sdkv1.SdkErrorCode_SDK_ERROR_CODE_FEATURE_UNAVAILABLE},
		{"images", func(r *sdkv1.SendRequest) {
			r.Message.Images = []*sdkv1.SdkImage{imageOf("image/png", "iVBORw0KGgo=")}
		}, connect.CodeUnimplemented, sdkv1.SdkErrorCode_SDK_ERROR_CODE_FEATURE_UNAVAILABLE},
		{"too large", func(r *sdkv1.SendRequest) { r.Message.Text = strings.Repeat("x", 2<<20) }, connect.CodeResourceExhausted, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := b.send(agent, "go", tt.change)
			if s.Receive() {
				t.Fatalf("a run began: %v", s.Msg())
			}
			if tt.sdk == 0 {
				if connect.CodeOf(s.Err()) != tt.code {
					t.Errorf("got %v, want %v", s.Err(), tt.code)
				}
				return
			}
			wantFault(t, s.Err(), tt.code, tt.sdk)
		})
	}
}

func TestUnknownRuns(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	ctx := testContext(t)
	calls := map[string]func(id string) error{
		"GetRun": func(id string) error {
			_, err := b.agents.GetRun(ctx, connect.NewRequest(&sdkv1.GetRunRequest{RunId: id}))
			return err
		},
		"WaitLiveRun": func(id string) error {
			_, err := b.agents.WaitLiveRun(ctx, connect.NewRequest(&sdkv1.WaitLiveRunRequest{RunId: id}))
			return err
		},
		"CancelRun": func(id string) error {
			_, err := b.agents.CancelRun(ctx, connect.NewRequest(&sdkv1.CancelRunRequest{RunId: id}))
			return err
		},
		"ObserveRun": func(id string) error {
			s := b.observe(id, nil)
			s.Receive()
			return s.Err()
		},
	}
	for name, call := range calls {
		wantFault(t, call("run-x"), connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_RUN_NOT_FOUND)
		for _, id := range []string{"", "../agent", strings.Repeat("r", 1<<19)} {
			details := wantFault(t, call(id), connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR)
			if len(details.GetMessage()) > 1000 {
				t.Errorf("%s repeats an id of %d bytes", name, len(id))
			}
		}
	}
}
