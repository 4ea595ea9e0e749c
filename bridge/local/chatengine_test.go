package local

import (
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/liaison-bot/liaison/bridge/local/chat"
	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// chatOver makes the engine that the environment of such an endpoint asks for.
func chatOver(t testing.TB, server *chattest.Endpoint, logger *slog.Logger) *chatEngine {
	t.Helper()
	if logger == nil {
		logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	env := map[string]string{envOpenAIBaseURL: server.URL, envOpenAIAPIKey: chattest.Key}
	e, err := newChatEngine(func(name string) string { return env[name] }, logger)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.close)
	return e
}

// onModel puts an agent on a model of the endpoint.
func onModel(id string) func(*sdkv1.AgentOptions) {
	return func(o *sdkv1.AgentOptions) { o.Model.Id = id }
}

// in sets an agent's working directory.
func in(dir string) func(*sdkv1.AgentOptions) {
	return func(o *sdkv1.AgentOptions) { o.Local.Cwd = []string{dir} }
}

func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func (b *testBridge) models() []string {
	b.t.Helper()
	res, err := b.catalog.ListModels(testContext(b.t), connect.NewRequest(&sdkv1.ListModelsRequest{Options: &sdkv1.CursorRequestOptions{ApiKey: "any"}}))
	if err != nil {
		b.t.Fatal(err)
	}
	var ids []string
	for _, m := range res.Msg.GetItems() {
		ids = append(ids, m.GetId())
	}
	return ids
}

func (b *testBridge) tryModel(id string) error {
	o := options(b.t.TempDir())
	o.Model.Id = id
	_, err := b.agents.CreateAgent(testContext(b.t), connect.NewRequest(&sdkv1.CreateAgentRequest{Options: o}))
	return err
}

// both puts the reviewer behind the engine of a test, as the bridge has them.
func both(o *serverOptions) { o.Engines = append(o.Engines, reviewEngine{}) }

func TestWithoutTheEnvironmentThereIsNoChatEngine(t *testing.T) {
	t.Parallel()
	if e, err := newChatEngine(func(string) string { return "" }, quiet()); e != nil || err != nil {
		t.Errorf("got %v, %v", e, err)
	}
	if _, err := newChatEngine(func(string) string { return "https://user:hidden@example.com" }, quiet()); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("a URL with a password gives %v", err)
	}
}

func TestTheEndpointsModelsComeFirst(t *testing.T) {
	t.Parallel()
	server := chattest.Start(t)
	server.List(chattest.Models("text-embedding-3", "big", "liaison-reviewer", "small"))
	b := startBridge(t, t.TempDir(), chatOver(t, server, nil), both)
	if got, want := b.models(), []string{"big", "small", "text-embedding-3", reviewerModel}; !slices.Equal(got, want) {
		t.Errorf("the models are %v, want %v", got, want)
	}
	wantFault(t, b.tryModel("huge"), connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INVALID_MODEL)
	for _, id := range []string{"small", reviewerModel} {
		if err := b.tryModel(id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	// Its own name is the reviewer's, whatever the endpoint lists.
	if eng, _ := b.server.engineFor(reviewerModel); eng != (reviewEngine{}) {
		t.Errorf("%s is answered by %T", reviewerModel, eng)
	}
}

func TestAModelThatWasNotListedIsAskedFor(t *testing.T) {
	t.Parallel()
	server := chattest.Start(t)
	b := startBridge(t, t.TempDir(), chatOver(t, server, nil), both)
	// The first call names it already: nobody has called ListModels.
	if err := b.tryModel("test-model"); err != nil {
		t.Error(err)
	}
	wantFault(t, b.tryModel("gone"), connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INVALID_MODEL)
}

func TestWithoutAListAnyModelIsTheEndpoints(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		code   connect.Code
		sdk    sdkv1.SdkErrorCode
	}{
		"none":        {http.StatusNotFound, connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INVALID_MODEL},
		"down":        {http.StatusInternalServerError, connect.CodeUnavailable, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UPSTREAM_ERROR},
		"busy":        {http.StatusTooManyRequests, connect.CodeResourceExhausted, sdkv1.SdkErrorCode_SDK_ERROR_CODE_RATE_LIMIT_EXCEEDED},
		"a wrong key": {http.StatusUnauthorized, connect.CodeUnauthenticated, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UNAUTHORIZED},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := chattest.Start(t)
			server.List(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(tt.status) })
			log := new(stderr)
			e := chatOver(t, server, slog.New(slog.NewTextHandler(log, nil)))
			b := startBridge(t, t.TempDir(), e, both)
			_, err := b.catalog.ListModels(testContext(t), connect.NewRequest(&sdkv1.ListModelsRequest{Options: &sdkv1.CursorRequestOptions{ApiKey: "any"}}))
			wantFault(t, err, tt.code, tt.sdk)
			if err := b.tryModel("whatever:7b"); err != nil {
				t.Error(err)
			}
			if eng, _ := b.server.engineFor(reviewerModel); eng != (reviewEngine{}) {
				t.Errorf("%s is answered by %T", reviewerModel, eng)
			}
			wantFault(t, b.tryModel(scriptModel), connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INVALID_MODEL)
			if !strings.Contains(log.String(), "WARN") || strings.Contains(log.String(), chattest.Key) {
				t.Errorf("the log says %q", log.String())
			}
		})
	}
}

func TestTheChatEngineWorksBehindTheBridge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"AGENTS.md": "Be kind to gophers.", "main.go": "package main\n"})
	server := chattest.Start(t,
		chattest.Stream(chattest.Delta(map[string]any{"reasoning_content": "Let me see."}), chattest.Text("I look.\n\n"),
			chattest.Pieces(chattest.Piece(0, "x", "read", `{"path":"main.go"}`), chattest.Piece(1, "y", "read", `{"path":"../secret"}`)),
			chattest.Finish("tool_calls"), chattest.Tokens(100, 20, 60), chattest.Done),
		chattest.Say("It is a ", "program."))
	b := startBridge(t, t.TempDir(), chatOver(t, server, nil))
	agent := b.createAgent(onModel("test-model"), in(dir))
	got := rest(t, b.send(agent, "What is it?", askFor(true, false), func(r *sdkv1.SendRequest) {
		r.Message.Images = []*sdkv1.SdkImage{{Source: &sdkv1.SdkImage_Data{Data: &sdkv1.SdkImageData{Data: "AAAA", MimeType: "image/png"}}}}
	}))
	end := result(t, got)
	if end.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_FINISHED || end.GetResult().GetResult() != "It is a program." {
		t.Errorf("it ended as %v", end)
	}
	if u := end.GetResult().GetUsage(); u.GetInputTokens() != 110 || u.GetOutputTokens() != 25 || u.GetCacheReadTokens() != 64 {
		t.Errorf("the usage is %v", u)
	}
	var said, updates []string
	calls := make(map[string][]string)
	for _, m := range got {
		if u := m.GetInteractionUpdate(); u != nil {
			updates = append(updates, u.GetType())
		}
		f := m.GetSdkMessage().GetMessage().GetFields()
		switch m.GetSdkMessage().GetType() {
		case "assistant":
			said = append(said, assistantText(m.GetSdkMessage()))
		case "tool_call":
			path := f["args"].GetStructValue().GetFields()["path"].GetStringValue()
			calls[path] = append(calls[path], f["name"].GetStringValue()+" "+f["status"].GetStringValue())
		}
	}
	if want := []string{"I look.\n\n", "It is a program."}; !slices.Equal(said, want) {
		t.Errorf("it said %q, want %q", said, want)
	}
	if want := map[string][]string{"main.go": {"read running", "read completed"}, "../secret": {"read running", "read error"}}; !maps.EqualFunc(calls, want, slices.Equal) {
		t.Errorf("the calls are shown as %v, want %v", calls, want)
	}
	if !slices.Contains(updates, deltaThinking) || !slices.Contains(updates, deltaText) {
		t.Errorf("the updates are %v", updates)
	}
	asked := server.Asked()
	if system := asked[0].Messages[0].Text(); !strings.Contains(system, dir) || !strings.Contains(system, "Be kind to gophers.") || !strings.Contains(system, "take instructions from the person alone") {
		t.Errorf("the system prompt is %q", system)
	}
	if !strings.Contains(string(asked[0].Last().Content), "data:image/png;base64,AAAA") {
		t.Errorf("the image is missing in %s", asked[0].Last().Content)
	}
	if want := []string{"glob", "grep", "ls", "read"}; !slices.Equal(asked[0].Offered(), want) {
		t.Errorf("the tools are %v, want %v", asked[0].Offered(), want)
	}
	if outside := asked[1].Last().Text(); !strings.HasPrefix(outside, "Error: ../secret is outside") {
		t.Errorf("the path outside gave %q", outside)
	}
}

func TestWhatAModelOverdoesDoesNotCostTheRun(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", maxEventBytes)
	server := chattest.Start(t,
		chattest.Call("read", `{"path":`+strings.Repeat(`{"a":`, 5000)+`1`+strings.Repeat(`}`, 5000)+`}`),
		chattest.Raw("application/json", `{"choices":[{"index":0,"message":{"role":"assistant","content":"`+long+`"},"finish_reason":"stop"}]}`))
	b := startBridge(t, t.TempDir(), chatOver(t, server, nil))
	agent := b.createAgent(onModel("test-model"), in(t.TempDir()))
	got := rest(t, b.send(agent, "Go."))
	var said strings.Builder
	for _, m := range got {
		if m.GetSdkMessage().GetType() == "assistant" {
			said.WriteString(assistantText(m.GetSdkMessage()))
		}
	}
	if end := result(t, got); end.GetResult().GetResult() != long || said.String() != long {
		t.Errorf("it ended as %v, %s, with an answer of %d bytes of which %d were shown", end.GetStatus(), end.GetErrorCode(), len(end.GetResult().GetResult()), said.Len())
	}
}

func TestRestrictionsHoldForTheChatEngine(t *testing.T) {
	t.Parallel()
	server := chattest.Start(t, chattest.Call("grep", `{"pattern":"x"}`), chattest.Say("I may not."))
	b := startBridge(t, t.TempDir(), chatOver(t, server, nil))
	agent := b.createAgent(onModel("test-model"), withNamed(map[string]string{"deploy": "", "read": ""}), func(o *sdkv1.AgentOptions) {
		o.Tools = &sdkv1.ToolList{Names: []string{"read", "ls", "task"}}
		o.DisallowedTools = []string{"ls"}
		o.Agents = map[string]*sdkv1.AgentDefinition{"helper": {Description: "Helps."}}
		o.Mode = sdkv1.AgentModeOption_AGENT_MODE_OPTION_PLAN
	})
	rest(t, b.send(agent, "Search."))
	asked := server.Asked()
	if got, want := asked[0].Offered(), []string{"read", "task"}; !slices.Equal(got, want) {
		t.Errorf("the tools are %v, want %v: custom tools need mcp", got, want)
	}
	if !strings.Contains(asked[1].Last().Text(), `no tool "grep"`) {
		t.Errorf("the forbidden tool gave %q", asked[1].Last().Text())
	}
	if !strings.Contains(asked[0].Messages[0].Text(), "wants a plan") {
		t.Error("the model is not told to plan")
	}
}

// withNamed offers custom tools by name and JSON Schema.
func withNamed(tools map[string]string) func(*sdkv1.AgentOptions) {
	return func(o *sdkv1.AgentOptions) {
		o.Local.CustomTools = make(map[string]*sdkv1.CustomToolDefinition)
		for name, schema := range tools {
			d := &sdkv1.CustomToolDefinition{}
			if schema != "" {
				if err := protojson.Unmarshal([]byte(`{"description":"Does it.","inputSchema":`+schema+`}`), d); err != nil {
					panic(err) // a test gave what is no schema
				}
			}
			o.Local.CustomTools[name] = d
		}
	}
}

func TestCustomToolsAreCalledByTheModel(t *testing.T) {
	t.Parallel()
	box := serveTools(t, answers(t, `{"content":[{"type":"text","text":"Deployed."},{"type":"image","data":"AAAA","mimeType":"image/png"}],"isError":false}`))
	server := chattest.Start(t,
		chattest.Call("deploy", `{"to":"staging"}`, "custom_read", `{}`, "read", `{"path":"gone"}`),
		chattest.Say("Done."))
	b := startBridge(t, t.TempDir(), chatOver(t, server, nil), to(box.callback))
	agent := b.createAgent(onModel("test-model"), withNamed(map[string]string{
		"deploy": `{"type":"object","properties":{"to":{"type":"string"}},"required":["to"]}`, "read": "",
	}))
	got := rest(t, b.send(agent, "Deploy."))
	asked := server.Asked()
	if got, want := asked[0].Offered(), []string{"glob", "grep", "ls", "read", "deploy", "custom_read"}; !slices.Equal(got, want) {
		t.Errorf("the tools are %v, want %v", got, want)
	}
	deploy := asked[0].Tools[4].Function
	if schema, _ := json.Marshal(deploy.Parameters); deploy.Description != "Does it." || !strings.Contains(string(schema), `"required":["to"]`) {
		t.Errorf("the model is told %+v", deploy)
	}
	results := asked[1].Messages[3:]
	for i, want := range []string{"Deployed.\n(1 images are not shown)", "Deployed.\n(1 images are not shown)", "Error: gone does not exist"} {
		if results[i].Text() != want {
			t.Errorf("result %d is %q, want %q", i, results[i].Text(), want)
		}
	}
	var names []string
	ids := make(map[string]bool)
	for range 2 {
		c := <-box.seen
		names = append(names, c.GetToolName())
		ids[c.GetToolCallId()] = true
	}
	if slices.Sort(names); !slices.Equal(names, []string{"deploy", "read"}) || len(ids) != 2 {
		t.Errorf("the callback was called for %v as %v", names, ids)
	}
	shown := make(map[string]int)
	for _, m := range got {
		if m.GetSdkMessage().GetType() == "tool_call" {
			shown[m.GetSdkMessage().GetMessage().GetFields()["name"].GetStringValue()]++
		}
	}
	if want := map[string]int{toolMCP: 4, toolRead: 2}; !maps.Equal(shown, want) {
		t.Errorf("the stream shows the calls %v, want %v", shown, want)
	}
}

func TestSubagentsDoAPieceOfTheWork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"main.go": "package main\n"})
	server := chattest.Start(t)
	server.List(chattest.Models("test-model", "small-model"))
	server.Then(
		chattest.Call("task", `{"agent":"reader","prompt":"Read main.go."}`, "task", `{"agent":"nobody","prompt":"x"}`, "task", `{"agent":"reader","prompt":" "}`, "task", `{"agent":"rules","prompt":"x"}`),
		chattest.Call("read", `{"path":"main.go"}`),
		chattest.Say("It is package main."),
		chattest.Say("Main, says the reader."))
	b := startBridge(t, t.TempDir(), chatOver(t, server, nil), both)
	agent := b.createAgent(onModel("test-model"), in(dir), func(o *sdkv1.AgentOptions) {
		o.Agents = map[string]*sdkv1.AgentDefinition{
			"reader": {Description: "Reads files.", Prompt: "You read aloud.", Model: &sdkv1.ModelSelection{Id: "small-model"}},
			"rules":  {Description: "Knows rules.", Model: &sdkv1.ModelSelection{Id: reviewerModel}},
		}
	})
	got := rest(t, b.send(agent, "What is it?"))
	end := result(t, got).GetResult()
	if end.GetResult() != "Main, says the reader." || end.GetUsage().GetInputTokens() != 40 {
		t.Errorf("it ended as %v", end)
	}
	asked := server.Asked()
	sub := asked[1]
	if sub.Model != "small-model" || slices.Contains(sub.Offered(), toolTask) || !slices.Contains(sub.Offered(), toolRead) ||
		!strings.Contains(sub.Messages[0].Text(), "You read aloud.") || sub.Last().Text() != "Read main.go." || len(sub.Messages) != 2 {
		t.Errorf("the subagent is asked %s", sub.Body)
	}
	results := asked[3].Messages[3:]
	for i, want := range []string{"It is package main.", `Error: there is no agent "nobody"`, "Error: the prompt is empty", "Error: the agent rules has the model liaison-reviewer"} {
		if !strings.HasPrefix(results[i].Text(), want) {
			t.Errorf("result %d is %q, want %q", i, results[i].Text(), want)
		}
	}
	var words []string
	for _, m := range got {
		if f := m.GetSdkMessage().GetMessage().GetFields(); m.GetSdkMessage().GetType() == "task" {
			words = append(words, f["status"].GetStringValue()+" "+f["text"].GetStringValue())
		}
	}
	if want := []string{`running reader: read {"path":"main.go"}`, "running reader: It is package main."}; !slices.Equal(words, want) {
		t.Errorf("of the subagent is shown %q, want %q", words, want)
	}
	// What was used is told as it grows, so that a run can be ended that uses too much.
	var used []float64
	for _, m := range got {
		if f := m.GetSdkMessage().GetMessage().GetFields(); m.GetSdkMessage().GetType() == "usage" {
			used = append(used, f["usage"].GetStructValue().GetFields()["inputTokens"].GetNumberValue())
		}
	}
	if want := []float64{10, 20, 30, 40}; !slices.Equal(used, want) {
		t.Errorf("it told of %v tokens, want %v", used, want)
	}
}

func TestTheConversationSurvivesARestart(t *testing.T) {
	t.Parallel()
	server := chattest.Start(t, chattest.Say("Blue."), chattest.Say("I said blue."))
	root, dir := t.TempDir(), t.TempDir()
	var agent string
	t.Run("before", func(t *testing.T) {
		b := startBridge(t, root, chatOver(t, server, nil))
		agent = b.createAgent(onModel("test-model"), in(dir))
		rest(t, b.send(agent, "What colour?"))
	})
	t.Run("after", func(t *testing.T) {
		b := startBridge(t, root, chatOver(t, server, nil))
		b.resumeAgent(agent)
		rest(t, b.send(agent, "What did you say?"))
	})
	var said []string
	for _, m := range server.Asked()[1].Messages[1:] {
		said = append(said, m.Text())
	}
	if want := []string{"What colour?", "Blue.", "What did you say?"}; !slices.Equal(said, want) {
		t.Errorf("the model hears %q, want %q", said, want)
	}
}

func TestCancellingReachesTheModel(t *testing.T) {
	t.Parallel()
	hanging := make(chan struct{}, 1)
	server := chattest.Start(t, chattest.Hang(chattest.Text("Well.\n\n"), hanging), chattest.Say("Where was I?"))
	b := startBridge(t, t.TempDir(), chatOver(t, server, nil))
	agent := b.createAgent(onModel("test-model"))
	s := b.send(agent, "Talk.")
	id := until(t, s, "Well.\n\n")
	<-hanging
	if _, err := b.agents.CancelRun(testContext(t), connect.NewRequest(&sdkv1.CancelRunRequest{RunId: id})); err != nil {
		t.Fatal(err)
	}
	if end := result(t, rest(t, s)); end.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_CANCELLED {
		t.Errorf("it ended as %v", end)
	}
	if end := result(t, rest(t, b.send(agent, "Go on."))); end.GetResult().GetResult() != "Where was I?" {
		t.Errorf("the next run ended as %v", end)
	}
}

func TestFailuresHaveTheProtocolsCodesAndNoKey(t *testing.T) {
	t.Parallel()
	for code, turn := range map[string]chattest.Turn{
		"UNAUTHORIZED":         chattest.Refuse(401, "invalid_api_key", "Incorrect API key provided: "+chattest.Key),
		"RATE_LIMIT_EXCEEDED":  chattest.With("Retry-After", "86400", chattest.Refuse(429, "", "slow down, "+chattest.Key)),
		"USAGE_LIMIT_EXCEEDED": chattest.Refuse(429, "insufficient_quota", "no quota"),
		"INVALID_MODEL":        chattest.Refuse(404, "model_not_found", "no such model"),
		"UPSTREAM_ERROR":       chattest.With("X-Should-Retry", "false", chattest.Refuse(500, "", "broken")),
		chat.CodeRefused:       chattest.Refuse(400, "", "no "+chattest.Key),
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			log := new(stderr)
			b := startBridge(t, t.TempDir(), chatOver(t, chattest.Start(t, turn), slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
			got := rest(t, b.send(b.createAgent(onModel("test-model")), "Go."))
			end := result(t, got)
			if end.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_ERROR || end.GetErrorCode() != code {
				t.Errorf("it ended as %v", end)
			}
			all := log.String()
			for _, m := range got {
				all += m.String()
			}
			if !strings.Contains(all, "model endpoint") || strings.Contains(all, chattest.Key) {
				t.Errorf("it says\n%s", all)
			}
		})
	}
}

func TestADirectoryThatIsGoneIsAReason(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), chatOver(t, chattest.Start(t), nil))
	dir := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	agent := b.createAgent(onModel("test-model"), in(dir))
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if end := result(t, rest(t, b.send(agent, "Go."))); end.GetErrorCode() != "workspace_unavailable" {
		t.Errorf("it ended as %v", end)
	}
}
