package slack

import (
	"context"
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/markup"
)

// maxStatusSessions is how many sessions a status lists.
const maxStatusSessions = 10

// tellStatus says what goes on in the thread, or else in the sessions of who asks.
// Others may read a channel, and what somebody asked elsewhere is not theirs to read.
func (c *Channel) tellStatus(ctx context.Context, in sessions.Intent, r request) (sessions.Intent, error) {
	if r.TS != "" && c.session != nil {
		line, found, err := c.session(ctx, r.key())
		if err != nil {
			return in, fmt.Errorf("look up the session of the thread: %w", err)
		}
		if found {
			return owing(in, aside(r, "status", threadStatus(line))...), nil
		}
	}
	lines, err := c.sessionsOf(ctx, r)
	if err != nil {
		return in, err
	}
	workspaceURL := ""
	if w, err := c.web.Workspace(ctx, r.place()); err == nil {
		workspaceURL = w.URL
	}
	return owing(in, aside(r, "status", c.statusText(lines, workspaceURL, r.Team))...), nil
}

// sessionsOf are the sessions of who asks, the last first.
func (c *Channel) sessionsOf(ctx context.Context, r request) ([]SessionLine, error) {
	if c.sessions == nil {
		return nil, nil
	}
	lines, err := c.sessions(ctx, r.principal(), maxStatusSessions)
	if err != nil {
		return nil, fmt.Errorf("look up the sessions of %s: %w", r.User, err)
	}
	return lines[:min(len(lines), maxStatusSessions)], nil
}

func threadStatus(line SessionLine) string {
	if line.Working {
		return "In this thread: " + line.State + "."
	}
	return "Nothing is running in this thread."
}

// statusText lists sessions, in Markdown.
func (c *Channel) statusText(lines []SessionLine, workspaceURL, team string) string {
	var b strings.Builder
	b.WriteString("What you asked for, the last first:\n")
	for _, line := range lines {
		title := literalMarkdown(markup.Plain(c.redact(line.Title), 100))
		if title == "" {
			title = "without a title"
		}
		if link := threadLink(line.Key, workspaceURL, team); link != "" {
			title = "[" + title + "](<" + link + ">)"
		}
		fmt.Fprintf(&b, "\n- %s: %s", title, line.State)
	}
	if len(lines) == 0 {
		return "You have not asked me for anything yet."
	}
	return b.String()
}

// literalMarkdown escapes a text so that nothing in it formats.
func literalMarkdown(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		if strings.ContainsRune("\\`*_{}[]()<>#+-.!|~&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
