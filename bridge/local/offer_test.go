package local

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

func TestOffersAreChecked(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	object := func(text string) *structpb.Struct {
		out := new(structpb.Struct)
		if err := out.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return out
	}
	tool := func(name string, d *sdkv1.CustomToolDefinition) func(*sdkv1.AgentOptions) {
		return func(o *sdkv1.AgentOptions) {
			o.Local.CustomTools = map[string]*sdkv1.CustomToolDefinition{name: d}
		}
	}
	sub := func(name string, d *sdkv1.AgentDefinition) func(*sdkv1.AgentOptions) {
		return func(o *sdkv1.AgentOptions) { o.Agents = map[string]*sdkv1.AgentDefinition{name: d} }
	}
	long := strings.Repeat("d", maxDescriptionBytes+1)
	const validation = sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR
	tests := []struct {
		name   string
		change func(*sdkv1.AgentOptions)
		sdk    sdkv1.SdkErrorCode // 0: accepted
	}{
		{"a tool", tool("get-it_2", &sdkv1.CustomToolDefinition{InputSchema: object(`{"type":"object"}`)}), 0},
		{"a tool without a name", tool("", &sdkv1.CustomToolDefinition{}), validation},
		{"a tool with a space", tool("a b", &sdkv1.CustomToolDefinition{}), validation},
		{"a tool with the longest name", tool(strings.Repeat("a", 64), &sdkv1.CustomToolDefinition{}), 0},
		{"a longer name", tool(strings.Repeat("a", 65), &sdkv1.CustomToolDefinition{}), validation},
		{"a tool of megabytes", tool("a", &sdkv1.CustomToolDefinition{Description: &long}), validation},
		{"a schema of a string", tool("a", &sdkv1.CustomToolDefinition{InputSchema: object(`{"type":"string"}`)}), validation},
		{"a subagent", sub("helper", &sdkv1.AgentDefinition{Description: "helps"}), 0},
		{"a subagent of its own model", sub("helper", &sdkv1.AgentDefinition{Description: "helps", Model: &sdkv1.ModelSelection{Id: scriptedModel}}), 0},
		{"a subagent of an unknown model", sub("helper", &sdkv1.AgentDefinition{Description: "helps", Model: &sdkv1.ModelSelection{Id: "no"}}), sdkv1.SdkErrorCode_SDK_ERROR_CODE_INVALID_MODEL},
		{"a subagent without a description", sub("helper", &sdkv1.AgentDefinition{}), validation},
		{"a subagent with a path for a name", sub("../x", &sdkv1.AgentDefinition{Description: "helps"}), validation},
		{"a subagent of megabytes", sub("helper", &sdkv1.AgentDefinition{Description: "helps", Prompt: long}), validation},
		{"a missing directory", func(o *sdkv1.AgentOptions) { o.Local.Dirs = []string{t.TempDir() + "/no"} }, validation},
		{"a relative directory", func(o *sdkv1.AgentOptions) { o.Local.Dirs = []string{"."} }, validation},
		{"too many directories", func(o *sdkv1.AgentOptions) { o.Local.Dirs = slices.Repeat(o.Local.Cwd, maxOffered+1) }, validation},
		{"an MCP server", func(o *sdkv1.AgentOptions) {
			o.McpServers = map[string]*sdkv1.McpServerConfig{"x": {Config: &sdkv1.McpServerConfig_Stdio{
				Stdio: &sdkv1.StdioMcpServerConfig{Command: "serve-x"},
			}}}
		}, 0},
		{"an MCP server of no kind", func(o *sdkv1.AgentOptions) { o.McpServers = map[string]*sdkv1.McpServerConfig{"x": {}} }, validation},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := options(t.TempDir())
			tt.change(o)
			_, err := b.agents.CreateAgent(testContext(t), connect.NewRequest(&sdkv1.CreateAgentRequest{Options: o}))
			if tt.sdk == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			details := wantFault(t, err, connect.CodeInvalidArgument, tt.sdk)
			if len(details.GetMessage()) > 1000 {
				t.Errorf("the message has %d bytes", len(details.GetMessage()))
			}
		})
	}
}

// What a caller offers and the model does not use must not vanish in silence.
func TestWhatAModelDoesNotUseIsSaidInTheLog(t *testing.T) {
	t.Parallel()
	offers := func(o *sdkv1.AgentOptions) {
		o.McpServers = map[string]*sdkv1.McpServerConfig{"secret-name": {Config: &sdkv1.McpServerConfig_Http{
			Http: &sdkv1.HttpMcpServerConfig{Url: "https://e.example", Headers: map[string]string{"Authorization": "hush"}},
		}}}
		o.Local.CustomTools = map[string]*sdkv1.CustomToolDefinition{"x": {}}
		o.Agents = map[string]*sdkv1.AgentDefinition{"helper": {Description: "helps"}}
	}
	tests := []struct {
		name string
		can  abilities
		want []string
	}{
		{"a model that uses none", abilities{}, []string{`what="MCP servers"`, `what="custom tools"`, `what=subagents`}},
		{"a model that uses both", abilities{CustomTools: true, Subagents: true}, []string{`what="MCP servers"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log lockedBuffer
			eng := answering()
			eng.can = tt.can
			b := startBridge(t, t.TempDir(), eng, func(o *serverOptions) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
			agent := b.createAgent(offers)
			text := log.String()
			if n := strings.Count(text, "does not use"); n != len(tt.want) || strings.Contains(text, "hush") || strings.Count(text, agent) != n {
				t.Errorf("the log is\n%s", text)
			}
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s is not in\n%s", want, text)
				}
			}
		})
	}
}

// lockedBuffer may be written to while it is read.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
