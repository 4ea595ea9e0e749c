package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// everyLocalOption has everything that a local agent can be given.
func everyLocalOption(dir string) AgentOptions {
	return AgentOptions{
		ID: "ours-1", Name: "reviewer", Model: "m-1", ModelParams: map[string]string{"effort": "high", "a": "1"}, Mode: ModePlan,
		Local: &LocalOptions{
			Dir: dir, ExtraDirs: []string{filepath.Join(dir, "more")}, SettingSources: []SettingSource{SettingsProject, SettingsMDM},
			Sandbox: new(false), AutoReview: new(true),
		},
		Tools: []string{"read", "mcp", "task"}, DisallowedTools: []string{"shell"},
		CustomTools: []Tool{{
			Name: "deploy", Description: "Deploys.",
			InputSchema:  json.RawMessage(`{"type":"object"}`),
			OutputSchema: json.RawMessage(`{"type":"object"}`),
			Call:         func(context.Context, ToolInvocation) (ToolResult, error) { return ToolResult{}, nil },
		}},
		MCPServers: map[string]MCPServer{
			"files": {Command: "serve", Args: []string{"-v"}, Env: map[string]string{"A": "b"}, Dir: "/srv"},
			"web": {
				URL: "https://mcp.example/x", Transport: MCPSSE, Headers: map[string]string{"X-Key": "k"},
				OAuth: &MCPOAuth{ClientID: "id", ClientSecret: "secret", Scopes: []string{"all"}},
			},
		},
		Subagents: map[string]Subagent{
			"own": {Description: "d", Prompt: "p", Model: "m-2", MCPServerNames: []string{"web"}, MCPServers: []MCPServer{{URL: "http://127.0.0.1:1"}}},
			"in":  {Description: "d"},
		},
	}
}

func everyCloudOption() AgentOptions {
	return AgentOptions{
		ID: "bc-1", Model: "m-1",
		Cloud: &CloudOptions{
			Environment:         &CloudEnvironment{Type: EnvironmentPool, Name: "big"},
			Repositories:        []CloudRepository{{URL: "https://git.example/r", StartingRef: "main", PullRequestURL: "https://git.example/r/1"}},
			WorkOnCurrentBranch: new(true), AutoCreatePR: new(false), SkipReviewerRequest: new(true), OpenAsProvidersApp: new(true),
			EnvironmentVariables: map[string]string{"E": "f"}, Metadata: map[string]string{"g": "h"},
		},
	}
}

func wireJSON(t *testing.T, m proto.Message) string {
	t.Helper()
	data, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What the bridge receives is all that counts: a field that is forgotten, or
// misspelt, would be ignored and leave the agent with everything.
func TestEveryOptionReachesTheWire(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := &Client{options: Options{APIKey: "key"}}
	local, err := c.wireOptions("create agent", "ours-1", everyLocalOption(dir))
	if err != nil {
		t.Fatal(err)
	}
	cloud, err := c.wireOptions("create agent", "bc-1", everyCloudOption())
	if err != nil {
		t.Fatal(err)
	}
	local.AgentId = "ours-1" // Create alone sets it
	want := `{"model":{"id":"m-1","params":[{"id":"a","value":"1"},{"id":"effort","value":"high"}]},"apiKey":"key","name":"reviewer",` +
		`"local":{"cwd":["DIR"],"settingSources":["SETTING_SOURCE_PROJECT","SETTING_SOURCE_MDM"],"sandboxOptions":{"enabled":false},"autoReview":true,` +
		`"customTools":{"deploy":{"description":"Deploys.","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}},"dirs":["DIR/more"]},` +
		`"mcpServers":{"files":{"stdio":{"command":"serve","args":["-v"],"env":{"A":"b"},"cwd":"/srv"}},` +
		`"web":{"http":{"type":"HTTP_MCP_TRANSPORT_TYPE_SSE","url":"https://mcp.example/x","headers":{"X-Key":"k"},"auth":{"clientId":"id","clientSecret":"secret","scopes":["all"]}}}},` +
		`"agents":{"in":{"description":"d","inheritModel":true},"own":{"description":"d","prompt":"p","model":{"id":"m-2"},` +
		`"mcpServers":[{"name":"web"},{"inlineConfig":{"http":{"type":"HTTP_MCP_TRANSPORT_TYPE_HTTP","url":"http://127.0.0.1:1"}}}]}},` +
		`"agentId":"ours-1","mode":"AGENT_MODE_OPTION_PLAN","tools":{"names":["read","mcp","task"]},"disallowedTools":["shell"]}`
	if got := filepath.ToSlash(strings.ReplaceAll(wireJSON(t, local), dir, "DIR")); got != want {
		t.Errorf("local options are\n%s\nwant\n%s", got, want)
	}
	want = `{"model":{"id":"m-1"},"apiKey":"key","cloud":{"env":{"type":"CLOUD_ENVIRONMENT_TYPE_POOL","name":"big"},` +
		`"repos":[{"url":"https://git.example/r","startingRef":"main","prUrl":"https://git.example/r/1"}],` +
		`"workOnCurrentBranch":true,"autoCreatePr":false,"skipReviewerRequest":true,"envVars":{"E":"f"},"metadata":{"g":"h"},"openAsCursorGithubApp":true}}`
	if got := wireJSON(t, cloud); got != want {
		t.Errorf("cloud options are\n%s\nwant\n%s", got, want)
	}
	expectEveryField(t, map[string]string{
		"sdk.v1.LocalAgentOptions.store": "Options.Store is given when the bridge starts, for all of its agents",
	}, local, cloud)
}

func TestEverySendOptionReachesTheWire(t *testing.T) {
	t.Parallel()
	c := new(Client)
	req, err := c.wireSend("a-1", Message{Text: "look", Images: []Image{
		{URL: "https://img.example/1.png"},
		{Data: []byte("\x89PNG"), MIMEType: "image/png", Width: 3, Height: 2},
	}}, SendOptions{
		Model: "m-2", ModelParams: map[string]string{"effort": "low"}, Mode: ModeAgent, Deltas: true, Steps: true, Force: true,
		MCPServers: everyLocalOption(t.TempDir()).MCPServers, EnvironmentVariables: map[string]string{"E": "f"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := wireJSON(t, req.Message), `{"text":"look","images":[{"url":{"url":"https://img.example/1.png"}},`+
		`{"data":{"data":"iVBORw==","mimeType":"image/png"},"dimension":{"width":3,"height":2}}]}`; got != want {
		t.Errorf("message is\n%s\nwant\n%s", got, want)
	}
	expectEveryField(t, map[string]string{
		"sdk.v1.SendRequest.idempotency_key": "bridges refuse it for local agents; a repeat is found by looking at the runs",
	}, req)
}

// expectEveryField fails for a field that no message sets, of any type of the
// contract that can be reached from them. Some are left out, each for its reason.
func expectEveryField(t *testing.T, left map[string]string, messages ...proto.Message) {
	t.Helper()
	possible, set := map[string]bool{}, map[string]bool{}
	for _, m := range messages {
		fieldsOf(m.ProtoReflect().Descriptor(), left, possible)
		fieldsIn(m.ProtoReflect(), set)
	}
	for _, name := range slices.Sorted(maps.Keys(possible)) {
		if _, deliberately := left[name]; set[name] == deliberately {
			t.Errorf("%s: on the wire = %v", name, set[name])
		}
	}
	if len(possible) < 10 {
		t.Errorf("the walk has found %d fields only", len(possible))
	}
}

func fieldsOf(d protoreflect.MessageDescriptor, left map[string]string, all map[string]bool) {
	if d.ParentFile().Package() != "sdk.v1" || d.Fields().Len() > 0 && all[string(d.Fields().Get(0).FullName())] {
		return
	}
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if !d.IsMapEntry() {
			all[string(f.FullName())] = true
		}
		if _, deliberately := left[string(f.FullName())]; f.Message() != nil && !deliberately {
			fieldsOf(f.Message(), left, all)
		}
	}
}

func fieldsIn(m protoreflect.Message, all map[string]bool) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		all[string(f.FullName())] = true
		switch {
		case f.IsMap():
			if f.MapValue().Message() != nil {
				v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool { fieldsIn(v.Message(), all); return true })
			}
		case f.Message() != nil && f.IsList():
			for i := range v.List().Len() {
				fieldsIn(v.List().Get(i).Message(), all)
			}
		case f.Message() != nil:
			fieldsIn(v.Message(), all)
		}
		return true
	})
}

func TestContradictingOptionsAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool := everyLocalOption(dir).CustomTools
	subagents := func(s Subagent) map[string]Subagent { return map[string]Subagent{"helper": s} }
	servers := func(s MCPServer) map[string]MCPServer { return map[string]MCPServer{"srv": s} }
	tests := []struct {
		name    string
		id      string
		options AgentOptions
		say     string // is in the error; empty for options that are good
	}{
		{"nothing at all", "", AgentOptions{}, ""},
		{"both places", "", AgentOptions{Local: &LocalOptions{Dir: dir}, Cloud: &CloudOptions{}}, "both Local and Cloud"},
		{"a cloud agent's id here", "bc-1", AgentOptions{Local: &LocalOptions{Dir: dir}}, "bc-"},
		{"a cloud agent's id in capitals", "BC-1", AgentOptions{Local: &LocalOptions{Dir: dir}}, "bc-"},
		{"a cloud agent's id alone", "bc-1", AgentOptions{}, ""},
		{"no directory", "", AgentOptions{Local: &LocalOptions{}}, "Local.Dir"},
		{"relative directory", "", AgentOptions{Local: &LocalOptions{Dir: "."}}, "Local.Dir"},
		{"relative extra directory", "", AgentOptions{Local: &LocalOptions{Dir: dir, ExtraDirs: []string{"x"}}}, "ExtraDirs"},
		{"unknown owner", "", AgentOptions{Local: &LocalOptions{Dir: dir, SettingSources: []SettingSource{"me"}}}, "SettingSources"},
		{"unspecified owner", "", AgentOptions{Local: &LocalOptions{Dir: dir, SettingSources: []SettingSource{"unspecified"}}}, "SettingSources"},
		{"unknown mode", "", AgentOptions{Mode: "ask"}, "mode"},
		{"unknown machine", "", AgentOptions{Cloud: &CloudOptions{Environment: &CloudEnvironment{Type: "moon"}}}, "Environment"},
		{"machine without a type", "", AgentOptions{Cloud: &CloudOptions{Environment: &CloudEnvironment{Name: "n"}}}, ""},
		{"repository without a URL", "", AgentOptions{Cloud: &CloudOptions{Repositories: []CloudRepository{{}}}}, "repository 1"},
		{"custom tools in the cloud", "", AgentOptions{Cloud: &CloudOptions{}, CustomTools: tool}, "local agents"},
		{"custom tools without mcp", "", AgentOptions{Tools: []string{"read"}, CustomTools: tool}, `"mcp"`},
		{"custom tools with no tools", "", AgentOptions{Tools: []string{}, CustomTools: tool}, `"mcp"`},
		{"custom tools with mcp forbidden", "", AgentOptions{DisallowedTools: []string{"mcp"}, CustomTools: tool}, `"mcp"`},
		{"custom tools and no restriction", "", AgentOptions{CustomTools: tool}, ""},
		{"two tools of one name", "", AgentOptions{CustomTools: append(tool, tool...)}, "deploy"},
		{"subagents without task", "", AgentOptions{Tools: []string{"read"}, Subagents: subagents(Subagent{Description: "d"})}, `"task"`},
		{"subagent without a description", "", AgentOptions{Subagents: subagents(Subagent{})}, "helper"},
		{"subagent without a name", "", AgentOptions{Subagents: map[string]Subagent{"": {Description: "d"}}}, "no name"},
		{"subagent with a server that is not there", "", AgentOptions{Subagents: subagents(Subagent{Description: "d", MCPServerNames: []string{"gone"}})}, "gone"},
		{"subagent with a bad server", "", AgentOptions{Subagents: subagents(Subagent{Description: "d", MCPServers: []MCPServer{{}}})}, "1 of subagent helper"},
		{"server of neither kind", "", AgentOptions{MCPServers: servers(MCPServer{})}, "srv"},
		{"server of both kinds", "", AgentOptions{MCPServers: servers(MCPServer{Command: "c", URL: "http://h"})}, "srv"},
		{"server without a name", "", AgentOptions{MCPServers: map[string]MCPServer{"": {Command: "c"}}}, "no name"},
		{"headers of a command", "", AgentOptions{MCPServers: servers(MCPServer{Command: "c", Headers: map[string]string{"Authorization": "sesame"}})}, "srv"},
		{"arguments of a URL", "", AgentOptions{MCPServers: servers(MCPServer{URL: "http://h", Args: []string{"sesame"}})}, "srv"},
		{"a URL that is none", "", AgentOptions{MCPServers: servers(MCPServer{URL: "sesame"})}, "srv"},
		{"unknown transport", "", AgentOptions{MCPServers: servers(MCPServer{URL: "http://h?k=sesame", Transport: "pigeon"})}, "pigeon"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := new(Client).wireOptions("create agent", tt.id, tt.options)
			if tt.say == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			expectInvalid(t, err, tt.say)
			if strings.Contains(err.Error(), "sesame") {
				t.Errorf("the error shows what may be secret: %v", err)
			}
		})
	}
}

func TestContradictingMessagesAreRefused(t *testing.T) {
	t.Parallel()
	picture := Image{Data: []byte("x"), MIMEType: "image/png"}
	pictures := func(n int) []Image { return slices.Repeat([]Image{picture}, n) }
	of := func(size int) []Image { return []Image{{Data: make([]byte, size), MIMEType: "image/png"}} }
	tests := []struct {
		name    string
		message Message
		options SendOptions
		say     string
	}{
		{"nothing", Message{}, SendOptions{}, "empty"},
		{"an image alone", Message{Images: pictures(1)}, SendOptions{}, ""},
		{"text that is none", Message{Text: "a\xff"}, SendOptions{}, "UTF-8"},
		{"as many images as may be", Message{Images: pictures(MaxImages)}, SendOptions{}, ""},
		{"one more", Message{Images: pictures(MaxImages + 1)}, SendOptions{}, "21 images"},
		{"an image as large as may be", Message{Images: of(MaxImageBytes)}, SendOptions{}, ""},
		{"a byte more", Message{Images: of(MaxImageBytes + 1)}, SendOptions{}, "image 1"},
		{"an image of nothing", Message{Images: []Image{picture, {MIMEType: "image/png"}}}, SendOptions{}, "image 2"},
		{"an image of two kinds", Message{Images: []Image{{URL: "http://h", Data: []byte("x"), MIMEType: "image/png"}}}, SendOptions{}, "image 1"},
		{"an image without a type", Message{Images: []Image{{Data: []byte("x")}}}, SendOptions{}, "MIME"},
		{"a text as an image", Message{Images: []Image{{Data: []byte("x"), MIMEType: "text/html"}}}, SendOptions{}, "MIME"},
		{"a width alone", Message{Images: []Image{{URL: "http://h", Width: 3}}}, SendOptions{}, "pixels"},
		{"negative pixels", Message{Images: []Image{{URL: "http://h", Width: -3, Height: 1}}}, SendOptions{}, "pixels"},
		{"parameters of no model", Message{Text: "x"}, SendOptions{ModelParams: map[string]string{"a": "b"}}, "ModelParams"},
		{"unknown mode", Message{Text: "x"}, SendOptions{Mode: "ask"}, "mode"},
		{"no servers, on purpose", Message{Text: "x"}, SendOptions{MCPServers: map[string]MCPServer{}}, "MCPServers"},
		{"bad server", Message{Text: "x"}, SendOptions{MCPServers: map[string]MCPServer{"s": {}}}, "MCP server"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := new(Client).wireSend("a-1", tt.message, tt.options)
			if tt.say == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			expectInvalid(t, err, tt.say)
		})
	}
}

func expectInvalid(t *testing.T, err error, say string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.SDKCode != "VALIDATION_ERROR" || !strings.Contains(err.Error(), say) {
		t.Errorf("error = %v; want a VALIDATION_ERROR that says %q", err, say)
	}
}

// After a crash the agent is resumed with what it was made with, not with what
// the defaults have become.
func TestResumeAfterACrashRestrictsTheSame(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	o := fakeOptions(t, fakeScript{Record: record, ExitOn: "ReloadAgent", Run: finished("ok")})
	c := newClient(t, o)
	ctx := testContext(t)
	options := everyLocalOption(t.TempDir())
	a, err := c.Agents().Create(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Reload(ctx); err == nil {
		t.Fatal("the bridge has not crashed")
	}
	run, err := a.Send(ctx, Message{Text: "go on"}, SendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	created, resumed := new(sdkv1.CreateAgentRequest), new(sdkv1.ResumeAgentRequest)
	readRecorded(t, record, "CreateAgent", created)
	readRecorded(t, record, "ResumeAgent", resumed)
	created.Options.AgentId = ""
	if resumed.GetAgentId() != "ours-1" || !proto.Equal(created.GetOptions(), resumed.GetOptions()) {
		t.Errorf("resumed %s with\n%s\ncreated with\n%s", resumed.GetAgentId(), wireJSON(t, resumed.GetOptions()), wireJSON(t, created.GetOptions()))
	}
}

// readRecorded reads the one request of a kind that the fake has written down.
func readRecorded(t *testing.T, record, kind string, into proto.Message) {
	t.Helper()
	all := recorded(t, record, kind)
	if len(all) != 1 {
		t.Fatalf("%s was called %d times", kind, len(all))
	}
	if err := protojson.Unmarshal([]byte(all[0]), into); err != nil {
		t.Fatal(err)
	}
}

// An agent of no particular place works where the program is, and one of no
// particular model gets the first; both stay so when it is resumed.
func TestDefaultsOfAnAgent(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{Record: record, ExitOn: "ReloadAgent", Run: finished("ok")}))
	ctx := testContext(t)
	a, err := c.Agents().Create(ctx, AgentOptions{ID: "ours-1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Agents().Create(ctx, AgentOptions{ID: "ours-2"}); err != nil {
		t.Fatal(err)
	}
	if a.Model() != "m-1" {
		t.Errorf("model = %q", a.Model())
	}
	if err := a.Reload(ctx); err == nil {
		t.Fatal("the bridge has not crashed")
	}
	if _, err := a.Artifacts(ctx); err != nil {
		t.Fatal(err)
	}
	if got := recorded(t, record, "ListModels"); len(got) != 1 {
		t.Errorf("the models were asked for %d times", len(got))
	}
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	resumed := new(sdkv1.ResumeAgentRequest)
	readRecorded(t, record, "ResumeAgent", resumed)
	if o := resumed.GetOptions(); o.GetModel().GetId() != "m-1" || !slices.Equal(o.GetLocal().GetCwd(), []string{cwd}) {
		t.Errorf("resumed with %s", wireJSON(t, o))
	}
}

func TestNoModelToChoose(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakeOptions(t, fakeScript{Answers: map[string][]json.RawMessage{"ListModels": {json.RawMessage(`{}`)}}}))
	_, err := c.Agents().Create(testContext(t), AgentOptions{})
	if !errors.Is(err, ErrInvalidModel) {
		t.Errorf("error = %v", err)
	}
}
