package local

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

func TestSendStreamsARunInOrder(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), scripted{run: func(_ context.Context, _ task, emit func(event)) (answer, error) {
		emit(thought{Text: "hm"})
		emit(toolStart{CallID: "c1", Name: "read", Args: map[string]any{"path": "a"}})
		emit(toolEnd{CallID: "c1", Name: "read", Args: map[string]any{"path": "a"}, Result: map[string]any{"status": "success"}})
		emit(said{Text: "one "})
		emit(said{Text: "two"})
		return answer{Text: "one two", Usage: usage{Input: 3, Output: 4}}, nil
	}})
	agent := b.createAgent()
	got := rest(t, b.send(agent, "go"))
	want := []string{
		"status RUNNING", "system", "thinking", "tool_call running", "tool_call completed",
		"assistant", "assistant", "usage", "status FINISHED", "result RUN_LIFECYCLE_STATUS_FINISHED", "done",
	}
	if !slices.Equal(kinds(got), want) {
		t.Errorf("got  %v\nwant %v", kinds(got), want)
	}
	r := result(t, got)
	if r.GetResult().GetResult() != "one two" || r.GetErrorCode() != "" || r.GetResult().GetUsage().GetTotalTokens() != 7 {
		t.Errorf("the result is %v", r)
	}
	for i, m := range got {
		if hasOffset := m.Offset != nil; hasOffset != (m.GetSdkMessage() != nil) {
			t.Errorf("message %d (%v) has the offset %q", i, kinds(got)[i], m.GetOffset())
		}
		if fields := m.GetSdkMessage().GetMessage().GetFields(); m.GetSdkMessage() != nil &&
			(fields["agent_id"].GetStringValue() != agent || fields["run_id"].GetStringValue() != r.GetRunId()) {
			t.Errorf("message %d lacks its agent and run: %v", i, m)
		}
	}
}

func TestObserveRunReplaysFromEveryOffset(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	live := rest(t, b.send(b.createAgent(), "hello"))
	runID := result(t, live).GetRunId()

	all := rest(t, b.observe(runID, nil))
	if want := slices.Concat([]string{"request"}, kinds(live)); !slices.Equal(kinds(all), want) {
		t.Fatalf("the record replays %v, want %v", kinds(all), want)
	}
	for i, m := range all {
		if m.Offset == nil {
			continue
		}
		again := rest(t, b.observe(runID, m.Offset))
		if !slices.Equal(kinds(again), kinds(all[i+1:])) {
			t.Errorf("after %q came %v, want %v", m.GetOffset(), kinds(again), kinds(all[i+1:]))
		}
	}
}

func TestObserveRunRefusesOffsetsOfSend(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	live := rest(t, b.send(b.createAgent(), "hello"))
	for _, offset := range []string{live[0].GetOffset(), "run-", "run--1", "7", strings.Repeat("9", 1<<16)} {
		s := b.observe(result(t, live).GetRunId(), &offset)
		if s.Receive() {
			t.Errorf("%.20q was accepted", offset)
		}
		wantFault(t, s.Err(), connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR)
	}
}

func TestDroppingTheStreamLeavesTheRunGoing(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	b := startBridge(t, t.TempDir(), blocking(release))
	s := b.send(b.createAgent(), "go")
	runID := until(t, s, "started")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	observed := b.observe(runID, nil)
	until(t, observed, "started")
	close(release)
	if got := result(t, rest(t, observed)); got.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_FINISHED {
		t.Errorf("the run ended as %v", got.GetStatus())
	}
}

func TestCancelRun(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), blocking(nil))
	agent := b.createAgent()
	s := b.send(agent, "go")
	runID := until(t, s, "started")
	for range 2 { // the second finds an ended run and changes nothing
		if _, err := b.agents.CancelRun(testContext(t), connect.NewRequest(&sdkv1.CancelRunRequest{RunId: runID})); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"status CANCELLED", "result RUN_LIFECYCLE_STATUS_CANCELLED", "done"}
	if got := kinds(rest(t, s)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	other := "agent-x"
	_, err := b.agents.CancelRun(testContext(t), connect.NewRequest(&sdkv1.CancelRunRequest{RunId: runID, AgentId: &other}))
	wantFault(t, err, connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_RUN_NOT_FOUND)
}

func TestCancelEndsARunWhoseEngineDoesNotReturn(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	deaf := scripted{run: func(_ context.Context, _ task, emit func(event)) (answer, error) {
		emit(said{Text: "started"})
		<-release
		emit(said{Text: "too late"})
		return answer{Text: "too late"}, nil
	}}
	b := startBridge(t, t.TempDir(), deaf)
	t.Cleanup(func() { close(release) })
	s := b.send(b.createAgent(), "go")
	runID := until(t, s, "started")
	if _, err := b.agents.CancelRun(testContext(t), connect.NewRequest(&sdkv1.CancelRunRequest{RunId: runID})); err != nil {
		t.Fatal(err)
	}
	if got := result(t, rest(t, s)); got.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_CANCELLED {
		t.Errorf("the run ended as %v", got.GetStatus())
	}
}

func TestOneRunPerAgent(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	b := startBridge(t, t.TempDir(), blocking(release))
	agent := b.createAgent()
	first := b.send(agent, "go")
	until(t, first, "started")

	second := b.send(agent, "go")
	if second.Receive() {
		t.Fatalf("a second run began: %v", second.Msg())
	}
	wantFault(t, second.Err(), connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_BUSY)
	_, err := b.agents.DeleteAgent(testContext(t), connect.NewRequest(&sdkv1.DeleteAgentRequest{AgentId: agent}))
	wantFault(t, err, connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_BUSY)

	force := true
	third := b.send(agent, "go", func(r *sdkv1.SendRequest) {
		r.Options = &sdkv1.SendOptions{Local: &sdkv1.LocalSendOptions{Force: &force}}
	})
	until(t, third, "started")
	expired := result(t, rest(t, first))
	if expired.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_EXPIRED || expired.GetErrorCode() != "force_send" {
		t.Errorf("the first run ended as %v", expired)
	}
	close(release)
	if got := result(t, rest(t, third)); got.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_FINISHED {
		t.Errorf("the forced run ended as %v", got.GetStatus())
	}
	// Whoever has the result may send at once.
	until(t, b.send(agent, "go"), "released")
}

func TestConcurrentSendsStartOneRun(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	b := startBridge(t, t.TempDir(), blocking(release))
	agent := b.createAgent()
	began := make(chan bool, 20)
	var senders sync.WaitGroup
	for range cap(began) {
		senders.Go(func() { began <- b.send(agent, "go").Receive() })
	}
	senders.Wait()
	close(began)
	runs := 0
	for ok := range began {
		if ok {
			runs++
		}
	}
	if runs != 1 {
		t.Errorf("%d runs began, want 1", runs)
	}
	close(release)
}

func TestConcurrentRunsAreBounded(t *testing.T) {
	t.Parallel()
	const limit = 2
	release := make(chan struct{})
	b := startBridge(t, t.TempDir(), blocking(release), func(o *serverOptions) { o.MaxAgents = limit })
	var streams []*stream
	for range limit {
		s := b.send(b.createAgent(), "go")
		until(t, s, "started")
		streams = append(streams, s)
	}
	agent := b.createAgent()
	refused := b.send(agent, "go")
	if refused.Receive() {
		t.Fatal("one run more than allowed began")
	}
	details := wantFault(t, refused.Err(), connect.CodeResourceExhausted, sdkv1.SdkErrorCode_SDK_ERROR_CODE_RATE_LIMIT_EXCEEDED)
	if details.GetRetryAfter().AsDuration() <= 0 || details.GetRateLimit().GetLimit() != limit || details.GetRateLimit().Remaining == nil {
		t.Errorf("the refusal does not say when to come back: %v", details)
	}
	close(release)
	for _, s := range streams {
		rest(t, s)
	}
	until(t, b.send(agent, "go"), "released")
}

func TestKeepalivesWhileARunIsSilent(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	b := startBridge(t, t.TempDir(), blocking(release), func(o *serverOptions) { o.Keepalive = 5 * time.Millisecond })
	s := b.send(b.createAgent(), "go")
	until(t, s, "started")
	for range 3 {
		if !s.Receive() {
			t.Fatal(s.Err())
		}
		if m := s.Msg(); m.GetEnvelope() != nil || m.Offset != nil {
			t.Fatalf("got %v, want an empty message", m)
		}
	}
	close(release)
	if got := result(t, rest(t, s)); got.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_FINISHED {
		t.Errorf("the run ended as %v", got.GetStatus())
	}
}

func TestListRunsPages(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	agent := b.createAgent()
	var want []string
	for range 5 {
		want = append(want, result(t, rest(t, b.send(agent, "hi"))).GetRunId())
	}
	slices.Reverse(want)
	var got []string
	cursor := ""
	for pages := 0; pages == 0 || cursor != ""; pages++ {
		res, err := b.agents.ListRuns(testContext(t), connect.NewRequest(&sdkv1.ListRunsRequest{
			AgentId: agent, Options: &sdkv1.ListRunsOptions{Limit: 2, Cursor: cursor},
		}))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Msg.GetItems() {
			got = append(got, r.GetRunId())
		}
		cursor = res.Msg.GetNextCursor()
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	_, err := b.agents.ListRuns(testContext(t), connect.NewRequest(&sdkv1.ListRunsRequest{
		AgentId: agent, Options: &sdkv1.ListRunsOptions{Cursor: "%%"},
	}))
	wantFault(t, err, connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR)
}

// A disk that fails in the middle of a run must not leave the agent busy.
func TestARunEndsEvenIfItsEndCannotBeStored(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	b := startBridge(t, t.TempDir(), blocking(release))
	agent := b.createAgent()
	s := b.send(agent, "go")
	until(t, s, "started")
	if err := os.RemoveAll(b.files().agentDir(agent)); err != nil {
		t.Skip("the platform does not remove open files:", err)
	}
	close(release)
	if got := result(t, rest(t, s)); got.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_FINISHED {
		t.Errorf("the run ended as %v", got.GetStatus())
	}
}
