package github

import (
	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
)

var (
	_ sessions.ApprovalSurface = (*Channel)(nil)
	_ sessions.DecisionWitness = (*Channel)(nil)
	_ sessions.Resumer         = (*Channel)(nil)
)

// The places in which an approval has its card.
const (
	placePull  = "pull"
	placeIssue = "issue"
)

// ApprovalCards implements sessions.ApprovalSurface: an approval that was asked for
// here has a card where it was, and no other has one.
func (c *Channel) ApprovalCards(v approvals.View) []sessions.ApprovalCard {
	r, ours := approvalRequest(v)
	if !ours {
		return nil
	}
	place := placePull
	if r.Issue {
		place = placeIssue
	}
	return []sessions.ApprovalCard{{Place: place, Address: request{
		Installation: r.Installation, Repository: r.Repository, FullName: r.FullName, Number: r.Number, Head: r.Head, Issue: r.Issue,
	}.encode()}}
}

// approvalRequest is the request of the turn that asked; false where it is not one
// of this channel about a pull request or an issue.
func approvalRequest(v approvals.View) (request, bool) {
	if v.Channel != Name {
		return request{}, false
	}
	r, err := parseRequest(v.Request)
	return r, err == nil && r.Number > 0 && r.Kind != kindMergeGroup
}
