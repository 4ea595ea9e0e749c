package slack

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
	"github.com/liaison-bot/liaison/slack/web"
)

// maxCalled is how many people one message calls, at most.
const maxCalled = 10

// note posts a message about an approval, and calls the people whom it is for.
func (c *Channel) note(ctx context.Context, item sessions.Item, p notePayload) (sessions.Receipt, error) {
	at, err := c.here(ctx, p.To)
	if err != nil {
		return minor("", "message about the approval", err)
	}
	users, err := c.withMembers(ctx, at.place(), p.Users, p.Groups)
	if err != nil {
		return sessions.Receipt{}, err
	}
	out := postPayload{To: at.address, Key: p.Key, Markdown: c.withNames(ctx, at.address, p.Names, p.Markdown), Since: p.Since}
	if len(users) > 0 {
		out.Mention, out.Call = users[0], users[1:]
	}
	return c.post(ctx, item, out)
}

// withMembers adds to people the members of user groups, up to [maxCalled]. A group
// that cannot be read calls nobody.
func (c *Channel) withMembers(ctx context.Context, at web.Place, users, groups []string) ([]string, error) {
	all := slices.Clone(users)
	for _, id := range groups {
		members, err := c.web.GroupMembers(ctx, at, id)
		switch {
		case err == nil:
		case errors.Is(err, web.ErrGone), web.Code(err) == "missing_scope":
			continue
		default:
			return nil, err
		}
		for _, m := range members {
			if event.ID(m) == m && !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	return all[:min(len(all), maxCalled)], nil
}

// withNames puts names in the place of the ids of people in a text.
func (c *Channel) withNames(ctx context.Context, at address, ids []string, text string) string {
	if len(ids) == 0 {
		return text
	}
	words := c.calling(ctx, at)
	var pairs []string
	for _, id := range ids {
		pairs = append(pairs, id, literalMarkdown(words.Person(approvals.Identity{Slack: id})))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
