package slack

import (
	"context"
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/sessions"
)

// stopFor finds out what a command to stop is about. Slack takes no commands in
// threads, so that it is the one thing that goes on in the channel for who asks.
func (c *Channel) stopFor(ctx context.Context, in sessions.Intent, r request) (sessions.Intent, error) {
	lines, err := c.sessionsOf(ctx, r)
	if err != nil {
		return in, err
	}
	var working []SessionLine
	for _, line := range lines {
		if line.Working && strings.HasPrefix(line.Key, r.channelKeys()) {
			working = append(working, line)
		}
	}
	switch len(working) {
	case 0:
		return owing(in, aside(r, "stopped", "Nothing of yours is running in this channel. To stop what others asked for, write `stop` in its thread.")...), nil
	case 1:
		r.Thread = strings.TrimPrefix(working[0].Key, r.channelKeys())
		in.Action, in.Key, in.Request = sessions.ActionStop, r.key(), r.encode()
		return in, nil
	}
	w, err := c.web.Workspace(ctx, r.place())
	if err != nil {
		return in, fmt.Errorf("find the workspace: %w", err)
	}
	text := "Several things are running for you in this channel. Write `stop` in the thread of the one to stop.\n\n" +
		c.statusText(working, w.URL, r.Team)
	return owing(in, aside(r, "stopped", text)...), nil
}
