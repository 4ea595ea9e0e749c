package bridge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

const callToolPath = "/sdk.v1.SdkCustomToolCallbackService/CallCustomTool"

// served is a callback server whose agent "a" has a run under way.
type served struct {
	*callbackServer
	log logBuffer
	url string
}

func serve(t testing.TB, store Store, tools ...Tool) *served {
	t.Helper()
	offered, err := checkTools(tools)
	if err != nil {
		t.Fatal(err)
	}
	s := new(served)
	s.callbackServer = newCallbackServer(store, slog.New(slog.NewTextHandler(&s.log, nil)), nil)
	if s.url, err = s.start(); err != nil {
		t.Fatal(err)
	}
	s.tools.offer("a", offered)
	s.tools.begin(context.Background(), "a")
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testLimit)
		defer cancel()
		if err := s.close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// caller is a client as a bridge has it, and closes its connections at the end.
func (s *served) caller(t testing.TB, token string) *http.Client {
	t.Helper()
	c := newHTTPClient(token)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func echoTool() Tool {
	return Tool{Name: "echo", Call: func(_ context.Context, c ToolInvocation) (ToolResult, error) {
		return ToolResult{Value: c.Args}, nil
	}}
}

// exchange sends bytes as they are and returns the answer, and whether the
// connection was closed after it.
func (s *served) exchange(t *testing.T, request string) (answer string, closed bool) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(testLimit)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatalf("read the answer: %v", err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", res.StatusCode, body), res.Close
}

func (s *served) header(path string, more ...string) string {
	head := "POST " + path + " HTTP/1.1\r\nHost: " + strings.TrimPrefix(s.url, "http://") + "\r\nContent-Type: application/json\r\n"
	return head + strings.Join(more, "\r\n") + "\r\n\r\n"
}

func TestCallbackToken(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, echoTool())
	if len(s.token) < 43 { // 32 bytes
		t.Errorf("the token has %d characters", len(s.token))
	}
	if other := newCallbackToken(); other == s.token {
		t.Error("two tokens are the same")
	}
	const refused = `401 {"code":"unauthenticated","message":"Unauthorized"}`
	for name, authorization := range map[string]string{
		"none":            "X-Nothing: here",
		"empty":           "Authorization: Bearer ",
		"wrong":           "Authorization: Bearer " + newCallbackToken(),
		"cut":             "Authorization: Bearer " + s.token[:len(s.token)-1],
		"longer":          "Authorization: Bearer " + s.token + "x",
		"another scheme":  "Authorization: Basic " + s.token,
		"no scheme":       "Authorization: " + s.token,
		"in another case": "Authorization: Bearer " + strings.ToUpper(s.token),
	} {
		for _, path := range []string{callToolPath, "/", "/sdk.v1.Nothing/At/All"} {
			// The body never comes: who waited for it would not answer.
			got, closed := s.exchange(t, s.header(path, authorization, "Content-Length: 1000000000"))
			if got != refused || !closed {
				t.Errorf("%s at %s: %s, closed %v; want %s and closed", name, path, got, closed, refused)
			}
		}
	}
	if got, _ := s.exchange(t, s.header(callToolPath, "authorization: bearer "+s.token, "Content-Length: 2")+"{}"); !strings.HasPrefix(got, "200 ") {
		t.Errorf("the right token, with the scheme in another case: %s", got)
	}
}

// A web page can have its own name resolved to loopback and then talk to this
// port as to its own host.
func TestCallbackHost(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, echoTool())
	port := s.url[strings.LastIndex(s.url, ":"):]
	for host, want := range map[string]string{
		"127.0.0.1" + port:    "200",
		"localhost" + port:    "200",
		"evil.example" + port: "421",
		"evil.example":        "421",
		"127.0.0.1":           "421",
		"127.0.0.1:1":         "421",
		"0.0.0.0" + port:      "421",
		"":                    "421",
	} {
		got, closed := s.exchange(t, "POST "+callToolPath+" HTTP/1.1\r\nHost: "+host+"\r\nContent-Type: application/json\r\nAuthorization: Bearer "+
			s.token+"\r\nContent-Length: 2\r\n\r\n{}")
		if got[:3] != want || closed != (want != "200") {
			t.Errorf("host %q: %s, closed %v; want %s", host, got, closed, want)
		}
	}
	if got, _ := s.exchange(t, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); strings.HasPrefix(got, "200") {
		t.Errorf("HTTP/2 was answered with %s", got)
	}
}

func TestCallbackRoutes(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, echoTool())
	for path, want := range map[string]string{
		"/": "404", "/sdk.v1.SdkCustomToolCallbackService/Nope": "404", "/sdk.v1.SdkCustomToolCallbackService/": "404",
		"/sdk.v1.SdkStoreCallbackService/CallStore": "404", // there is no store
		"/sdk.v1.SdkAgentService/CreateAgent":       "404",
	} {
		if got, _ := s.exchange(t, s.header(path, "Authorization: Bearer "+s.token, "Content-Length: 2")+"{}"); got[:3] != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	for _, tt := range []struct{ request, want string }{
		{"GET " + callToolPath + " HTTP/1.1\r\nHost: " + strings.TrimPrefix(s.url, "http://") + "\r\nAuthorization: Bearer " + s.token + "\r\n\r\n", "405"},
		{s.header(callToolPath, "Authorization: Bearer "+s.token, "Content-Length: 9") + "not JSON!", "400"},
		{s.header(callToolPath, "Authorization: Bearer "+s.token, "X-Large: "+strings.Repeat("x", 2*maxCallbackHeader)), "431"},
	} {
		if got, _ := s.exchange(t, tt.request); got[:3] != tt.want {
			t.Errorf("%.60q: %.200s, want %s", tt.request, got, tt.want)
		}
	}
}

func TestCallbackBodies(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, echoTool())
	body := `{"toolName":"echo","args":{"x":[1,"ä"]},"toolCallId":"call-1","agentId":"a","somethingNew":{"y":1}}`
	head := "Authorization: Bearer " + s.token
	const want = `200 {"result":{"x":[1,"ä"]}}`
	withoutSpace := func(s string) string { return strings.Replace(strings.ReplaceAll(s, " ", ""), "200", "200 ", 1) }
	if got, _ := s.exchange(t, s.header(callToolPath, head, fmt.Sprintf("Content-Length: %d", len(body)))+body); withoutSpace(got) != want {
		t.Errorf("body of a known length: %s", got)
	}
	for size := range 3 { // as vendors' bridges send it: chunked, and of no known length
		var chunks strings.Builder
		for rest := body; rest != ""; {
			n := min(len(rest), 1+7*size*size)
			fmt.Fprintf(&chunks, "%x\r\n%s\r\n", n, rest[:n])
			rest = rest[n:]
		}
		request := s.header(callToolPath, head, "Transfer-Encoding: chunked", "Connect-Protocol-Version: 1", "Accept-Encoding: gzip,br")
		if got, _ := s.exchange(t, request+chunks.String()+"0\r\n\r\n"); withoutSpace(got) != want {
			t.Errorf("chunked body: %s", got)
		}
	}
}

func TestCallbackCodecs(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, echoTool())
	large := strings.Repeat("x", 1<<20-100)
	for name, o := range map[string][]connect.ClientOption{
		"binary": nil,
		"JSON":   {connect.WithProtoJSON()},
		"gzip":   {connect.WithSendGzip()},
	} {
		client := sdkv1connect.NewSdkCustomToolCallbackServiceClient(s.caller(t, s.token), s.url, o...)
		res, err := client.CallCustomTool(testContext(t), connect.NewRequest(toolRequest(t, "a", name, "echo", `{"large":"`+large+`","n":1}`)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := resultJSON(t, res.Msg.GetResult()); got != `{"large":"`+large+`","n":1}` {
			t.Errorf("%s: got %.100s", name, got)
		}
		if name == "JSON" {
			continue // gzip shows the limit of it too, with a few bytes on the wire
		}
		huge := toolRequest(t, "a", name+"-2", "echo", `{"large":"`+strings.Repeat("x", maxReceive)+`"}`)
		if _, err := client.CallCustomTool(testContext(t), connect.NewRequest(huge)); connect.CodeOf(err) != connect.CodeResourceExhausted {
			t.Errorf("%s: a message above the limit: %v", name, err)
		}
	}
}

// Nothing on the way cuts a call: a person may have to be asked.
func TestCallbackHasNoTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newCallbackServer(nil, slog.New(slog.DiscardHandler), nil)
		server := s.newHTTPServer(80)
		l := newPipeListener()
		go func() { _ = server.Serve(l) }()
		offered, err := checkTools([]Tool{{Name: "ask", Call: func(ctx context.Context, _ ToolInvocation) (ToolResult, error) {
			select {
			case <-time.After(24 * time.Hour):
				return ToolResult{Value: "approved"}, nil
			case <-ctx.Done():
				return ToolResult{}, ctx.Err()
			}
		}}})
		if err != nil {
			t.Fatal(err)
		}
		s.tools.offer("a", offered)
		_, end := s.tools.begin(context.Background(), "a")
		transport := &http.Transport{DialContext: l.dial}
		client := sdkv1connect.NewSdkCustomToolCallbackServiceClient(&http.Client{Transport: bearer{s.token, transport}}, "http://127.0.0.1:80")
		res, err := client.CallCustomTool(context.Background(), connect.NewRequest(toolRequest(t, "a", "c", "ask", `{}`)))
		if err != nil {
			t.Fatal(err)
		}
		if got := resultJSON(t, res.Msg.GetResult()); got != `{"value":"approved"}` {
			t.Errorf("answer = %s", got)
		}
		end()
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
}

// pipeListener is a network of one machine in memory, for virtual time.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.closed); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func TestCallbackServerCloses(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	ended := make(chan error, 1)
	s := serve(t, nil, echoTool(), Tool{Name: "slow", Call: func(ctx context.Context, _ ToolInvocation) (ToolResult, error) {
		close(started)
		<-ctx.Done()
		ended <- ctx.Err()
		return ToolResult{}, ctx.Err()
	}})
	client := sdkv1connect.NewSdkCustomToolCallbackServiceClient(s.caller(t, s.token), s.url)
	answer := make(chan string, 1)
	go func() {
		res, err := client.CallCustomTool(testContext(t), connect.NewRequest(toolRequest(t, "a", "c", "slow", `{}`)))
		if err != nil {
			answer <- err.Error()
			return
		}
		answer <- resultJSON(t, res.Msg.GetResult())
	}()
	<-started
	if err := s.close(testContext(t)); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the tool's context ended with %v", err)
	}
	if got := <-answer; !strings.Contains(got, `"isError":true`) {
		t.Errorf("the call under way was answered with %s", got)
	}
	if _, err := client.CallCustomTool(testContext(t), connect.NewRequest(toolRequest(t, "a", "c", "echo", `{}`))); err == nil || connect.IsWireError(err) {
		t.Errorf("a call after the end was answered: %v", err)
	}
	if _, err := s.start(); !errors.Is(err, ErrClosed) {
		t.Errorf("start after the end: %v", err)
	}
}

func TestCloseDoesNotWaitForeverForATool(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}), make(chan struct{})
	s := serve(t, nil, Tool{Name: "stuck", Call: func(context.Context, ToolInvocation) (ToolResult, error) {
		close(started)
		<-release
		return ToolResult{}, nil
	}})
	defer close(release)
	go func() { _, _ = s.tools.call(context.Background(), toolRequest(t, "a", "c", "stuck", `{}`)) }()
	<-started
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.close(ctx); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "1 callbacks") {
		t.Errorf("close = %v", err)
	}
}

// What a person writes about a problem must not have the token in it.
func TestCallbackTokenIsNotLogged(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, Tool{Name: "leak", Call: func(context.Context, ToolInvocation) (ToolResult, error) { return ToolResult{}, nil }})
	s.tools.mu.Lock()
	s.tools.agents["a"].tools["leak"].Call = func(context.Context, ToolInvocation) (ToolResult, error) {
		return ToolResult{}, errors.New("could not call back with " + s.token)
	}
	s.tools.mu.Unlock()
	body := `{"toolName":"leak","agentId":"a"}`
	got, _ := s.exchange(t, s.header(callToolPath, "Authorization: Bearer "+s.token, fmt.Sprintf("Content-Length: %d", len(body)))+body)
	if strings.Contains(got+s.log.String(), s.token) || !strings.Contains(got, "[redacted]") {
		t.Errorf("answer %s, log %s", got, s.log.String())
	}
}

func FuzzCallbackBody(f *testing.F) {
	f.Add([]byte(`{"toolName":"echo","args":{"x":1},"toolCallId":"c","agentId":"a"}`), true)
	f.Add([]byte(`{"substore":"agents","method":"create","input":{"agent":{"agentId":"a"}}}`), false)
	f.Add([]byte(`{"toolName":"echo","args":{"x":NaN},"agentId":"a"}`), true)
	f.Add([]byte(strings.Repeat(`{"args":`, 50)), true)
	f.Add([]byte(`{"substore":"checkpoints","method":"get","input":{"agentId":"../..","blobId":"\u0000"}}`), false)
	s := newCallbackServer(NewMemoryStore(), slog.New(slog.DiscardHandler), nil)
	offered, err := checkTools([]Tool{echoTool()})
	if err != nil {
		f.Fatal(err)
	}
	s.tools.offer("a", offered)
	s.tools.begin(context.Background(), "a")
	handler := s.guard(s.routes(), 80)
	f.Fuzz(func(t *testing.T, body []byte, tool bool) {
		path := callToolPath
		if !tool {
			path = "/sdk.v1.SdkStoreCallbackService/CallStore"
		}
		for _, codec := range []string{"application/json", "application/proto"} {
			r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:80"+path, bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", codec)
			r.Header.Set("Authorization", "Bearer "+s.token)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code >= 500 && w.Code != http.StatusNotImplemented {
				t.Errorf("%s: %d %s", codec, w.Code, w.Body)
			}
		}
	})
}
