package slack

import (
	"context"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
	"github.com/liaison-bot/liaison/slack/limits"
)

// weighApproval finds out who decides, or looks, and about what. Whether it counts is
// judged where the record is.
func (c *Channel) weighApproval(ctx context.Context, in sessions.Intent, r request) (sessions.Intent, error) {
	if r.Verb == verbApprovals {
		return owing(in, effect("approvals", kindEphemeral, ephemeralPayload{
			To: r.address, User: r.User, UserTeam: r.UserTeam, Approvals: true, ResponseURL: r.ResponseURL,
		})), nil
	}
	id, reason := approvalNamed(r.Argument)
	v, err := c.lookUp(ctx, id, r)
	switch {
	case errors.Is(err, approvals.ErrUnknown):
		in.Reason += ": no such approval"
		return owing(in, aside(r, "decided", approvals.View{}.Answer(err, approvals.Words{}))...), nil
	case err != nil:
		return in, fmt.Errorf("look up approval %s: %w", id, err)
	}
	click := r.Trigger == byClick
	switch {
	case r.Verb == verbShow:
		if p := c.person(ctx, r, nil); p.Standing != approvals.Member {
			in.Reason += ": refused, no member"
			return owing(in, aside(r, "decided", "Only members of this workspace can see all of it.")...), nil
		}
		d := drawing{View: v, words: c.calling(ctx, r.address)}
		return c.openWindow(ctx, in, r, d.showWindow(r), `I could not open a window in time. Press "Show all" again.`), nil
	case r.Verb == verbDeny && click && v.State.Open():
		return c.openWindow(ctx, in, r, denyWindow(v, r),
			fmt.Sprintf("I could not open a window in time. Press Deny again, or write `/liaison deny %s` and a reason.", v.ID)), nil
	case r.Text != "":
		reason = r.Text
	}
	ballot := approvals.Ballot{
		ApprovalID: v.ID, Verdict: verdicts[r.Verb], Reason: clipped(event.Plain(reason), limits.InputText),
		By: c.person(ctx, r, v.Deciders), Place: Name,
	}
	if r.MessageTS != "" {
		ballot.Channel, ballot.Ref = Name, cardRef(r.Channel, r.MessageTS)
	}
	in.Action, in.Ballot, in.Urgent = sessions.ActionDecide, &ballot, true
	in.Reason += " about " + v.ID
	return in, nil
}

// lookUp returns an approval that can be decided about where a request comes from.
func (c *Channel) lookUp(ctx context.Context, id string, r request) (approvals.View, error) {
	if c.approval == nil || !approvals.ValidID(id) {
		return approvals.View{}, approvals.ErrUnknown
	}
	v, err := c.approval(ctx, id)
	if err == nil && !c.concerns(v, r) {
		return approvals.View{}, approvals.ErrUnknown
	}
	return v, err
}
