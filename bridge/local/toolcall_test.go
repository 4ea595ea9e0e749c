package local

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

const callbackToken = "callback-token"

// toolbox is an adapter's callback: it refuses other tokens than its own.
type toolbox struct {
	callback
	seen chan *sdkv1.CallCustomToolRequest
}

// serveTools starts one; answer may be nil.
func serveTools(t *testing.T, answer func(context.Context, *sdkv1.CallCustomToolRequest) (*sdkv1.CallCustomToolResponse, error)) *toolbox {
	t.Helper()
	box := &toolbox{seen: make(chan *sdkv1.CallCustomToolRequest, 64)}
	_, handler := sdkv1connect.NewSdkCustomToolCallbackServiceHandler(toolHandler(func(ctx context.Context, r *sdkv1.CallCustomToolRequest) (*sdkv1.CallCustomToolResponse, error) {
		box.seen <- r
		return answer(ctx, r)
	}))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+callbackToken:
			_ = connect.NewErrorWriter().Write(w, r, connect.NewError(connect.CodeUnauthenticated, errors.New("Unauthorized")))
		case r.ProtoMajor != 1 || r.Header.Get("Content-Type") != jsonType || r.Header.Get("Connect-Timeout-Ms") != "":
			http.Error(w, "not as the contract says", http.StatusTeapot)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	box.callback = callback{url: server.URL, token: callbackToken}
	return box
}

type toolHandler func(context.Context, *sdkv1.CallCustomToolRequest) (*sdkv1.CallCustomToolResponse, error)

func (h toolHandler) CallCustomTool(ctx context.Context, r *connect.Request[sdkv1.CallCustomToolRequest]) (*connect.Response[sdkv1.CallCustomToolResponse], error) {
	res, err := h(ctx, r.Msg)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(res), nil
}

// answers makes a tool that answers with this object.
func answers(t *testing.T, object string) func(context.Context, *sdkv1.CallCustomToolRequest) (*sdkv1.CallCustomToolResponse, error) {
	t.Helper()
	result := new(structpb.Struct)
	if err := result.UnmarshalJSON([]byte(object)); err != nil {
		t.Fatal(err)
	}
	return func(context.Context, *sdkv1.CallCustomToolRequest) (*sdkv1.CallCustomToolResponse, error) {
		return &sdkv1.CallCustomToolResponse{Result: result}, nil
	}
}

// withTools offers custom tools to an agent on the test model.
func withTools(names ...string) func(*sdkv1.AgentOptions) {
	return func(o *sdkv1.AgentOptions) {
		o.Model.Id = scriptModel
		o.Local.CustomTools = make(map[string]*sdkv1.CustomToolDefinition)
		for _, name := range names {
			o.Local.CustomTools[name] = &sdkv1.CustomToolDefinition{}
		}
	}
}

func to(cb callback) func(*serverOptions) { return func(o *serverOptions) { o.ToolCallback = cb } }

func TestACustomToolIsCalledAndShown(t *testing.T) {
	t.Parallel()
	box := serveTools(t, answers(t, `{"value":42}`))
	b := startBridge(t, t.TempDir(), scriptEngine{}, to(box.callback))
	agent := b.createAgent(withTools("answer"))
	got := rest(t, b.send(agent, `call answer {"question":{"of":["life",1.5,null]}}`))
	if text := result(t, got).GetResult().GetResult(); text != "42" {
		t.Errorf("the answer is %q", text)
	}
	asked := <-box.seen
	args, err := asked.GetArgs().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if asked.GetToolName() != "answer" || asked.GetAgentId() != agent || strings.ReplaceAll(string(args), " ", "") != `{"question":{"of":["life",1.5,null]}}` {
		t.Errorf("the callback got %v", asked)
	}
	if tools := got[1].GetSdkMessage().GetMessage().GetFields()["tools"].GetListValue().AsSlice(); !slices.Equal(tools, []any{toolMCP}) {
		t.Errorf("the system message names %v", tools)
	}
	var states []string
	for _, m := range got {
		if m.GetSdkMessage().GetType() != "tool_call" {
			continue
		}
		f := m.GetSdkMessage().GetMessage().GetFields()
		states = append(states, f["status"].GetStringValue())
		shown := f["args"].GetStructValue().GetFields()
		if f["name"].GetStringValue() != "mcp" || f["call_id"].GetStringValue() != asked.GetToolCallId() ||
			shown["providerIdentifier"].GetStringValue() != "custom-user-tools" || shown["toolName"].GetStringValue() != "answer" ||
			shown["args"].GetStructValue().GetFields()["question"] == nil {
			t.Errorf("the stream shows %v, the callback was called as %q", m, asked.GetToolCallId())
		}
		if state := f["status"].GetStringValue(); state == "completed" &&
			f["result"].GetStructValue().GetFields()["value"].GetStructValue().GetFields()["value"].GetNumberValue() != 42 {
			t.Errorf("the result shown is %v", f["result"])
		}
	}
	if !slices.Equal(states, []string{"running", "completed"}) {
		t.Errorf("the states are %v", states)
	}
}

func TestCallIDsAreUniqueForAnAgent(t *testing.T) {
	t.Parallel()
	box := serveTools(t, answers(t, `{}`))
	// As a model that counts its calls from zero, or names none, would ask.
	ids := []string{"call_0", "call_0", "", "", "../x", strings.Repeat("y", 1<<16)}
	b := startBridge(t, t.TempDir(), scripted{can: abilities{CustomTools: true}, run: func(ctx context.Context, tk task, _ func(event)) (answer, error) {
		var calls sync.WaitGroup
		for _, id := range ids {
			calls.Go(func() { _, _ = tk.CallCustom(ctx, id, "x", nil) })
		}
		calls.Wait()
		return answer{}, nil
	}}, to(box.callback))
	agent := b.createAgent(func(o *sdkv1.AgentOptions) {
		o.Local.CustomTools = map[string]*sdkv1.CustomToolDefinition{"x": {}}
	})
	seen := make(map[string]bool)
	for range 2 {
		rest(t, b.send(agent, "go"))
		for range ids {
			r := <-box.seen
			if id := r.GetToolCallId(); seen[id] || len(id) > maxIDBytes {
				t.Errorf("the call id %.100q came twice or is too long", id)
			}
			seen[r.GetToolCallId()] = true
			if r.GetArgs() == nil {
				t.Error("no arguments are not an empty object")
			}
		}
	}
}

func TestToolsThatFailAreToldToTheModel(t *testing.T) {
	t.Parallel()
	fails := func(err error) func(context.Context, *sdkv1.CallCustomToolRequest) (*sdkv1.CallCustomToolResponse, error) {
		return func(context.Context, *sdkv1.CallCustomToolRequest) (*sdkv1.CallCustomToolResponse, error) {
			return nil, err
		}
	}
	unused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := unused.Close(); err != nil {
		t.Fatal(err)
	}
	raw := func(answer http.HandlerFunc) callback {
		server := httptest.NewServer(answer)
		t.Cleanup(server.Close)
		return callback{url: server.URL, token: callbackToken}
	}
	elsewhere := serveTools(t, answers(t, `{"value":"reached by a redirect"}`))
	const notAsItShould = "error: the tool x could not be called: its callback is not reachable or does not answer as it should"
	tests := []struct {
		name string
		to   callback
		want string
	}{
		{"says so", serveTools(t, answers(t, `{"content":[{"type":"text","text":"no such ticket"}],"isError":true}`)).callback, "error: no such ticket"},
		{"a Connect error", serveTools(t, fails(connect.NewError(connect.CodeNotFound, errors.New("it is gone")))).callback, "error: the tool x failed: it is gone"},
		{"a long one", serveTools(t, fails(connect.NewError(connect.CodeNotFound, errors.New(strings.Repeat("e", 1<<16))))).callback,
			"error: " + ("the tool x failed: " + strings.Repeat("e", 1<<16))[:maxToolErrorBytes-6] + " […]"},
		{"no result", serveTools(t, func(context.Context, *sdkv1.CallCustomToolRequest) (*sdkv1.CallCustomToolResponse, error) {
			return &sdkv1.CallCustomToolResponse{}, nil
		}).callback, "no result"},
		{"wrong token", callback{elsewhere.url, "wrong"}, "error: the tool x could not be called: its callback refused the bridge's token"},
		{"nobody there", callback{"http://" + unused.Addr().String(), "t"}, notAsItShould},
		{"nothing registered", callback{}, "error: the tool x cannot be called: no callback for custom tools is registered with the bridge"},
		{"a redirect", raw(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.url+r.URL.Path, http.StatusTemporaryRedirect)
		}), notAsItShould},
		{"not Connect", raw(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }), notAsItShould},
		{"cut off", raw(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", jsonType)
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"result":{`)
		}), notAsItShould},
		{"too much", raw(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", jsonType)
			_, _ = io.WriteString(w, `{"result":{"value":"`)
			for chunk := strings.Repeat("x", 1<<20); ; {
				if _, err := io.WriteString(w, chunk); err != nil {
					return
				}
			}
		}), "error: the tool x answered more than the 16 MiB that are read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := startBridge(t, t.TempDir(), scriptEngine{}, to(tt.to))
			got := result(t, rest(t, b.send(b.createAgent(withTools("x")), "call x {}")))
			if got.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_FINISHED || got.GetResult().GetResult() != tt.want {
				t.Errorf("the run ended as %v with\n%.300q, want\n%.300q", got.GetStatus(), got.GetResult().GetResult(), tt.want)
			}
		})
	}
}

func TestAnUnknownToolIsNotCalled(t *testing.T) {
	t.Parallel()
	box := serveTools(t, answers(t, `{}`))
	b := startBridge(t, t.TempDir(), scriptEngine{}, to(box.callback))
	got := rest(t, b.send(b.createAgent(withTools("x")), "call y {}"))
	if text := result(t, got).GetResult().GetResult(); text != `error: there is no custom tool named "y"` {
		t.Errorf("got %q", text)
	}
	if len(box.seen) != 0 {
		t.Error("the callback was called")
	}
}

func TestCustomToolsObeyRestrictions(t *testing.T) {
	t.Parallel()
	box := serveTools(t, answers(t, `{"value":"called"}`))
	b := startBridge(t, t.TempDir(), scriptEngine{}, to(box.callback))
	tests := []struct {
		name    string
		change  func(*sdkv1.AgentOptions)
		allowed bool
	}{
		{"mcp is listed", func(o *sdkv1.AgentOptions) { o.Tools = &sdkv1.ToolList{Names: []string{"read", "mcp"}} }, true},
		{"mcp is not listed", func(o *sdkv1.AgentOptions) { o.Tools = &sdkv1.ToolList{Names: []string{"read", "x"}} }, false},
		{"mcp is forbidden", func(o *sdkv1.AgentOptions) { o.DisallowedTools = []string{"mcp"} }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := result(t, rest(t, b.send(b.createAgent(withTools("x"), tt.change), "call x {}")))
			if called := r.GetResult().GetResult() == "called"; called != tt.allowed {
				t.Errorf("the run ended as %v", r)
			}
		})
	}
}

// waitingTools answers when the call is cancelled, which it tells.
func waitingTools(t *testing.T) (box *toolbox, ended <-chan struct{}) {
	t.Helper()
	over := make(chan struct{}, 8)
	return serveTools(t, func(ctx context.Context, _ *sdkv1.CallCustomToolRequest) (*sdkv1.CallCustomToolResponse, error) {
		<-ctx.Done()
		over <- struct{}{}
		return nil, ctx.Err()
	}), over
}

func TestCancellingARunEndsItsToolCall(t *testing.T) {
	t.Parallel()
	box, ended := waitingTools(t)
	b := startBridge(t, t.TempDir(), scriptEngine{}, to(box.callback))
	s := b.send(b.createAgent(withTools("x")), "call x {}\nsay never")
	<-box.seen
	if !s.Receive() {
		t.Fatal(s.Err())
	}
	runID := s.Msg().GetSdkMessage().GetMessage().GetFields()["run_id"].GetStringValue()
	if _, err := b.agents.CancelRun(testContext(t), connect.NewRequest(&sdkv1.CancelRunRequest{RunId: runID})); err != nil {
		t.Fatal(err)
	}
	<-ended // the callback saw its connection go
	got := kinds(rest(t, s))
	want := []string{"tool_call running", "tool_call error", "status CANCELLED", "result RUN_LIFECYCLE_STATUS_CANCELLED", "done"}
	if got = got[slices.Index(got, "tool_call running"):]; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// An engine that calls with a context of its own must not outlive its run.
func TestAToolCallEndsWithItsRun(t *testing.T) {
	t.Parallel()
	box, ended := waitingTools(t)
	b := startBridge(t, t.TempDir(), scripted{can: abilities{CustomTools: true}, run: func(_ context.Context, tk task, _ func(event)) (answer, error) {
		_, err := tk.CallCustom(context.Background(), "1", "x", nil)
		return answer{}, err
	}}, to(box.callback))
	agent := b.createAgent(func(o *sdkv1.AgentOptions) {
		o.Local.CustomTools = map[string]*sdkv1.CustomToolDefinition{"x": {}}
	})
	first := b.send(agent, "go")
	<-box.seen
	force := true
	second := b.send(agent, "go", func(r *sdkv1.SendRequest) {
		r.Options = &sdkv1.SendOptions{Local: &sdkv1.LocalSendOptions{Force: &force}}
	})
	<-ended
	if got := result(t, rest(t, first)); got.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_EXPIRED {
		t.Errorf("the first run ended as %v", got)
	}
	_ = second
}

func TestSetToolCallbackCountsForLaterCalls(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	slow := serveTools(t, func(context.Context, *sdkv1.CallCustomToolRequest) (*sdkv1.CallCustomToolResponse, error) {
		<-release
		return &sdkv1.CallCustomToolResponse{Result: &structpb.Struct{Fields: map[string]*structpb.Value{"value": structpb.NewStringValue("old")}}}, nil
	})
	fresh := serveTools(t, answers(t, `{"value":"new"}`))
	b := startBridge(t, t.TempDir(), scriptEngine{}, to(slow.callback))
	s := b.send(b.createAgent(withTools("x")), "call x {}\ncall x {}")
	<-slow.seen
	_, err := b.control.SetToolCallback(testContext(t), connect.NewRequest(&sdkv1.SetToolCallbackRequest{Url: fresh.url + "/", AuthToken: fresh.token}))
	if err != nil {
		t.Fatal(err)
	}
	close(release)
	if got := result(t, rest(t, s)).GetResult().GetResult(); got != "old\nnew" {
		t.Errorf("got %q", got)
	}
}
