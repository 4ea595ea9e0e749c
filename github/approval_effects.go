package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
)

// kindCall is a comment that calls people by their names, about an approval.
const kindCall = "approval.call"

// toldAfter is how old an approval must be when it settles for its requester to be
// called: whoever asked a moment ago is looking.
const toldAfter = 10 * time.Minute

// maxCalled bounds how many names one comment calls.
const maxCalled = 10

// callPayload is a comment that calls people. It is posted once for its key.
type callPayload struct {
	Request request `json:"request"`
	// Names are logins and "org/team".
	Names []string `json:"names"`
	Text  string   `json:"text"`
	Key   string   `json:"key"`
}

// ApprovalEffects implements sessions.ApprovalSurface: a reminder calls those who may
// decide from now on, and the requester is called when it settles after a while.
func (c *Channel) ApprovalEffects(v approvals.View, m sessions.ApprovalMoment) []sessions.Effect {
	r, ours := approvalRequest(v)
	if !ours || len(v.Deciders) == 0 {
		return nil
	}
	call := callPayload{Request: request{
		Installation: r.Installation, Repository: r.Repository, FullName: r.FullName, Number: r.Number, Head: r.Head, Issue: r.Issue,
	}}
	switch m {
	case sessions.ApprovalReminded:
		newest := v.Deciders[len(v.Deciders)-1]
		call.Names = slices.Concat(newest.GitHub, newest.GitHubTeams)
		call.Text = fmt.Sprintf("%s waits for a decision until %s. Its check has the arguments and the buttons; %s and %s do the same.",
			code(v.Tool), atTime(v.ExpiresAt), code("/approve "+v.ID), code("/deny "+v.ID))
		call.Key = fmt.Sprintf("%s:reminded:%d", v.ID, len(v.Deciders))
	case sessions.ApprovalSettled:
		if c.app.now().Sub(v.CreatedAt) < toldAfter || r.Actor.Bot || r.Actor.Login == "" {
			return nil
		}
		call.Names, call.Text, call.Key = []string{r.Actor.Login}, fmt.Sprintf("%s: %s.", code(v.Tool), lowerFirst(strings.TrimSuffix(v.Status(cardWords()), "."))), v.ID+":settled"
	}
	if len(call.Names) == 0 {
		return nil
	}
	return []sessions.Effect{effect("approval-"+call.Key, kindCall, call)}
}

// call posts the comment, unless it is there.
func (w *writer) call(ctx context.Context, p callPayload) (sessions.Receipt, error) {
	mark := mark("call", p.Key)
	if w.item.Attempts > 1 {
		found, err := w.findReply(ctx, mark, false)
		if err != nil || found {
			return sessions.Receipt{Note: "they were called already"}, err
		}
	}
	var names []string
	for _, name := range p.Names {
		_, _, team := splitName(name)
		if (validName(name) || team) && len(names) < maxCalled {
			names = append(names, "@"+name)
		}
	}
	if len(names) == 0 {
		return sessions.Receipt{Note: "nobody to call"}, nil
	}
	head := mark + "\n" + strings.Join(names, " ") + ": "
	var answer written
	err := w.send(ctx, http.MethodPost, w.conversation(), textBody{head + fit(p.Text, maxComment-runes(head), "…")}, &answer)
	if err != nil {
		return goneNote("nobody is called", err)
	}
	return sessions.Receipt{Note: "called " + counted(len(names), "name", "names")}, nil
}
