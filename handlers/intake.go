package handlers

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/liaison-bot/liaison/handlers/answer"
	"github.com/liaison-bot/liaison/state"
)

// Intake counts what the doors have in hand. The zero value is ready for use.
type Intake struct {
	storing atomic.Int64
	bytes   atomic.Int64
}

// Storing is how many verified deliveries wait to be stored. Whoever can do
// other work later should, while there are many.
func (i *Intake) Storing() int { return int(i.storing.Load()) }

// Bytes is how much memory is lent for small bodies.
func (i *Intake) Bytes() int64 { return i.bytes.Load() }

// Answer is what became of a webhook, as a label of metrics.
type Answer string

// The answers.
const (
	// AnswerAccepted means stored by this request; AnswerRearmed that it was known
	// and given up, and will be decided again; AnswerDuplicate that it was known.
	AnswerAccepted  Answer = "accepted"
	AnswerRearmed   Answer = "rearmed"
	AnswerDuplicate Answer = "duplicate"
	// AnswerChallenge means that a platform's question was answered.
	AnswerChallenge Answer = "challenge"
	// AnswerUnsigned means that a signature is missing or wrong.
	AnswerUnsigned Answer = "unsigned"
	// AnswerStale means that it was signed at another time than now.
	AnswerStale Answer = "stale"
	// AnswerRefused means that it cannot be a webhook of this platform as it stands.
	AnswerRefused    Answer = "refused"
	AnswerTooLarge   Answer = "too_large"
	AnswerIncomplete Answer = "incomplete"
	// AnswerBusy means that there is no memory for it now, and AnswerUnavailable
	// that the store cannot take it now.
	AnswerBusy        Answer = "busy"
	AnswerUnavailable Answer = "unavailable"
)

// Metrics is told of every webhook. Its method is called by many goroutines and
// must not wait.
type Metrics interface {
	// WebhookAnswered counts an answer, an [Answer], to a source's webhook: whether
	// it says that the delivery is stored, how many bytes of its body were read,
	// and how long it took from its headers to the answer.
	WebhookAnswered(source, answer string, stored bool, bytes int, took time.Duration)
}

type noMetrics struct{}

func (noMetrics) WebhookAnswered(string, string, bool, int, time.Duration) {}

const (
	// storeTimeout bounds storing a delivery: GitHub waits for 10 s in all, and an
	// honest 503 is better than its timeout.
	storeTimeout = 9 * time.Second
	// retryAfter is the answer's Retry-After in seconds when a delivery cannot be taken.
	retryAfter = "5"
	// maxHeaderValue bounds what is kept of one header.
	maxHeaderValue = 256
)

// intake is what the doors of all platforms share.
type intake struct {
	inbox   state.Inbox
	memory  *bodyMemory
	now     func() time.Time
	log     *slog.Logger
	metrics Metrics
	counts  *Intake
	hasten  func(source, id string)
}

// take answers one webhook by serve, which returns what became of it and how
// many bytes it read.
func (in *intake) take(source string, w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter, *http.Request) (Answer, int)) {
	begun := in.now()
	answer, bytes := AnswerUnavailable, 0 // should serve panic
	defer func() { in.answered(source, answer, bytes, begun) }()
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		fail(w, http.StatusMethodNotAllowed, "method_not_allowed", "webhooks are posted")
		answer = AnswerRefused
		return
	}
	answer, bytes = serve(w, r)
}

// readBody reads a body, or answers why that cannot be done; then the answer
// is not empty.
func (in *intake) readBody(w http.ResponseWriter, r *http.Request, limit int64) (body, Answer) {
	b, err := in.memory.read(w, r, limit)
	switch {
	case err == nil:
		return b, ""
	case errors.Is(err, errTooLarge):
		w.Header().Set("Connection", "close") // what else is on its way is not read
		fail(w, http.StatusRequestEntityTooLarge, "too_large", "the body is larger than any that this platform sends")
		return body{}, AnswerTooLarge
	case errors.Is(err, errNoMemory):
		w.Header().Set("Retry-After", retryAfter)
		fail(w, http.StatusServiceUnavailable, "busy", "too many deliveries at once; send it again")
		return body{}, AnswerBusy
	default:
		fail(w, http.StatusBadRequest, "incomplete_body", "the body did not arrive whole")
		return body{}, AnswerIncomplete
	}
}

// store stores a verified delivery. Unless the answer is one of the three that
// mean stored it has answered.
func (in *intake) store(w http.ResponseWriter, r *http.Request, d state.Delivery) Answer {
	answer, err := in.keep(r.Context(), d)
	switch {
	case answer == AnswerRefused:
		fail(w, http.StatusBadRequest, "invalid_headers", "the delivery's id cannot be kept")
	case err != nil:
		in.log.Error("delivery could not be stored", "delivery", d.ID, "event", d.Event, "error", err)
		w.Header().Set("Retry-After", retryAfter)
		fail(w, http.StatusServiceUnavailable, "store_unavailable", "the delivery could not be stored; send it again")
	}
	return answer
}

// keep stores a verified delivery. Without an error the answer is one of the
// three that mean stored.
func (in *intake) keep(ctx context.Context, d state.Delivery) (Answer, error) {
	// A sender that hangs up must not undo what is being stored.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	in.counts.storing.Add(1)
	defer in.counts.storing.Add(-1)
	outcome, err := in.inbox.Accept(ctx, d)
	switch {
	case errors.Is(err, state.ErrInvalid):
		return AnswerRefused, err
	case err != nil:
		return AnswerUnavailable, err
	case outcome == state.Duplicate:
		return AnswerDuplicate, nil
	}
	if urgent(d) {
		in.hasten(d.Source, d.ID)
	}
	if outcome == state.Rearmed {
		return AnswerRearmed, nil
	}
	return AnswerAccepted, nil
}

// urgent reports whether somebody waits for a delivery at a screen.
func urgent(d state.Delivery) bool {
	return d.Source == sourceSlack && (d.Event == eventInteraction || d.Event == eventCommand)
}

// stored reports whether a delivery is on file, by this request or another.
func (a Answer) stored() bool {
	return a == AnswerAccepted || a == AnswerDuplicate || a == AnswerRearmed
}

// release gives a body back once its delivery was answered.
func release(b *body, a Answer) {
	if a == AnswerUnavailable {
		b.abandon() // a store that failed may not be done with it
		return
	}
	b.free()
}

// refuse logs a request that is not to be believed: nothing of its body.
func (in *intake) refuse(r *http.Request, why string, attrs ...any) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	in.log.Warn("webhook refused", append([]any{"reason", why, "remote", host}, attrs...)...)
}

// token reports whether s is fit to be an id or a name in a header: 1 to 128
// characters of the kind that UUIDs and event names are made of.
func token(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == ':':
		default:
			return false
		}
	}
	return true
}

// header returns a header's first value. The name must be in canonical form,
// which [http.Header.Get] would have to make first.
func header(h http.Header, name string) string {
	if values := h[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// keep copies the named headers, each cut to a bounded length.
func keep(h http.Header, names []string) map[string]string {
	kept := make(map[string]string, len(names))
	for _, name := range names {
		if value := header(h, name); value != "" {
			kept[name] = value[:min(len(value), maxHeaderValue)]
		}
	}
	return kept
}

// accept answers that a delivery is stored. Its id is a [token] and needs no escaping.
func accept(w http.ResponseWriter, id string, a Answer) {
	answer.JSONHeaders(w.Header())
	w.WriteHeader(http.StatusAccepted)
	// A sender that went away will ask again, and is told that it is a duplicate.
	_, _ = io.WriteString(w, `{"ok":true,"delivery":"`)
	_, _ = io.WriteString(w, id)
	if a == AnswerDuplicate {
		_, _ = io.WriteString(w, `","duplicate":true}`+"\n")
		return
	}
	_, _ = io.WriteString(w, `"}`+"\n")
}
