package local

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

func TestRunsThatFail(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		run          func(context.Context, task, func(event)) (answer, error)
		code, reason string
	}{
		{
			"the engine says why",
			func(context.Context, task, func(event)) (answer, error) {
				return answer{}, &runFailure{Code: "not_possible", Reason: "nothing to read"}
			}, "not_possible", "nothing to read",
		},
		{
			"the engine fails",
			func(context.Context, task, func(event)) (answer, error) { return answer{}, errors.New("disk on fire") },
			"engine_failed", "the run failed: disk on fire",
		},
		{
			"the engine panics",
			func(context.Context, task, func(event)) (answer, error) { panic("secret detail") },
			"engine_failed", "the agent failed unexpectedly; the bridge's log has the details",
		},
		{
			"the engine says too much at once",
			func(ctx context.Context, _ task, emit func(event)) (answer, error) {
				emit(said{Text: strings.Repeat("x", maxEventBytes)})
				<-ctx.Done()
				return answer{}, ctx.Err()
			}, "record_failed", "the run said more at once than the 1024 KiB that one message may have",
		},
		{
			"the engine says too much in all",
			func(ctx context.Context, _ task, emit func(event)) (answer, error) {
				for ctx.Err() == nil {
					emit(said{Text: strings.Repeat("x", 1<<10)})
				}
				return answer{}, ctx.Err()
			}, "record_full", "the run said more than the 64 KiB that are kept of one run",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := startBridge(t, t.TempDir(), scripted{run: tt.run}, func(o *serverOptions) { o.MaxLogBytes = 64 << 10 })
			agent := b.createAgent()
			got := rest(t, b.send(agent, "go"))
			r := result(t, got)
			if r.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_ERROR || r.GetErrorCode() != tt.code {
				t.Errorf("the run ended as %v %q", r.GetStatus(), r.GetErrorCode())
			}
			last := got[len(got)-3].GetSdkMessage()
			if reason := last.GetMessage().GetFields()["message"].GetStringValue(); last.GetType() != "status" || reason != tt.reason {
				t.Errorf("the last message is %v, want a status with the reason %q", last, tt.reason)
			}
			info, err := b.agents.GetAgent(testContext(t), connect.NewRequest(&sdkv1.GetAgentRequest{AgentId: agent}))
			if err != nil || info.Msg.GetAgent().GetStatus() != sdkv1.AgentInfoStatus_AGENT_INFO_STATUS_ERROR {
				t.Errorf("the agent is %v, %v", info, err)
			}
		})
	}
}

func TestLongToolResultsAreCutAndSaidToBe(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), scripted{run: func(_ context.Context, _ task, emit func(event)) (answer, error) {
		emit(toolEnd{CallID: "c1", Name: "read", Result: map[string]any{"text": strings.Repeat("x", maxEventBytes)}})
		return answer{}, nil
	}})
	for _, m := range rest(t, b.send(b.createAgent(), "go")) {
		if m.GetSdkMessage().GetType() != "tool_call" {
			continue
		}
		fields := m.GetSdkMessage().GetMessage().GetFields()
		if !fields["truncated"].GetStructValue().GetFields()["result"].GetBoolValue() || fields["result"] != nil || fields["call_id"].GetStringValue() != "c1" {
			t.Errorf("the tool call is %v", m)
		}
		return
	}
	t.Error("the tool call is missing")
}

func TestTextThatIsNotUTF8IsRepaired(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), scripted{run: func(_ context.Context, _ task, emit func(event)) (answer, error) {
		emit(said{Text: "a\xffb"})
		return answer{Text: "a\xffb"}, nil
	}})
	got := rest(t, b.send(b.createAgent(), "go"))
	if text := result(t, got).GetResult().GetResult(); text != "a\uFFFDb" {
		t.Errorf("the answer is %q", text)
	}
}

func TestToolRestrictionsReachTheRun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*sdkv1.AgentOptions)
		want   []string
	}{
		{"all", func(*sdkv1.AgentOptions) {}, []string{"grep", "read"}},
		{"only some", func(o *sdkv1.AgentOptions) { o.Tools = &sdkv1.ToolList{Names: []string{"read", "shell"}} }, []string{"read"}},
		{"an empty list is none", func(o *sdkv1.AgentOptions) { o.Tools = &sdkv1.ToolList{} }, nil},
		{"some taken away", func(o *sdkv1.AgentOptions) { o.DisallowedTools = []string{"read"} }, []string{"grep"}},
		{
			"taking away wins", func(o *sdkv1.AgentOptions) {
				o.Tools, o.DisallowedTools = &sdkv1.ToolList{Names: []string{"read"}}, []string{"read"}
			}, nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			seen := make(chan []string, 1)
			b := startBridge(t, t.TempDir(), scripted{run: func(_ context.Context, tk task, _ func(event)) (answer, error) {
				seen <- tk.Tools
				return answer{}, nil
			}})
			got := rest(t, b.send(b.createAgent(tt.change), "go"))
			if tools := <-seen; !slices.Equal(tools, tt.want) {
				t.Errorf("the engine may use %v, want %v", tools, tt.want)
			}
			var echoed []string
			for _, v := range got[1].GetSdkMessage().GetMessage().GetFields()["tools"].GetListValue().GetValues() {
				echoed = append(echoed, v.GetStringValue())
			}
			if !slices.Equal(echoed, tt.want) {
				t.Errorf("the system message names %v, want %v", echoed, tt.want)
			}
		})
	}
}
