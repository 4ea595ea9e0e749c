package bridge

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

const (
	// callbackHeaderTimeout bounds the time to a request's last header. Nothing
	// bounds the time to its answer: a tool may wait for a person.
	callbackHeaderTimeout = 10 * time.Second
	// callbackIdleTimeout outlasts the 90 s after which Go's client drops an unused
	// connection, so that a call does not meet one that is being closed.
	callbackIdleTimeout = 5 * time.Minute
	// maxCallbackHeader bounds a request's headers.
	maxCallbackHeader = 16 << 10
	// refusedBodyTimeout is how long a refused request may hold its connection.
	refusedBodyTimeout = time.Second
	// lastAnswersTimeout is how long answers that are ready may take to be written
	// when the client closes.
	lastAnswersTimeout = time.Second
)

// callbackServer is where a bridge calls the tools and the store of this client.
// It listens on loopback, and only once it is needed.
type callbackServer struct {
	token  string
	tools  *toolbox
	store  Store // nil when the bridge keeps its own
	logger *slog.Logger
	mask   func(string) string
	// under counts requests and calls of tools.
	under *gate

	mu     sync.Mutex
	server *http.Server // nil before the start
	served chan struct{}
	root   string // its URL
	closed bool
}

func newCallbackServer(store Store, logger *slog.Logger, redact func(string) string) *callbackServer {
	token := newCallbackToken()
	mask := newMasker(redact, token).mask
	under := new(gate)
	return &callbackServer{
		token: token, tools: newToolbox(logger, mask, under), store: store, logger: logger, mask: mask, under: under,
	}
}

// newCallbackToken returns 32 random bytes as text.
func newCallbackToken() string {
	var random [32]byte
	rand.Read(random[:])
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// start listens, unless it does already, and returns the URL to call.
func (s *callbackServer) start() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", ErrClosed
	}
	if s.server != nil {
		return s.root, nil
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("bridge: listen for callbacks: %w", err)
	}
	s.root = "http://" + l.Addr().String()
	s.server = s.newHTTPServer(l.Addr().(*net.TCPAddr).Port)
	s.served = make(chan struct{})
	go func(server *http.Server, served chan struct{}) {
		defer close(served)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.logger.Error("callbacks of the bridge cannot be served any more", "error", err)
		}
	}(s.server, s.served)
	return s.root, nil
}

// newHTTPServer speaks HTTP/1.1 only, as the protocol asks, and has no timeout
// that could cut a call of a tool.
func (s *callbackServer) newHTTPServer(port int) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           s.guard(s.routes(), port),
		Protocols:         protocols,
		ReadHeaderTimeout: callbackHeaderTimeout,
		IdleTimeout:       callbackIdleTimeout,
		MaxHeaderBytes:    maxCallbackHeader,
		ErrorLog:          slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
}

// started returns the URL to call, or nothing when nobody has needed it yet.
func (s *callbackServer) started() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.root
}

// close cancels the calls under way and waits for them until ctx is done.
func (s *callbackServer) close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	server := s.server
	s.mu.Unlock()
	s.tools.end()
	left := s.under.close(ctx)
	if server != nil {
		ending, cancel := context.WithTimeout(ctx, lastAnswersTimeout)
		defer cancel()
		if server.Shutdown(ending) != nil {
			_ = server.Close() // what it could not close is closed already
		}
		<-s.served
	}
	if left > 0 {
		return fmt.Errorf("bridge: close: %d callbacks have not returned: %w", left, context.Cause(ctx))
	}
	return nil
}

// routes are the services that are served.
func (s *callbackServer) routes() http.Handler {
	options := []connect.HandlerOption{
		connect.WithReadMaxBytes(maxReceive),
		connect.WithCompressMinBytes(math.MaxInt), // nothing is gained on loopback
		connect.WithRecover(func(_ context.Context, spec connect.Spec, _ http.Header, p any) error {
			s.logger.Error("a callback panicked", "procedure", spec.Procedure,
				"panic", s.mask(fmt.Sprint(p)), "stack", s.mask(string(debug.Stack())))
			return connect.NewError(connect.CodeInternal, errors.New("the callback failed unexpectedly"))
		}),
	}
	mux := http.NewServeMux()
	mux.Handle(sdkv1connect.NewSdkCustomToolCallbackServiceHandler(toolService{s.tools}, options...))
	if s.store != nil {
		failed := func(op string, err error) {
			s.logger.Error("the store has failed", "op", op, "error", s.mask(err.Error()))
		}
		mux.Handle(sdkv1connect.NewSdkStoreCallbackServiceHandler(newStoreServer(s.store, time.Now, failed), options...))
	}
	return mux
}

// guard lets requests of the bridge pass, of which nothing but the headers has
// been read. A request that names another host comes from a web page that had its
// own name resolved to loopback.
func (s *callbackServer) guard(next http.Handler, port int) http.Handler {
	want := sha256.Sum256([]byte(s.token))
	unauthenticated := connect.NewError(connect.CodeUnauthenticated, errors.New("Unauthorized"))
	unavailable := connect.NewError(connect.CodeUnavailable, errors.New("the client is closed"))
	errorWriter := connect.NewErrorWriter()
	hosts := [...]string{fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("localhost:%d", port)}
	refuse := func(w http.ResponseWriter) {
		// net/http would read the body to keep the connection.
		w.Header().Set("Connection", "close")
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusedBodyTimeout))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 || r.Host != hosts[0] && r.Host != hosts[1] {
			refuse(w)
			http.Error(w, "no such host here", http.StatusMisdirectedRequest)
			return
		}
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		// Hashing makes both sides equally long, so that the time tells nothing.
		got := sha256.Sum256([]byte(given))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 || !strings.EqualFold(scheme, "Bearer") {
			refuse(w)
			_ = errorWriter.Write(w, r, unauthenticated)
			return
		}
		if !s.under.enter() {
			refuse(w)
			_ = errorWriter.Write(w, r, unavailable)
			return
		}
		defer s.under.leave()
		next.ServeHTTP(w, r)
	})
}

// toolService answers the calls of tools.
type toolService struct{ tools *toolbox }

// CallCustomTool implements the service.
func (s toolService) CallCustomTool(ctx context.Context, r *connect.Request[sdkv1.CallCustomToolRequest]) (*connect.Response[sdkv1.CallCustomToolResponse], error) {
	result, err := s.tools.call(ctx, r.Msg)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&sdkv1.CallCustomToolResponse{Result: result}), nil
}
