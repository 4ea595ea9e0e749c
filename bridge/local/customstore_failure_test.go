package local

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

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
	client.timeout, client.backoff = 2*time.Second, time.Millisecond
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
