package local

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// A reader that never reads must not hold the run up.
func TestAReaderThatDoesNotReadHoldsNothingUp(t *testing.T) {
	t.Parallel()
	const fragments = 200
	text := strings.Repeat("x", 64<<10) // together more than Linux buffers on both sides of a socket
	b := startBridge(t, t.TempDir(), scripted{run: func(_ context.Context, _ task, emit func(event)) (answer, error) {
		for range fragments {
			emit(said{Text: text})
		}
		return answer{Text: "done"}, nil
	}})
	s := b.send(b.createAgent(), "go")
	if !s.Receive() {
		t.Fatal(s.Err())
	}
	runID := s.Msg().GetSdkMessage().GetMessage().GetFields()["run_id"].GetStringValue()
	res, err := b.agents.WaitLiveRun(testContext(t), connect.NewRequest(&sdkv1.WaitLiveRunRequest{RunId: runID}))
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Msg.GetResult(); got.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_FINISHED {
		t.Errorf("the run ended as %v", got)
	}
	count := 0
	for _, m := range rest(t, s) {
		if assistantText(m.GetSdkMessage()) == text {
			count++
		}
	}
	if count != fragments {
		t.Errorf("the late reader got %d fragments, want %d", count, fragments)
	}
}

// A stream whose reader has stopped is cut, so that it does not hold its
// connection for ever.
func TestAReaderThatDoesNotReadIsCut(t *testing.T) {
	t.Parallel()
	const fragments = 200
	text := strings.Repeat("x", 64<<10)
	talking := scripted{run: func(_ context.Context, _ task, emit func(event)) (answer, error) {
		for range fragments {
			emit(said{Text: text})
		}
		return answer{}, nil
	}}
	cut := make(chan struct{})
	tellWhenCut := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if strings.HasSuffix(r.URL.Path, "/Send") {
				close(cut)
			}
		})
	}
	b := startBridgeBehind(t, t.TempDir(), talking, tellWhenCut, func(o *serverOptions) { o.SlowReader = 50 * time.Millisecond })
	s := b.send(b.createAgent(), "go")
	<-cut // without anything having been read
	for s.Receive() {
		if s.Msg().GetDone() != nil {
			t.Fatal("a stream that was cut has an end")
		}
	}
	if s.Err() == nil {
		t.Error("a stream that was cut ended well")
	}
}
