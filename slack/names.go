package slack

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/liaison-bot/liaison/internal/unseen"
	"github.com/liaison-bot/liaison/slack/event"
	"github.com/liaison-bot/liaison/slack/web"
	"github.com/liaison-bot/liaison/slack/workspace"
)

// maxLookups bounds how many people and channels Slack is asked about for one turn.
// What it said lately is remembered.
const maxLookups = 60

// maxName bounds a name in characters. Slack's own are at most 80
// (https://docs.slack.dev/reference/objects/conversation-object).
const maxName = 80

// names tells what the ids in a conversation stand for.
type names struct {
	web   *web.Client
	at    web.Place
	own   workspace.Workspace
	bot   string // what we are called
	asks  map[string]bool
	left  int
	users map[string]web.User
}

// names begins to look up names for a turn in which some people ask.
func (c *Channel) names(own workspace.Workspace, r request, asking []string) *names {
	n := &names{
		web: c.web, at: r.place(), own: own, bot: label(c.botName), asks: map[string]bool{},
		left: maxLookups, users: map[string]web.User{},
	}
	for _, id := range asking {
		n.asks[id] = true
	}
	return n
}

// user returns what is known of an account. A name is no reason to fail or to wait:
// who cannot be looked up has only an id.
func (n *names) user(ctx context.Context, id string) web.User {
	if u, ok := n.users[id]; ok {
		return u
	}
	var u web.User
	if id != "" && n.left > 0 {
		n.left--
		var err error
		u, err = n.web.User(ctx, n.at, id)
		if err != nil && !errors.Is(err, web.ErrGone) {
			n.left = 0
		}
	}
	n.users[id] = u
	return u
}

// called is somebody's name, or the id where there is none.
func (n *names) called(ctx context.Context, id string) string {
	if n.ours(id) {
		return n.bot
	}
	if name := label(n.user(ctx, id).Name); name != "" {
		return name
	}
	return id
}

// channel is the name of a channel, or its id: who mentions a private one need not
// know what it is called, and the app may.
func (n *names) channel(ctx context.Context, id string) string {
	if n.left > 0 {
		n.left--
		at := n.at
		at.Channel, at.Thread = id, ""
		ch, err := n.web.Channel(ctx, at)
		if name := label(ch.Name); name != "" && (!ch.Private || id == n.at.Channel) {
			return name
		}
		if err != nil && !errors.Is(err, web.ErrGone) {
			n.left = 0
		}
	}
	return id
}

// ours reports whether an account is the app's.
func (n *names) ours(id string) bool { return id != "" && id == n.own.BotUser }

// The roles of who wrote something.
const (
	roleAsks     = "asks"
	roleSelf     = "you"
	roleMember   = "member"
	roleGuest    = "guest"
	roleExternal = "external"
	roleApp      = "app"
	roleUnknown  = "unknown"
)

// role says what somebody is here who wrote a message: ids decide, never names.
func (n *names) role(ctx context.Context, m web.Reply) string {
	switch {
	case n.ours(m.User), m.Bot != "" && m.Bot == n.own.BotID:
		return roleSelf
	case m.App != "" || m.Bot != "":
		return roleApp // some apps write under the account of who installed them
	case m.User != "" && n.asks[m.User]:
		return roleAsks
	}
	u := n.user(ctx, m.User)
	switch {
	case u.ID == "":
		return roleUnknown
	case u.Bot:
		return roleApp
	case inside{n.at.Team, n.own.Team, n.at.Enterprise, n.own.Enterprise}.foreign(u, m.Team):
		return roleExternal
	case u.Guest:
		return roleGuest
	}
	return roleMember
}

// readable returns a text of Slack's notation as people read it, with names in the
// place of ids.
func (n *names) readable(ctx context.Context, text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "<")
		b.WriteString(before)
		if !found {
			break
		}
		inner, after, closed := strings.Cut(rest, ">")
		if !closed {
			b.WriteString("<" + rest)
			break
		}
		b.WriteString("<" + n.labelled(ctx, inner) + ">")
		text = after
	}
	return event.Plain(b.String())
}

// labelled puts a name to what stands between angle brackets. That of a person is
// ours to find, whatever the message says.
func (n *names) labelled(ctx context.Context, inner string) string {
	target, said, _ := strings.Cut(inner, "|")
	var name string
	switch id := event.ID(strings.TrimLeft(target, "@#")); {
	case strings.HasPrefix(target, "@") && id != "":
		name = n.called(ctx, id)
	case said != "":
		return inner
	case strings.HasPrefix(target, "#") && id != "":
		name = n.channel(ctx, id)
	case strings.HasPrefix(target, "!subteam^"):
		name = "@user group " + event.ID(strings.TrimPrefix(target, "!subteam^"))
	default:
		return inner
	}
	return target + "|" + strings.ReplaceAll(name, "&", "&amp;")
}

// label makes a stranger's name safe to stand in a line: nothing in it is structure
// of ours, and what nobody sees is left out.
func label(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case unseen.Invisible(r) && !unicode.IsSpace(r):
			return -1
		case unicode.IsSpace(r), strings.ContainsRune("<>()[]{}|:`\"", r):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
	clean = strings.Join(strings.Fields(clean), " ")
	if runes := []rune(clean); len(runes) > maxName {
		clean = string(runes[:maxName-1]) + "…"
	}
	return clean
}
