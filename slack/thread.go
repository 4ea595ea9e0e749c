package slack

import (
	"context"
	"errors"
	"slices"

	"github.com/liaison-bot/liaison/slack/web"
)

// The bounds of what is read of a conversation, in messages. The first message of a
// thread comes on top.
const (
	maxThread = 200 // the newest of a thread
	maxDirect = 50  // the newest of direct messages that are one session
)

// tombstone is what Slack leaves where a thread's first message was deleted.
const tombstone = "tombstone"

// conversation is what was said where somebody asks, oldest first.
type conversation struct {
	messages []web.Reply
	// older is how many messages were left out after the first.
	older int
	// limited is set where Slack's rate limit ended the reading before the newest.
	limited bool
}

// read returns what was said where it is asked. Of a channel nothing is read outside
// of the thread: nobody there spoke to us.
func (c *Channel) read(ctx context.Context, r request) (conversation, error) {
	switch {
	case r.Thread != "":
		return c.readThread(ctx, r)
	case isDirect(r.ChannelType, r.Channel):
		return c.readDirect(ctx, r)
	}
	return conversation{}, nil
}

func (c *Channel) readThread(ctx context.Context, r request) (conversation, error) {
	var talk conversation
	for m, err := range c.web.Replies(ctx, r.place(), web.Range{}) {
		switch {
		case errors.Is(err, web.ErrLimited) && len(talk.messages) > 0:
			// Some apps may read one page a minute; to begin anew would never end.
			talk.limited = true
			return talk, nil
		case err != nil:
			return talk, err
		case !worded(m):
			continue
		}
		talk.messages = append(talk.messages, m)
		if len(talk.messages) > maxThread+1 {
			talk.messages = slices.Delete(talk.messages, 1, 2)
			talk.older++
		}
	}
	return talk, nil
}

func (c *Channel) readDirect(ctx context.Context, r request) (conversation, error) {
	var talk conversation
	for m, err := range c.web.Replies(ctx, r.place(), web.Range{}) {
		if err != nil {
			return talk, err
		}
		if len(talk.messages) == maxDirect {
			break
		}
		if worded(m) {
			talk.messages = append(talk.messages, m)
		}
	}
	slices.Reverse(talk.messages)
	return talk, nil
}

// worded reports whether a message is somebody's, or was.
func worded(m web.Reply) bool { return speaks(m.Subtype) || m.Subtype == tombstone }
