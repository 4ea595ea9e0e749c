package sessions

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/state"
)

// ChannelHTTP is the channel of sessions that are started by HTTP. Their keys are
// credentials: opaque, replaced by every follow-up, and in no event or log.
const ChannelHTTP = "http"

// tokenBytes is the randomness of a continuation token: 160 bits, where 128 are
// beyond guessing.
const tokenBytes = 20

// MaxMessage bounds the text of a message, and the request with it, in bytes.
const MaxMessage = 1 << 20

// Send starts a session or continues one. The message is durable, and will be
// answered, once it returns without an error.
//
// Errors: [state.ErrNotFound], [ErrNotAllowed], [ErrTask] and [ErrStaleToken],
// in this order; [state.ErrInvalid] for a message that can never be taken; and
// [state.ErrUnavailable] when the engine or the store takes nothing now. In all
// of these nothing was changed. When ctx ends while Send waits, its error is
// returned and the message may have been accepted all the same: the session, if
// there is one, has the answer.
func (e *Engine) Send(ctx context.Context, m Message) (Sent, error) {
	start := m.SessionID == ""
	if err := e.sendable(&m); err != nil {
		return Sent{}, fmt.Errorf("send: %w", err)
	}
	token, err := e.newToken(m.Channel)
	if err != nil {
		return Sent{}, fmt.Errorf("send: %w", err)
	}
	id := m.SessionID
	if start {
		id = sessionPrefix + e.newID()
	}
	sent, err := ask(ctx, e, id, func(a *actor) (Sent, error) {
		if start {
			return a.begun(m, token)
		}
		return a.continued(m, token)
	})
	switch {
	case err == nil:
		return sent, nil
	case start:
		return Sent{}, fmt.Errorf("start a session: %w", err)
	default:
		return Sent{}, fmt.Errorf("continue session %s: %w", id, err)
	}
}

// sendable refuses what no session can take, and fills in defaults.
func (e *Engine) sendable(m *Message) error {
	if m.Mode == "" {
		m.Mode = state.ModeChat
	}
	if m.Admission == 0 {
		m.Admission = AdmitPreempt
	}
	switch {
	case m.SessionID != "" && !state.ValidSessionID(m.SessionID):
		return fmt.Errorf("session %.80q: %w", m.SessionID, state.ErrNotFound)
	case e.channels[m.Channel] == nil:
		return fmt.Errorf("no channel %q is configured: %w", m.Channel, state.ErrInvalid)
	case m.Text == "" || !utf8.ValidString(m.Text):
		return fmt.Errorf("the message is empty or not UTF-8: %w", state.ErrInvalid)
	case len(m.Text)+len(m.Request) > MaxMessage:
		return fmt.Errorf("the message has %d bytes, and %d are the most: %w", len(m.Text)+len(m.Request), MaxMessage, state.ErrInvalid)
	case len(m.Request) > 0 && !json.Valid(m.Request):
		return fmt.Errorf("the message's request is not JSON: %w", state.ErrInvalid)
	case m.Mode != state.ModeChat && m.Mode != state.ModeTask:
		return fmt.Errorf("mode %.20q is not known: %w", m.Mode, state.ErrInvalid)
	case m.Admission != AdmitPreempt && m.Admission != AdmitCoalesce:
		return fmt.Errorf("admission %d is not known: %w", m.Admission, state.ErrInvalid)
	}
	return nil
}

// newToken makes a continuation key that nobody can guess.
func (e *Engine) newToken(channel string) (string, error) {
	raw := make([]byte, tokenBytes)
	if _, err := io.ReadFull(e.random, raw); err != nil {
		return "", fmt.Errorf("make a continuation token: %w", err)
	}
	return channel + ":" + base64.RawURLEncoding.EncodeToString(raw), nil
}

// begun opens the actor's session with its first message.
func (a *actor) begun(m Message, token string) (Sent, error) {
	sent := Sent{SessionID: a.id, Token: token}
	err := a.decideAtOnce(func(d *draft) error {
		d.create(state.Session{
			Channel: m.Channel, Key: token, Title: m.Title, Mode: m.Mode,
			Principal: m.Principal, DryRun: m.DryRun,
		})
		at := a.enqueue(d, m.asked())
		sent.TurnID, sent.Position = at.turnID, at.position
		return nil
	})
	return a.accepted(sent, err)
}

// continued takes a follow-up.
func (a *actor) continued(m Message, token string) (Sent, error) {
	sent := Sent{SessionID: a.id}
	err := a.decideAtOnce(func(d *draft) error {
		if err := a.continuable(m); err != nil {
			return err
		}
		sent.Token = a.sess.Key
		if row := d.session(); row.Channel == ChannelHTTP {
			d.change.Unlink = append(d.change.Unlink, row.Key)
			d.change.Keys = append(d.change.Keys, state.KeyLink{Key: token, SessionID: a.id})
			row.Key, sent.Token = token, token
		}
		d.reopen()
		by := m.asked()
		by.inherited = a.preempt(d, by)
		at := a.enqueue(d, by)
		sent.TurnID, sent.Position = at.turnID, at.position
		return nil
	})
	return a.accepted(sent, err)
}

// continuable says why a follow-up is refused. Whose session it is comes first:
// a stranger learns nothing else of it.
func (a *actor) continuable(m Message) error {
	switch {
	case a.sess.Version == 0:
		return state.ErrNotFound
	case !m.Operator && !a.owns(m.Principal):
		return ErrNotAllowed
	case a.sess.Mode == state.ModeTask:
		return ErrTask
	case subtle.ConstantTimeCompare([]byte(m.Token), []byte(a.sess.Key)) != 1:
		return ErrStaleToken
	}
	return nil
}

// owns reports whether the session is this principal's.
func (a *actor) owns(principal string) bool {
	return principal != "" && principal == a.sess.Principal
}

// accepted ends a send whose decision was taken or not.
func (a *actor) accepted(sent Sent, err error) (Sent, error) {
	if err != nil {
		return Sent{}, err
	}
	a.e.logger.Info("message accepted", "session", a.id, "turn", sent.TurnID, "position", sent.Position)
	a.schedule()
	return sent, nil
}

func (m Message) asked() asked {
	return asked{
		channel: m.Channel, principal: m.Principal, text: m.Text, request: m.Request,
		preempts: m.Admission == AdmitPreempt,
	}
}

// errPanicked answers a question whose actor panicked.
var errPanicked = errors.New("the session's actor panicked")

// ask puts a question to a session's actor and waits for the answer, at most
// until ctx ends. The actor may then answer all the same.
func ask[T any](ctx context.Context, e *Engine, sessionID string, question func(*actor) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	taken := e.taking.Load() && e.actors.offer(sessionID, func(a *actor) {
		got := answer{err: errPanicked}
		defer func() { answered <- got }()
		if ctx.Err() != nil {
			got.err = context.Cause(ctx) // nobody waits for it any more
			return
		}
		got.value, got.err = question(a)
		if got.err != nil && a.e.actors.ctx.Err() != nil {
			got.err = fmt.Errorf("the service is stopping: %w (%w)", state.ErrUnavailable, got.err)
		}
	})
	if !taken {
		var none T
		return none, fmt.Errorf("the service is starting or stopping: %w", state.ErrUnavailable)
	}
	select {
	case got := <-answered:
		return got.value, got.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
