package local

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
)

const (
	// headerTimeout bounds the time to a request's last header.
	headerTimeout = 10 * time.Second
	// idleTimeout is how long an unused connection is kept. There is no read or
	// write timeout: both would cut a long run's stream.
	idleTimeout = 2 * time.Minute
	// maxHeaderBytes bounds a request's headers.
	maxHeaderBytes = 64 << 10
	// refusedBodyTimeout is how long a refused request may hold its connection.
	refusedBodyTimeout = time.Second
)

// newFront returns the HTTP server before next: HTTP/1.1 only, and nothing of
// a request is read beyond its headers until the token is right.
func newFront(next http.Handler, token string, logger *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           http1Only(authorized(withController(next), token)),
		Protocols:         protocols,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

// http1Only refuses HTTP/2 with prior knowledge, which net/http hands to the
// handler as a request of its own.
func http1Only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 {
			w.Header().Set("Connection", "close")
			http.Error(w, "this bridge speaks HTTP/1.1 only", http.StatusHTTPVersionNotSupported)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// authorized lets requests with the bearer token pass. Others get the bare
// Connect error that the protocol asks for, without any detail.
func authorized(next http.Handler, token string) http.Handler {
	want := sha256.Sum256([]byte(token))
	refusal := connect.NewError(connect.CodeUnauthenticated, errors.New("Unauthorized"))
	errorWriter := connect.NewErrorWriter()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		// Hashing makes both sides equally long, so that the time tells nothing.
		got := sha256.Sum256([]byte(given))
		if subtle.ConstantTimeCompare(got[:], want[:]) == 1 && strings.EqualFold(scheme, "Bearer") {
			next.ServeHTTP(w, r)
			return
		}
		// net/http would drain the body to keep the connection; a stranger's
		// body is not worth reading.
		w.Header().Set("Connection", "close")
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusedBodyTimeout))
		_ = errorWriter.Write(w, r, refusal)
	})
}

// controllerKey finds the response controller in a request's context.
type controllerKey struct{}

// withController lets streams set a deadline for each of their writes, and
// takes the last one off again for the next request on the connection.
func withController(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		defer func() { _ = rc.SetWriteDeadline(time.Time{}) }()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), controllerKey{}, rc)))
	})
}

// setWriteDeadline bounds the next write of the stream that ctx belongs to.
func setWriteDeadline(ctx context.Context, t time.Time) {
	if rc, ok := ctx.Value(controllerKey{}).(*http.ResponseController); ok {
		_ = rc.SetWriteDeadline(t)
	}
}
