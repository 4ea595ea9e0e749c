package slack

import (
	"context"
	"fmt"

	slackgo "github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/web"
)

const (
	// maxOpen is how many open approvals are looked through, and maxListed how many are
	// shown to one person: three blocks each, within [limits.Blocks].
	maxOpen   = 200
	maxListed = 10
)

// openFor are the open approvals about which somebody can decide, or for which they
// wait, the last first.
func (c *Channel) openFor(ctx context.Context, r request) ([]approvals.View, error) {
	if c.approvals == nil {
		return nil, nil
	}
	all, err := c.approvals(ctx, true, maxOpen)
	if err != nil {
		return nil, fmt.Errorf("list the open approvals: %w", err)
	}
	var mine []approvals.View
	var who *approvals.Person
	for _, v := range all {
		if !v.State.Open() || !c.concerns(v, r) || len(mine) >= maxListed {
			continue
		}
		if who == nil || !named(v.Deciders, who.Identity) {
			p := c.person(ctx, r, v.Deciders)
			who = &p
		}
		if who.Standing != approvals.Member {
			return nil, nil
		}
		if v.Requester.Is(who.Identity) || wouldCount(v, *who, approvals.Approve, c.now()) || wouldCount(v, *who, approvals.Deny, c.now()) {
			mine = append(mine, v)
		}
	}
	return mine, nil
}

// listApprovals shows somebody alone what waits for them.
func (c *Channel) listApprovals(ctx context.Context, item sessions.Item, p ephemeralPayload) (sessions.Receipt, error) {
	r := request{address: p.To, Trigger: byCommand, User: p.User, UserTeam: p.UserTeam}
	open, err := c.openFor(ctx, r)
	if err != nil {
		return sessions.Receipt{}, &sessions.RetryError{Err: err}
	}
	m := web.Message{Text: noneOpen}
	if len(open) > 0 {
		m = web.Message{Text: fmt.Sprintf("%d approvals are open that you can decide about or asked for.", len(open)), Blocks: c.openBlocks(ctx, p.To, open)}
	}
	return c.alone(ctx, item, p, m)
}

// noneOpen is said where nothing waits for somebody.
const noneOpen = "Nothing waits for a decision of yours, and nothing that you asked for waits for one."

// openBlocks are open approvals in a list. What they would do is behind "Show all",
// where it can be approved.
func (c *Channel) openBlocks(ctx context.Context, at address, open []approvals.View) []slackgo.Block {
	words := c.calling(ctx, at)
	var blocks []slackgo.Block
	for _, v := range open {
		d := drawing{View: v, words: words}
		deny := slackgo.NewButtonBlockElement(actionDeny, v.ID, plainText("Deny")).WithStyle(slackgo.StyleDanger)
		blocks = append(blocks,
			slackgo.NewRichTextBlock("",
				slackgo.NewRichTextSection(runs(d.title()...)...),
				paragraph(run{text: "Asked for by " + words.Person(v.Requester)})),
			d.footing(d.shortHash()),
			slackgo.NewActionBlock("", slackgo.NewButtonBlockElement(actionShow, v.ID, plainText("Show all")), deny))
	}
	return blocks
}
