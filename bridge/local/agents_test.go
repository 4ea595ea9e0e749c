package local

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

func TestCreateAgentChecksItsOptions(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	dir := t.TempDir()
	const (
		invalidArgument = connect.CodeInvalidArgument
		unimplemented   = connect.CodeUnimplemented
		validation      = sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR
		unavailable     = sdkv1.SdkErrorCode_SDK_ERROR_CODE_FEATURE_UNAVAILABLE
	)
	tests := []struct {
		name   string
		change func(*sdkv1.AgentOptions)
		code   connect.Code
		sdk    sdkv1.SdkErrorCode
	}{
		{"no key", func(o *sdkv1.AgentOptions) { o.ApiKey = "" }, connect.CodeUnauthenticated, sdkv1.SdkErrorCode_SDK_ERROR_CODE_API_KEY_NOT_FOUND},
		{"no model", func(o *sdkv1.AgentOptions) { o.Model = nil }, invalidArgument, validation},
		{"unknown model", func(o *sdkv1.AgentOptions) { o.Model.Id = "composer-2" }, invalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INVALID_MODEL},
		{"no local", func(o *sdkv1.AgentOptions) { o.Local = nil }, invalidArgument, validation},
		{"no directory", func(o *sdkv1.AgentOptions) { o.Local.Cwd = nil }, invalidArgument, validation},
		{"two directories", func(o *sdkv1.AgentOptions) { o.Local.Cwd = []string{dir, dir} }, invalidArgument, validation},
		{"relative directory", func(o *sdkv1.AgentOptions) { o.Local.Cwd = []string{"."} }, invalidArgument, validation},
		{"missing directory", func(o *sdkv1.AgentOptions) { o.Local.Cwd = []string{filepath.Join(dir, "no")} }, invalidArgument, validation},
		{"a zero byte in the directory", func(o *sdkv1.AgentOptions) { o.Local.Cwd = []string{dir + "\x00"} }, invalidArgument, validation},
		{"cloud", func(o *sdkv1.AgentOptions) { o.Cloud = &sdkv1.CloudAgentOptions{} }, unimplemented, unavailable},
		{"custom store", func(o *sdkv1.AgentOptions) { o.Local.Store = &sdkv1.LocalAgentStoreConfig{Type: "custom"} }, unimplemented, unavailable},
		{"cloud id", func(o *sdkv1.AgentOptions) { o.AgentId = "bc-1" }, invalidArgument, validation},
		{"cloud id in capitals", func(o *sdkv1.AgentOptions) { o.AgentId = "BC-1" }, invalidArgument, validation},
		{"an id that is a path", func(o *sdkv1.AgentOptions) { o.AgentId = "../x" }, invalidArgument, validation},
		{"an id that is a device", func(o *sdkv1.AgentOptions) { o.AgentId = `\\.\pipe\x` }, invalidArgument, validation},
		{"an id one byte too long", func(o *sdkv1.AgentOptions) { o.AgentId = strings.Repeat("a", maxIDBytes+1) }, invalidArgument, validation},
		{"an id of megabytes", func(o *sdkv1.AgentOptions) { o.AgentId = strings.Repeat("a", 1<<19) }, invalidArgument, validation},
		{"a name of megabytes", func(o *sdkv1.AgentOptions) { o.Name = strings.Repeat("a", 1<<19) }, invalidArgument, validation},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := options(dir)
			tt.change(o)
			_, err := b.agents.CreateAgent(testContext(t), connect.NewRequest(&sdkv1.CreateAgentRequest{Options: o}))
			details := wantFault(t, err, tt.code, tt.sdk)
			if len(details.GetMessage()) > 1000 {
				t.Errorf("the message has %d bytes", len(details.GetMessage()))
			}
		})
	}
	key := "k"
	_, err := b.agents.CreateAgent(testContext(t), connect.NewRequest(&sdkv1.CreateAgentRequest{Options: options(dir), IdempotencyKey: &key}))
	wantFault(t, err, unimplemented, unavailable)
}

func TestCreateAgentTakesIDsOfTheCaller(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	// Two names that one file system may take for the same, a reserved name of
	// another, and the longest one.
	for _, id := range []string{"ses_01", "SES_01", "con", "a.b:c-d", strings.Repeat("a", maxIDBytes)} {
		if got := b.createAgent(func(o *sdkv1.AgentOptions) { o.AgentId = id }); got != id {
			t.Errorf("got the id %q, want %q", got, id)
		}
		o := options(t.TempDir())
		o.AgentId = id
		_, err := b.agents.CreateAgent(testContext(t), connect.NewRequest(&sdkv1.CreateAgentRequest{Options: o}))
		wantFault(t, err, connect.CodeInternal, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INTERNAL_ERROR)
	}
}

func TestResumeAgent(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	ctx := testContext(t)
	resume := func(id string, change func(*sdkv1.AgentOptions)) error {
		o := options(t.TempDir())
		change(o)
		_, err := b.agents.ResumeAgent(ctx, connect.NewRequest(&sdkv1.ResumeAgentRequest{AgentId: id, Options: o}))
		return err
	}
	same := func(*sdkv1.AgentOptions) {}
	wantFault(t, resume("agent-x", same), connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_NOT_FOUND)
	wantFault(t, resume("a/b", same), connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR)

	agent := b.createAgent()
	wantFault(t, resume(agent, func(o *sdkv1.AgentOptions) { o.Model.Id = "nope" }), connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INVALID_MODEL)
	wantFault(t, resume(agent, func(o *sdkv1.AgentOptions) { o.ApiKey = "" }), connect.CodeUnauthenticated, sdkv1.SdkErrorCode_SDK_ERROR_CODE_API_KEY_NOT_FOUND)

	if _, err := b.agents.CloseAgent(ctx, connect.NewRequest(&sdkv1.CloseAgentRequest{AgentId: agent})); err != nil {
		t.Fatal(err)
	}
	s := b.send(agent, "go")
	s.Receive()
	wantFault(t, s.Err(), connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_NOT_FOUND)
	dir := t.TempDir()
	if err := resume(agent, func(o *sdkv1.AgentOptions) { o.Local.Cwd[0] = dir }); err != nil {
		t.Fatal(err)
	}
	rest(t, b.send(agent, "go"))
	res, err := b.agents.GetAgent(ctx, connect.NewRequest(&sdkv1.GetAgentRequest{AgentId: agent}))
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Msg.GetAgent(); got.GetLocal().GetCwd() != dir || got.GetStatus() != sdkv1.AgentInfoStatus_AGENT_INFO_STATUS_FINISHED {
		t.Errorf("the agent is %v", got)
	}
}

func TestArchivedAgentsTakeNoMessages(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	ctx := testContext(t)
	agent := b.createAgent()
	for range 2 {
		if _, err := b.agents.ArchiveAgent(ctx, connect.NewRequest(&sdkv1.ArchiveAgentRequest{AgentId: agent})); err != nil {
			t.Fatal(err)
		}
	}
	s := b.send(agent, "go")
	s.Receive()
	wantFault(t, s.Err(), connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_ARCHIVED)
	if got := listAgents(t, b, &sdkv1.ListAgentsOptions{}); len(got) != 0 {
		t.Errorf("an archived agent is listed: %v", got)
	}
	archived := true
	if got := listAgents(t, b, &sdkv1.ListAgentsOptions{IncludeArchived: &archived}); !slices.Equal(got, []string{agent}) {
		t.Errorf("with archived ones the list is %v", got)
	}
	if _, err := b.agents.UnarchiveAgent(ctx, connect.NewRequest(&sdkv1.UnarchiveAgentRequest{AgentId: agent})); err != nil {
		t.Fatal(err)
	}
	rest(t, b.send(agent, "go"))
}

func TestDeleteAgentTakesItsRunsWithIt(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	b := startBridge(t, root, answering())
	ctx := testContext(t)
	agent := b.createAgent(func(o *sdkv1.AgentOptions) { o.AgentId = "mine" })
	runID := result(t, rest(t, b.send(agent, "go"))).GetRunId()
	if _, err := b.agents.DeleteAgent(ctx, connect.NewRequest(&sdkv1.DeleteAgentRequest{AgentId: agent})); err != nil {
		t.Fatal(err)
	}
	_, err := b.agents.GetAgent(ctx, connect.NewRequest(&sdkv1.GetAgentRequest{AgentId: agent}))
	wantFault(t, err, connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_NOT_FOUND)
	_, err = b.agents.GetRun(ctx, connect.NewRequest(&sdkv1.GetRunRequest{RunId: runID}))
	wantFault(t, err, connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_RUN_NOT_FOUND)
	b.createAgent(func(o *sdkv1.AgentOptions) { o.AgentId = "mine" })
}

func TestListAgentsPagesAndFilters(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	dir := t.TempDir()
	var want []string
	for i := range 5 {
		want = append(want, b.createAgent(func(o *sdkv1.AgentOptions) {
			o.Name = "agent " + strconv.Itoa(i)
			if i == 3 {
				o.Local.Cwd[0] = dir
			}
		}))
	}
	slices.Reverse(want)
	if got := listAgents(t, b, &sdkv1.ListAgentsOptions{Limit: 2}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := listAgents(t, b, &sdkv1.ListAgentsOptions{Cwd: dir}); !slices.Equal(got, want[1:2]) {
		t.Errorf("of one directory: got %v, want %v", got, want[1:2])
	}
	if got := listAgents(t, b, &sdkv1.ListAgentsOptions{Runtime: sdkv1.Runtime_RUNTIME_CLOUD}); len(got) != 0 {
		t.Errorf("cloud agents: %v", got)
	}
}

// A list is read to its end even if each agent is deleted as it comes.
func TestListAgentsWhileTheyAreDeleted(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	ctx := testContext(t)
	var want []string
	for range 5 {
		want = append(want, b.createAgent())
	}
	slices.Reverse(want)
	var got []string
	o := &sdkv1.ListAgentsOptions{Limit: 2}
	for first := true; first || o.Cursor != ""; first = false {
		res, err := b.agents.ListAgents(ctx, connect.NewRequest(&sdkv1.ListAgentsRequest{Options: o}))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range res.Msg.GetItems() {
			got = append(got, a.GetAgentId())
			if _, err := b.agents.DeleteAgent(ctx, connect.NewRequest(&sdkv1.DeleteAgentRequest{AgentId: a.GetAgentId()})); err != nil {
				t.Fatal(err)
			}
		}
		o.Cursor = res.Msg.GetNextCursor()
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, cursor := range []string{"%%", writeCursor("agent-1")} {
		_, err := b.agents.ListAgents(ctx, connect.NewRequest(&sdkv1.ListAgentsRequest{Options: &sdkv1.ListAgentsOptions{Cursor: cursor}}))
		wantFault(t, err, connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR)
	}
}

// listAgents reads every page.
func listAgents(t *testing.T, b *testBridge, o *sdkv1.ListAgentsOptions) []string {
	t.Helper()
	var out []string
	for first := true; first || o.Cursor != ""; first = false {
		res, err := b.agents.ListAgents(testContext(t), connect.NewRequest(&sdkv1.ListAgentsRequest{Options: o}))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range res.Msg.GetItems() {
			out = append(out, a.GetAgentId())
		}
		o.Cursor = res.Msg.GetNextCursor()
	}
	return out
}

func TestCatalog(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	ctx := testContext(t)
	calls := map[string]func(o *sdkv1.CursorRequestOptions) error{
		"Me": func(o *sdkv1.CursorRequestOptions) error {
			_, err := b.catalog.Me(ctx, connect.NewRequest(&sdkv1.MeRequest{Options: o}))
			return err
		},
		"ListModels": func(o *sdkv1.CursorRequestOptions) error {
			res, err := b.catalog.ListModels(ctx, connect.NewRequest(&sdkv1.ListModelsRequest{Options: o}))
			if err == nil && (len(res.Msg.GetItems()) != 1 || res.Msg.GetItems()[0].GetId() != scriptedModel) {
				t.Errorf("the models are %v", res.Msg)
			}
			return err
		},
		"ListRepositories": func(o *sdkv1.CursorRequestOptions) error {
			_, err := b.catalog.ListRepositories(ctx, connect.NewRequest(&sdkv1.ListRepositoriesRequest{Options: o}))
			return err
		},
	}
	for name, call := range calls {
		if err := call(&sdkv1.CursorRequestOptions{ApiKey: "any"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, o := range []*sdkv1.CursorRequestOptions{nil, {}} {
			wantFault(t, call(o), connect.CodeUnauthenticated, sdkv1.SdkErrorCode_SDK_ERROR_CODE_API_KEY_NOT_FOUND)
		}
	}
}

func TestEveryErrorHasARequestIDOfItsOwn(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	seen := make(map[string]bool)
	for range 20 {
		_, err := b.agents.GetAgent(testContext(t), connect.NewRequest(&sdkv1.GetAgentRequest{AgentId: "agent-x"}))
		id := detailsOf(t, err).GetRequestId()
		if seen[id] {
			t.Fatalf("the request id %q came twice", id)
		}
		seen[id] = true
	}
}

func TestWhatIsNotOfferedSaysSoAndIsNoCapability(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	ctx := testContext(t)
	_, artifacts := b.agents.ListArtifacts(ctx, connect.NewRequest(&sdkv1.ListArtifactsRequest{}))
	download, err := b.agents.DownloadArtifact(ctx, connect.NewRequest(&sdkv1.DownloadArtifactRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	download.Receive()
	for _, err := range []error{artifacts, download.Err()} {
		wantFault(t, err, connect.CodeUnimplemented, sdkv1.SdkErrorCode_SDK_ERROR_CODE_FEATURE_UNAVAILABLE)
	}
	if err := download.Close(); err != nil {
		t.Error(err)
	}
	res, err := b.control.GetVersion(ctx, connect.NewRequest(&sdkv1.GetVersionRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(res.Msg.GetCapabilities(), "artifacts.chunked") {
		t.Errorf("artifacts are offered: %v", res.Msg)
	}
}

func TestSetToolCallback(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	ctx := testContext(t)
	set := func(url, token string) error {
		_, err := b.control.SetToolCallback(ctx, connect.NewRequest(&sdkv1.SetToolCallbackRequest{Url: url, AuthToken: token}))
		return err
	}
	stored := b.server.tools.target
	good := callback{url: "http://127.0.0.1:1/x", token: "t"}
	if err := set(good.url, good.token); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []callback{
		{"http://127.0.0.1:1", ""}, {"http://10.0.0.1:1", "t"}, {"http://metadata.internal/", "t"},
		{"file:///etc/passwd", "t"}, {"http://user:pass@127.0.0.1:1", "t"}, {":", "t"},
	} {
		wantFault(t, set(bad.url, bad.token), connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR)
	}
	if got := stored(); got != good {
		t.Errorf("a refused callback replaced the good one: %q", got.url)
	}
	if err := set("", ""); err != nil || stored() != (callback{}) {
		t.Errorf("an empty URL does not clear it: %v", err)
	}
}
