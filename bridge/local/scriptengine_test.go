package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// storedMemory is a [memory] without a store.
type storedMemory struct{ data []byte }

func (m *storedMemory) Recall() ([]byte, error) { return m.data, nil }
func (m *storedMemory) Keep(data []byte)        { m.data = data }

func TestTheTestModelDoesWhatLinesSay(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, prompt, want, code string
		usage                    usage
	}{
		{"echo", "Hello there!\n\n  and bye", "Hello there!\nand bye", "", usage{}},
		{"say", "say one\nsay two", "one\ntwo", "", usage{}},
		{"repeat", "repeat 3 say x", "x\nx\nx", "", usage{}},
		{"fill", "fill 5", "xxxxx", "", usage{}},
		{"usage", "usage 3 4\nusage 1 1\nsay ok", "ok", "", usage{Input: 4, Output: 5}},
		{"memory", "remember a b\nrecall", "a b", "", usage{}},
		{"think", "think hm", "", "", usage{}},
		{"fail", "usage 1 2\nfail no more\nsay never", "", "scripted", usage{Input: 1, Output: 2}},
		{"a bad wait", "wait long", "", "script_error", usage{}},
		{"a wait backwards", "wait -1s", "", "script_error", usage{}},
		{"a bad usage", "usage 3", "", "script_error", usage{}},
		{"a bad fill", "fill 9999999999", "", "script_error", usage{}},
		{"a repeat of repeats", "repeat 9 repeat 9 say x", "", "script_error", usage{}},
		{"too many", "repeat 1000000 usage 0 0\nsay x", "", "script_error", usage{}},
		{"a call without tools", "call x {}", "", "script_error", usage{}},
		{"a call of no JSON", "call x {", "", "script_error", usage{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var fragments strings.Builder
			got, err := scriptEngine{}.Run(context.Background(), task{Prompt: tt.prompt, Memory: new(storedMemory)}, func(e event) {
				if s, ok := e.(said); ok {
					fragments.WriteString(s.Text)
				}
			})
			var failure *runFailure
			if tt.code == "" && err != nil || tt.code != "" && (!errors.As(err, &failure) || failure.Code != tt.code) {
				t.Fatalf("got the error %v, want the code %q", err, tt.code)
			}
			if got.Text != tt.want || got.Usage != tt.usage {
				t.Errorf("got %q and %v, want %q and %v", got.Text, got.Usage, tt.want, tt.usage)
			}
			if err == nil && fragments.String() != got.Text {
				t.Errorf("it said %q and answered %q", &fragments, got.Text)
			}
		})
	}
}

func TestTheTestModelWaitsAndIsCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if _, err := (scriptEngine{}).Run(t.Context(), task{Prompt: "wait 20s"}, func(event) {}); err != nil || time.Since(began) != 20*time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := (scriptEngine{}).Run(ctx, task{Prompt: "wait 20s\nsay x"}, func(event) {}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestTheTestModelShowsWhatARunWasGiven(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), scriptEngine{})
	dir, extra := t.TempDir(), t.TempDir()
	agent := b.createAgent(func(o *sdkv1.AgentOptions) {
		o.Model.Id = scriptModel
		o.Mode = sdkv1.AgentModeOption_AGENT_MODE_OPTION_PLAN
		o.Local.Cwd, o.Local.Dirs = []string{dir}, []string{extra, extra}
		o.Local.CustomTools = map[string]*sdkv1.CustomToolDefinition{"b": {}, "a": {}}
		o.Agents = map[string]*sdkv1.AgentDefinition{"helper": {Description: "helps"}}
	})
	got := result(t, rest(t, b.send(agent, "show", func(r *sdkv1.SendRequest) {
		r.Message.Images = []*sdkv1.SdkImage{imageAt("https://e.example/a")}
	}))).GetResult().GetResult()
	dirs, err := json.Marshal([]string{dir, extra})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"model":"liaison-echo","plan":true,"custom":["a","b"],"subagents":["helper"],"images":1,"dirs":%s}`, dirs)
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// The mode of one message wins over the agent's.
	got = result(t, rest(t, b.send(agent, "show", func(r *sdkv1.SendRequest) {
		r.Options = &sdkv1.SendOptions{Mode: sdkv1.AgentModeOption_AGENT_MODE_OPTION_AGENT}
	}))).GetResult().GetResult()
	if !strings.Contains(got, `"plan":false`) {
		t.Errorf("got %s", got)
	}
}

func TestWhatAnAgentRemembersSurvivesARestart(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	onModel := func(o *sdkv1.AgentOptions) { o.Model.Id = scriptModel }
	b := startBridge(t, root, scriptEngine{})
	agent, other := b.createAgent(onModel), b.createAgent(onModel)
	rest(t, b.send(agent, "remember what was\nfail at the end"))
	rest(t, b.send(other, "remember nothing of it"))

	again := startBridge(t, copyState(t, root), scriptEngine{})
	again.resumeAgent(agent)
	if got := result(t, rest(t, again.send(agent, "recall"))).GetResult().GetResult(); got != "what was" {
		t.Errorf("it recalls %q", got)
	}
}

func TestTheTestModelIsOfferedOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--test-model"}} {
		c := spawn(t, t.TempDir(), args...)
		res, err := sdkv1connect.NewSdkCursorServiceClient(c.client, c.url).ListModels(testContext(t), connect.NewRequest(&sdkv1.ListModelsRequest{Options: &sdkv1.CursorRequestOptions{ApiKey: "any"}}))
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, m := range res.Msg.GetItems() {
			ids = append(ids, m.GetId())
		}
		want := []string{reviewerModel}
		if args != nil {
			want = append(want, scriptModel)
		}
		if !slices.Equal(ids, want) {
			t.Errorf("with %v the models are %v", args, ids)
		}
	}
}
