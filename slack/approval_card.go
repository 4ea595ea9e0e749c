package slack

import (
	"context"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/web"
)

// card draws an approval's card, or draws it anew, as the record is now. It is
// posted at most once: it carries the approval's id, and is looked for before it is
// posted again.
func (c *Channel) card(ctx context.Context, item sessions.Item, p sessions.CardItem) (sessions.Receipt, error) {
	if item.Approval == nil || item.Card == nil {
		return sessions.Receipt{}, fmt.Errorf("there is no record of approval %s, or no such card of it", p.ApprovalID)
	}
	v, card := *item.Approval, *item.Card
	switch {
	case card.Gone:
		return sessions.Receipt{Card: &card, Note: "not drawn: the card is gone"}, nil
	case card.Ref != "" && card.Drawn >= v.Version:
		return sessions.Receipt{Card: &card, Note: "it shows that already"}, nil
	}
	at, err := c.located(ctx, card.Address)
	if err == nil {
		err = c.draw(ctx, item, v, at, &card)
	}
	c.refused.note(at.install(), err)
	switch {
	case displaced(err):
		card.Gone = true
		return sessions.Receipt{Card: &card, Note: fmt.Sprintf("the card is gone: %v", err)}, nil
	case err != nil:
		return sessions.Receipt{}, err
	}
	return sessions.Receipt{Card: &card, Note: fmt.Sprintf("the card shows version %d: %s", card.Drawn, v.State)}, nil
}

// draw brings one card up to the record.
func (c *Channel) draw(ctx context.Context, item sessions.Item, v approvals.View, at cardAddress, card *approvals.Card) error {
	d := drawing{View: v, words: c.calling(ctx, at.address)}
	m := d.message(cardKey(v.ID, card.Place))
	if card.Ref == "" {
		if v.State.Open() && !d.fitsWindow() {
			if err := c.shareInput(ctx, item, at.place(), v); err != nil {
				return err
			}
		}
		ts, err := c.firstCard(ctx, item, at.place(), v, m)
		if errors.Is(err, web.ErrRefused) {
			c.log.Warn("Slack does not take a card as it is; it goes as text", "approval", v.ID, "error", err)
			ts, err = c.firstCard(ctx, item, at.place(), v, d.plain(m.Key))
		}
		if err != nil {
			return err
		}
		card.Ref, card.Drawn = cardRef(at.Channel, ts), v.Version
		return nil
	}
	channel, ts := readRef(card.Ref)
	place := at.place()
	place.Channel = channel
	err := c.web.Update(ctx, place, ts, m, web.Answer)
	if errors.Is(err, web.ErrRefused) {
		c.log.Warn("Slack does not take a card as it is; it goes as text", "approval", v.ID, "error", err)
		err = c.web.Update(ctx, place, ts, d.plain(m.Key), web.Answer)
	}
	if err != nil {
		return err
	}
	card.Drawn = v.Version
	return nil
}

// cardKey marks the message that is a card.
func cardKey(id, place string) string { return "approval/" + id + "/" + place }

// firstCard posts a card unless it is there, and returns its ts.
func (c *Channel) firstCard(ctx context.Context, item sessions.Item, at web.Place, v approvals.View, m web.Message) (ts string, err error) {
	if item.Attempts > 1 || v.Version > 1 {
		if ts, err := c.findCard(ctx, at, v, m.Key); err != nil || ts != "" {
			if err == nil { // an earlier attempt posted what the record was then
				err = c.web.Update(ctx, at, ts, m, web.Answer)
			}
			return ts, err
		}
	}
	ts, err = c.web.Post(ctx, at, m)
	if errors.Is(err, web.ErrAmbiguous) {
		if found, lookErr := c.findCard(ctx, at, v, m.Key); lookErr == nil && found != "" {
			return found, nil
		}
	}
	return ts, err
}

// findCard looks for a card that was posted already.
func (c *Channel) findCard(ctx context.Context, at web.Place, v approvals.View, key string) (ts string, err error) {
	for r, err := range c.web.Own(ctx, at, before(v)) {
		if err != nil {
			return "", fmt.Errorf("look for a card that is posted already: %w", err)
		}
		if r.Key == key {
			return r.TS, nil
		}
	}
	return "", nil
}

// before is a ts older than anything about an approval, also where Slack's clock is
// behind ours.
func before(v approvals.View) string {
	return fmt.Sprintf("%d.000000", v.CreatedAt.Unix()-skew)
}

// skew is how far apart two clocks may be, in seconds, that are set by network time;
// Slack itself refuses requests from clocks that are further apart.
const skew = 5 * 60

// shareInput puts arguments that no window holds into the thread, as a file, before
// anybody can approve them.
func (c *Channel) shareInput(ctx context.Context, item sessions.Item, at web.Place, v approvals.View) error {
	w := c.writer(item, at, before(v))
	return w.all(ctx, rendered{file: web.Snippet{Name: inputFile(v.ID), Title: "Arguments of " + v.Tool, Content: v.Input}})
}

// inputFile is the name of the file with an approval's arguments.
func inputFile(id string) string { return "arguments-" + id + ".json" }
