package handlers

import (
	"mime"
	"net/http"
	"strings"

	"github.com/liaison-bot/liaison/state"
)

// maxGitHubBody is just above the 25 MB at which GitHub stops sending
// (https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap).
const maxGitHubBody = 26 << 20

// sourceGitHub is the source of GitHub's deliveries.
const sourceGitHub = "github"

// ownEvents begins the names of events that only we tell ourselves.
const ownEvents = "liaison."

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
	*intake
	secrets *hmacSecrets
}

func (h *githubWebhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.take(sourceGitHub, w, r, h.serve)
}

func (h *githubWebhook) serve(w http.ResponseWriter, r *http.Request) (Answer, int) {
	// The signature does not cover the Content-Type: a signed JSON body sent again
	// as a form would mean something that nobody signed.
	if mediaType(r.Header) != mediaJSON {
		fail(w, http.StatusUnsupportedMediaType, "not_json", `set the webhook's content type to "application/json" in the settings of the GitHub App`)
		return AnswerRefused, 0
	}
	if encoded(r.Header) {
		fail(w, http.StatusUnsupportedMediaType, "encoded", "the body must be sent as it was signed, without a content encoding")
		return AnswerRefused, 0
	}
	event, id := header(r.Header, "X-Github-Event"), header(r.Header, "X-Github-Delivery")
	if !token(event) || !token(id) {
		fail(w, http.StatusBadRequest, "missing_headers", "X-GitHub-Event and X-GitHub-Delivery are required; a proxy may have removed them")
		return AnswerRefused, 0
	}
	if strings.HasPrefix(event, ownEvents) {
		h.refuse(r, "an event of ours from outside", "delivery", id, "event", event)
		fail(w, http.StatusBadRequest, "reserved_event", "GitHub has no events of this name")
		return AnswerRefused, 0
	}
	signature := header(r.Header, "X-Hub-Signature-256")
	if signature == "" {
		h.refuse(r, "missing signature", "delivery", id, "event", event)
		fail(w, http.StatusUnauthorized, "missing_signature", "X-Hub-Signature-256 is required; set a secret in the settings of the GitHub App")
		return AnswerUnsigned, 0
	}

	b, answer := h.readBody(w, r, maxGitHubBody)
	if answer != "" {
		return answer, 0
	}
	answer = AnswerUnavailable // should the store panic
	defer func() { release(&b, answer) }()
	answer = h.verified(w, r, event, id, signature, b.data)
	return answer, len(b.data)
}

// verified answers a delivery of which the body was read.
func (h *githubWebhook) verified(w http.ResponseWriter, r *http.Request, event, id, signature string, body []byte) Answer {
	used := h.secrets.match(signature, githubSignaturePrefix, "", body)
	if used < 0 {
		h.refuse(r, "wrong signature", "delivery", id, "event", event, "bytes", len(body))
		fail(w, http.StatusUnauthorized, "wrong_signature", "X-Hub-Signature-256 does not match; is the secret the one of the GitHub App's webhook?")
		return AnswerUnsigned
	}
	if used > 0 {
		// The index tells an operator when an old secret may be retired.
		h.log.Debug("webhook signed with an older secret", "delivery", id, "secret", used+1)
	}
	answer := h.store(w, r, state.Delivery{
		Source:     sourceGitHub,
		ID:         id,
		Event:      event,
		Headers:    keep(r.Header, githubHeaders),
		Body:       body,
		ReceivedAt: h.now(),
	})
	if answer.stored() {
		accept(w, id, answer)
	}
	return answer
}

// The media types that platforms send.
const (
	mediaJSON = "application/json"
	mediaForm = "application/x-www-form-urlencoded"
)

// mediaType returns a request's media type without its parameters, and an empty
// one when it is none.
func mediaType(h http.Header) string {
	value := header(h, "Content-Type")
	if value == mediaJSON || value == mediaForm {
		return value
	}
	kind, _, err := mime.ParseMediaType(value)
	if err != nil {
		return ""
	}
	return kind
}

// encoded reports whether a body was not sent as it was signed.
func encoded(h http.Header) bool {
	encoding := header(h, "Content-Encoding")
	return encoding != "" && encoding != "identity"
}
