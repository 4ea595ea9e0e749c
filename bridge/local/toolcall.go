package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

const (
	// toolMCP is the name that a custom tool's call has in a run's stream, and the
	// name that allows or forbids all custom tools.
	toolMCP = "mcp"
	// customProvider is the provider that such a call names.
	customProvider = "custom-user-tools"
	// maxToolAnswer bounds the answer of a custom tool: more than a model reads,
	// and room for a few images.
	maxToolAnswer = 16 << 20
	// maxToolErrorBytes bounds the text of a failed call.
	maxToolErrorBytes = 4 << 10
	// callbackIdle is how long a connection to the callback is kept.
	callbackIdle = 30 * time.Second
)

// toolFailure is a call of a custom tool that failed. Its text is for the
// model, which may go on without the tool; its kind is for the log.
type toolFailure struct{ kind, text string }

func (f *toolFailure) Error() string { return f.text }

// toolCaller calls the caller's custom tools. There is one callback for the
// whole bridge; it may be replaced while runs are under way.
type toolCaller struct {
	transport *http.Transport
	client    *http.Client

	mu sync.Mutex
	to callback // guarded by mu
}

// newToolCaller reaches loopback only, so no proxy stands in between. It has no
// timeout: a person may be asked before a tool answers.
func newToolCaller(to callback) *toolCaller {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	transport := &http.Transport{Protocols: protocols, IdleConnTimeout: callbackIdle, MaxResponseHeaderBytes: maxHeaderBytes}
	return &toolCaller{
		transport: transport, to: to,
		client: &http.Client{Transport: boundedAnswers{transport}, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the token is for the callback alone
		}},
	}
}

// boundedAnswers ends the body of an answer soon after [maxToolAnswer]: a
// Connect client reads what is too long to its end, which may never come.
type boundedAnswers struct{ next http.RoundTripper }

func (b boundedAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err == nil {
		res.Body = boundedBody{io.LimitReader(res.Body, maxToolAnswer+1), res.Body}
	}
	return res, err
}

type boundedBody struct {
	io.Reader
	io.Closer
}

// set replaces the callback for later calls.
func (c *toolCaller) set(to callback) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = to
}

func (c *toolCaller) target() callback {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.to
}

// close lets go of idle connections.
func (c *toolCaller) close() { c.transport.CloseIdleConnections() }

// call calls a tool and waits as long as ctx does. The error is ctx's own or a
// [*toolFailure].
func (c *toolCaller) call(ctx context.Context, agentID, callID, name string, args map[string]any) (map[string]any, error) {
	to := c.target()
	if to.url == "" {
		return nil, &toolFailure{"no callback", fmt.Sprintf("the tool %s cannot be called: no callback for custom tools is registered with the bridge", name)}
	}
	input, err := toStruct(args)
	if err != nil {
		return nil, &toolFailure{"arguments", fmt.Sprintf("the tool %s was not called: its arguments are not a JSON object: %v", name, err)}
	}
	client := sdkv1connect.NewSdkCustomToolCallbackServiceClient(c.client, strings.TrimRight(to.url, "/"),
		connect.WithProtoJSON(), connect.WithReadMaxBytes(maxToolAnswer), connect.WithAcceptCompression("gzip", nil, nil))
	req := connect.NewRequest(&sdkv1.CallCustomToolRequest{ToolName: name, Args: input, ToolCallId: &callID, AgentId: agentID})
	req.Header().Set("Authorization", "Bearer "+to.token)
	res, err := client.CallCustomTool(ctx, req)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, readFailure(name, err)
	case res.Msg.GetResult() == nil:
		return map[string]any{"value": "no result"}, nil
	}
	return res.Msg.GetResult().AsMap(), nil
}

// readFailure makes a failed call's text for the model. Neither the callback's
// address nor its token is in it.
func readFailure(name string, err error) *toolFailure {
	var failed *connect.Error
	switch {
	case !errors.As(err, &failed):
		return &toolFailure{"unknown", fmt.Sprintf("the tool %s could not be called", name)}
	case failed.Code() == connect.CodeUnauthenticated:
		return &toolFailure{"token refused", fmt.Sprintf("the tool %s could not be called: its callback refused the bridge's token", name)}
	case failed.Code() == connect.CodeResourceExhausted && !connect.IsWireError(err):
		return &toolFailure{"answer too large", fmt.Sprintf("the tool %s answered more than the %d MiB that are read", name, maxToolAnswer>>20)}
	case !connect.IsWireError(err):
		return &toolFailure{"callback unreachable", fmt.Sprintf("the tool %s could not be called: its callback is not reachable or does not answer as it should", name)}
	}
	return &toolFailure{"failed", cut(fmt.Sprintf("the tool %s failed: %s", name, failed.Message()), maxToolErrorBytes)}
}

// cut shortens text to at most size bytes of valid UTF-8.
func cut(text string, size int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= size {
		return text
	}
	const mark = " […]"
	return strings.ToValidUTF8(text[:size-len(mark)], "") + mark
}

// toStruct is a JSON object as the protocol's Struct; nil is the empty one.
func toStruct(object map[string]any) (*structpb.Struct, error) {
	out := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	if len(object) == 0 {
		return out, nil
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return out, out.UnmarshalJSON(data)
}
