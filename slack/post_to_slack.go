package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
	"github.com/liaison-bot/liaison/slack/web"
	"github.com/liaison-bot/liaison/tools"
)

// postedWithin is how far back in a channel a message of a tool's is looked for. A
// call is looked for when the service starts again.
const postedWithin = 24 * time.Hour

// postToSlack posts what an agent wants to say.
func (c *Channel) postToSlack(ctx context.Context, call tools.Call) (tools.Result, error) {
	p, err := c.toolPost(ctx, call)
	if err != nil {
		return tools.Result{}, err
	}
	item := toolItem(call)
	return c.toolPosted(ctx, item, p, c.render(item, p), "Posted in "+placeOf(p.To)+".")
}

// toolPosted posts a tool's message, once, and says so to the agent.
func (c *Channel) toolPosted(ctx context.Context, item sessions.Item, p postPayload, r rendered, done string) (tools.Result, error) {
	err := c.writer(item, p.To.place(), p.Since).all(ctx, r)
	switch {
	case err == nil:
		return tools.Result{Text: done}, nil
	case errors.Is(err, web.ErrAmbiguous):
		return tools.Result{}, fmt.Errorf("it is not known whether it was posted, and it is not posted again by itself: %w", err)
	case web.Code(err) == "not_in_channel", web.Code(err) == "channel_not_found":
		return tools.Result{}, notInChannel(p.To.Channel)
	}
	return tools.Result{}, fmt.Errorf("it was not posted in %s: %w", placeOf(p.To), err)
}

// lookForPost finds out whether a call has posted.
func (c *Channel) lookForPost(ctx context.Context, call tools.Call) (tools.Result, error) {
	p, err := c.toolPost(ctx, call)
	if err != nil {
		return tools.Result{}, tools.ErrOutcomeUnknown
	}
	return c.looked(ctx, call, p, "Posted in "+placeOf(p.To)+".")
}

// looked finds out whether the first message of a call is there.
func (c *Channel) looked(ctx context.Context, call tools.Call, p postPayload, done string) (tools.Result, error) {
	w := c.writer(toolItem(call), p.To.place(), p.Since)
	if err := w.look(ctx); err != nil {
		return tools.Result{}, fmt.Errorf("%w: %w", tools.ErrOutcomeUnknown, err)
	}
	key := fmt.Sprintf("%s/%s/0", call.SessionID, p.Key)
	if !w.there[key] && !w.there[textKey(key, 0)] {
		return tools.Result{Text: "It was not posted: the service was stopped before that.", IsError: true}, nil
	}
	return tools.Result{Text: done}, nil
}

// toolItem stands for a call where effects are written.
func toolItem(call tools.Call) sessions.Item {
	return sessions.Item{ID: toolKey(call), SessionID: call.SessionID, TurnID: call.TurnID, Attempts: 1}
}

// toolKey marks what a call posts: the same for each look at the same call.
func toolKey(call tools.Call) string {
	return "tool/" + cmp.Or(call.ApprovalID, strings.Join([]string{call.TurnID, call.AgentID, call.CallID}, "/"))
}

// toolPost is what a call of [toolPostToSlack] asks for, and where that goes.
func (c *Channel) toolPost(ctx context.Context, call tools.Call) (postPayload, error) {
	var in struct{ Text, Channel string }
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return postPayload{}, fmt.Errorf("read the input: %w", err)
	}
	p := postPayload{Key: toolKey(call), Markdown: in.Text, Since: fmt.Sprintf("%d.000000", c.now().Add(-postedWithin).Unix())}
	asked, err := parseRequest(call.Request)
	inSlack := call.Channel == Name && err == nil && asked.Channel != ""
	if in.Channel == "" {
		if !inSlack {
			return p, errors.New("you are not asked in Slack: name a channel by its id")
		}
		p.To = asked.address
		return p, nil
	}
	id := event.ID(in.Channel)
	if id != in.Channel || id[0] != 'C' && id[0] != 'G' {
		return p, fmt.Errorf("%.40q is no id of a channel, such as C0123456789", in.Channel)
	}
	switch {
	case inSlack:
		p.To = address{Team: asked.Team, Enterprise: asked.Enterprise, Channel: id}
	case c.oneToken:
		p.To = address{Channel: id}
	default:
		return p, errors.New("you are not asked in Slack, and the app is in many workspaces: it cannot be told in which")
	}
	return p, c.mayPost(ctx, &p.To)
}

// mayPost reports why a tool may not post in a channel, and fills in its workspace.
func (c *Channel) mayPost(ctx context.Context, to *address) error {
	if s := c.settings.Channels; len(s) > 0 && !slices.Contains(s, to.Channel) {
		return fmt.Errorf("the operator does not let the app write in %s", to.Channel)
	}
	at, err := c.here(ctx, cardAddress{address: *to})
	if err != nil {
		return err
	}
	*to = at.address
	ch, err := c.web.Channel(ctx, to.place())
	switch {
	case errors.Is(err, web.ErrGone), err == nil && !ch.Member:
		return notInChannel(to.Channel)
	case err != nil:
		return fmt.Errorf("look at the channel %s: %w", to.Channel, err)
	case ch.Archived:
		return fmt.Errorf("the channel %s is archived", to.Channel)
	case ch.Shared && !c.settings.AllowExternal:
		return fmt.Errorf("people of other organisations read the channel %s, and the operator does not let the app talk to them", to.Channel)
	}
	return nil
}

func notInChannel(id string) error {
	return fmt.Errorf("the app is not in the channel %s, or there is none: somebody has to invite it", id)
}

// placeOf names a place to an agent.
func placeOf(a address) string {
	if a.Thread != "" {
		return "the thread"
	}
	return "the channel " + a.Channel
}
