package local

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

const (
	// keepaliveAfter is the silence on a stream after which an empty message is
	// sent (https://github.com/cursor/sdk-bridge/blob/main/docs/streaming.md).
	keepaliveAfter = 15 * time.Second
	// slowReaderTimeout is how long one message may take to be written to a
	// reader that does not read. The run goes on without it.
	slowReaderTimeout = time.Minute
	// closeGrace is how long streams may take to deliver the end of their runs
	// when the bridge stops.
	closeGrace = time.Second
)

// serverOptions is what a server is made of.
type serverOptions struct {
	// Engines are asked in order; the models of the first come first.
	Engines         []engine
	Store           storage
	Logger          *slog.Logger
	Version         string
	MaxAgents       int
	MaxMessageBytes int
	ToolCallback    callback
	// Now is [time.Now] when nil.
	Now func() time.Time
	// Keepalive is [keepaliveAfter] when zero.
	Keepalive time.Duration
	// SlowReader is [slowReaderTimeout] when zero.
	SlowReader time.Duration
	// MaxLogBytes is [maxLogBytes] when zero.
	MaxLogBytes int64
}

// server answers the three services that a bridge serves.
type server struct {
	engines         []engine
	registry        *registry
	ids             *idSource
	now             func() time.Time
	logger          *slog.Logger
	version         string
	maxMessageBytes int
	keepalive       time.Duration
	slowReader      time.Duration
	shutdown        chan time.Duration
	tools           *toolCaller
}

// newServer makes a server of what is kept.
func newServer(o serverOptions) *server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Keepalive == 0 {
		o.Keepalive = keepaliveAfter
	}
	if o.SlowReader == 0 {
		o.SlowReader = slowReaderTimeout
	}
	if o.MaxLogBytes == 0 {
		o.MaxLogBytes = maxLogBytes
	}
	ids := newIDSource(o.Now, rand.Reader)
	tools := newToolCaller(o.ToolCallback)
	reg := newRegistry(o.Store, ids, o.Now, o.Logger, tools, o.MaxAgents, o.MaxLogBytes)
	return &server{
		engines: o.Engines, registry: reg, ids: ids, now: o.Now, logger: o.Logger, version: o.Version,
		maxMessageBytes: o.MaxMessageBytes, keepalive: o.Keepalive, slowReader: o.SlowReader,
		shutdown: make(chan time.Duration, 1), tools: tools,
	}
}

// handler serves the services to callers that have shown the token.
func (s *server) handler() http.Handler {
	options := []connect.HandlerOption{
		connect.WithReadMaxBytes(s.maxMessageBytes),
		// The first is the outermost: a panic becomes an error, then a fault.
		connect.WithInterceptors(&faultInterceptor{ids: s.ids, logger: s.logger, now: s.now}),
		connect.WithRecover(func(_ context.Context, spec connect.Spec, _ http.Header, p any) error {
			return fmt.Errorf("%s panicked: %v\n%s", spec.Procedure, p, debug.Stack())
		}),
	}
	mux := http.NewServeMux()
	mux.Handle(sdkv1connect.NewSdkBridgeControlServiceHandler(&controlService{server: s}, options...))
	mux.Handle(sdkv1connect.NewSdkCursorServiceHandler(&catalogService{server: s}, options...))
	mux.Handle(sdkv1connect.NewSdkAgentServiceHandler(&agentService{server: s}, options...))
	return s.explained(mux)
}

// shutdownAsked delivers the grace of the first Shutdown call.
func (s *server) shutdownAsked() <-chan time.Duration { return s.shutdown }

// stop ends the bridge in order: no new connections and runs, runs that end
// before draining is done end well, the others are cancelled, and every stream
// gets the end of its run before its connection is closed.
func (s *server) stop(draining context.Context, front *http.Server) {
	closed := make(chan struct{})
	closing, cancelClosing := context.WithCancel(context.Background())
	defer cancelClosing()
	go func() {
		defer close(closed)
		_ = front.Shutdown(closing) // its only error is the end of closing
	}()

	s.registry.drain(draining)
	s.tools.close()

	select {
	case <-closed:
	case <-time.After(closeGrace):
		cancelClosing()
		<-closed
		if err := front.Close(); err != nil {
			s.logger.Warn("connections could not be closed", "error", err)
		}
	}
}

// engineFor finds the engine of a model. It asks nobody: see [server.refreshModels].
func (s *server) engineFor(id string) (engine, bool) {
	for _, e := range s.engines {
		for _, m := range e.Models() {
			if m.ID == id {
				return e, true
			}
		}
	}
	for _, e := range s.engines {
		if l, ok := e.(lister); ok && l.Accepts(id) {
			return e, true
		}
	}
	return nil, false
}

// refreshModels brings the lists up to date of those engines that have to ask
// for theirs, before a call that names models. No lock is held meanwhile.
func (s *server) refreshModels(ctx context.Context, wanted ...string) {
	for _, e := range s.engines {
		l, ok := e.(lister)
		if !ok {
			continue
		}
		l.Refresh(ctx, "")
		for _, id := range wanted {
			if _, known := s.engineFor(id); id != "" && !known {
				l.Refresh(ctx, id)
			}
		}
	}
}

// wantedModels are the models that an agent's options name.
func wantedModels(o *sdkv1.AgentOptions) []string {
	wanted := []string{o.GetModel().GetId()}
	for _, sub := range o.GetAgents() {
		wanted = append(wanted, sub.GetModel().GetId())
	}
	return wanted
}

// faultInterceptor gives every error its detail with a request id of its own,
// and keeps unexpected ones in the log instead of the answer.
type faultInterceptor struct {
	ids    *idSource
	logger *slog.Logger
	now    func() time.Time
}

func (i *faultInterceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		began := i.now()
		res, err := next(ctx, req)
		return res, i.settle(req.Spec(), began, err)
	}
}

func (i *faultInterceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		began := i.now()
		return i.settle(conn.Spec(), began, next(ctx, conn))
	}
}

// WrapStreamingClient is not used by a server.
func (i *faultInterceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// settle logs a call and turns its error into what goes over the wire.
func (i *faultInterceptor) settle(spec connect.Spec, began time.Time, err error) error {
	took := i.now().Sub(began)
	if err == nil {
		i.logger.Debug("call", "procedure", spec.Procedure, "took", took)
		return nil
	}
	requestID := i.ids.request()
	f, expected := faultOf(err)
	switch {
	case expected:
		i.logger.Debug("call refused", "procedure", spec.Procedure, "took", took, "request_id", requestID, "code", f.code.String(), "sdk_code", f.sdk.String())
	default:
		i.logger.Error("call failed", "procedure", spec.Procedure, "took", took, "request_id", requestID, "error", err)
	}
	return f.wire(requestID)
}
