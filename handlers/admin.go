package handlers

import (
	"log/slog"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/liaison-bot/liaison/handlers/loopback"
)

// AdminOptions is what the listener for operators shows.
type AdminOptions struct {
	// Metrics shows what was counted.
	Metrics http.Handler
	// Local is set when only this machine can reach the listener. Then callers
	// that name another host are refused: a page in a browser on this machine may
	// have made its own name point here.
	Local  bool
	Logger *slog.Logger
}

// profileTimeout bounds a profile, which takes as many seconds as it is asked for.
const profileTimeout = 10 * time.Minute

// NewAdmin returns the handler of the listener for operators: metrics, profiles,
// health. It asks nobody who they are and must not be reached by strangers.
func NewAdmin(o AdminOptions) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", o.Metrics)
	mux.HandleFunc("GET /healthz", healthz)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.Handle("GET /debug/pprof/profile", unhurried(pprof.Profile))
	mux.Handle("GET /debug/pprof/trace", unhurried(pprof.Trace))
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		mux.HandleFunc(method+" /debug/pprof/symbol", pprof.Symbol)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusNotFound, "not_found", "there are /metrics, /debug/pprof/ and /healthz here")
	})
	h := recoverer(o.Logger, hurry(mux))
	if o.Local {
		h = localOnly(h)
	}
	return h
}

// unhurried gives a handler the time to gather what it shows.
func unhurried(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(profileTimeout))
		next(w, r)
	})
}

// localOnly refuses whoever asks for another host than this machine.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback.Host(r.Host) {
			fail(w, http.StatusForbidden, "foreign_host", "call this listener by the name localhost or a loopback address")
			return
		}
		next.ServeHTTP(w, r)
	})
}
