package local

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"connectrpc.com/connect"
	"go.uber.org/goleak"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.Cleanup(removeExecutable)) }

// testToken is the bearer of bridges under test.
const testToken = "test-token"

// patience bounds everything a test waits for.
const patience = 5 * time.Minute

// testContext ends with the test or after patience.
func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// atOnce gives the runs of a bridge that stops no grace.
func atOnce() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// scripted is an engine whose runs are a function of the test.
type scripted struct {
	tools []string
	can   abilities
	run   func(ctx context.Context, t task, emit func(event)) (answer, error)
}

const scriptedModel = "scripted"

func (scripted) Models() []model { return []model{{ID: scriptedModel, Name: "Scripted"}} }
func (s scripted) Tools() []string {
	if s.tools == nil {
		return []string{"grep", "read"}
	}
	return s.tools
}

func (s scripted) Abilities() abilities { return s.can }

func (s scripted) Run(ctx context.Context, t task, emit func(event)) (answer, error) {
	return s.run(ctx, t, emit)
}

// answering is an engine that says the prompt back.
func answering() scripted {
	return scripted{run: func(_ context.Context, t task, emit func(event)) (answer, error) {
		emit(said{Text: t.Prompt})
		return answer{Text: t.Prompt}, nil
	}}
}

// blocking is an engine whose runs say "started", then wait for release or for
// their end.
func blocking(release <-chan struct{}) scripted {
	return scripted{run: func(ctx context.Context, _ task, emit func(event)) (answer, error) {
		emit(said{Text: "started"})
		select {
		case <-release:
			emit(said{Text: "released"})
			return answer{Text: "startedreleased"}, nil
		case <-ctx.Done():
			return answer{}, ctx.Err()
		}
	}}
}

// testBridge is a bridge in this process, behind a real socket.
type testBridge struct {
	t       testing.TB
	root    string
	url     string
	server  *server
	front   *http.Server
	control sdkv1connect.SdkBridgeControlServiceClient
	catalog sdkv1connect.SdkCursorServiceClient
	agents  sdkv1connect.SdkAgentServiceClient
}

// startBridge starts one on root, which is kept when the test stops it.
func startBridge(t testing.TB, root string, e engine, tune ...func(*serverOptions)) *testBridge {
	t.Helper()
	return startBridgeBehind(t, root, e, func(h http.Handler) http.Handler { return h }, tune...)
}

// startBridgeBehind starts one whose calls pass through wrap.
func startBridgeBehind(t testing.TB, root string, e engine, wrap func(http.Handler) http.Handler, tune ...func(*serverOptions)) *testBridge {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(t.Output(), nil))
	o := serverOptions{Engines: []engine{e}, Logger: logger, Version: "test", MaxAgents: 8, MaxMessageBytes: 1 << 20}
	for _, f := range tune {
		f(&o)
	}
	if o.Store == nil {
		var err error
		if o.Store, err = openStore(testContext(t), root, logger); err != nil {
			t.Fatal(err)
		}
	}
	srv := newServer(o)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	front := newFront(wrap(srv.handler()), testToken, logger)
	served := make(chan struct{})
	go func() { defer close(served); _ = front.Serve(listener) }()

	transport := &http.Transport{}
	client := &http.Client{Transport: bearer{token: testToken, next: transport}}
	url := "http://" + listener.Addr().String()
	b := &testBridge{
		t: t, root: root, url: url, server: srv, front: front,
		control: sdkv1connect.NewSdkBridgeControlServiceClient(client, url),
		catalog: sdkv1connect.NewSdkCursorServiceClient(client, url),
		agents:  sdkv1connect.NewSdkAgentServiceClient(client, url),
	}
	t.Cleanup(func() {
		srv.stop(atOnce(), front)
		<-served
		transport.CloseIdleConnections()
		if err := o.Store.close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// bearer adds the token to every request.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// options are those of a good agent.
func options(dir string) *sdkv1.AgentOptions {
	return &sdkv1.AgentOptions{
		ApiKey: "any",
		Model:  &sdkv1.ModelSelection{Id: scriptedModel},
		Local:  &sdkv1.LocalAgentOptions{Cwd: []string{dir}},
	}
}

// createAgent makes an agent and returns its id.
func (b *testBridge) createAgent(change ...func(*sdkv1.AgentOptions)) string {
	b.t.Helper()
	o := options(b.t.TempDir())
	for _, f := range change {
		f(o)
	}
	res, err := b.agents.CreateAgent(testContext(b.t), connect.NewRequest(&sdkv1.CreateAgentRequest{Options: o}))
	if err != nil {
		b.t.Fatal(err)
	}
	return res.Msg.GetAgentId()
}

// resumeAgent attaches an agent again.
func (b *testBridge) resumeAgent(id string) {
	b.t.Helper()
	_, err := b.agents.ResumeAgent(testContext(b.t), connect.NewRequest(&sdkv1.ResumeAgentRequest{
		AgentId: id, Options: &sdkv1.AgentOptions{ApiKey: "any"},
	}))
	if err != nil {
		b.t.Fatal(err)
	}
}

// stream is a Send or ObserveRun under way.
type stream = connect.ServerStreamForClient[sdkv1.RunStreamMessage]

// send starts a run; the stream is closed with the test.
func (b *testBridge) send(agentID, text string, change ...func(*sdkv1.SendRequest)) *stream {
	b.t.Helper()
	req := &sdkv1.SendRequest{AgentId: agentID, Message: &sdkv1.UserMessage{Text: text}}
	for _, f := range change {
		f(req)
	}
	s, err := b.agents.Send(testContext(b.t), connect.NewRequest(req))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = s.Close() })
	return s
}

// observe follows a run from its record.
func (b *testBridge) observe(runID string, after *string) *stream {
	b.t.Helper()
	s, err := b.agents.ObserveRun(testContext(b.t), connect.NewRequest(&sdkv1.ObserveRunRequest{RunId: runID, AfterOffset: after}))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = s.Close() })
	return s
}

// rest reads a stream to its end.
func rest(t testing.TB, s *stream) []*sdkv1.RunStreamMessage {
	t.Helper()
	var out []*sdkv1.RunStreamMessage
	for s.Receive() {
		out = append(out, s.Msg())
	}
	if err := s.Err(); err != nil {
		t.Fatalf("the stream ended with an error: %v", err)
	}
	return out
}

// until reads a stream up to the assistant's text and returns the run's id.
func until(t testing.TB, s *stream, text string) (runID string) {
	t.Helper()
	for s.Receive() {
		m := s.Msg().GetSdkMessage()
		runID = m.GetMessage().GetFields()["run_id"].GetStringValue()
		if assistantText(m) == text {
			return runID
		}
	}
	t.Fatalf("the stream ended before %q: %v", text, s.Err())
	return ""
}

// assistantText is the text of an assistant message.
func assistantText(m *sdkv1.SdkMessage) string {
	if m.GetType() != "assistant" {
		return ""
	}
	content := m.GetMessage().GetFields()["message"].GetStructValue().GetFields()["content"].GetListValue().GetValues()
	if len(content) == 0 {
		return ""
	}
	return content[0].GetStructValue().GetFields()["text"].GetStringValue()
}

// kinds names each message of a stream in a word.
func kinds(messages []*sdkv1.RunStreamMessage) []string {
	var out []string
	for _, m := range messages {
		switch e := m.GetEnvelope().(type) {
		case *sdkv1.RunStreamMessage_SdkMessage:
			kind := e.SdkMessage.GetType()
			if status := e.SdkMessage.GetMessage().GetFields()["status"].GetStringValue(); status != "" {
				kind += " " + status
			}
			out = append(out, kind)
		case *sdkv1.RunStreamMessage_Result:
			out = append(out, "result "+e.Result.GetStatus().String())
		case *sdkv1.RunStreamMessage_Done:
			out = append(out, "done")
		case nil:
			out = append(out, "keepalive")
		}
	}
	return out
}

// result is the one of a whole stream.
func result(t testing.TB, messages []*sdkv1.RunStreamMessage) *sdkv1.RunStreamResult {
	t.Helper()
	for _, m := range messages {
		if r := m.GetResult(); r != nil {
			return r
		}
	}
	t.Fatalf("there is no result in %v", kinds(messages))
	return nil
}

// wantFault checks both codes of a failed call and returns its details.
func wantFault(t testing.TB, err error, code connect.Code, sdk sdkv1.SdkErrorCode) *sdkv1.SdkErrorDetails {
	t.Helper()
	if connect.CodeOf(err) != code {
		t.Fatalf("got %v, want the code %v", err, code)
	}
	details := detailsOf(t, err)
	if details.GetSdkErrorCode() != sdk {
		t.Fatalf("got the code %v (%v), want %v", details.GetSdkErrorCode(), err, sdk)
	}
	if details.GetRequestId() == "" || details.GetMessage() == "" {
		t.Fatalf("the details lack the request id or the message: %v", details)
	}
	return details
}

// detailsOf finds the protocol's own detail of an error.
func detailsOf(t testing.TB, err error) *sdkv1.SdkErrorDetails {
	t.Helper()
	var failed *connect.Error
	if !errors.As(err, &failed) {
		t.Fatalf("got %v, want a Connect error", err)
	}
	for _, d := range failed.Details() {
		value, err := d.Value()
		if err != nil {
			t.Fatal(err)
		}
		if details, ok := value.(*sdkv1.SdkErrorDetails); ok {
			return details
		}
	}
	t.Fatalf("%v has no SdkErrorDetails", err)
	return nil
}

// copyState is the state root as kill -9 would leave it at this moment.
func copyState(t testing.TB, root string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "state")
	if err := os.CopyFS(to, os.DirFS(root)); err != nil {
		t.Fatal(err)
	}
	return to
}

// files are those of the bridge's store.
func (b *testBridge) files() *fileStore {
	b.t.Helper()
	st, ok := b.server.registry.store.(*fileStore)
	if !ok {
		b.t.Fatalf("the bridge keeps its state in a %T", b.server.registry.store)
	}
	return st
}

// quiet is for what a test provokes and does not read.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
