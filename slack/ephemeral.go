package slack

import (
	"context"
	"errors"
	"sync"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/limits"
	"github.com/liaison-bot/liaison/slack/markup"
	"github.com/liaison-bot/liaison/slack/web"
)

// ephemeral tells one person something. Nobody can look up whether they saw it, so
// that it is tried again only where Slack cannot have heard of it.
func (c *Channel) ephemeral(ctx context.Context, item sessions.Item, p ephemeralPayload) (sessions.Receipt, error) {
	if p.Approvals {
		return c.listApprovals(ctx, item, p)
	}
	markdown := c.withNames(ctx, p.To, p.Names, p.Markdown)
	return c.alone(ctx, item, p, web.Message{Text: markup.Mrkdwn(c.redact(markdown), limits.Text)})
}

// alone shows one person a message.
func (c *Channel) alone(ctx context.Context, item sessions.Item, p ephemeralPayload, m web.Message) (sessions.Receipt, error) {
	if item.Attempts > 1 && !c.unsent.take(item.ID) {
		return sessions.Receipt{Note: "not told again: an earlier attempt may have been seen"}, nil
	}
	err := c.tell(ctx, p, m)
	switch {
	case err == nil:
		return sessions.Receipt{Note: "told " + p.User + " alone"}, nil
	case errors.Is(err, web.ErrAmbiguous):
		return sessions.Receipt{Note: "told " + p.User + " alone, as far as Slack says"}, nil
	case errors.Is(err, web.ErrUnsent), errors.Is(err, web.ErrLimited):
		c.unsent.put(item.ID)
		return sessions.Receipt{}, err
	}
	return minor("", "answer for "+p.User+" alone", err)
}

// tell tries the answer to what was clicked, which works where the app is not in the
// channel, and then the channel.
func (c *Channel) tell(ctx context.Context, p ephemeralPayload, m web.Message) error {
	if p.ResponseURL != "" {
		err := c.web.Respond(ctx, p.ResponseURL, m)
		if err == nil || errors.Is(err, web.ErrAmbiguous) || p.To.Channel == "" {
			return err
		}
	}
	if p.To.Channel == "" || p.User == "" {
		return errors.New("there is nobody, or no channel, to tell it in")
	}
	return c.web.Ephemeral(ctx, p.To.place(), p.User, m)
}

// maxUnsent bounds how many effects are remembered that never reached Slack.
const maxUnsent = 1000

// unsent remembers which effects never reached Slack, in this process.
type unsent struct {
	mu  sync.Mutex
	ids map[string]bool
}

func newUnsent() *unsent { return &unsent{ids: map[string]bool{}} }

func (u *unsent) put(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.ids) < maxUnsent {
		u.ids[id] = true
	}
}

// take reports whether an effect never reached Slack, and forgets it.
func (u *unsent) take(id string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	never := u.ids[id]
	delete(u.ids, id)
	return never
}
