package completions

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds everything a test waits for.
const patience = 5 * time.Minute

const key = "sk-completions-0123456789"

// testLimits are small, so that a test reaches them.
var testLimits = Limits{Stream: 256 << 10, Event: 64 << 10, List: 4 << 10, Error: 1 << 10}

var testNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// connect makes a client of a server.
func connect(t *testing.T, h http.HandlerFunc) (*Client, context.Context) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL + "/v1/")
	if err != nil {
		t.Fatal(err)
	}
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return New(Options{BaseURL: base, Key: key, HTTP: &http.Client{Transport: transport}, Limits: testLimits, Now: func() time.Time { return testNow }}), ctx
}

func answer(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body) // the client may have gone
	}
}

func TestARequestIsWhatTheProtocolSays(t *testing.T) {
	t.Parallel()
	var body []byte
	var asked *http.Request
	c, ctx := connect(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r
		body, _ = io.ReadAll(r.Body)
		answer("text/event-stream", "data: [DONE]\n\n")(w, r)
	})
	call := FunctionCall("c1", "read", `{"path":"a<b"}`)
	call.ExtraContent = []byte(`{"signature":"x"}`)
	stream, err := c.Stream(ctx, Request{
		Model: "m",
		Messages: []Message{
			{Role: RoleSystem, Content: Text("")},
			{Role: RoleUser, Content: Parts{TextPart("Look."), ImagePart("https://example.com/a.png")}},
			{Role: RoleAssistant, ToolCalls: []ToolCall{call}, ReasoningContent: "hm"},
			{Role: RoleTool, ToolCallID: "c1", Content: Text("a & b")},
		},
		Tools:         []Tool{FunctionTool(Function{Name: "read", Parameters: map[string]any{"type": "object"}})},
		ToolChoice:    "none",
		StreamOptions: &StreamOptions{IncludeUsage: true},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if _, err := stream.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("the answer ends with %v", err)
	}
	want := `{"model":"m","messages":[{"role":"system","content":""},` +
		`{"role":"user","content":[{"type":"text","text":"Look."},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]},` +
		`{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a<b\"}"},` +
		`"extra_content":{"signature":"x"}}],"reasoning_content":"hm"},` +
		`{"role":"tool","content":"a & b","tool_call_id":"c1"}],` +
		`"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}],` +
		`"tool_choice":"none","stream":true,"stream_options":{"include_usage":true}}` + "\n"
	if string(body) != want {
		t.Errorf("the body is\n%swant\n%s", body, want)
	}
	for name, want := range map[string]string{"Authorization": "Bearer " + key, "Content-Type": "application/json", "Accept": "text/event-stream", "User-Agent": "liaison"} {
		if got := asked.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if asked.Method != http.MethodPost || asked.URL.Path != "/v1/chat/completions" {
		t.Errorf("it asked %s %s", asked.Method, asked.URL.Path)
	}
}

func TestEveryByteIsHeard(t *testing.T) {
	t.Parallel()
	next := make(chan struct{}, 16) // more than one part is read in
	c, ctx := connect(t, func(w http.ResponseWriter, r *http.Request) {
		for _, part := range []string{": still here\n\n", "data: [DONE]\n\n"} {
			answer("text/event-stream", part)(w, r)
			_ = http.NewResponseController(w).Flush() // the client may have gone
			select {
			case <-next:
			case <-r.Context().Done():
			}
		}
	})
	heard := 0
	stream, err := c.Stream(ctx, Request{}, func() {
		heard++
		next <- struct{}{}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if _, err := stream.Next(); !errors.Is(err, io.EOF) || heard < 2 {
		t.Errorf("it heard %d times until %v, want at least twice", heard, err)
	}
}

func TestModelsAreRead(t *testing.T) {
	t.Parallel()
	body := `{"object":"list","data":[{"id":"a","context_length":1000},{"id":"b","max_model_len":"2000"},{"id":"c","context_window":3e3},` +
		`{"id":7,"max_context_length":true},null,{"id":"d","created":"now"}]}`
	c, ctx := connect(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("it asked %s %s", r.Method, r.URL.Path)
		}
		answer("application/json", body)(w, r)
	})
	list, err := c.Models(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	var windows []int64
	for _, m := range list {
		ids, windows = append(ids, m.ID), append(windows, m.Window())
	}
	if !slices.Equal(ids, []string{"a", "b", "c", "", "", "d"}) || !slices.Equal(windows, []int64{1000, 2000, 3000, 0, 0, 0}) {
		t.Errorf("the models are %q with windows of %d", ids, windows)
	}
}

func TestAListThatIsNone(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "<html>", "[]", `{"data":`, `"list"`} {
		c, ctx := connect(t, answer("application/json", body))
		if list, err := c.Models(ctx); err == nil {
			t.Errorf("%q is read as %v", body, list)
		}
	}
	c, ctx := connect(t, answer("application/json", `{"data":[`+strings.Repeat(`{"id":"x"},`, testLimits.List)))
	if _, err := c.Models(ctx); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a long list ends with %v", err)
	}
}
