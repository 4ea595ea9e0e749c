package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/liaison-bot/liaison/handlers/answer"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

const (
	// decideTimeout bounds how long a message or a stop may take to be stored. It
	// stays below the time that the server gives an answer.
	decideTimeout = 20 * time.Second
	// maxTitle and maxReason bound short texts in characters.
	maxTitle  = 200
	maxReason = 500
)

// start takes the first message of a session.
func (a *API) start(w http.ResponseWriter, r *http.Request, p Principal) error {
	m := sessions.Message{Channel: sessions.ChannelHTTP, Principal: p.Name, Operator: p.Operator, Mode: state.ModeChat}
	var files map[string]string
	err := decode(w, r, fields{
		"message": &m.Text, "title": &m.Title, "mode": &m.Mode, "dryRun": &m.DryRun, "workspaceFiles": &files,
	}, "message")
	if err != nil {
		return err
	}
	if m.Mode != state.ModeChat && m.Mode != state.ModeTask {
		return badRequest(`"mode" must be "chat" or "task"`)
	}
	if err := checkLine("title", m.Title, maxTitle); err != nil {
		return err
	}
	return a.send(w, r, m, files)
}

// followUp takes a further message of a session.
func (a *API) followUp(w http.ResponseWriter, r *http.Request, p Principal) error {
	sess, err := a.owned(r, p)
	if err != nil {
		return err
	}
	m := sessions.Message{Channel: sessions.ChannelHTTP, Principal: p.Name, Operator: p.Operator, SessionID: sess.ID}
	var admission string
	var files map[string]string
	err = decode(w, r, fields{
		"continuationToken": &m.Token, "message": &m.Text, "admission": &admission, "workspaceFiles": &files,
	}, "continuationToken", "message")
	if err != nil {
		return err
	}
	if m.Token == "" || len(m.Token) > state.MaxID {
		return badRequest(`"continuationToken" must have 1 to %d bytes`, state.MaxID)
	}
	switch admission {
	case "", "preempt":
		m.Admission = sessions.AdmitPreempt
	case "coalesce":
		m.Admission = sessions.AdmitCoalesce
	default:
		return badRequest(`"admission" must be "preempt" or "coalesce"`)
	}
	return a.send(w, r, m, files)
}

func (a *API) send(w http.ResponseWriter, r *http.Request, m sessions.Message, files map[string]string) error {
	if strings.TrimSpace(m.Text) == "" {
		return badRequest(`"message" must not be empty`)
	}
	if err := checkFiles(files); err != nil {
		return err
	}
	if len(files) > 0 {
		request, err := json.Marshal(turnRequest{Files: files})
		if err != nil {
			return err
		}
		m.Request = request
	}
	ctx, cancel := decideContext(r)
	defer cancel()
	sent, err := a.runtime.Send(ctx, m)
	if err != nil {
		return undecided(ctx, err)
	}
	answer.JSON(w, http.StatusOK, struct {
		OK                bool   `json:"ok"`
		SessionID         string `json:"sessionId"`
		TurnID            string `json:"turnId"`
		ContinuationToken string `json:"continuationToken"`
		Position          int    `json:"position"`
		links
	}{true, sent.SessionID, sent.TurnID, sent.Token, sent.Position, a.links(r, sent.SessionID)})
	return nil
}

// stopSession interrupts what runs and drops what waits.
func (a *API) stopSession(w http.ResponseWriter, r *http.Request, p Principal) error {
	sess, err := a.owned(r, p)
	if err != nil {
		return err
	}
	request := sessions.StopRequest{SessionID: sess.ID, Principal: p.Name, Operator: p.Operator}
	if err := decodeOptional(w, r, fields{"reason": &request.Reason}); err != nil {
		return err
	}
	if err := checkLine("reason", request.Reason, maxReason); err != nil {
		return err
	}
	ctx, cancel := decideContext(r)
	defer cancel()
	stopped, err := a.runtime.Stop(ctx, request)
	if err != nil {
		return undecided(ctx, err)
	}
	if stopped.Dropped == nil {
		stopped.Dropped = []string{}
	}
	answer.JSON(w, http.StatusOK, struct {
		OK          bool     `json:"ok"`
		SessionID   string   `json:"sessionId"`
		Interrupted string   `json:"interrupted,omitempty"`
		Dropped     []string `json:"dropped"`
	}{true, sess.ID, stopped.Interrupted, stopped.Dropped})
	return nil
}

// decideContext lets a decision be taken although the caller hung up.
func decideContext(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.Context()), decideTimeout)
}

// undecided tells a timeout, after which nobody knows, from a refusal.
func undecided(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
		return refusef(http.StatusServiceUnavailable, "unknown_outcome", "it was not decided in time and may still be carried out; look at the session before you repeat it")
	}
	return err
}

// checkLine refuses a text that is no single line of at most that many characters.
func checkLine(name, text string, most int) error {
	if len([]rune(text)) > most || strings.ContainsFunc(text, unicode.IsControl) {
		return badRequest("%q must be one line of at most %d characters", name, most)
	}
	return nil
}

// links are where a person looks at a session.
type links struct {
	PlaygroundURL string `json:"playgroundUrl"`
	TraceURL      string `json:"traceUrl"`
}

func (a *API) links(r *http.Request, sessionID string) links {
	base := a.publicURL
	if base == "" {
		scheme := "http"
		// The answer goes to the caller only, who may say how the service was reached.
		if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
			scheme = "https"
		}
		base = scheme + "://" + r.Host
	}
	id := url.PathEscape(sessionID)
	return links{PlaygroundURL: base + "/?sessionId=" + id, TraceURL: base + "/v1/session/" + id + "/events"}
}
