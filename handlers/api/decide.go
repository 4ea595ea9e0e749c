package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/handlers/answer"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

const (
	// maxDecisionReason bounds why somebody decided, in characters: cards show it whole.
	maxDecisionReason = 2000
	// placeHTTP is where a decision of the API was made, in words of the record.
	placeHTTP = "http"
)

// decide counts what the caller says about a tool call.
func (a *API) decide(w http.ResponseWriter, r *http.Request, p Principal) error {
	sess, err := a.owned(r, p)
	if err != nil {
		return err
	}
	b := approvals.Ballot{SessionID: sess.ID, By: person(p), Place: placeHTTP}
	if err := decode(w, r, fields{"decision": &b.Verdict, "reason": &b.Reason}, "decision"); err != nil {
		return err
	}
	if b.Verdict != approvals.Approve && b.Verdict != approvals.Deny {
		return badRequest(`"decision" must be "approve" or "deny"`)
	}
	if b.Reason = strings.TrimSpace(b.Reason); !decisionReason(b.Reason) {
		return badRequest(`"reason" must have at most %d characters, and no control characters but line ends`, maxDecisionReason)
	}
	ctx, cancel := decideContext(r)
	defer cancel()
	found, err := a.findApproval(ctx, sess.ID, r.PathValue("callId"))
	if err != nil {
		return undecided(ctx, err)
	}
	b.ApprovalID = found.ID
	v, err := a.runtime.Decide(ctx, b)
	if e, ok := errors.AsType[*approvals.DecidedError](err); ok && e.Same {
		// The answer to the first time may have been lost on its way.
		v, err = a.runtime.Approval(ctx, found.ID)
	}
	if e, ok := errors.AsType[*approvals.NotAllowedError](err); ok && p.Name == localName {
		return refusef(http.StatusForbidden, "not_allowed", "%s Over HTTP the operator decides: set LIAISON_API_TOKEN and send it.", e.Why)
	}
	if err != nil {
		return undecided(ctx, err)
	}
	a.log.Info("decision taken", "approval", v.ID, "session", v.SessionID, "decision", string(b.Verdict), "by", p.Name)
	answer.JSON(w, http.StatusOK, decided{true, viewApproval(v)})
	return nil
}

// person is who a caller is to a policy. Only the operator's own token stands for
// the operator: whoever may use this machine is nobody that a team has agreed on.
func person(p Principal) approvals.Person {
	return approvals.Person{
		Identity: approvals.Identity{Principal: p.Name},
		Standing: approvals.Member, Operator: p.Name == operatorName,
	}
}

func decisionReason(s string) bool {
	return utf8.RuneCountInString(s) <= maxDecisionReason &&
		!strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' })
}

// findApproval returns a session's approval by its own id or by that of its call.
// Agents exist that count their calls from the start, so that a call's id may come
// again: the one that waits is meant, and otherwise the newest.
func (a *API) findApproval(ctx context.Context, sessionID, id string) (approvals.View, error) {
	if approvals.ValidID(id) {
		v, err := a.runtime.Approval(ctx, id)
		if err == nil && v.SessionID != sessionID {
			err = noApproval()
		}
		return v, err
	}
	if !state.ValidID(id) {
		return approvals.View{}, noApproval()
	}
	for _, open := range []bool{true, false} {
		found, err := a.ofCall(ctx, sessions.ApprovalFilter{SessionID: sessionID, Open: open}, id)
		switch {
		case err != nil:
			return approvals.View{}, err
		case open && len(found) > 1:
			return approvals.View{}, refusef(http.StatusConflict, "ambiguous", "several calls with the id %q wait in this session; use the approval's id: %s or %s",
				clip(id), found[0].ID, found[1].ID)
		case len(found) > 0:
			return found[0], nil
		}
	}
	return approvals.View{}, noApproval()
}

// ofCall returns up to two approvals of calls with this id, newest first.
func (a *API) ofCall(ctx context.Context, f sessions.ApprovalFilter, callID string) (found []approvals.View, err error) {
	for {
		page, err := a.runtime.Approvals(ctx, f, maxLimit)
		if err != nil {
			return nil, err
		}
		for _, v := range page {
			if v.CallID == callID {
				found = append(found, v)
			}
		}
		if len(found) > 1 || len(page) < maxLimit {
			return found, nil
		}
		f.Before = page[len(page)-1].ID
	}
}
