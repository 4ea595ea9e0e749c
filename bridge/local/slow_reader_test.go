package local

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// narrow makes the bridge's clients receive through a small window, so that a
// reader that does not read is felt: Linux would otherwise take tens of
// megabytes for it.
func narrow(t *testing.T, b *testBridge) {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return conn, conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	b.agents = sdkv1connect.NewSdkAgentServiceClient(&http.Client{Transport: bearer{token: testToken, next: transport}}, b.url,
		connect.WithAcceptCompression("gzip", nil, nil)) // or the text would be a few bytes
}

// talking says text so often that no socket takes it all: Linux buffers 4 MiB
// on the side that writes.
func talking(text string) scripted {
	return scripted{run: func(_ context.Context, _ task, emit func(event)) (answer, error) {
		for range talkingTimes {
			emit(said{Text: text})
		}
		return answer{Text: "done"}, nil
	}}
}

const talkingTimes = 150

// A reader that never reads must not hold the run up.
func TestAReaderThatDoesNotReadHoldsNothingUp(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 64<<10)
	b := startBridge(t, t.TempDir(), talking(text))
	narrow(t, b)
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
	if count != talkingTimes {
		t.Errorf("the late reader got %d fragments, want %d", count, talkingTimes)
	}
}

// A stream whose reader has stopped is cut, so that it does not hold its
// connection for ever.
func TestAReaderThatDoesNotReadIsCut(t *testing.T) {
	t.Parallel()
	cut := make(chan struct{})
	tellWhenCut := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if strings.HasSuffix(r.URL.Path, "/Send") {
				close(cut)
			}
		})
	}
	b := startBridgeBehind(t, t.TempDir(), talking(strings.Repeat("x", 64<<10)), tellWhenCut,
		func(o *serverOptions) { o.SlowReader = 50 * time.Millisecond })
	narrow(t, b)
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
