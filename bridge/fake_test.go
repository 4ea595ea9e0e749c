package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// fakeScript says how the fake bridge, a real child process, behaves. The zero
// value is a well-behaved bridge.
type fakeScript struct {
	Before    []string       `json:",omitempty"` // lines of stderr before the ready line
	LongLine  int            `json:",omitempty"` // then a line of so many bytes
	ExitEarly int            `json:",omitempty"` // then leave with this status
	NeverWake bool           `json:",omitempty"` // or print no ready line at all
	Ready     map[string]any `json:",omitempty"` // overrides of the ready line; null removes
	RawReady  string         `json:",omitempty"` // the whole ready line instead
	Host      string         `json:",omitempty"` // where to listen
	Inline    bool           `json:",omitempty"` // the token in the ready line
	Token     string         `json:",omitempty"` // what the token file holds instead
	Protocol  string         `json:",omitempty"` // of GetVersion
	ExitOn    string         `json:",omitempty"` // a method that ends the process
	Stubborn  bool           `json:",omitempty"` // ignore Shutdown and SIGTERM
	Fail      *fakeFailure   `json:",omitempty"`
	Run       []fakeStep     `json:",omitempty"` // what Send streams
	Outcome   string         `json:",omitempty"` // status that WaitLiveRun and GetRun tell
	Record    string         `json:",omitempty"` // file that gets every request and the environment
	// Answers are what the methods of fake_records_test.go answer, call after call; the last one stays.
	Answers map[string][]json.RawMessage `json:",omitempty"`
	Chunks  []fakeChunk                  `json:",omitempty"` // what DownloadArtifact streams
}

type fakeFailure struct {
	Method  string
	Code    connect.Code
	Bare    bool
	Details json.RawMessage // of SdkErrorDetails
}

// fakeStep is one thing that happens in a run.
type fakeStep struct {
	Message   map[string]any `json:",omitempty"` // an sdk_message; its type is in it
	Offset    string         `json:",omitempty"`
	Keepalive int            `json:",omitempty"` // so many empty envelopes
	Unknown   bool           `json:",omitempty"` // an envelope of a later version
	Result    string         `json:",omitempty"` // status
	Text      string         `json:",omitempty"`
	Code      string         `json:",omitempty"`
	Done      bool           `json:",omitempty"`
	Stderr    string         `json:",omitempty"`
	Crash     bool           `json:",omitempty"` // the process exits with 7
	Break     bool           `json:",omitempty"` // the connection breaks
	Cancelled bool           `json:",omitempty"` // wait for CancelRun
	Hang      bool           `json:",omitempty"` // wait for the caller to go
	Call      *fakeCall      `json:",omitempty"` // call a tool, and report the answer as a tool_call
}

const fakeToken = "fake-bridge-token-0123456789"

type fakeBridge struct {
	sdkv1connect.UnimplementedSdkAgentServiceHandler
	sdkv1connect.UnimplementedSdkCursorServiceHandler
	sdkv1connect.UnimplementedSdkBridgeControlServiceHandler
	script    fakeScript
	quit      chan struct{}
	cancelled chan struct{}

	mu       sync.Mutex
	known    map[string]bool
	runs     int
	answered map[string]int // of script.Answers
	tools    fakeCallback
}

// runFake is the main function of the fake bridge.
func runFake(script string) {
	f := &fakeBridge{quit: make(chan struct{}, 4), cancelled: make(chan struct{}, 64), known: map[string]bool{}, answered: map[string]int{}}
	if err := json.Unmarshal([]byte(script), &f.script); err != nil {
		fmt.Fprintln(os.Stderr, "fake bridge:", err)
		os.Exit(64)
	}
	f.start()
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, os.Interrupt, syscall.SIGTERM)
	for {
		select {
		case <-f.quit:
		case <-terminated:
		}
		if !f.script.Stubborn {
			os.Exit(0)
		}
	}
}

func (f *fakeBridge) start() {
	s := f.script
	f.record("environment", os.Environ())
	f.record("arguments", os.Args[1:])
	for _, line := range s.Before {
		fmt.Fprintln(os.Stderr, line)
	}
	if s.LongLine > 0 {
		fmt.Fprintln(os.Stderr, strings.Repeat("x", s.LongLine))
	}
	if s.ExitEarly != 0 {
		os.Exit(s.ExitEarly)
	}
	if s.NeverWake {
		return
	}
	host := "127.0.0.1"
	if s.Host != "" {
		host = s.Host
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake bridge:", err)
		os.Exit(65)
	}
	token := fakeToken
	if s.Token != "" {
		token = s.Token
	}
	file := filepath.Join(os.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, "fake bridge:", err)
		os.Exit(66)
	}
	go func() { _ = http.Serve(l, f.handler()) }()

	ready := map[string]any{
		"schemaVersion": 1, "serverVersion": "9.9.9", "pid": os.Getpid(), "transport": "tcp", "protocol": "connect",
		"host": host, "port": l.Addr().(*net.TCPAddr).Port, "url": "http://" + l.Addr().String(), "authTokenFile": file,
		"workspaceRef": "w", "stateRoot": "s", "maxConcurrentAgents": 4, "maxMessageBytes": 1 << 20,
		"somethingNew": map[string]any{"a": []int{1}},
	}
	if s.Inline {
		delete(ready, "authTokenFile")
		ready["authToken"] = token
	}
	for k, v := range s.Ready {
		if v == nil {
			delete(ready, k)
		} else {
			ready[k] = v
		}
	}
	line, err := json.Marshal(ready)
	if err != nil {
		os.Exit(67)
	}
	if s.RawReady != "" {
		line = []byte(s.RawReady)
	}
	fmt.Fprintf(os.Stderr, "%s%s\n", readyPrefix, line)
	fmt.Fprintln(os.Stderr, "listening, with the token", token)
}

func (f *fakeBridge) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(sdkv1connect.NewSdkAgentServiceHandler(f))
	mux.Handle(sdkv1connect.NewSdkCursorServiceHandler(f))
	mux.Handle(sdkv1connect.NewSdkBridgeControlServiceHandler(f))
	return guarded(mux)
}

// guarded lets only callers in who know the token.
func guarded(mux http.Handler) http.Handler {
	refusal := connect.NewErrorWriter()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+fakeToken {
			_, _ = io.Copy(io.Discard, r.Body)
			_ = refusal.Write(w, r, connect.NewError(connect.CodeUnauthenticated, errors.New("Unauthorized")))
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// record appends what a test wants to look at.
func (f *fakeBridge) record(kind string, what any) {
	if f.script.Record == "" {
		return
	}
	var data []byte
	if m, ok := what.(proto.Message); ok {
		data, _ = protojson.Marshal(m)
	} else {
		data, _ = json.Marshal(what)
	}
	file, err := os.OpenFile(f.script.Record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake bridge:", err)
		os.Exit(68)
	}
	_, _ = fmt.Fprintf(file, "%s %s\n", kind, data)
	_ = file.Close()
}

// enter is the beginning of every method.
func (f *fakeBridge) enter(method string, req proto.Message) error {
	f.record(method, req)
	if f.script.ExitOn == method {
		fmt.Fprintln(os.Stderr, "fake bridge: panic in", method)
		os.Exit(9)
	}
	fail := f.script.Fail
	if fail == nil || fail.Method != method {
		return nil
	}
	ce := connect.NewError(fail.Code, errors.New("text of Connect"))
	if !fail.Bare {
		details := new(sdkv1.SdkErrorDetails)
		if err := protojson.Unmarshal(fail.Details, details); err != nil {
			return err
		}
		for _, m := range []proto.Message{durationpb.New(time.Second), details} { // an unrelated detail first
			d, err := connect.NewErrorDetail(m)
			if err != nil {
				return err
			}
			ce.AddDetail(d)
		}
	}
	return ce
}

func (f *fakeBridge) Ping(_ context.Context, r *connect.Request[sdkv1.PingRequest]) (*connect.Response[sdkv1.PingResponse], error) {
	return connect.NewResponse(&sdkv1.PingResponse{Message: "pong"}), f.enter("Ping", r.Msg)
}

func (f *fakeBridge) GetVersion(_ context.Context, r *connect.Request[sdkv1.GetVersionRequest]) (*connect.Response[sdkv1.GetVersionResponse], error) {
	v := "sdk.v1"
	if f.script.Protocol != "" {
		v = f.script.Protocol
	}
	return connect.NewResponse(&sdkv1.GetVersionResponse{BridgeVersion: "9.9.9", ProtocolVersion: v, Capabilities: []string{"agent.create", "new.thing"}}),
		f.enter("GetVersion", r.Msg)
}

func (f *fakeBridge) Shutdown(ctx context.Context, r *connect.Request[sdkv1.ShutdownRequest]) (*connect.Response[sdkv1.ShutdownResponse], error) {
	if err := f.enter("Shutdown", r.Msg); err != nil {
		return nil, err
	}
	if f.script.Stubborn {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	f.quit <- struct{}{}
	return connect.NewResponse(&sdkv1.ShutdownResponse{}), nil
}

func (f *fakeBridge) CreateAgent(_ context.Context, r *connect.Request[sdkv1.CreateAgentRequest]) (*connect.Response[sdkv1.CreateAgentResponse], error) {
	id := r.Msg.GetOptions().GetAgentId()
	if err := checkFakeOptions(id, r.Msg.GetOptions()); err != nil {
		return nil, err
	}
	if id == "" {
		id = "agent-1"
	}
	f.learn(id)
	return connect.NewResponse(&sdkv1.CreateAgentResponse{AgentId: id, Model: r.Msg.GetOptions().GetModel()}), f.enter("CreateAgent", r.Msg)
}

func (f *fakeBridge) ResumeAgent(_ context.Context, r *connect.Request[sdkv1.ResumeAgentRequest]) (*connect.Response[sdkv1.ResumeAgentResponse], error) {
	if err := checkFakeOptions(r.Msg.GetAgentId(), r.Msg.GetOptions()); err != nil {
		return nil, err
	}
	f.learn(r.Msg.GetAgentId())
	return connect.NewResponse(&sdkv1.ResumeAgentResponse{AgentId: r.Msg.GetAgentId(), Model: r.Msg.GetOptions().GetModel()}), f.enter("ResumeAgent", r.Msg)
}

func (f *fakeBridge) learn(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known[id] = true
}

func (f *fakeBridge) CloseAgent(_ context.Context, r *connect.Request[sdkv1.CloseAgentRequest]) (*connect.Response[sdkv1.CloseAgentResponse], error) {
	return connect.NewResponse(&sdkv1.CloseAgentResponse{}), f.enter("CloseAgent", r.Msg)
}

func (f *fakeBridge) CancelRun(_ context.Context, r *connect.Request[sdkv1.CancelRunRequest]) (*connect.Response[sdkv1.CancelRunResponse], error) {
	f.cancelled <- struct{}{}
	return connect.NewResponse(&sdkv1.CancelRunResponse{}), f.enter("CancelRun", r.Msg)
}

func (f *fakeBridge) WaitLiveRun(_ context.Context, r *connect.Request[sdkv1.WaitLiveRunRequest]) (*connect.Response[sdkv1.WaitLiveRunResponse], error) {
	if err := f.enter("WaitLiveRun", r.Msg); err != nil {
		return nil, err
	}
	if f.script.Outcome == "" {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("unknown run"))
	}
	return connect.NewResponse(&sdkv1.WaitLiveRunResponse{Result: &sdkv1.RunResult{Status: fakeStatus(f.script.Outcome), Result: "waited for"}}), nil
}

func fakeStatus(s string) sdkv1.RunLifecycleStatus {
	return sdkv1.RunLifecycleStatus(sdkv1.RunLifecycleStatus_value["RUN_LIFECYCLE_STATUS_"+s])
}

func (f *fakeBridge) Send(ctx context.Context, r *connect.Request[sdkv1.SendRequest], out *connect.ServerStream[sdkv1.RunStreamMessage]) error {
	if err := f.enter("Send", r.Msg); err != nil {
		return err
	}
	f.mu.Lock()
	known := f.known[r.Msg.GetAgentId()]
	f.runs++
	ids := map[string]any{"agent_id": r.Msg.GetAgentId(), "run_id": fmt.Sprintf("run-%d", f.runs)}
	f.mu.Unlock()
	if !known {
		return connect.NewError(connect.CodeNotFound, errors.New("unknown agent"))
	}
	for _, step := range f.script.Run {
		if err := f.step(ctx, step, ids, out); err != nil {
			return err
		}
	}
	return nil
}

func (f *fakeBridge) step(ctx context.Context, s fakeStep, ids map[string]any, out *connect.ServerStream[sdkv1.RunStreamMessage]) error {
	runID, agentID := ids["run_id"].(string), ids["agent_id"].(string)
	if s.Stderr != "" {
		fmt.Fprintln(os.Stderr, s.Stderr)
	}
	for range s.Keepalive {
		if err := out.Send(&sdkv1.RunStreamMessage{}); err != nil {
			return err
		}
	}
	switch {
	case s.Call != nil:
		return f.step(ctx, f.callTool(agentID, *s.Call), ids, out)
	case s.Message != nil:
		for k, v := range ids {
			s.Message[k] = v
		}
		body, err := structpb.NewStruct(s.Message)
		if err != nil {
			return err
		}
		kind, _ := s.Message["type"].(string)
		m := &sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_SdkMessage{SdkMessage: &sdkv1.SdkMessage{Type: kind, Message: body}}}
		if s.Offset != "" {
			m.Offset = &s.Offset
		}
		return out.Send(m)
	case s.Unknown:
		m := new(sdkv1.RunStreamMessage)
		m.ProtoReflect().SetUnknown([]byte{0xf2, 0x06, 3, 'n', 'e', 'w'}) // field 110, three bytes
		return out.Send(m)
	case s.Result != "":
		m := &sdkv1.RunStreamResult{AgentId: agentID, RunId: runID, Status: fakeStatus(s.Result), Result: &sdkv1.RunResult{
			RunId: runID, AgentId: agentID, Status: fakeStatus(s.Result), Result: s.Text, DurationMs: 1500,
			Model: &sdkv1.ModelSelection{Id: "m-1"},
		}}
		if s.Code != "" {
			m.ErrorCode = &s.Code
		}
		return out.Send(&sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_Result{Result: m}})
	case s.Done:
		return out.Send(&sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_Done{Done: &sdkv1.RunStreamDone{AgentId: agentID, RunId: runID}}})
	case s.Crash:
		os.Exit(7)
	case s.Break:
		panic(http.ErrAbortHandler)
	case s.Cancelled:
		select {
		case <-f.cancelled:
		case <-ctx.Done():
			return ctx.Err()
		}
	case s.Hang:
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}
