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

// A store that fails refuses what cannot be kept, and wedges nothing.
func TestACustomStoreThatFails(t *testing.T) {
	t.Parallel()
	down := connect.NewError(connect.CodeInternal, errors.New("the disk of the store is full"))
	for _, failing := range []string{"runs.create", "agents.update"} {
		t.Run("at the start of a run, "+failing, func(t *testing.T) {
			t.Parallel()
			d := newStoreDouble()
			b := onCustomStore(t, d, answering())
			agent := b.createAgent()
			d.with(func() { d.before = failOn(failing, down) })
			s := b.send(agent, "hello")
			s.Receive()
			wantFault(t, s.Err(), connect.CodeUnavailable, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UPSTREAM_ERROR)
			if strings.Contains(s.Err().Error(), "disk") {
				t.Errorf("the caller reads what is for the log: %v", s.Err())
			}
			d.with(func() { d.before = nil })
			rest(t, b.send(agent, "free"))
			res, err := b.agents.ListRuns(testContext(t), connect.NewRequest(&sdkv1.ListRunsRequest{AgentId: agent}))
			if err != nil || len(res.Msg.GetItems()) != 1 {
				t.Errorf("the runs are %v, %v", res, err)
			}
		})
	}
	t.Run("at create and get", func(t *testing.T) {
		t.Parallel()
		d := newStoreDouble()
		b := onCustomStore(t, d, answering())
		d.with(func() { d.before = func(string, object) (bool, object, error) { return true, nil, down } })
		o := options(t.TempDir())
		o.AgentId = "agent-x"
		_, err := b.agents.CreateAgent(testContext(t), connect.NewRequest(&sdkv1.CreateAgentRequest{Options: o}))
		wantFault(t, err, connect.CodeUnavailable, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UPSTREAM_ERROR)
		_, err = b.agents.GetAgent(testContext(t), connect.NewRequest(&sdkv1.GetAgentRequest{AgentId: "agent-x"}))
		wantFault(t, err, connect.CodeUnavailable, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UPSTREAM_ERROR)
		d.with(func() { d.before = nil })
		rest(t, b.send(b.createAgent(func(o *sdkv1.AgentOptions) { o.AgentId = "agent-x" }), "hello"))
	})
	t.Run("in the middle of a run", func(t *testing.T) {
		t.Parallel()
		d := newStoreDouble()
		b := onCustomStore(t, d, blocking(nil))
		agent := b.createAgent()
		d.with(func() {
			d.before = func(_ string, input object) (bool, object, error) {
				if input["eventType"] == "assistant" {
					return true, nil, down
				}
				return false, nil, nil
			}
		})
		got := rest(t, b.send(agent, "go"))
		if r := result(t, got); r.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_ERROR || r.GetErrorCode() != "record_failed" {
			t.Errorf("the run ended as %v", r)
		}
		// The agent is free, and what was refused is there when the store is back.
		d.with(func() { d.before = nil })
		s := b.send(agent, "go")
		until(t, s, "started")
	})
	t.Run("at the end of a run", func(t *testing.T) {
		t.Parallel()
		d := newStoreDouble()
		release := make(chan struct{})
		root := t.TempDir()
		b := startBridge(t, root, blocking(release), keptBy(t, d, root))
		agent := b.createAgent()
		s := b.send(agent, "go")
		runID := until(t, s, "started")
		d.with(func() { d.before = failOn("runs.update", down) })
		close(release)
		if r := result(t, rest(t, s)); r.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_FINISHED {
			t.Errorf("the run ended as %v", r)
		}
		// The bridge knows better than the store, and tells it when it can.
		run, err := b.agents.GetRun(testContext(t), connect.NewRequest(&sdkv1.GetRunRequest{RunId: runID}))
		if err != nil || run.Msg.GetRun().GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_FINISHED {
			t.Errorf("the run is %v, %v", run, err)
		}
		d.with(func() { d.before = nil })
		b.server.registry.drain(atOnce())
		d.with(func() {
			if got := d.records[substoreRuns][runID]["status"]; got != string(statusFinished) {
				t.Errorf("the store has the run as %v", got)
			}
		})
	})
}

// failOn makes one kind of call fail.
func failOn(failing string, err error) func(string, object) (bool, object, error) {
	return func(call string, _ object) (bool, object, error) {
		if call == failing {
			return true, nil, err
		}
		return false, nil, nil
	}
}

// An answer that was lost does not make anything happen twice.
func TestLostAnswersOfACustomStore(t *testing.T) {
	t.Parallel()
	d := newStoreDouble()
	lost := make(map[string]bool)
	d.after = func(call string) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if n := len(d.calls); n%2 == 1 && !lost[call] {
			lost[call] = true
			return errors.New("cut")
		}
		return nil
	}
	b := onCustomStore(t, d, remembering())
	agent := b.createAgent()
	whole := kinds(rest(t, b.send(agent, "hello")))
	runID := ""
	d.with(func() {
		for id := range d.records[substoreRuns] {
			runID = id
		}
		if len(d.records[substoreRuns]) != 1 || len(lost) < 3 {
			t.Errorf("there are %d runs, %d answers were lost", len(d.records[substoreRuns]), len(lost))
		}
	})
	if got := kinds(rest(t, b.observe(runID, nil))); !slices.Equal(got[1:], whole) {
		t.Errorf("the record replays %v, want a request and %v", got, whole)
	}
}

// A run does not fill the disk or memory while its store is slow: it waits.
func TestARunWaitsForASlowCustomStore(t *testing.T) {
	t.Parallel()
	const messages = 2 * maxUnsent
	d := newStoreDouble()
	release := make(chan struct{})
	d.before = func(call string, _ object) (bool, object, error) {
		if call == "runEvents.append" {
			<-release
		}
		return false, nil, nil
	}
	emitted := make(chan struct{}, messages)
	engine := scripted{run: func(_ context.Context, _ task, emit func(event)) (answer, error) {
		for range messages {
			emit(said{Text: "x"})
			emitted <- struct{}{}
		}
		return answer{Text: "x"}, nil
	}}
	root := t.TempDir()
	b := startBridge(t, root, engine, keptBy(t, d, root), func(o *serverOptions) {
		o.Store.(*customStore).client.timeout = patience
	})
	s := b.send(b.createAgent(), "go")
	for range maxUnsent - 3 { // of all messages the first three are the bridge's
		<-emitted
	}
	select {
	case <-emitted:
		t.Error("the run goes on although the store has nothing of it")
	case <-time.After(50 * time.Millisecond): // were it not to wait, it would be over long before
	}
	close(release)
	got := rest(t, s)
	runID := result(t, got).GetRunId()
	d.with(func() {
		if n := len(d.events[runID]); n != messages+5 {
			t.Errorf("the store has %d events, want %d", n, messages+5)
		}
	})
}

// One agent's hanging call is nobody else's matter.
func TestAHangingCustomStoreHoldsUpOneAgent(t *testing.T) {
	t.Parallel()
	d := newStoreDouble()
	b := onCustomStore(t, d, answering())
	hung, free := b.createAgent(), b.createAgent()
	hanging, release := make(chan struct{}, 1), make(chan struct{})
	d.with(func() {
		d.before = func(call string, input object) (bool, object, error) {
			if run, ok := input["run"].(object); ok && call == "runs.create" && run["agentId"] == hung {
				select {
				case hanging <- struct{}{}:
				default: // a repetition
				}
				<-release
			}
			return false, nil, nil
		}
	})
	ctx := testContext(t)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		s, err := b.agents.Send(ctx, connect.NewRequest(&sdkv1.SendRequest{AgentId: hung, Message: &sdkv1.UserMessage{Text: "go"}}))
		if err == nil {
			_ = s.Close()
		}
	}()
	<-hanging
	rest(t, b.send(free, "hello"))
	for _, id := range []string{hung, free} {
		if _, err := b.agents.GetAgent(ctx, connect.NewRequest(&sdkv1.GetAgentRequest{AgentId: id})); err != nil {
			t.Error(err)
		}
	}
	close(release)
	<-sent
}

// A call that hangs ends, and says which it was.
func TestACustomStoreThatHangs(t *testing.T) {
	t.Parallel()
	d := newStoreDouble()
	release := make(chan struct{})
	defer close(release)
	target := d.serve(t)
	client := newStoreClient(target)
	defer client.close()
	client.timeout, client.backoff = 20*time.Millisecond, time.Millisecond
	d.before = func(string, object) (bool, object, error) { <-release; return false, nil, nil }
	_, err := client.call(testContext(t), substoreAgents, methodGet, object{"agentId": "a"})
	var failure *storeFailure
	if !errors.As(err, &failure) || failure.call != "agents.get" || d.count("agents.get") != storeTries {
		t.Errorf("after %d tries: %v", d.count("agents.get"), err)
	}
	// The caller's own end is not the store's failure.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := client.call(ctx, substoreAgents, methodGet, object{"agentId": "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestWrongAnswersOfACustomStore(t *testing.T) {
	t.Parallel()
	good := func(id string) object {
		return object{"schema": 1.0, "id": id, "agentId": id, "model": "m", "dir": "/"}
	}
	for name, test := range map[string]struct {
		output object
		ask    func(*customStore) error
		want   error // nil for a storeFailure
	}{
		"no record":       {object{"agentId": "a"}, getA, errUnreadable},
		"another type":    {object{"schema": 1.0, "id": []any{"a"}}, getA, errUnreadable},
		"another agent":   {good("b"), getA, errUnreadable},
		"newer":           {object{"schema": 2.0, "id": "a"}, getA, errNewer},
		"no list":         {object{"items": "x"}, listAll, nil},
		"a list of texts": {object{"items": []any{"x"}}, listAll, nil},
		"endless pages":   {object{"items": []any{good("a")}, "nextCursor": "same"}, listAll, nil},
		"no base64":       {object{"found": true, "data": "%"}, recallA, errUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newStoreDouble()
			d.before = func(string, object) (bool, object, error) { return true, test.output, nil }
			st := openedCustomStore(t, d.serve(t))
			err := test.ask(st)
			var failure *storeFailure
			if test.want != nil && !errors.Is(err, test.want) || test.want == nil && !errors.As(err, &failure) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

func getA(s *customStore) error { _, err := s.agent(context.Background(), "a"); return err }

func listAll(s *customStore) error { _, err := s.agents(context.Background()); return err }

func recallA(s *customStore) error { _, err := s.memory(context.Background(), "a"); return err }

func openedCustomStore(t *testing.T, target callback) *customStore {
	t.Helper()
	st, err := openCustomStore(testContext(t), target, t.TempDir(), quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.close(); err != nil {
			t.Error(err)
		}
	})
	return st
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
