package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
)

// ErrNotInstalled says that the app has no token for a workspace: it was never
// installed there, was uninstalled, or its token was revoked.
var ErrNotInstalled = errors.New("slack: the app is not installed in this workspace")

// ErrRefused says that there is a token for a workspace and Slack does not accept
// it.
var ErrRefused = errors.New("slack: Slack does not accept the app's token")

// Workspace is the app in one workspace, or in all of one organisation.
type Workspace struct {
	Team       string   // id of the workspace (T…); empty for an installation in a whole organisation
	Enterprise string   // id of the Enterprise Grid organisation (E…); empty outside one
	BotUser    string   // user id of the app's bot (U…)
	BotID      string   // bot id of the app's bot (B…); empty when Slack did not say it
	AppID      string   // id of the app (A…); empty when Slack did not say it
	Name       string   // for people only
	URL        string   // https://acme.slack.com/; empty when Slack did not say it
	Scopes     []string // what the token may do; nil when Slack did not say it
	Token      string   // never printed: see String and LogValue
}

// Source finds the app's installation in a workspace.
type Source interface {
	// Workspace returns the installation that serves a workspace: its own, else
	// the one of its organisation. Either id may be empty. It may ask Slack, and
	// returns [ErrNotInstalled] when there is none, and [ErrRefused] when it is of no
	// use. Any other error can pass.
	Workspace(ctx context.Context, team, enterprise string) (Workspace, error)
}

// String names the workspace and leaves the token out.
func (w Workspace) String() string {
	id := w.Team
	if id == "" {
		id = w.Enterprise
	}
	if w.Name == "" {
		return id
	}
	return fmt.Sprintf("%s (%s)", w.Name, id)
}

// GoString keeps the token out of %#v.
func (w Workspace) GoString() string { return fmt.Sprintf("workspace.Workspace{%s}", w) }

// Format keeps the token out of every verb, among them those that fmt would
// answer field by field.
func (w Workspace) Format(f fmt.State, verb rune) {
	if verb == 'v' && f.Flag('#') {
		_, _ = fmt.Fprint(f, w.GoString())
		return
	}
	_, _ = fmt.Fprint(f, w.String())
}

// LogValue implements [slog.LogValuer] without the token.
func (w Workspace) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("team", w.Team),
		slog.String("enterprise", w.Enterprise),
		slog.String("bot_user", w.BotUser),
	)
}

// MarshalJSON writes the workspace without its token, so that one that ends in
// an answer or an event by mistake tells nothing.
func (w Workspace) MarshalJSON() ([]byte, error) { return json.Marshal(w.String()) }
