package socket

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// The errors for which trying again has no use; [Client.Run] ends with them.
var (
	// ErrRefused says that Slack does not accept the app-level token.
	ErrRefused = errors.New("slack: Socket Mode refuses the app-level token; make one with the scope connections:write under Basic Information on the app's page, and set it as SLACK_APP_TOKEN")
	// ErrDisabled says that Socket Mode is turned off for the app.
	ErrDisabled = errors.New("slack: Socket Mode is turned off for this app; turn it on under Socket Mode on the app's page, and start again")
)

// refusals are the answers of apps.connections.open that stay the same however
// often it is asked (https://docs.slack.dev/reference/methods/apps.connections.open).
var refusals = []string{
	"access_denied", "account_inactive", "forbidden_team", "invalid_auth", "missing_scope", "no_permission",
	"not_allowed_token_type", "not_authed", "token_expired", "token_revoked", "user_removed_from_team",
}

// refusal returns the error of an answer that stays the same, and nil for others.
func refusal(code string) error {
	switch {
	case code == reasonDisabled:
		return ErrDisabled
	case slices.Contains(refusals, code):
		return fmt.Errorf("%w (it answered %s)", ErrRefused, code)
	}
	return nil
}

// answerError is an answer of Slack's that is no link.
type answerError struct {
	code string
	// after is how long Slack wants to be left alone; 0 when it does not say.
	after time.Duration
}

func (e *answerError) Error() string {
	return fmt.Sprintf("slack: apps.connections.open: %s", e.code)
}
