package bridge

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// exitNotice is how long a broken call waits to learn whether the process has
// died: a broken socket is seen first, and stderr is drained for drainDelay.
const exitNotice = drainDelay + time.Second

// connection is one generation of the bridge: a process that we started, or the
// one that we are attached to.
type connection struct {
	generation uint64
	// ctx ends with the generation; its cause says why ([*ProcessError] or [ErrClosed]).
	ctx context.Context
	end context.CancelCauseFunc
	// process is nil for an attached bridge; gone is closed when nothing of it is left.
	process *process
	gone    chan struct{}
	// condemned is why the process was killed as unresponsive.
	condemned atomic.Pointer[error]

	http        *http.Client
	control     sdkv1connect.SdkBridgeControlServiceClient
	catalog     sdkv1connect.SdkCursorServiceClient
	agents      sdkv1connect.SdkAgentServiceClient
	sending     *connect.Client[sdkv1.SendRequest, frame]
	observing   *connect.Client[sdkv1.ObserveRunRequest, frame]
	mask        func(string) string
	apiKey      string
	callTimeout time.Duration
	retry       Retry
	jitter      func() float64
	// maxMessage is what the bridge accepts in one message; 0 means not said.
	maxMessage int
	version    Version

	// root is the URL that the bridge is called at.
	root string
	// registering has one place, whose holder may use knowsTools: whether the
	// bridge knows where custom tools are called.
	registering chan struct{}
	knowsTools  bool
}

func newConnection(root, token string, mask func(string) string, o *Options) *connection {
	c := &connection{
		http: newHTTPClient(token), mask: mask, root: root, registering: make(chan struct{}, 1),
		apiKey: o.APIKey, callTimeout: o.CallTimeout, retry: o.Retry, jitter: rand.Float64,
	}
	c.ctx, c.end = context.WithCancelCause(context.Background())
	limit := connect.WithReadMaxBytes(maxReceive)
	c.control = sdkv1connect.NewSdkBridgeControlServiceClient(c.http, root, limit)
	c.catalog = sdkv1connect.NewSdkCursorServiceClient(c.http, root, limit)
	c.agents = sdkv1connect.NewSdkAgentServiceClient(c.http, root, limit)
	// The streams of runs are read frame by frame; see frame.
	codec, base := connect.WithCodec(frameCodec{}), strings.TrimRight(root, "/")
	c.sending = connect.NewClient[sdkv1.SendRequest, frame](c.http, base+sdkv1connect.SdkAgentServiceSendProcedure, limit, codec)
	c.observing = connect.NewClient[sdkv1.ObserveRunRequest, frame](c.http, base+sdkv1connect.SdkAgentServiceObserveRunProcedure, limit, codec)
	return c
}

func (c *connection) alive() bool { return c.ctx.Err() == nil }

// unary is one generated method.
type unary[Req, Res any] func(context.Context, *connect.Request[Req]) (*connect.Response[Res], error)

// call makes a unary call with a deadline and gives its errors our types.
func call[Req, Res any](ctx context.Context, c *connection, op string, method unary[Req, Res], req *Req) (*Res, error) {
	limited, cancel := context.WithTimeout(ctx, c.callTimeout)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	res, err := method(limited, connect.NewRequest(req))
	if err != nil {
		return nil, c.failure(ctx, op, err)
	}
	return res.Msg, nil
}

// failure explains a failed call: the end of the generation, if that is why, or
// what the bridge answered.
func (c *connection) failure(ctx context.Context, op string, err error) error {
	explained := c.explain(op, err)
	var e *Error
	if answered := errors.As(explained, &e) && (e.answered || e == errNoResult); !answered {
		c.awaitExit(ctx, err)
	}
	if cause := context.Cause(c.ctx); cause != nil {
		return cause
	}
	return explained
}

// awaitExit waits until it is clear whether a broken call is the first sign of
// the end of the process. An answer of the bridge, and our own deadline, say
// nothing of that.
func (c *connection) awaitExit(ctx context.Context, err error) {
	if c.process == nil || c.ctx.Err() != nil || ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	timer := time.NewTimer(exitNotice)
	defer timer.Stop()
	select {
	case <-c.ctx.Done():
	case <-ctx.Done():
	case <-timer.C:
	}
}

// greet makes the first calls: is it alive, is the token right, does it speak sdk.v1.
func (c *connection) greet(ctx context.Context) error {
	if err := c.ping(ctx); err != nil {
		return err
	}
	v, err := c.getVersion(ctx)
	if err != nil {
		return err
	}
	if v.Protocol != protocolVersion {
		return refuse("version", connect.CodeFailedPrecondition, "",
			"the bridge speaks %.40q; this version needs %q", v.Protocol, protocolVersion)
	}
	c.version = v
	return nil
}

// protocolVersion is what GetVersion must answer.
const protocolVersion = "sdk.v1"

func (c *connection) ping(ctx context.Context) error {
	_, err := call(ctx, c, "ping", c.control.Ping, &sdkv1.PingRequest{})
	return err
}

func (c *connection) getVersion(ctx context.Context) (Version, error) {
	res, err := call(ctx, c, "version", c.control.GetVersion, &sdkv1.GetVersionRequest{})
	if err != nil {
		return Version{}, err
	}
	return Version{Bridge: res.GetBridgeVersion(), Protocol: res.GetProtocolVersion(), Capabilities: res.GetCapabilities()}, nil
}

func (c *connection) cancelRun(ctx context.Context, agentID, runID string) error {
	_, err := call(ctx, c, "cancel run", c.agents.CancelRun, &sdkv1.CancelRunRequest{RunId: runID, AgentId: &agentID})
	return err
}

// close ends the generation for good: the runs first, then the process. It
// returns when nothing of it is left.
func (c *connection) close(ctx context.Context, grace time.Duration) {
	c.end(ErrClosed)
	if c.process != nil {
		c.process.stop(ctx, grace, func(ctx context.Context) error {
			seconds := uint32(max(grace/time.Second, 1))
			_, err := c.control.Shutdown(ctx, connect.NewRequest(&sdkv1.ShutdownRequest{GraceSeconds: seconds}))
			return err
		})
		<-c.gone
	}
	c.http.CloseIdleConnections()
}
