package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/web"
)

// elsewhere tells who asked, by a direct message, what cannot be told where they
// asked it. They are told so once for each reason; later messages are left out.
func (c *Channel) elsewhere(ctx context.Context, item sessions.Item, p postPayload, cause error) (sessions.Receipt, error) {
	reason := rootDeleted
	if !errors.Is(cause, web.ErrDetached) {
		reason = web.Code(cause)
	}
	receipt := sessions.Receipt{Note: fmt.Sprintf("not posted: %v", cause)}
	if p.Turn == "" && p.Mention == "" {
		return receipt, nil // nobody waits for this; what they wait for is still to come
	}
	receipt.Remember = map[string]string{surfaceDetached: reason}
	who := cmp.Or(p.User, p.Mention)
	if who == "" || item.Surface[surfaceDetached] == reason || isDirect("", p.To.Channel) {
		return receipt, nil
	}
	at := p.To.place()
	dm, err := c.web.OpenDirect(ctx, at, who)
	if err == nil {
		at.Channel, at.Thread = dm, ""
		since := cmp.Or(p.Since, p.To.Thread) // older than that is no message about this
		p.Key, p.Mention = p.Key+"/direct", ""
		p.Markdown = whyDirect(reason) + "\n\n" + p.Markdown
		err = c.writer(item, at, since).all(ctx, c.render(item, p))
	}
	switch {
	case err == nil:
		receipt.Note += "; told " + who + " by a direct message"
	case !lasting(err) || revoked(err):
		return sessions.Receipt{}, err
	default:
		receipt.Note += fmt.Sprintf("; %s cannot be told by a direct message: %v", who, err)
	}
	return receipt, nil
}

// whyDirect says why somebody hears from us directly.
func whyDirect(reason string) string {
	switch reason {
	case rootDeleted:
		return "The message that began our thread was deleted, so I answer you here."
	case "is_archived":
		return "The channel in which you asked me was archived, so I answer you here."
	case "not_in_channel", "channel_not_found":
		return "I am not in the channel in which you asked me, so I answer you here. Invite me to go on there."
	}
	return "I may not write where you asked me, so I answer you here."
}
