package install

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/slack/workspace"
)

// SingleOptions is what a [Single] needs. All are required.
type SingleOptions struct {
	// Token is the bot token (xoxb-…).
	Token string
	// APIURL is the root of the Web API, with a trailing slash.
	APIURL string
	// HTTPClient asks Slack. It is copied, and follows no redirect.
	HTTPClient *http.Client
	Now        func() time.Time
}

// Single is the source for an app with one token, of one workspace or one
// organisation. It asks Slack once whose the token is.
type Single struct {
	token string
	slack *client
	now   func() time.Time

	asking chan struct{} // holds a value while somebody asks
	mu     sync.Mutex
	who    *identity
	// failure is why Slack could not be asked, until when it is not asked again.
	failure error
	until   time.Time
}

var _ workspace.Source = (*Single)(nil)

// NewSingle returns the source of one token. It asks nobody yet.
func NewSingle(o SingleOptions) *Single {
	return &Single{
		token: o.Token, now: o.Now, asking: make(chan struct{}, 1),
		slack: newClient(o.APIURL, o.HTTPClient, "", ""),
	}
}

const (
	// askBudget bounds asking Slack whose a token is.
	askBudget = 20 * time.Second
	// askPause is how long Slack is not asked again after it did not answer, and
	// refusedPause after it did not know the token.
	askPause     = 5 * time.Second
	refusedPause = time.Minute
)

// Workspace implements [workspace.Source]. Both ids may be empty: the token has
// one place only.
func (s *Single) Workspace(ctx context.Context, team, enterprise string) (workspace.Workspace, error) {
	who, err := s.identity(ctx)
	if err != nil {
		return workspace.Workspace{}, err
	}
	switch {
	case team == "" && enterprise == "":
	case who.whole && enterprise != "" && enterprise == who.enterprise:
	case team != "" && team == who.team:
	case team == "" && enterprise == who.enterprise:
	default:
		return workspace.Workspace{}, fmt.Errorf("workspace %q of organisation %q, and SLACK_BOT_TOKEN is of %q: %w", team, enterprise, who.team, workspace.ErrNotInstalled)
	}
	if team == "" || !who.whole {
		team = who.team
	}
	return workspace.Workspace{
		Team: team, Enterprise: who.enterprise, BotUser: who.user, BotID: who.bot,
		Name: who.name, URL: who.url, Scopes: who.scopes, Token: s.token,
	}, nil
}

// identity returns what Slack said, or asks.
func (s *Single) identity(ctx context.Context) (identity, error) {
	if who, err := s.known(); who != nil || err != nil {
		return value(who), err
	}
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return identity{}, ctx.Err()
	}
	// Another may have asked meanwhile.
	if who, err := s.known(); who != nil || err != nil {
		return value(who), err
	}
	// What one asks all want to know, also when that one leaves.
	budget, cancel := context.WithTimeout(context.WithoutCancel(ctx), askBudget)
	defer cancel()
	who, err := s.slack.test(budget, s.token)
	if err == nil && (who.team == "" || who.user == "") {
		err = fmt.Errorf("slack: auth.test: the answer does not say whose SLACK_BOT_TOKEN is")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.who = &who
		return who, nil
	case refused(err):
		err = fmt.Errorf("SLACK_BOT_TOKEN: %w: %w", err, workspace.ErrRefused)
		s.until = s.now().Add(refusedPause)
	default:
		s.until = s.now().Add(askPause)
	}
	s.failure = err
	return identity{}, err
}

func (s *Single) known() (*identity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.who == nil && s.now().Before(s.until) {
		return nil, s.failure
	}
	return s.who, nil
}

func value(who *identity) identity {
	if who == nil {
		return identity{}
	}
	return *who
}
