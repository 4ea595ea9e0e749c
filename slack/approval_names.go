package slack

import (
	"cmp"
	"context"
	"strings"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/slack/web"
)

// calling looks up what people and groups are called in a workspace. A name is no
// reason to fail or to wait: who cannot be looked up has only an id.
func (c *Channel) calling(ctx context.Context, at address) approvals.Words {
	n := &names{web: c.web, at: at.place(), left: maxLookups, users: map[string]web.User{}}
	return approvals.Words{
		Person: func(who approvals.Identity) string {
			switch {
			case who.Slack != "":
				return cmp.Or(label(n.user(ctx, who.Slack).Name), who.Slack)
			case who.GitHub != "":
				return who.GitHub + " (GitHub)"
			case who.Principal == approvals.OperatorPrincipal:
				return "the operator"
			}
			// Who asked may be of another surface; "github:user:42" is all there is.
			return strings.TrimPrefix(who.Principal, Name+":user:")
		},
		Group: func(g approvals.Group) string {
			if g.Kind != approvals.SlackGroup {
				return groupName(g)
			}
			handle, err := c.web.GroupHandle(ctx, at.place(), g.Name)
			if handle = label(handle); err != nil || handle == "" {
				handle = g.Name
			}
			return "the user group " + handle
		},
	}
}

// groupName is what a group of GitHub's is called here.
func groupName(g approvals.Group) string {
	if g.Kind == approvals.CodeOwner {
		return "the code owners (GitHub)"
	}
	return "the team " + g.Name + " (GitHub)"
}
