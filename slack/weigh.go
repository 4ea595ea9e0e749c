package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/sessions"
)

// Weigh implements [sessions.Weigher]: it finds out whether who asks may, and does
// what has to be done before it is known which session a question belongs to.
func (c *Channel) Weigh(ctx context.Context, in sessions.Intent) (sessions.Intent, error) {
	r, err := parseRequest(in.Request)
	if err != nil {
		return sessions.Intent{}, err
	}
	out, err := c.weigh(ctx, in, r)
	if err != nil {
		c.refused.note(r.install(), err)
		return sessions.Intent{}, toRetry(fmt.Errorf("slack: %w", err))
	}
	return out, nil
}

func (c *Channel) weigh(ctx context.Context, in sessions.Intent, r request) (sessions.Intent, error) {
	if r.Trigger == byUninstall {
		return c.uninstalled(ctx, in, r)
	}
	if r.decides() {
		return c.weighApproval(ctx, in, r)
	}
	why, err := c.admit(ctx, r)
	if err != nil {
		return in, err
	}
	switch {
	case why != admitted:
		return c.refuse(in, r, why), nil
	case in.Action == sessions.ActionStop:
		return in, nil // who may end what runs is judged when that is known
	case r.Trigger == byHome:
		return owing(in, effect("home", kindHome, homePayload{To: address{Team: r.Team, Enterprise: r.Enterprise}, User: r.User})), nil
	case r.Trigger == byAssistant:
		return owing(in, effect("prompts", kindPrompts, promptsPayload{To: r.address})), nil
	case r.Trigger == byShortcut, r.Trigger == byClick:
		return c.openAsk(ctx, in, r), nil
	}
	switch r.Verb {
	case verbAsk:
		if r.Trigger == byCommand || r.Trigger == bySubmit {
			return c.pose(ctx, in, r)
		}
		return in, nil
	case verbStatus:
		return c.tellStatus(ctx, in, r)
	case verbStop:
		return c.stopFor(ctx, in, r)
	case verbReview:
		return c.weighReview(ctx, in, r)
	}
	return owing(in, c.help(r)...), nil
}

// uninstalled forgets the token of an installation that is gone, before its
// sessions end.
func (c *Channel) uninstalled(ctx context.Context, in sessions.Intent, r request) (sessions.Intent, error) {
	if c.removed == nil {
		return in, nil
	}
	if err := c.removed(ctx, r.Team, r.Enterprise, r.At); err != nil {
		return in, fmt.Errorf("forget the installation in %s: %w", r.install(), err)
	}
	return in, nil
}

// toRetry makes every failure one to be tried again: what could not be read says
// nothing about what was asked.
func toRetry(err error) error {
	var retry *sessions.RetryError
	if err = retryable(err); errors.As(err, &retry) {
		return err
	}
	return &sessions.RetryError{Err: err}
}

// owing is an intent that is answered without a turn.
func owing(in sessions.Intent, effects ...sessions.Effect) sessions.Intent {
	in.Action, in.Effects = sessions.ActionIgnore, append(in.Effects, effects...)
	return in
}

// isDirect reports whether it was asked where nobody else listens.
func (r request) isDirect() bool { return isDirect(r.ChannelType, r.Channel) }

// aside tells something to who asked, and to nobody else where that can be.
func aside(r request, name, text string) []sessions.Effect {
	if r.isDirect() && r.ResponseURL == "" {
		return []sessions.Effect{postIn(r, name, text)}
	}
	if r.Thread == r.TS {
		r.Thread = "" // a thread without a reply is open before nobody
	}
	return tell(r, text)
}

// postIn is a message where it was asked.
func postIn(r request, name, text string) sessions.Effect {
	return effect(name, kindPost, postPayload{To: r.address, Key: name + ":" + cmp.Or(r.TS, r.MessageTS+r.Argument), Markdown: text, User: r.User, Since: r.TS})
}
