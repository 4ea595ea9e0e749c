package slack

import (
	"encoding/json"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
)

// Requester implements [sessions.Requesting]. Everybody whose question the turn
// answers has a hand in what it does.
func (c *Channel) Requester(t sessions.Turn) (requester approvals.Identity, authors []approvals.Identity, subject string) {
	own, err := parseRequest(t.Request)
	if err != nil {
		return approvals.Identity{Principal: t.Principal}, nil, ""
	}
	for _, r := range askers(own, t)[1:] {
		authors = append(authors, c.identity(r))
	}
	return c.identity(own), authors, ""
}

// Resume implements [sessions.Resumer]: the turn that hears of an outcome answers
// where it was asked. What was asked is answered by the turn before it.
func (c *Channel) Resume(raw json.RawMessage, v approvals.View) (json.RawMessage, error) {
	r, err := parseRequest(raw)
	if err != nil {
		return nil, err
	}
	return request{
		address: r.address, Trigger: byOutcome, ChannelType: r.ChannelType, Shared: r.Shared,
		User: r.User, UserTeam: r.UserTeam, App: r.App, Argument: v.ID,
	}.encode(), nil
}
