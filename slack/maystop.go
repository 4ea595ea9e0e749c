package slack

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/liaison-bot/liaison/sessions"
)

// What people see of a stop.
const (
	stoppedText   = "Stopped."
	nothingToStop = "Nothing is running here."
	endedBefore   = "That had ended already."
	mayNotStop    = "I go on: only who asked for this, an admin or an owner of the workspace, or whoever runs me can stop it."
)

// MayStop implements [sessions.StopAuthorizer]: beside who asked for a turn, the
// admins and owners of the workspace may stop what is done in it.
func (c *Channel) MayStop(ctx context.Context, q sessions.StopQuestion) (bool, error) {
	r, err := parseRequest(q.Request)
	if err != nil {
		return false, err
	}
	if r.User == "" || r.App != "" || q.Principal != r.principal() || q.Key != r.key() {
		return false, nil
	}
	who, err := c.standing(ctx, r)
	if err != nil {
		return false, fmt.Errorf("slack: %w", err)
	}
	return who.admin && !who.gone && !who.bot && !who.guest && !who.external, nil
}

// StopEffects implements [sessions.StopWitness]: who asked for a stop is told what
// came of it. A "stop" that was said to nobody in particular, where nothing of ours
// runs, was not for us.
func (c *Channel) StopEffects(raw json.RawMessage, v sessions.StopVerdict) []sessions.Effect {
	r, err := parseRequest(raw)
	if err != nil || r.App != "" || r.User == "" {
		return nil
	}
	switch {
	case v.Ended && v.Refused:
		return aside(r, "stopped", "I stopped what you asked for. "+mayNotStop)
	case v.Refused:
		return aside(r, "stopped", mayNotStop)
	case v.Ended && r.TS != "" && c.settings.Reactions:
		return []sessions.Effect{effect("stopped", kindReaction, reactionPayload{To: r.address, TS: r.TS, Add: reactionStopped})}
	case v.Ended:
		return aside(r, "stopped", stoppedText)
	case r.Trigger == byReply:
		return nil
	case r.Trigger == byClick:
		return aside(r, "stopped", endedBefore)
	}
	return aside(r, "stopped", nothingToStop)
}
