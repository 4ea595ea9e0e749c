package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/handlers/answer"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// sessionApprovals shows the tool calls of one session that wait for a person.
func (a *API) sessionApprovals(w http.ResponseWriter, r *http.Request, p Principal) error {
	sess, err := a.owned(r, p)
	if err != nil {
		return err
	}
	f, most, err := approvalQuery(r)
	if err != nil {
		return err
	}
	f.SessionID = sess.ID
	views, err := a.runtime.Approvals(r.Context(), f, most+1)
	if err != nil {
		return err
	}
	a.showApprovals(w, views, most, func(approvals.View) bool { return true })
	return nil
}

// allApprovals shows those of every session that the caller may see.
func (a *API) allApprovals(w http.ResponseWriter, r *http.Request, p Principal) error {
	f, most, err := approvalQuery(r)
	if err != nil {
		return err
	}
	views, err := a.runtime.Approvals(r.Context(), f, most+1)
	if err != nil {
		return err
	}
	theirs := map[string]bool{}
	for _, v := range views {
		if _, known := theirs[v.SessionID]; known {
			continue
		}
		if p.Operator {
			theirs[v.SessionID] = true
			continue
		}
		sess, err := a.store.Session(r.Context(), v.SessionID)
		if err != nil && !errors.Is(err, state.ErrNotFound) {
			return err
		}
		theirs[v.SessionID] = err == nil && sess.Principal == p.Name
	}
	a.showApprovals(w, views, most, func(v approvals.View) bool { return theirs[v.SessionID] })
	return nil
}

// approvalQuery reads which approvals are wanted, and how many at most.
func approvalQuery(r *http.Request) (f sessions.ApprovalFilter, most int, err error) {
	states, err := word(r, "state", func(s string) bool { return s == "open" || s == "all" })
	if err == nil {
		f.Before, err = word(r, "before", approvals.ValidID)
	}
	if err == nil {
		most, err = limit(r)
	}
	f.Open = states != "all"
	return f, most, err
}

// showApprovals answers with a page of at most that many, of which one more was
// asked for.
func (a *API) showApprovals(w http.ResponseWriter, views []approvals.View, most int, show func(approvals.View) bool) {
	page := struct {
		Approvals []approvalView `json:"approvals"`
		Next      string         `json:"next,omitempty"`
	}{Approvals: []approvalView{}}
	if len(views) > most {
		views = views[:most]
		page.Next = views[most-1].ID
	}
	for _, v := range views {
		if show(v) {
			page.Approvals = append(page.Approvals, viewApproval(v))
		}
	}
	answer.JSON(w, http.StatusOK, page)
}

// approval shows one, in whatever state it is.
func (a *API) approval(w http.ResponseWriter, r *http.Request, p Principal) error {
	id := r.PathValue("approvalId")
	if !approvals.ValidID(id) {
		return noApproval()
	}
	v, err := a.runtime.Approval(r.Context(), id)
	if err != nil {
		return err
	}
	if _, err := a.ownedSession(r.Context(), v.SessionID, p); err != nil {
		return err
	}
	answer.JSON(w, http.StatusOK, decided{true, viewApproval(v)})
	return nil
}

type decided struct {
	OK       bool         `json:"ok"`
	Approval approvalView `json:"approval"`
}

// approvalView is an approval as the API shows it. Whatever text is in it was
// masked before.
type approvalView struct {
	ID                string                `json:"id"`
	Version           uint64                `json:"version"`
	SessionID         string                `json:"sessionId"`
	TurnID            string                `json:"turnId"`
	CallID            string                `json:"callId"`
	ToolName          string                `json:"toolName"`
	Summary           string                `json:"summary,omitempty"`
	Risk              approvals.Risk        `json:"risk"`
	Subject           string                `json:"subject,omitempty"`
	Input             json.RawMessage       `json:"input"`
	InputText         string                `json:"inputText"`
	InputHash         string                `json:"inputHash"`
	State             approvals.State       `json:"state"`
	RequestedBy       string                `json:"requestedBy"`
	Approvers         []approvals.Approvers `json:"approvers"`
	MinApprovals      int                   `json:"minApprovals"`
	OperatorMayDecide bool                  `json:"operatorMayDecide"`
	Votes             []voteView            `json:"votes"`
	Decision          *voteView             `json:"decision,omitempty"`
	Reason            string                `json:"reason,omitempty"`
	Parked            bool                  `json:"parked,omitempty"`
	Outcome           *outcomeView          `json:"outcome,omitempty"`
	Cards             []cardView            `json:"cards,omitempty"`
	CreatedAt         time.Time             `json:"createdAt"`
	ExpiresAt         time.Time             `json:"expiresAt"`
	DecidedAt         time.Time             `json:"decidedAt,omitzero"`
	StartedAt         time.Time             `json:"startedAt,omitzero"`
	EndedAt           time.Time             `json:"endedAt,omitzero"`
}

type voteView struct {
	Decision approvals.Verdict `json:"decision"`
	By       string            `json:"by"`
	Place    string            `json:"place"`
	Reason   string            `json:"reason,omitempty"`
	At       time.Time         `json:"at"`
}

type outcomeView struct {
	Text       string `json:"text"`
	IsError    bool   `json:"isError"`
	DurationMS int64  `json:"durationMs"`
}

type cardView struct {
	Channel string `json:"channel"`
	Place   string `json:"place"`
	Drawn   uint64 `json:"drawn,omitempty"`
	Gone    bool   `json:"gone,omitempty"`
}

func viewApproval(v approvals.View) approvalView {
	out := approvalView{
		ID: v.ID, Version: v.Version, SessionID: v.SessionID, TurnID: v.TurnID, CallID: v.CallID,
		ToolName: v.Tool, Summary: v.Summary, Risk: v.Risk, Subject: v.Subject,
		Input: inputValue(v.Input), InputText: v.Input, InputHash: v.InputHash,
		State: v.State, RequestedBy: v.Requester.Principal,
		Approvers: v.Deciders, MinApprovals: max(v.Policy.MinApprovals, 1), OperatorMayDecide: v.Policy.OperatorMayDecide,
		Votes: []voteView{}, Reason: v.Reason, Parked: v.Parked,
		CreatedAt: v.CreatedAt, ExpiresAt: v.ExpiresAt, DecidedAt: v.DecidedAt, StartedAt: v.StartedAt, EndedAt: v.EndedAt,
	}
	if out.Risk == "" {
		out.Risk = approvals.RiskMedium
	}
	if out.Approvers == nil {
		out.Approvers = []approvals.Approvers{}
	}
	for _, vote := range v.Votes {
		out.Votes = append(out.Votes, viewVote(vote))
	}
	if v.Decision != nil {
		d := viewVote(*v.Decision)
		out.Decision = &d
	}
	if o := v.Outcome; o != nil {
		out.Outcome = &outcomeView{o.Text, o.IsError, o.DurationMS}
	}
	for _, c := range v.Cards {
		out.Cards = append(out.Cards, cardView{c.Channel, c.Place, c.Drawn, c.Gone})
	}
	return out
}

func viewVote(v approvals.Vote) voteView {
	return voteView{v.Verdict, v.By.Principal, v.Place, v.Reason, v.At}
}

// inputValue is the input as a JSON value. What is none once it is masked is a text.
func inputValue(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) //nolint:errchkjson // a string
	return quoted
}
