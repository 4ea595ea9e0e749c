package web

import (
	"context"

	"github.com/slack-go/slack"
)

// SessionStatus is how Slack shows an agent's session.
// https://docs.slack.dev/ai/agent-sessions
type SessionStatus string

// The statuses. Slack shows a stop button while a session is processing.
const (
	SessionActive     SessionStatus = "active"
	SessionProcessing SessionStatus = "processing"
	SessionSuspended  SessionStatus = "suspended"
)

// SetSessionStatus sets the status of the session that a thread is, which begins
// with it; title and initiator count only then and may be empty.
func (c *Client) SetSessionStatus(ctx context.Context, at Place, status SessionStatus, title, initiator string) error {
	return c.do(ctx, call{method: "agents.sessions.setStatus", at: at, write: &write{priority: Status}},
		func(ctx context.Context, api *slack.Client) error {
			_, err := api.SetAgentSessionStatusContext(ctx, slack.AgentSessionSetStatusParameters{
				Status: string(status), ChannelID: at.Channel, ThreadTS: at.Thread, Title: title, InitiatorUserID: initiator,
			})
			return err
		})
}
