package toolserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The bounds of servers.
const (
	// connectWithin is how long a server may take until it has listed its tools.
	connectWithin = 30 * time.Second
	// callWithin is how long one call may take.
	callWithin = 2 * time.Minute
	// maxTools is how many tools of one server are offered.
	maxTools = 128
	// maxMessage bounds one message of a server in bytes; far more than a model reads.
	maxMessage = 8 << 20
	// maxDescription bounds what a model is told of one tool, in bytes.
	maxDescription = 8 << 10
)

// Server is one server of tools: a program if Command is set, else a service.
type Server struct {
	Name string
	// Command is started with Args in Dir. Env is all it gets beside what every
	// program needs.
	Command string
	Args    []string
	Env     map[string]string
	Dir     string
	// URL is reached with Headers, by the older transport if SSE is set.
	URL     string
	SSE     bool
	Headers map[string]string
}

// Tool is one tool of a server.
type Tool struct {
	// Server and Name are who has it, and what it is called there.
	Server, Name string
	Description  string
	// Schema is that of its input; nil when the server gave none.
	Schema map[string]any
	// Call calls it. The error says why there is no result; failed that the tool says so.
	Call func(ctx context.Context, args map[string]any) (text string, failed bool, err error)
}

// Set are the servers of one run.
type Set struct {
	// Tools are those of all servers, in the order of servers. Failures are why one
	// cannot be used, by its name, in words for a model.
	Tools    []Tool
	Failures map[string]string

	ends []func()
}

// Open connects to servers, all at once. One that cannot be reached is a failure of
// the set, and told to the log.
func Open(ctx context.Context, servers []Server, logger *slog.Logger) *Set {
	set := &Set{Failures: make(map[string]string)}
	type opened struct {
		tools []Tool
		end   func()
		err   error
	}
	all := make([]opened, len(servers))
	var wait sync.WaitGroup
	for i, s := range servers {
		wait.Go(func() { all[i].tools, all[i].end, all[i].err = s.open(ctx, logger) })
	}
	wait.Wait()
	for i, o := range all {
		name := servers[i].Name
		if o.err != nil {
			logger.Warn("a server of tools cannot be used", "server", name, "error", servers[i].mask(o.err.Error()))
			set.Failures[name] = said(o.err)
			continue
		}
		set.Tools = append(set.Tools, o.tools...)
		set.ends = append(set.ends, o.end)
	}
	return set
}

// Close ends all servers and waits for that.
func (s *Set) Close() {
	var wait sync.WaitGroup
	for _, end := range s.ends {
		wait.Go(end)
	}
	wait.Wait()
}

// said tells a model of a failure. What a server says, or a secret in its address,
// is for the log.
func said(err error) string {
	var words *failure
	switch {
	case errors.As(err, &words):
		return words.text
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("it was not ready within %s", connectWithin)
	}
	return "the connection failed"
}

// failure is one with words for a model.
type failure struct {
	text string
	err  error
}

func (f *failure) Error() string { return f.text + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// mask hides what may be secret in what is logged of a server.
func (s Server) mask(text string) string {
	hide := func(secret string) {
		if len(secret) > 3 {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	for _, value := range s.Headers {
		hide(value)
		hide(strings.TrimPrefix(value, "Bearer "))
	}
	for _, value := range s.Env {
		hide(value)
	}
	hide(s.URL)
	return text
}

// open connects to one server and lists its tools.
func (s Server) open(ctx context.Context, logger *slog.Logger) (tools []Tool, end func(), err error) {
	// Some transports live as long as the context that they were connected with.
	connecting, cut := context.WithCancelCause(ctx)
	timer := time.AfterFunc(connectWithin, func() { cut(context.DeadlineExceeded) })
	defer func() {
		timer.Stop()
		if err != nil {
			err = errors.Join(err, context.Cause(connecting))
			cut(nil)
		}
	}()
	transport, release, err := s.transport()
	if err != nil {
		return nil, nil, &failure{"it cannot be started", err}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "liaison", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(connecting, transport, nil)
	if err != nil {
		release()
		return nil, nil, err
	}
	end = func() {
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			_ = session.Close() // it goes either way
		}()
		select {
		case <-closed:
		case <-time.After(leaveWithin):
		}
		release()
		cut(nil)
		<-closed
	}
	for tool, err := range session.Tools(connecting, nil) {
		if err != nil {
			end()
			return nil, nil, fmt.Errorf("list its tools: %w", err)
		}
		if len(tools) == maxTools {
			logger.Warn("a server of tools has more of them than are offered", "server", s.Name, "offered", maxTools)
			break
		}
		schema, _ := tool.InputSchema.(map[string]any)
		tools = append(tools, Tool{
			Server: s.Name, Name: tool.Name, Description: clip(tool.Description, maxDescription), Schema: schema,
			Call: func(ctx context.Context, args map[string]any) (string, bool, error) {
				return call(ctx, session, tool.Name, args)
			},
		})
	}
	return tools, end, nil
}

// transport reaches the server; release lets go of what that took.
func (s Server) transport() (mcp.Transport, func(), error) {
	if s.Command != "" {
		p, err := start(s)
		if err != nil {
			return nil, nil, err
		}
		return &mcp.IOTransport{Reader: p.stdout, Writer: p.stdin, MaxLineLength: maxMessage}, p.end, nil
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.ResponseHeaderTimeout = callWithin
	client := &http.Client{
		Transport: headed{base, s.Headers},
		// Another place is not to be told the headers.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if s.SSE {
		return &mcp.SSEClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxMessage}, base.CloseIdleConnections, nil
	}
	return &mcp.StreamableClientTransport{
		Endpoint: s.URL, HTTPClient: client, MaxRetries: -1, MaxEventSize: maxMessage, DisableStandaloneSSE: true,
	}, base.CloseIdleConnections, nil
}

// headed sends headers along, and bounds answers that are no streams.
type headed struct {
	base    http.RoundTripper
	headers map[string]string
}

// RoundTrip implements [http.RoundTripper].
func (h headed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h.headers {
		r.Header.Set(name, value)
	}
	res, err := h.base.RoundTrip(r)
	if err == nil && !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, maxMessage), res.Body}
	}
	return res, err
}

func call(ctx context.Context, session *mcp.ClientSession, name string, args map[string]any) (string, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "", false, fmt.Errorf("the tool has not answered within %s", callWithin)
	case err != nil:
		return "", false, errors.New("the tool could not be called: its server failed, or is gone")
	}
	return textOf(result), result.IsError, nil
}

// textOf is what a model reads of a result.
func textOf(r *mcp.CallToolResult) string {
	var parts []string
	other := 0
	for _, c := range r.Content {
		if text, is := c.(*mcp.TextContent); is {
			parts = append(parts, text.Text)
		} else {
			other++
		}
	}
	if len(parts) == 0 && r.StructuredContent != nil {
		if data, err := json.Marshal(r.StructuredContent); err == nil {
			parts = append(parts, string(data))
		}
	}
	if other > 0 {
		parts = append(parts, fmt.Sprintf("(%d parts that are no text are not shown)", other))
	}
	return strings.Join(parts, "\n")
}

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}
