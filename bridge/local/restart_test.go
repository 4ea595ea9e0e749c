package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

func TestAgentsAndRunsSurviveARestart(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var agent string
	var first []*sdkv1.RunStreamMessage
	t.Run("before", func(t *testing.T) {
		b := startBridge(t, root, answering())
		agent = b.createAgent(func(o *sdkv1.AgentOptions) {
			o.Name = "named"
			o.Tools = &sdkv1.ToolList{Names: []string{"read"}}
		})
		first = rest(t, b.send(agent, "hello"))
	})
	b := startBridge(t, root, answering())
	ctx := testContext(t)

	info, err := b.agents.GetAgent(ctx, connect.NewRequest(&sdkv1.GetAgentRequest{AgentId: agent}))
	if err != nil || info.Msg.GetAgent().GetName() != "named" {
		t.Fatalf("the agent is %v, %v", info, err)
	}
	runs, err := b.agents.ListRuns(ctx, connect.NewRequest(&sdkv1.ListRunsRequest{AgentId: agent}))
	if err != nil || len(runs.Msg.GetItems()) != 1 || runs.Msg.GetItems()[0].GetResult() != "hello" {
		t.Fatalf("the runs are %v, %v", runs, err)
	}
	runID := result(t, first).GetRunId()
	if got := kinds(rest(t, b.observe(runID, nil))); !slices.Equal(got[1:], kinds(first)) {
		t.Errorf("the replay is %v, the run was %v", got, kinds(first))
	}
	wait, err := b.agents.WaitLiveRun(ctx, connect.NewRequest(&sdkv1.WaitLiveRunRequest{RunId: runID}))
	if err != nil || wait.Msg.GetResult().GetResult() != "hello" {
		t.Errorf("the result is %v, %v", wait, err)
	}

	// Restrictions are not kept: nothing runs before the caller gave them again.
	s := b.send(agent, "again")
	s.Receive()
	wantFault(t, s.Err(), connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_NOT_FOUND)
	b.resumeAgent(agent)
	if got := result(t, rest(t, b.send(agent, "again"))); got.GetResult().GetResult() != "again" {
		t.Errorf("the run after the restart is %v", got)
	}
}

// crashed is the state of a bridge that was killed in the middle of a run.
func crashed(t *testing.T) (root, agent, runID string) {
	t.Helper()
	b := startBridge(t, t.TempDir(), blocking(nil))
	agent = b.createAgent()
	s := b.send(agent, "go")
	runID = until(t, s, "started")
	root = copyState(t, b.root)

	// The last line was being written.
	st := &fileStore{root: root}
	f, err := os.OpenFile(st.eventsFile(agent, runID), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"seq":5,"type":"assis`)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return root, agent, runID
}

func TestARunLeftBehindBlocksUntilForced(t *testing.T) {
	t.Parallel()
	root, agent, runID := crashed(t)
	b := startBridge(t, root, answering())
	ctx := testContext(t)
	b.resumeAgent(agent)

	s := b.send(agent, "again")
	s.Receive()
	wantFault(t, s.Err(), connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_BUSY)
	_, err := b.agents.WaitLiveRun(ctx, connect.NewRequest(&sdkv1.WaitLiveRunRequest{RunId: runID}))
	wantFault(t, err, connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_RUN_NOT_FOUND)
	// What it said is replayed; the stream does not hang, and does not claim an end.
	observed := b.observe(runID, nil)
	until(t, observed, "started")
	if observed.Receive() || connect.CodeOf(observed.Err()) != connect.CodeFailedPrecondition {
		t.Errorf("after the record came %v, %v", observed.Msg(), observed.Err())
	}

	force := true
	forced := b.send(agent, "again", func(r *sdkv1.SendRequest) {
		r.Options = &sdkv1.SendOptions{Local: &sdkv1.LocalSendOptions{Force: &force}}
	})
	if got := result(t, rest(t, forced)); got.GetResult().GetResult() != "again" {
		t.Errorf("the forced run is %v", got)
	}
	want := []string{"request", "status RUNNING", "system", "assistant", "status EXPIRED", "result RUN_LIFECYCLE_STATUS_EXPIRED", "done"}
	got := rest(t, b.observe(runID, nil))
	if !slices.Equal(kinds(got), want) || result(t, got).GetErrorCode() != "force_send" {
		t.Errorf("the run left behind replays %v, want %v", kinds(got), want)
	}
	rest(t, b.send(agent, "free"))
}

func TestARunLeftBehindCanBeCancelled(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(*testing.T, *fileStore, string, string){
		"as it was": func(*testing.T, *fileStore, string, string) {},
		"its agent knows nothing of it": func(t *testing.T, st *fileStore, agent, _ string) {
			var rec agentRecord
			err := readJSON(st.agentFile(agent), maxAgentBytes, &rec, &rec.Schema)
			rec.ActiveRun = ""
			if err := errors.Join(err, st.saveAgent(testContext(t), rec)); err != nil {
				t.Fatal(err)
			}
		},
		"its record is gone": func(t *testing.T, st *fileStore, agent, runID string) {
			if err := os.Remove(st.eventsFile(agent, runID)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, agent, runID := crashed(t)
			damage(t, &fileStore{root: root}, agent, runID)
			b := startBridge(t, root, answering())
			if _, err := b.agents.CancelRun(testContext(t), connect.NewRequest(&sdkv1.CancelRunRequest{RunId: runID})); err != nil {
				t.Fatal(err)
			}
			if got := result(t, rest(t, b.observe(runID, nil))); got.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_CANCELLED {
				t.Errorf("the run ended as %v", got.GetStatus())
			}
			b.resumeAgent(agent)
			rest(t, b.send(agent, "free"))
		})
	}
}

// The process may die after the run's end is stored and before its agent is.
func TestAnAgentIsFreeOnceItsRunHasEnded(t *testing.T) {
	t.Parallel()
	root, agent, runID := crashed(t)
	st := &fileStore{root: root}
	var rec runRecord
	if err := readJSON(st.runFile(agent, runID), maxRunBytes, &rec, &rec.Schema); err != nil {
		t.Fatal(err)
	}
	rec.Status = statusFinished
	if err := st.saveRun(testContext(t), rec); err != nil {
		t.Fatal(err)
	}
	b := startBridge(t, root, answering())
	b.resumeAgent(agent)
	rest(t, b.send(agent, "free"))
}

func TestUnfinishedFilesAreSweptAtStart(t *testing.T) {
	t.Parallel()
	root, agent, runID := crashed(t)
	st := &fileStore{root: root}
	unfinished := []string{
		filepath.Join(root, "agents", ".new-1"),
		filepath.Join(root, "agents", ".deleted-2"),
		filepath.Join(st.agentDir(agent), ".write-3"),
		filepath.Join(st.agentDir(agent), "runs", ".write-4"),
	}
	for _, path := range unfinished {
		if err := os.MkdirAll(filepath.Join(path, "runs"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b := startBridge(t, root, answering())
	for _, path := range unfinished {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
	if _, err := b.agents.GetRun(testContext(t), connect.NewRequest(&sdkv1.GetRunRequest{RunId: runID})); err != nil {
		t.Errorf("the run was swept too: %v", err)
	}
}

func TestStateIsForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	if os.PathSeparator == '\\' {
		t.Skip("Windows has no such modes")
	}
	root := filepath.Join(t.TempDir(), "state")
	b := startBridge(t, root, answering())
	rest(t, b.send(b.createAgent(), "hello"))
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", strings.TrimPrefix(path, root), info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Stopping cancels what is under way, tells whoever listens, and frees the agent.
func TestStopEndsRunsWell(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	b := startBridge(t, root, blocking(nil))
	agent := b.createAgent()
	s := b.send(agent, "go")
	until(t, s, "started")
	stopped := make(chan struct{})
	go func() { defer close(stopped); b.server.stop(atOnce(), b.front) }()
	got := rest(t, s)
	if r := result(t, got); r.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_CANCELLED || r.GetErrorCode() != "bridge_shutdown" {
		t.Errorf("the run ended as %v", r)
	}
	<-stopped
	next := startBridge(t, copyState(t, root), answering())
	next.resumeAgent(agent)
	rest(t, next.send(agent, "free"))
}

func TestStopGivesRunsTheirGrace(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	b := startBridge(t, t.TempDir(), blocking(release))
	agent := b.createAgent()
	s := b.send(agent, "go")
	until(t, s, "started")
	stopped, grace := make(chan struct{}), testContext(t)
	go func() { defer close(stopped); b.server.stop(grace, b.front) }()
	// New runs are refused from the moment that draining is seen.
	draining := func() bool {
		b.server.registry.mu.Lock()
		defer b.server.registry.mu.Unlock()
		return b.server.registry.draining
	}
	for !draining() {
		runtime.Gosched()
	}
	close(release)
	if r := result(t, rest(t, s)); r.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_FINISHED {
		t.Errorf("the run ended as %v", r.GetStatus())
	}
	<-stopped
}

// Shutdown may have asked for minutes of grace. Who sends a signal after it, or
// has died, does not wait that long.
func TestGraceIsCutShort(t *testing.T) {
	t.Parallel()
	for name, hurry := range map[string]func(signal func(), orphan func()){
		"by a signal":        func(signal, _ func()) { signal() },
		"by an ended parent": func(_, orphan func()) { orphan() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startBridge(t, t.TempDir(), blocking(nil))
			s := b.send(b.createAgent(), "go")
			until(t, s, "started")
			signalled, signal := context.WithCancel(context.Background())
			defer signal()
			orphaned := make(chan struct{})
			draining, cancel := drainContext(signalled, orphaned, 10*patience, 0)
			defer cancel()
			stopped := make(chan struct{})
			go func() { defer close(stopped); b.server.stop(draining, b.front) }()
			hurry(signal, func() { close(orphaned) })
			if r := result(t, rest(t, s)); r.GetErrorCode() != "bridge_shutdown" {
				t.Errorf("the run ended as %v", r)
			}
			<-stopped
		})
	}
}
