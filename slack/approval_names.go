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
func (c *Channel) calling(ctx context.Context, at address) called {
	n := &names{web: c.web, at: at.place(), left: maxLookups, users: map[string]web.User{}}
	return called{
		person: func(who approvals.Identity) string {
			switch {
			case who.Slack != "":
				return cmp.Or(label(n.user(ctx, who.Slack).Name), who.Slack)
			case who.GitHub != "":
				return who.GitHub + " (GitHub)"
			case who.Principal == operator:
				return "the operator"
			}
			// Who asked may be of another surface; "github:user:42" is all there is.
			return strings.TrimPrefix(who.Principal, Name+":user:")
		},
		group: func(id string) string {
			handle, err := c.web.GroupHandle(ctx, at.place(), id)
			if handle = label(handle); err != nil || handle == "" {
				return "user group " + id
			}
			return "user group " + handle
		},
	}
}

// operator is the principal of whoever has the operator's token.
const operator = "api:operator"
