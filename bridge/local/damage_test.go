package local

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// put writes a file and the directories above it.
func put(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// What is damaged is kept for a person to look at, and its id can be used again.
func TestADamagedAgentIsSetAside(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, file string){
		"torn":           func(t *testing.T, file string) { put(t, file, `{"schema":1,"id":"agent-x`) },
		"empty":          func(t *testing.T, file string) { put(t, file, "") },
		"zeros":          func(t *testing.T, file string) { put(t, file, strings.Repeat("\x00", 300)) },
		"no schema":      func(t *testing.T, file string) { put(t, file, `{"id":"agent-x"}`) },
		"another agent":  func(t *testing.T, file string) { put(t, file, `{"schema":1,"id":"agent-y"}`) },
		"newer, no id":   func(t *testing.T, file string) { put(t, file, `{"schema":2}`) },
		"too long":       func(t *testing.T, file string) { put(t, file, strings.Repeat(" ", maxAgentBytes+1)) },
		"not there":      func(t *testing.T, file string) { put(t, filepath.Join(filepath.Dir(file), "memory"), "x") },
		"a directory":    func(t *testing.T, file string) { put(t, filepath.Join(file, "x"), "x") },
		"a pipe":         func(t *testing.T, file string) { put(t, file, ""); makePipe(t, file) },
		"a link to life": func(t *testing.T, file string) { put(t, file, ""); makeLink(t, "/dev/zero", file) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			file := (&fileStore{root: root}).agentFile("agent-x")
			damage(t, file)
			b := startBridge(t, root, answering())
			other := b.createAgent()
			_, err := b.agents.ResumeAgent(testContext(t), connect.NewRequest(&sdkv1.ResumeAgentRequest{AgentId: "agent-x", Options: options(t.TempDir())}))
			wantFault(t, err, connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_NOT_FOUND)
			if got := b.createAgent(func(o *sdkv1.AgentOptions) { o.AgentId = "agent-x" }); got != "agent-x" {
				t.Errorf("the id became %s", got)
			}
			rest(t, b.send("agent-x", "hello"))
			rest(t, b.send(other, "hello"))
			aside := filepath.Join(root, unreadableDir, hashedName("agent-x")+".1")
			if _, err := os.Lstat(aside); err != nil {
				t.Errorf("what was damaged is gone: %v", err)
			}
		})
	}
}

// makePipe puts a named pipe in the place of a file.
func makePipe(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.Remove(path), namedPipe(path)); err != nil {
		t.Skip("no named pipes here:", err)
	}
}

func makeLink(t *testing.T, to, path string) {
	t.Helper()
	if err := errors.Join(os.Remove(path), os.Symlink(to, path)); err != nil {
		t.Skip("no symbolic links here:", err)
	}
}

// An agent that is damaged again and again does not push out what is kept.
func TestDamagedAgentsAreNumbered(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := (&fileStore{root: root}).agentFile("agent-x")
	for _, want := range []string{".1", ".2"} {
		put(t, file, "damaged"+want)
		st, err := openStore(testContext(t), root, quiet())
		if err != nil {
			t.Fatal(err)
		}
		if err := st.close(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(root, unreadableDir, hashedName("agent-x")+want, "agent.json"))
		if err != nil || string(got) != "damaged"+want {
			t.Errorf("set aside is %q, %v", got, err)
		}
	}
}

// A newer bridge's agent survives that an older one was started by mistake.
func TestANewerAgentIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const content = `{"schema":2,"id":"agent-x","model":["in","another","shape"]}`
	file := (&fileStore{root: root}).agentFile("agent-x")
	put(t, file, content)
	b := startBridge(t, root, answering())
	ctx := testContext(t)
	_, err := b.agents.GetAgent(ctx, connect.NewRequest(&sdkv1.GetAgentRequest{AgentId: "agent-x"}))
	details := wantFault(t, err, connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INTERNAL_ERROR)
	if !strings.Contains(details.GetMessage(), "newer version") {
		t.Errorf("the error is %q", details.GetMessage())
	}
	o := options(t.TempDir())
	o.AgentId = "agent-x"
	if _, err := b.agents.CreateAgent(ctx, connect.NewRequest(&sdkv1.CreateAgentRequest{Options: o})); err == nil {
		t.Error("an agent was made in its place")
	}
	list, err := b.agents.ListAgents(ctx, connect.NewRequest(&sdkv1.ListAgentsRequest{}))
	if err != nil || len(list.Msg.GetItems()) != 0 {
		t.Errorf("listed are %v, %v", list, err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != content {
		t.Errorf("the file is %q, %v", got, err)
	}
}

// A disk brings its own names, and people put things where they please.
func TestForeignNamesAreLeftAlone(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	foreign := []string{filepath.Join(root, agentsDir, "lost+found", "x"), filepath.Join(root, "notes.txt")}
	for _, path := range foreign {
		put(t, path, "mine")
	}
	b := startBridge(t, root, answering())
	rest(t, b.send(b.createAgent(), "hello"))
	for _, path := range foreign {
		if got, err := os.ReadFile(path); err != nil || string(got) != "mine" {
			t.Errorf("%s is %q, %v", path, got, err)
		}
	}
}

func TestALockThatIsNoFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put(t, filepath.Join(root, "lock", "x"), "x")
	_, err := openStore(testContext(t), root, quiet())
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
}

// One run that cannot be read hides neither the others nor its agent.
func TestADamagedRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		content string
		code    connect.Code
	}{
		"torn":  {`{"schema":1,"id":"run-`, connect.CodeDataLoss},
		"other": {`{"schema":1,"id":"run-x"}`, connect.CodeDataLoss},
		"newer": {`{"schema":7}`, connect.CodeFailedPrecondition},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, agent, damaged := crashed(t)
			put(t, (&fileStore{root: root}).runFile(agent, damaged), test.content)
			b := startBridge(t, root, answering())
			ctx := testContext(t)
			b.resumeAgent(agent)
			_, err := b.agents.GetRun(ctx, connect.NewRequest(&sdkv1.GetRunRequest{RunId: damaged}))
			wantFault(t, err, test.code, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INTERNAL_ERROR)
			// It was the active one. That is not known to be over, so it takes force.
			force := true
			forced := b.send(agent, "again", func(r *sdkv1.SendRequest) {
				r.Options = &sdkv1.SendOptions{Local: &sdkv1.LocalSendOptions{Force: &force}}
			})
			good := result(t, rest(t, forced)).GetRunId()
			list, err := b.agents.ListRuns(ctx, connect.NewRequest(&sdkv1.ListRunsRequest{AgentId: agent}))
			if err != nil || len(list.Msg.GetItems()) != 1 || list.Msg.GetItems()[0].GetRunId() != good {
				t.Errorf("listed are %v, %v; want %s", list, err, good)
			}
		})
	}
}

// A line that a disk has spoilt does not hide what was said after it.
func TestADamagedRecord(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	first := startBridge(t, root, answering())
	agent := first.createAgent()
	whole := rest(t, first.send(agent, "hello"))
	runID := result(t, whole).GetRunId()
	root = copyState(t, root)
	file := (&fileStore{root: root}).eventsFile(agent, runID)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	lines[1] = strings.Repeat("\x00", 40) + "\n"
	put(t, file, strings.Join(lines, ""))

	b := startBridge(t, root, answering())
	got := kinds(rest(t, b.observe(runID, nil)))
	want := []string{"request", "system", "assistant", "usage", "status FINISHED", "result RUN_LIFECYCLE_STATUS_FINISHED", "done"}
	if !slices.Equal(got, want) {
		t.Errorf("the record replays %v, want %v", got, want)
	}
}

// A disk that takes nothing refuses the run and leaves the agent free.
func TestARunThatCannotBeKeptIsRefused(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	agent := b.createAgent()
	runs := filepath.Join(b.files().agentDir(agent), "runs")
	// In the place of its directory is a file.
	if err := errors.Join(os.Remove(runs), os.WriteFile(runs, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	s := b.send(agent, "hello")
	s.Receive()
	wantFault(t, s.Err(), connect.CodeInternal, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INTERNAL_ERROR)
	if err := errors.Join(os.Remove(runs), os.Mkdir(runs, 0o700)); err != nil {
		t.Fatal(err)
	}
	rest(t, b.send(agent, "free"))
}
