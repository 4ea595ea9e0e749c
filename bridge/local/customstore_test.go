package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// keptBy makes a bridge keep everything in a caller's store.
func keptBy(t testing.TB, d *storeDouble, root string) func(*serverOptions) {
	t.Helper()
	return keptAt(t, d.serve(t), root)
}

func keptAt(t testing.TB, target callback, root string) func(*serverOptions) {
	return func(o *serverOptions) {
		t.Helper()
		st, err := openCustomStore(testContext(t), target, root, o.Logger)
		if err != nil {
			t.Fatal(err)
		}
		st.client.backoff = time.Millisecond
		o.Store = st
	}
}

// onCustomStore starts a bridge that keeps everything in a caller's store.
func onCustomStore(t testing.TB, d *storeDouble, e engine) *testBridge {
	t.Helper()
	root := t.TempDir()
	return startBridge(t, root, e, keptBy(t, d, root))
}

// remembering is an engine that says what it was asked before.
func remembering() scripted {
	return scripted{run: func(_ context.Context, t task, emit func(event)) (answer, error) {
		before, err := t.Memory.Recall()
		if err != nil {
			return answer{}, err
		}
		text := string(before) + t.Prompt
		t.Memory.Keep([]byte(text + ","))
		emit(said{Text: text})
		return answer{Text: text}, nil
	}}
}

func forced(r *sdkv1.SendRequest) {
	force := true
	r.Options = &sdkv1.SendOptions{Local: &sdkv1.LocalSendOptions{Force: &force}}
}

// Everything is in the store: another bridge on another disk goes on from it.
func TestACustomStoreKeepsEverything(t *testing.T) {
	t.Parallel()
	d := newStoreDouble()
	first := onCustomStore(t, d, remembering())
	agent := first.createAgent()
	other := first.createAgent()
	var runs []string
	for range doublePage + 2 {
		live := rest(t, first.send(agent, "a"))
		runs = append(runs, result(t, live).GetRunId())
		if got, want := kinds(live), []string{"status RUNNING", "system", "assistant", "usage", "status FINISHED", "result RUN_LIFECYCLE_STATUS_FINISHED", "done"}; !slices.Equal(got, want) {
			t.Fatalf("the stream is %v, want %v", got, want)
		}
	}

	b := onCustomStore(t, d.snapshot(t), remembering())
	ctx := testContext(t)
	replay := kinds(rest(t, b.observe(runs[0], nil)))
	if want := []string{"request", "status RUNNING", "system", "assistant", "usage", "status FINISHED", "result RUN_LIFECYCLE_STATUS_FINISHED", "done"}; !slices.Equal(replay, want) {
		t.Errorf("the record replays %v, want %v", replay, want)
	}
	b.resumeAgent(agent)
	if got, want := result(t, rest(t, b.send(agent, "z"))), strings.Repeat("a,", doublePage+2)+"z"; got.GetResult().GetResult() != want {
		t.Errorf("the agent remembers %v, want %s", got, want)
	}
	var listed []string
	for cursor := ""; ; {
		res, err := b.agents.ListRuns(ctx, connect.NewRequest(&sdkv1.ListRunsRequest{AgentId: agent, Options: &sdkv1.ListRunsOptions{Limit: 2, Cursor: cursor}}))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Msg.GetItems() {
			listed = append(listed, r.GetRunId())
		}
		if cursor = res.Msg.GetNextCursor(); cursor == "" {
			break
		}
	}
	slices.Reverse(runs)
	if !slices.Equal(listed[1:], runs) {
		t.Errorf("listed are %v, want one more than %v", listed, runs)
	}
	agents, err := b.agents.ListAgents(ctx, connect.NewRequest(&sdkv1.ListAgentsRequest{}))
	if err != nil || len(agents.Msg.GetItems()) != 2 {
		t.Errorf("the agents are %v, %v", agents, err)
	}
	if _, err := b.agents.DeleteAgent(ctx, connect.NewRequest(&sdkv1.DeleteAgentRequest{AgentId: agent})); err != nil {
		t.Fatal(err)
	}
	_, err = b.agents.GetRun(ctx, connect.NewRequest(&sdkv1.GetRunRequest{RunId: runs[0]}))
	wantFault(t, err, connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_RUN_NOT_FOUND)
	if _, err := b.agents.GetAgent(ctx, connect.NewRequest(&sdkv1.GetAgentRequest{AgentId: other})); err != nil {
		t.Error(err)
	}
}

func TestIDsThatACustomStoreHas(t *testing.T) {
	t.Parallel()
	d := newStoreDouble()
	first := onCustomStore(t, d, answering())
	agent := first.createAgent()
	b := onCustomStore(t, d.snapshot(t), answering())
	o := options(t.TempDir())
	o.AgentId = agent
	_, err := b.agents.CreateAgent(testContext(t), connect.NewRequest(&sdkv1.CreateAgentRequest{Options: o}))
	wantFault(t, err, connect.CodeInternal, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INTERNAL_ERROR)
	_, err = b.agents.GetAgent(testContext(t), connect.NewRequest(&sdkv1.GetAgentRequest{AgentId: "agent-none"}))
	wantFault(t, err, connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_NOT_FOUND)
	s := b.observe("run-none", nil)
	s.Receive()
	wantFault(t, s.Err(), connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_RUN_NOT_FOUND)
}

// The bridge is gone in the middle of a run; the store has what it said so far.
func TestARunLeftBehindInACustomStore(t *testing.T) {
	t.Parallel()
	left := func(t *testing.T) (d *storeDouble, agent, runID string) {
		d = newStoreDouble()
		appended := make(chan struct{}, 100)
		d.after = func(call string) error {
			if call == "runEvents.append" {
				appended <- struct{}{}
			}
			return nil
		}
		b := onCustomStore(t, d, blocking(nil))
		agent = b.createAgent()
		runID = until(t, b.send(agent, "go"), "started")
		for range 4 { // request, status, system, assistant
			<-appended
		}
		return d.snapshot(t), agent, runID
	}
	t.Run("forced", func(t *testing.T) {
		t.Parallel()
		d, agent, runID := left(t)
		b := onCustomStore(t, d, answering())
		b.resumeAgent(agent)
		s := b.send(agent, "again")
		s.Receive()
		wantFault(t, s.Err(), connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_BUSY)
		observed := b.observe(runID, nil)
		until(t, observed, "started")
		if observed.Receive() || connect.CodeOf(observed.Err()) != connect.CodeFailedPrecondition {
			t.Errorf("after the record came %v, %v", observed.Msg(), observed.Err())
		}
		rest(t, b.send(agent, "again", forced))
		want := []string{"request", "status RUNNING", "system", "assistant", "status EXPIRED", "result RUN_LIFECYCLE_STATUS_EXPIRED", "done"}
		if got := kinds(rest(t, b.observe(runID, nil))); !slices.Equal(got, want) {
			t.Errorf("the run left behind replays %v, want %v", got, want)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		d, agent, runID := left(t)
		b := onCustomStore(t, d, answering())
		if _, err := b.agents.CancelRun(testContext(t), connect.NewRequest(&sdkv1.CancelRunRequest{RunId: runID})); err != nil {
			t.Fatal(err)
		}
		b.resumeAgent(agent)
		rest(t, b.send(agent, "free"))
	})
}

// The token is shown to the store alone, and a store that does not take it says so.
func TestTheTokenOfACustomStore(t *testing.T) {
	t.Parallel()
	d := newStoreDouble()
	target := d.serve(t)
	target.token = "wrong"
	st := openedCustomStore(t, target)
	_, err := st.agent(testContext(t), "a")
	var failure *storeFailure
	if !errors.As(err, &failure) || connect.CodeOf(failure.err) != connect.CodeUnauthenticated {
		t.Errorf("got %v", err)
	}
	if d.count("agents.get") != 0 {
		t.Error("the store was asked without its token")
	}
}

// Spool files are for live runs only.
func TestTheSpoolIsEmptyAfterARun(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	stale := filepath.Join(root, spoolDir, "run-old.ndjson")
	put(t, stale, "{}\n")
	b := startBridge(t, root, answering(), keptBy(t, newStoreDouble(), root))
	rest(t, b.send(b.createAgent(), "hello"))
	left, err := os.ReadDir(filepath.Join(root, spoolDir))
	if err != nil || len(left) != 0 && os.PathSeparator == '/' {
		t.Errorf("the spool has %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(root, agentsDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("agents are kept in files too: %v", err)
	}
}

// Two bridges do not share a state root, whoever keeps the agents.
func TestACustomStoreLocksItsStateRoot(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	target := newStoreDouble().serve(t)
	first, err := openCustomStore(testContext(t), target, root, quiet())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(testContext(t), 10*lockPoll)
	defer cancel()
	if _, err := openCustomStore(ctx, target, root, quiet()); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("got %v", err)
	}
	if err := first.close(); err != nil {
		t.Fatal(err)
	}
}
