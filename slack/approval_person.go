package slack

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/approvals"
)

// decidesAsOf is how old what Slack said of somebody may be when they decide.
const decidesAsOf = time.Minute

// person is who decides, as far as Slack vouches for them: by ids, and by what Slack
// says of the account now. What cannot be found out lets nobody decide.
func (c *Channel) person(ctx context.Context, r request, groups []approvals.Approvers) approvals.Person {
	p := approvals.Person{Identity: c.identity(r)}
	if r.App != "" || r.User == "" || r.User == slackbot {
		p.Standing = approvals.Bot
		return p
	}
	who, err := c.standingAsOf(ctx, r, decidesAsOf)
	if err != nil {
		c.log.Warn("who decides cannot be found out, so that they do not", "user", r.User, "error", err)
		return p
	}
	switch {
	case who.gone:
		p.Standing = approvals.Gone
	case who.bot:
		p.Standing = approvals.Bot
	case who.external:
		p.Standing = approvals.Stranger
	case who.guest:
		p.Standing = approvals.Guest
	default:
		p.Standing = approvals.Member
	}
	if p.Standing == approvals.Member && !named(groups, p.Identity) {
		p = c.grouped(ctx, r, p, groups)
	}
	return p
}

// named reports whether somebody is named one by one.
func named(groups []approvals.Approvers, who approvals.Identity) bool {
	return slices.ContainsFunc(groups, func(a approvals.Approvers) bool {
		return slices.Contains(a.Slack, who.Slack) || who.GitHub != "" && slices.ContainsFunc(a.GitHub, func(login string) bool {
			return strings.EqualFold(login, who.GitHub)
		})
	})
}

// grouped finds out in which user groups somebody is. Where that fails for a group in
// which they are perhaps, it is not known who they are.
func (c *Channel) grouped(ctx context.Context, r request, p approvals.Person, groups []approvals.Approvers) approvals.Person {
	failed := false
	for _, a := range groups {
		for _, id := range a.SlackGroups {
			members, err := c.web.GroupMembers(ctx, r.place(), id)
			switch {
			case err != nil:
				failed = true
				c.log.Warn("the members of a user group cannot be read, so that it decides nothing", "group", id, "error", err)
			case slices.Contains(members, r.User):
				p.Groups = append(p.Groups, approvals.Group{Kind: approvals.SlackGroup, Name: id})
			}
		}
	}
	if failed && len(p.Groups) == 0 {
		p.Standing = ""
	}
	return p
}

// identity is who asks, on every surface where the operator says who they are.
func (c *Channel) identity(r request) approvals.Identity {
	who := approvals.Identity{Principal: r.principal()}
	if r.App == "" {
		who.Slack, who.GitHub = r.User, c.settings.People[r.User]
	}
	return who
}

// concerns reports whether an approval is one of the installation in which something
// was clicked or typed: ids of people and channels are those of one workspace.
func (c *Channel) concerns(v approvals.View, r request) bool {
	if asked, err := parseRequest(v.Request); v.Channel == Name && err == nil {
		return asked.install() == r.install()
	}
	return c.oneToken // what other surfaces ask for is shown in the one workspace only
}

// wouldCount reports whether somebody could decide so about an approval, as far as
// its view tells.
func wouldCount(v approvals.View, p approvals.Person, verdict approvals.Verdict, at time.Time) bool {
	r := approvals.Record{
		ID: v.ID, State: v.State, Policy: v.Policy, Level: len(v.Deciders) - 1, Requester: v.Requester, Votes: v.Votes, ExpiresAt: v.ExpiresAt,
	}
	_, err := r.Cast(approvals.Ballot{ApprovalID: v.ID, Verdict: verdict, By: p, Place: Name}, at)
	return err == nil
}
