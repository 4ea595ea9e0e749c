package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/web"
)

// Deliver implements [sessions.Channel]: it performs one owed effect. What has no
// place in Slack any more is left out and noted.
func (c *Channel) Deliver(ctx context.Context, item sessions.Item) (sessions.Receipt, error) {
	receipt, err := c.deliver(ctx, item)
	if err != nil {
		return sessions.Receipt{}, retryable(fmt.Errorf("slack: deliver %s: %w", item.Kind, err))
	}
	return receipt, nil
}

func (c *Channel) deliver(ctx context.Context, item sessions.Item) (sessions.Receipt, error) {
	switch item.Kind {
	case kindPost:
		return perform(ctx, item, c.post)
	case kindEphemeral:
		return perform(ctx, item, c.ephemeral)
	case kindReaction:
		return perform(ctx, item, c.react)
	case kindStatus:
		return perform(ctx, item, c.live.deliverStatus)
	case kindRest:
		return perform(ctx, item, c.live.rest)
	case kindHome:
		return perform(ctx, item, c.home)
	case kindPrompts:
		return perform(ctx, item, c.prompts)
	case kindTitle:
		return perform(ctx, item, c.title)
	case kindReview:
		return perform(ctx, item, c.handOver)
	case kindNote:
		return perform(ctx, item, c.note)
	case sessions.KindApprovalCard:
		return perform(ctx, item, c.card)
	case sessions.KindOutcome:
		return perform(ctx, item, c.outcome)
	}
	return sessions.Receipt{}, errors.New("no such kind of effect")
}

// perform reads an item's payload and does what it asks for.
func perform[P any](ctx context.Context, item sessions.Item, do func(context.Context, sessions.Item, P) (sessions.Receipt, error)) (sessions.Receipt, error) {
	var payload P
	if err := json.Unmarshal(item.Payload, &payload); err != nil {
		// The cause is hidden: in an answer of Slack's it would be worth another try.
		return sessions.Receipt{}, errors.New("read the payload: " + err.Error())
	}
	return do(ctx, item, payload)
}

// minor is the receipt of something that nobody misses: where Slack does not do
// it, it is left out.
func minor(done, what string, err error) (sessions.Receipt, error) {
	switch {
	case err == nil:
		return sessions.Receipt{Note: done}, nil
	case lasting(err) && !revoked(err):
		return sessions.Receipt{Note: fmt.Sprintf("no %s: %v", what, err)}, nil
	}
	return sessions.Receipt{}, err
}

// revoked reports whether Slack takes the token for nothing at all, so that what is
// owed has to wait.
func revoked(err error) bool {
	return errors.Is(err, web.ErrAuth) && web.Code(err) != "missing_scope" && web.Code(err) != "no_permission"
}
