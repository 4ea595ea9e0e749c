package handlers

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/liaison-bot/liaison/state"
)

const (
	// maxSlackBody is far above what Slack sends: its events hold at most some
	// 16 KB of text beside blocks.
	maxSlackBody = 1 << 20
	// maxSlackSkew is how far a request's time may be from ours, either way
	// (https://docs.slack.dev/authentication/verifying-requests-from-slack).
	maxSlackSkew = 300 * time.Second
	// maxChallenge bounds what is said back; Slack's challenges have some 60 characters.
	maxChallenge = 1 << 10
)

// sourceSlack is the source of Slack's deliveries.
const sourceSlack = "slack"

// The events that forms of Slack's are stored as, besides JSON's own types.
const (
	eventInteraction = "interaction"
	eventCommand     = "command"
)

// slackHeaders are kept with a delivery. The signature is not among them.
var slackHeaders = []string{
	"Content-Type",
	"User-Agent",
	"X-Slack-Request-Timestamp",
	"X-Slack-Retry-Num",
	"X-Slack-Retry-Reason",
}

// slackWebhook takes Slack's events, interactions and commands. Slack waits for
// 3 s and wants a 200; anything else is sent again.
type slackWebhook struct {
	*intake
	secrets *hmacSecrets
}

func (h *slackWebhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.take(sourceSlack, w, r, h.serve)
}

func (h *slackWebhook) serve(w http.ResponseWriter, r *http.Request) (Answer, int) {
	signature, timestamp := header(r.Header, "X-Slack-Signature"), header(r.Header, "X-Slack-Request-Timestamp")
	if signature == "" || timestamp == "" {
		h.refuse(r, "missing signature")
		fail(w, http.StatusUnauthorized, "missing_signature", "X-Slack-Signature and X-Slack-Request-Timestamp are required")
		return AnswerUnsigned, 0
	}
	skew, ok := h.skew(timestamp)
	if !ok {
		h.refuse(r, "signed at another time than now; is this machine's clock right?", "skew", skew)
		fail(w, http.StatusUnauthorized, "wrong_time", "X-Slack-Request-Timestamp is more than 300 seconds away from this machine's clock")
		return AnswerStale, 0
	}
	b, answer := h.readBody(w, r, maxSlackBody)
	if answer != "" {
		return answer, 0
	}
	answer = AnswerUnavailable // should the store panic
	defer func() { release(&b, answer) }()
	answer = h.verified(w, r, signature, timestamp, b.data)
	return answer, len(b.data)
}

// skew returns how far a request's time is behind ours, and whether it may be.
func (h *slackWebhook) skew(timestamp string) (time.Duration, bool) {
	// Longer ones are beyond the year 5000, and their difference beyond counting.
	if len(timestamp) > len("99999999999") || timestamp[0] == '+' || timestamp[0] == '-' {
		return 0, false
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return 0, false
	}
	// In whole seconds, as Slack counts them.
	skew := time.Duration(h.now().Unix()-seconds) * time.Second
	return skew, skew.Abs() <= maxSlackSkew
}

// verified answers a request of which the body was read.
func (h *slackWebhook) verified(w http.ResponseWriter, r *http.Request, signature, timestamp string, body []byte) Answer {
	used := h.secrets.match(signature, slackSignaturePrefix, "v0:"+timestamp+":", body)
	if used < 0 {
		h.refuse(r, "wrong signature", "bytes", len(body))
		fail(w, http.StatusUnauthorized, "wrong_signature", "X-Slack-Signature does not match; is SLACK_SIGNING_SECRET the one of the app?")
		return AnswerUnsigned
	}
	if used > 0 {
		h.log.Debug("webhook signed with an older secret", "source", sourceSlack, "secret", used+1)
	}
	if encoded(r.Header) {
		fail(w, http.StatusUnsupportedMediaType, "encoded", "the body must be sent as it was signed, without a content encoding")
		return AnswerRefused
	}
	var id, event string
	switch mediaType(r.Header) {
	case mediaJSON:
		e := readEnvelope(body)
		if e.kind == "url_verification" {
			return challenge(w, e.challenge)
		}
		id, event = e.eventID, e.kind
	case mediaForm:
		// The signature does not cover the Content-Type: what was signed as JSON must
		// not be read as a form, in which somebody's text could be a field.
		if first := bytes.TrimLeft(body, " \t\r\n"); len(first) > 0 && (first[0] == '{' || first[0] == '[') {
			fail(w, http.StatusUnsupportedMediaType, "not_a_form", "the body is JSON, and was sent as a form")
			return AnswerRefused
		}
		event = formKind(body)
	default:
		fail(w, http.StatusUnsupportedMediaType, "unknown_type", "Slack sends application/json or application/x-www-form-urlencoded")
		return AnswerRefused
	}
	// Nothing that Slack signed is refused for an odd field: what cannot be told
	// apart by an id is by all that was signed.
	if !token(id) {
		id = signedID(timestamp, body)
	}
	if !token(event) {
		event = "unknown"
	}
	answer := h.store(w, r, state.Delivery{
		Source:     sourceSlack,
		ID:         id,
		Event:      event,
		Headers:    keep(r.Header, slackHeaders),
		Body:       body,
		ReceivedAt: h.now(),
	})
	if answer.stored() {
		w.WriteHeader(http.StatusOK)
	}
	return answer
}

// challenge answers Slack's question whether this URL is its app's. It is plain
// text that no browser takes for anything else.
func challenge(w http.ResponseWriter, text string) Answer {
	if text == "" || len(text) > maxChallenge {
		fail(w, http.StatusBadRequest, "bad_challenge", "the challenge is missing or longer than any of Slack's")
		return AnswerRefused
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w, text)
	return AnswerChallenge
}

// signedID is the id of what comes without one of Slack's: a click or a command.
func signedID(timestamp string, body []byte) string {
	hash := sha256.New()
	hash.Write([]byte(timestamp + ":"))
	hash.Write(body)
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}

// formKind names what a form is, by its fields, without decoding it.
func formKind(body []byte) string {
	for field := range bytes.SplitSeq(body, []byte("&")) {
		name, _, _ := bytes.Cut(field, []byte("="))
		switch string(name) {
		case "payload":
			return eventInteraction
		case "command":
			return eventCommand
		case "ssl_check":
			return "ssl_check"
		}
	}
	return "form"
}
