package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/liaison-bot/liaison/handlers/answer"
	"github.com/liaison-bot/liaison/state"
)

// owned returns the session that a path names, if it is the caller's or the
// caller is the operator.
func (a *API) owned(r *http.Request, p Principal) (state.Session, error) {
	return a.ownedSession(r.Context(), r.PathValue("id"), p)
}

func (a *API) ownedSession(ctx context.Context, id string, p Principal) (state.Session, error) {
	if !state.ValidSessionID(id) {
		return state.Session{}, noSession()
	}
	sess, err := a.store.Session(ctx, id)
	switch {
	case errors.Is(err, state.ErrNotFound):
		return sess, noSession()
	case err != nil:
		return sess, err
	case !p.Operator && sess.Principal != p.Name:
		return sess, notYours()
	}
	return sess, nil
}

// sessionView is a session as the API shows it. Its key is not among it: it may
// be a credential.
type sessionView struct {
	ID        string              `json:"id"`
	Channel   string              `json:"channel"`
	Title     string              `json:"title,omitempty"`
	Mode      state.Mode          `json:"mode"`
	Status    state.SessionStatus `json:"status"`
	Principal string              `json:"principal,omitempty"`
	DryRun    bool                `json:"dryRun,omitempty"`
	Paused    string              `json:"paused,omitempty"`
	Revision  string              `json:"revision,omitempty"`
	CreatedAt time.Time           `json:"createdAt"`
	UpdatedAt time.Time           `json:"updatedAt"`
}

func viewSession(s state.Session) sessionView {
	return sessionView{
		ID: s.ID, Channel: s.Channel, Title: s.Title, Mode: s.Mode, Status: s.Status, Principal: s.Principal,
		DryRun: s.DryRun, Paused: s.Paused, Revision: s.Revision.ID, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
	}
}

type turnView struct {
	ID         string           `json:"id"`
	Status     state.TurnStatus `json:"status"`
	Channel    string           `json:"channel,omitempty"`
	Principal  string           `json:"principal,omitempty"`
	Message    string           `json:"message"`
	Gathered   int              `json:"gathered,omitempty"`
	Revision   string           `json:"revision,omitempty"`
	DeliveryID string           `json:"deliveryId,omitempty"`
	Attempts   int              `json:"attempts"`
	NotBefore  time.Time        `json:"notBefore,omitzero"`
	WaitsFor   string           `json:"waitsFor,omitempty"`
	Reason     string           `json:"reason,omitempty"`
	Acted      string           `json:"acted,omitempty"`
	Usage      state.Usage      `json:"usage"`
	ToolCalls  int              `json:"toolCalls"`
	Model      string           `json:"model,omitempty"`
	CostUSD    float64          `json:"costUsd,omitempty"`
	QueuedAt   time.Time        `json:"queuedAt"`
	StartedAt  time.Time        `json:"startedAt,omitzero"`
	EndedAt    time.Time        `json:"endedAt,omitzero"`
}

func viewTurn(t state.Turn) turnView {
	return turnView{
		ID: t.ID, Status: t.Status, Channel: t.Channel, Principal: t.Principal, Message: t.Message,
		Gathered: len(t.Gathered), Revision: t.Revision.ID, DeliveryID: t.DeliveryID, Attempts: t.Attempts,
		NotBefore: t.NotBefore, WaitsFor: t.WaitsFor, Reason: t.Reason, Acted: t.Acted, Usage: t.Usage,
		ToolCalls: t.ToolCalls, Model: t.Model, CostUSD: t.CostUSD,
		QueuedAt: t.QueuedAt, StartedAt: t.StartedAt, EndedAt: t.EndedAt,
	}
}

// session shows one session with its turns.
func (a *API) session(w http.ResponseWriter, r *http.Request, p Principal) error {
	sess, err := a.owned(r, p)
	if err != nil {
		return err
	}
	rows, err := a.store.Turns(r.Context(), sess.ID)
	if err != nil {
		return err
	}
	turns := make([]turnView, len(rows))
	for i, t := range rows {
		turns[i] = viewTurn(t)
	}
	answer.JSON(w, http.StatusOK, struct {
		OK                bool        `json:"ok"`
		Session           sessionView `json:"session"`
		ContinuationToken string      `json:"continuationToken"`
		Turns             []turnView  `json:"turns"`
		links
	}{true, viewSession(sess), sess.Key, turns, a.links(r, sess.ID)})
	return nil
}

// list shows the caller's sessions, newest first; the operator's are all.
func (a *API) list(w http.ResponseWriter, r *http.Request, p Principal) error {
	most, err := limit(r)
	if err != nil {
		return err
	}
	var f state.SessionFilter
	if !p.Operator {
		f.Principal = p.Name
	}
	if f.Before, err = word(r, "before", state.ValidSessionID); err != nil {
		return err
	}
	if f.Channel, err = word(r, "channel", channelName); err != nil {
		return err
	}
	rows, err := a.store.RecentSessions(r.Context(), f, most+1)
	if err != nil {
		return err
	}
	page := struct {
		OK       bool          `json:"ok"`
		Sessions []sessionView `json:"sessions"`
		Next     string        `json:"next,omitempty"`
	}{OK: true, Sessions: []sessionView{}}
	if len(rows) > most {
		rows = rows[:most]
		page.Next = rows[most-1].ID
	}
	for _, s := range rows {
		page.Sessions = append(page.Sessions, viewSession(s))
	}
	answer.JSON(w, http.StatusOK, page)
	return nil
}
