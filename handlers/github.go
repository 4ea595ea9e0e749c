package handlers

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/liaison-bot/liaison/state"
)

const (
	// maxGitHubBody is just above the 25 MB at which GitHub stops sending
	// (https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap).
	maxGitHubBody = 26 << 20
	// firstRead is what is allocated for a body on the word of Content-Length
	// alone; a longer one has to arrive before it takes more memory.
	firstRead = 256 << 10
	// maxLarge is how many bodies longer than firstRead are held at a time:
	// anybody can send them, and they take memory before they are verified.
	maxLarge = 8
	// largeWait is how long a large body waits for its turn; GitHub waits for 10 s.
	largeWait = 5 * time.Second
	// storeTimeout bounds storing it: GitHub waits for 10 s in all, and an honest
	// 503 is better than its timeout.
	storeTimeout = 9 * time.Second
	// retryAfter is the answer's Retry-After in seconds when the store cannot take a delivery.
	retryAfter = 5
	// maxHeaderValue bounds what is kept of one header.
	maxHeaderValue = 256
)

// githubHeaders are kept with a delivery. The signature is not among them.
var githubHeaders = []string{
	"Content-Type",
	"User-Agent",
	"X-Github-Delivery",
	"X-Github-Event",
	"X-Github-Hook-Id",
	"X-Github-Hook-Installation-Target-Id",
	"X-Github-Hook-Installation-Target-Type",
}

// githubWebhook takes GitHub's webhooks.
type githubWebhook struct {
	inbox   state.Inbox
	secrets *hmacSecrets
	now     func() time.Time
	log     *slog.Logger
	// large has a place for each large body that is held.
	large chan struct{}
}

func (h *githubWebhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		fail(w, http.StatusMethodNotAllowed, "method_not_allowed", "webhooks are posted")
		return
	}
	// The signature does not cover the Content-Type: a signed JSON body sent again
	// as a form would mean something that nobody signed.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		fail(w, http.StatusUnsupportedMediaType, "not_json", `set the webhook's content type to "application/json" in the settings of the GitHub App`)
		return
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		fail(w, http.StatusUnsupportedMediaType, "encoded", "the body must be sent as it was signed, without a content encoding")
		return
	}
	event, id := r.Header.Get("X-GitHub-Event"), r.Header.Get("X-GitHub-Delivery")
	if !token(event) || !token(id) {
		fail(w, http.StatusBadRequest, "missing_headers", "X-GitHub-Event and X-GitHub-Delivery are required; a proxy may have removed them")
		return
	}
	signature := r.Header.Get("X-Hub-Signature-256")
	if signature == "" {
		h.refuse(r, event, id, 0, "missing signature")
		fail(w, http.StatusUnauthorized, "missing_signature", "X-Hub-Signature-256 is required; set a secret in the settings of the GitHub App")
		return
	}

	body, done := h.readBody(w, r)
	if done == nil {
		return
	}
	defer done()
	used := h.secrets.match(signature, body)
	if used < 0 {
		h.refuse(r, event, id, len(body), "wrong signature")
		fail(w, http.StatusUnauthorized, "wrong_signature", "X-Hub-Signature-256 does not match; is the secret the one of the GitHub App's webhook?")
		return
	}
	if used > 0 {
		// The index tells an operator when an old secret may be retired.
		h.log.Debug("webhook signed with an older secret", "delivery", id, "secret", used+1)
	}

	// A sender that hangs up must not undo what is being stored.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), storeTimeout)
	defer cancel()
	outcome, err := h.inbox.Accept(ctx, state.Delivery{
		Source:     "github",
		ID:         id,
		Event:      event,
		Headers:    keep(r.Header, githubHeaders),
		Body:       body,
		ReceivedAt: h.now(),
	})
	if errors.Is(err, state.ErrInvalid) {
		fail(w, http.StatusBadRequest, "invalid_headers", "X-GitHub-Delivery is not an id that can be kept")
		return
	}
	if err != nil {
		h.log.Error("delivery could not be stored", "delivery", id, "event", event, "error", err)
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
		fail(w, http.StatusServiceUnavailable, "store_unavailable", "the delivery could not be stored; send it again")
		return
	}
	reply(w, http.StatusAccepted, accepted{OK: true, Delivery: id, Duplicate: outcome == state.Duplicate})
}

// accepted is the answer to a stored delivery.
type accepted struct {
	OK        bool   `json:"ok"`
	Delivery  string `json:"delivery"`
	Duplicate bool   `json:"duplicate,omitempty"`
}

// refuse logs a delivery that is not to be believed: nothing of its body.
func (h *githubWebhook) refuse(r *http.Request, event, id string, length int, why string) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	h.log.Warn("webhook refused", "reason", why, "delivery", id, "event", event, "bytes", length, "remote", host)
}

// readBody reads a body within the limits; done gives its place to the next.
// When it returns no done it has answered.
func (h *githubWebhook) readBody(w http.ResponseWriter, r *http.Request) (body []byte, done func()) {
	tooLarge := func() ([]byte, func()) {
		fail(w, http.StatusRequestEntityTooLarge, "too_large", "the body is larger than any that GitHub sends")
		return nil, nil
	}
	if r.ContentLength > maxGitHubBody {
		return tooLarge()
	}
	limited := http.MaxBytesReader(w, r.Body, maxGitHubBody)
	body = make([]byte, 0, min(max(r.ContentLength+1, 4<<10), firstRead))
	large, leave := false, func() {}
	for {
		n, err := limited.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return body, leave
		}
		if err != nil {
			leave()
			if _, over := errors.AsType[*http.MaxBytesError](err); over {
				return tooLarge()
			}
			fail(w, http.StatusBadRequest, "incomplete_body", "the body did not arrive whole")
			return nil, nil
		}
		if len(body) < cap(body) {
			continue
		}
		if large || len(body) < firstRead {
			body = append(body, 0)[:len(body)]
			continue
		}
		if large, leave = true, h.enter(r.Context()); leave == nil {
			w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
			fail(w, http.StatusServiceUnavailable, "busy", "too many large deliveries at once; send it again")
			return nil, nil
		}
		body = slices.Grow(body, int(max(r.ContentLength+1-int64(len(body)), firstRead)))
	}
}

// enter waits for a place for a large body, and returns what gives it back, or
// nil when there is none in time.
func (h *githubWebhook) enter(ctx context.Context) (leave func()) {
	ctx, cancel := context.WithTimeout(ctx, largeWait)
	defer cancel()
	select {
	case h.large <- struct{}{}:
		return func() { <-h.large }
	case <-ctx.Done():
		return nil
	}
}

// token reports whether s is fit to be an id or a name in a header: 1 to 128
// characters of the kind that UUIDs and event names are made of.
func token(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == ':':
		default:
			return false
		}
	}
	return true
}

// keep copies the named headers, each cut to a bounded length.
func keep(h http.Header, names []string) map[string]string {
	kept := make(map[string]string, len(names))
	for _, name := range names {
		if values := h[name]; len(values) > 0 {
			kept[name] = values[0][:min(len(values[0]), maxHeaderValue)]
		}
	}
	return kept
}
