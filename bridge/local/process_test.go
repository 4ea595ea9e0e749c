package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// built is the path that executable has made, for removeExecutable.
var built string

// executable builds cmd/liaison-bridge once.
var executable = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "liaison-bridge-test-*")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "liaison-bridge")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	out, err := exec.Command("go", "build", "-o", path, "github.com/liaison-bot/liaison/cmd/liaison-bridge").CombinedOutput()
	if err != nil {
		return "", errors.Join(err, errors.New(string(out)), os.RemoveAll(dir))
	}
	built = path
	return path, nil
})

// removeExecutable ends the test process, without leaving what was built.
func removeExecutable(code int) {
	if built != "" {
		_ = os.RemoveAll(filepath.Dir(built)) // a leftover in the temporary directory harms nobody
	}
	os.Exit(code)
}

func bridgeExecutable(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and starts the executable")
	}
	path, err := executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// stderr collects what a child says and tells when the ready line is there.
type stderr struct {
	mu    sync.Mutex
	text  bytes.Buffer
	found bool
	ready chan ready
}

func (s *stderr) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	for line := range strings.Lines(s.text.String()) {
		rest, ok := strings.CutPrefix(line, readyPrefix)
		var r ready
		if ok && !s.found && json.Unmarshal([]byte(rest), &r) == nil {
			s.found = true
			s.ready <- r
		}
	}
	return len(p), nil
}

func (s *stderr) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// child is a bridge in a process of its own.
type child struct {
	ready  ready
	stderr *stderr
	cmd    *exec.Cmd
	exited chan error
	url    string
	client *http.Client
	token  string
}

// spawn starts the executable and does the handshake.
func spawn(t *testing.T, state string, args ...string) *child {
	t.Helper()
	return spawnWith(t, state, nil, args...)
}

// spawnWith starts it with more in its environment.
func spawnWith(t *testing.T, state string, env []string, args ...string) *child {
	t.Helper()
	c := &child{stderr: &stderr{ready: make(chan ready, 1)}, exited: make(chan error, 1)}
	tmp := t.TempDir()
	c.cmd = exec.Command(bridgeExecutable(t), append([]string{"--state-root", state, "--workspace", tmp}, args...)...)
	c.cmd.Env = append([]string{"TMPDIR=" + tmp, "TMP=" + tmp, "PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}, env...)
	c.cmd.Stderr = c.stderr
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { c.exited <- c.cmd.Wait(); close(c.exited) }()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill() // unless the test has ended it
		<-c.exited
	})
	select {
	case c.ready = <-c.stderr.ready:
	case err := <-c.exited:
		t.Fatalf("the bridge ended before it was ready: %v\n%s", err, c.stderr)
	case <-time.After(patience):
		t.Fatalf("the bridge was not ready in time\n%s", c.stderr)
	}
	data, err := os.ReadFile(c.ready.AuthTokenFile)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c.token = strings.TrimSpace(string(data))
	c.url, c.client = c.ready.URL, &http.Client{Transport: bearer{token: c.token, next: transport}}
	return c
}

func (c *child) agents() sdkv1connect.SdkAgentServiceClient {
	return sdkv1connect.NewSdkAgentServiceClient(c.client, c.url)
}

// wait waits for the exit.
func (c *child) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-c.exited:
		return err
	case <-time.After(patience):
		t.Fatalf("the bridge did not end\n%s", c.stderr)
		return nil
	}
}

// review creates an agent on evidence and reads its whole run.
func (c *child) review(t *testing.T) (agentID string, messages []*sdkv1.RunStreamMessage) {
	t.Helper()
	return c.reviewWith(t, reviewerModel)
}

func (c *child) reviewWith(t *testing.T, modelID string) (agentID string, messages []*sdkv1.RunStreamMessage) {
	t.Helper()
	ctx := testContext(t)
	dir := t.TempDir()
	writeEvidence(t, dir)
	created, err := c.agents().CreateAgent(ctx, connect.NewRequest(&sdkv1.CreateAgentRequest{Options: &sdkv1.AgentOptions{
		ApiKey: "any", Model: &sdkv1.ModelSelection{Id: modelID}, Local: &sdkv1.LocalAgentOptions{Cwd: []string{dir}},
	}}))
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.agents().Send(ctx, connect.NewRequest(&sdkv1.SendRequest{
		AgentId: created.Msg.GetAgentId(), Message: &sdkv1.UserMessage{Text: "Review this pull request."},
	}))
	if err != nil {
		t.Fatal(err)
	}
	messages = rest(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return created.Msg.GetAgentId(), messages
}

func TestTheExecutableFromSpawnToShutdown(t *testing.T) {
	t.Parallel()
	c := spawn(t, t.TempDir())
	r := c.ready
	if r.SchemaVersion != 1 || r.Transport != "tcp" || r.Protocol != "connect" || r.PID != c.cmd.Process.Pid ||
		r.Host != "127.0.0.1" || r.Port == 0 || r.URL == "" || r.ServerVersion == "" || r.WorkspaceRef == "" || r.StateRoot == "" ||
		r.MaxConcurrentAgents != DefaultMaxAgents || r.MaxMessageBytes != defaultMaxMessageBytes {
		t.Errorf("the ready line is %+v", r)
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{r.AuthTokenFile: 0o600, filepath.Dir(r.AuthTokenFile): 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v; want the mode %v", path, info.Mode(), err, want)
			}
		}
	}
	ctx := testContext(t)
	control := sdkv1connect.NewSdkBridgeControlServiceClient(c.client, c.url)
	if pong, err := control.Ping(ctx, connect.NewRequest(&sdkv1.PingRequest{})); err != nil || pong.Msg.GetMessage() != "pong" {
		t.Fatalf("Ping: %v, %v", pong, err)
	}
	if v, err := control.GetVersion(ctx, connect.NewRequest(&sdkv1.GetVersionRequest{})); err != nil || v.Msg.GetProtocolVersion() != "sdk.v1" {
		t.Errorf("GetVersion: %v, %v", v, err)
	}
	catalog := sdkv1connect.NewSdkCursorServiceClient(c.client, c.url)
	_, err := catalog.ListModels(ctx, connect.NewRequest(&sdkv1.ListModelsRequest{}))
	wantFault(t, err, connect.CodeUnauthenticated, sdkv1.SdkErrorCode_SDK_ERROR_CODE_API_KEY_NOT_FOUND)
	models, err := catalog.ListModels(ctx, connect.NewRequest(&sdkv1.ListModelsRequest{Options: &sdkv1.CursorRequestOptions{ApiKey: "any"}}))
	if err != nil || models.Msg.GetItems()[0].GetId() != reviewerModel {
		t.Fatalf("ListModels: %v, %v", models, err)
	}
	_, messages := c.review(t)
	if got := kinds(messages); got[0] != "status RUNNING" || got[1] != "system" || got[len(got)-1] != "done" {
		t.Errorf("the run is %v", got)
	}
	if text := result(t, messages).GetResult().GetResult(); !strings.Contains(text, "main.go") {
		t.Errorf("the review is %q", text)
	}
	if _, err := control.Shutdown(ctx, connect.NewRequest(&sdkv1.ShutdownRequest{})); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if err := c.wait(t); err != nil {
		t.Errorf("the exit: %v\n%s", err, c.stderr)
	}
	if _, err := os.Stat(filepath.Dir(r.AuthTokenFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the token's directory is still there: %v", err)
	}
	if strings.Contains(c.stderr.String(), c.token) {
		t.Error("the token is on stderr")
	}
}

func TestSIGTERMEndsTheBridgeWell(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM")
	}
	c := spawn(t, t.TempDir(), "--verbose")
	c.review(t)
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.wait(t); err != nil {
		t.Errorf("the exit: %v\n%s", err, c.stderr)
	}
	if !strings.Contains(c.stderr.String(), "SdkAgentService/Send") {
		t.Errorf("--verbose does not log calls:\n%s", c.stderr)
	}
	if _, err := os.Stat(filepath.Dir(c.ready.AuthTokenFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the token's directory is still there: %v", err)
	}
}

func TestStateSurvivesAKill(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	killed := spawn(t, state)
	agent, messages := killed.review(t)
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := killed.wait(t); err == nil {
		t.Error("a killed process ended well")
	}
	c := spawn(t, state)
	ctx := testContext(t)
	if _, err := c.agents().ResumeAgent(ctx, connect.NewRequest(&sdkv1.ResumeAgentRequest{AgentId: agent, Options: &sdkv1.AgentOptions{ApiKey: "any"}})); err != nil {
		t.Fatal(err)
	}
	before := result(t, messages)
	run, err := c.agents().GetRun(ctx, connect.NewRequest(&sdkv1.GetRunRequest{RunId: before.GetRunId()}))
	if err != nil || run.Msg.GetRun().GetResult() != before.GetResult().GetResult() {
		t.Errorf("the run after the kill is %v, %v", run, err)
	}
}

func TestTwoBridgesDoNotShareAStateRoot(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	spawn(t, state)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, bridgeExecutable(t), "--state-root", state).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitFailure || !strings.Contains(string(out), "in use by another bridge") {
		t.Errorf("the second bridge: %v\n%s", err, out)
	}
}

// The shell starts the bridge in the background and ends when its stdin does.
func TestTheBridgeEndsWithItsParent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the parent's id never changes on Windows")
	}
	tmp := t.TempDir()
	errs := &stderr{ready: make(chan ready, 1)}
	shell := exec.Command("sh", "-c", `"$0" --state-root "$1" & read -r _`, bridgeExecutable(t), filepath.Join(tmp, "state"))
	shell.Env = []string{"LIAISON_BRIDGE_EXIT_WITH_PARENT=1", "TMPDIR=" + tmp, "PATH=" + os.Getenv("PATH")}
	shell.Stderr = errs
	stdin, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-errs.ready:
	case <-time.After(patience):
		t.Fatalf("the bridge was not ready in time\n%s", errs)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	// Wait returns when the last process that holds stderr has ended.
	ended := make(chan error, 1)
	go func() { ended <- shell.Wait() }()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatalf("the bridge outlives its parent\n%s", errs)
	}
	if !strings.Contains(errs.String(), "the parent process has ended") {
		t.Errorf("it ended for another reason:\n%s", errs)
	}
}
