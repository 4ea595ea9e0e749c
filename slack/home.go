package slack

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/limits"
	"github.com/liaison-bot/liaison/slack/markup"
)

// SessionLine is a session as the home tab shows it.
type SessionLine struct {
	// Key is the session's continuation key; one of Slack's leads to its thread.
	Key string
	// Title may be a stranger's text.
	Title string
	// State is a word or two, such as "running".
	State string
	// Working is set while a turn of it runs or stands in line.
	Working bool
	Updated time.Time
}

// maxHomeSessions is how many sessions the home tab shows: two blocks each, so that
// they and what waits for a decision are below [limits.BlocksInView].
const maxHomeSessions = 20

// home shows somebody their sessions. It is drawn anew whenever they look.
func (c *Channel) home(ctx context.Context, _ sessions.Item, p homePayload) (sessions.Receipt, error) {
	if p.User == "" {
		return sessions.Receipt{Note: "no home tab: nobody looks at it"}, nil
	}
	var lines []SessionLine
	if c.sessions != nil {
		var err error
		if lines, err = c.sessions(ctx, principal(p.To.install(), p.User), maxHomeSessions); err != nil {
			return sessions.Receipt{}, &sessions.RetryError{Err: fmt.Errorf("read the sessions of %s: %w", p.User, err)}
		}
	}
	open, err := c.openFor(ctx, request{address: p.To, Trigger: byHome, User: p.User})
	if err != nil {
		return sessions.Receipt{}, &sessions.RetryError{Err: err}
	}
	w, _ := c.web.Workspace(ctx, p.To.place()) // where there is none, nothing is drawn below
	blocks := c.homeBlocks(lines, w.URL, p.To.Team)
	if len(open) > 0 {
		blocks = append(blocks, slackgo.NewDividerBlock(), slackgo.NewHeaderBlock(plainText("What waits for a decision")))
		blocks = append(blocks, c.openBlocks(ctx, p.To, open)...)
	}
	err = c.web.PublishHome(ctx, p.To.place(), p.User, blocks)
	return minor("drew the home tab of "+p.User, "home tab", err)
}

// homeBlocks are the home tab.
func (c *Channel) homeBlocks(lines []SessionLine, workspaceURL, team string) []slackgo.Block {
	blocks := []slackgo.Block{
		slackgo.NewHeaderBlock(plainText(markup.Plain(c.botName, limits.Header))),
		slackgo.NewSectionBlock(plainText(c.howToSpeak()), nil, nil),
		slackgo.NewActionBlock("", slackgo.NewButtonBlockElement(actionAsk, "", plainText("Ask"))),
		slackgo.NewDividerBlock(),
		slackgo.NewHeaderBlock(plainText("What you asked for")),
	}
	if len(lines) == 0 {
		return append(blocks, slackgo.NewSectionBlock(plainText("Nothing yet."), nil, nil))
	}
	for _, line := range lines[:min(len(lines), maxHomeSessions)] {
		title := markup.Plain(c.redact(line.Title), 200)
		if title == "" {
			title = "Without a title"
		}
		var open *slackgo.Accessory
		if link := threadLink(line.Key, workspaceURL, team); link != "" {
			open = slackgo.NewAccessory(slackgo.NewButtonBlockElement(actionOpen, "", plainText("Open")).WithURL(link))
		}
		state := markup.Mrkdwn(line.State, 100)
		if !line.Updated.IsZero() {
			at := line.Updated.UTC()
			state += fmt.Sprintf(" · <!date^%d^{date_short_pretty} {time}|%s>", at.Unix(), at.Format("2006-01-02 15:04 UTC"))
		}
		blocks = append(blocks, slackgo.NewSectionBlock(plainText(title), nil, open))
		if state = strings.TrimPrefix(state, " · "); state != "" {
			blocks = append(blocks, slackgo.NewContextBlock("", slackgo.NewTextBlockObject(slackgo.MarkdownType, state, false, true)))
		}
	}
	return blocks
}

// threadLink is the address of a session's thread, or of its channel, or nothing
// where the key is none of Slack's. It is made here and not asked for: a home tab
// may have many. https://docs.slack.dev/messaging/retrieving-messages#permalinks
func threadLink(key, workspaceURL, team string) string {
	parts := strings.Split(key, ":")
	if len(parts) != 4 || parts[0] != Name || parts[2] == "" {
		return ""
	}
	channel, thread := parts[2], parts[3]
	root, err := url.Parse(workspaceURL)
	if err != nil || root.Scheme != "https" || root.Host == "" {
		return "https://slack.com/app_redirect?" + url.Values{"team": {team}, "channel": {channel}}.Encode()
	}
	link := root.JoinPath("archives", channel)
	if thread != "" {
		link = link.JoinPath("p" + strings.ReplaceAll(thread, ".", ""))
		link.RawQuery = url.Values{"thread_ts": {thread}, "cid": {channel}}.Encode()
	}
	return link.String()
}
