package handlers

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// healthz says that the process is alive. It asks nothing of the store, so that
// a full disk does not make a platform restart the process in a circle.
func healthz(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, struct {
		OK bool `json:"ok"`
	}{true})
}

const (
	// readinessAge is how long one answer of the store serves; a probe costs a
	// synced write, and anyone may ask.
	readinessAge = time.Second
	// readinessTimeout bounds one probe.
	readinessTimeout = 5 * time.Second
)

// readiness says whether deliveries can be stored.
type readiness struct {
	check func(context.Context) error
	now   func() time.Time

	mu    sync.Mutex
	asked time.Time
	err   error
}

func (h *readiness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.probe(r.Context()); err != nil {
		fail(w, http.StatusServiceUnavailable, "not_ready", "the store cannot be written; the log has the details")
		return
	}
	reply(w, http.StatusOK, struct {
		OK bool `json:"ok"`
	}{true})
}

// probe asks the store, or answers from the last second.
func (h *readiness) probe(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if age := h.now().Sub(h.asked); !h.asked.IsZero() && age >= 0 && age < readinessAge {
		return h.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readinessTimeout)
	defer cancel()
	h.err = h.check(ctx)
	h.asked = h.now()
	return h.err
}
