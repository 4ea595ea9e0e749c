package slack

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/web"
	"github.com/liaison-bot/liaison/slack/workspace"
)

// Name is the channel's word; deliveries with this source are its own.
const Name = "slack"

// Options configure the channel.
type Options struct {
	// Workspaces has the tokens of the workspaces in which the app is installed. Nil
	// means that it is installed nowhere.
	Workspaces workspace.Source
	// OneToken is set where a token was given for one workspace, which is asked about
	// by [Channel.CheckApp].
	OneToken bool
	// Settings are the operator's.
	Settings Settings
	// Self is what is known of who we are without asking Slack.
	Self Self
	// APIURL is the root of Slack's Web API. Empty means https://slack.com/api/.
	APIURL string
	// PublicURL is where people reach our own pages, for links to a session's page;
	// nil where there are none.
	PublicURL *url.URL
	// BotName is what we are called where Slack does not say it. Empty means "Liaison".
	BotName string
	// Sessions lists what somebody has asked for, the last first, for their home
	// tab. Nil shows none.
	Sessions func(ctx context.Context, principal string, limit int) ([]SessionLine, error)
	// Session finds the session of a key; false means that there is none. Nil finds none.
	Session func(ctx context.Context, key string) (SessionLine, bool, error)
	// Approval returns an approval by its id, or [approvals.ErrUnknown]. Approvals
	// lists them, the last first; open leaves out those about which nobody can decide
	// any more. Nil knows of none.
	Approval  func(ctx context.Context, id string) (approvals.View, error)
	Approvals func(ctx context.Context, open bool, limit int) ([]approvals.View, error)
	// ApprovalChannel is the id of the channel in which approvals are asked for that
	// no thread of Slack's asked for. Nil or empty asks people directly.
	ApprovalChannel func() string
	// Removed is told that the app was taken from a workspace, or its token revoked,
	// at a time: the token is to be forgotten unless it is younger. Nil forgets none.
	Removed func(ctx context.Context, team, enterprise string, at time.Time) error
	// Review hands the review of a pull request over to GitHub's side. Nil means that
	// there is none.
	Review func(context.Context, Review) error
	// Logger receives what an operator should know. Nil discards it.
	Logger *slog.Logger
	// Redact masks secrets in what goes to Slack. Nil leaves text as it is.
	Redact func(string) string

	// Now and Random are the clock and a source of numbers in [0,1); nil means the real ones.
	Now    func() time.Time
	Random func() float64
	// Entropy makes what nobody may guess; nil means the system's.
	Entropy io.Reader
	// Transport carries the requests; nil means one of our own with Go's defaults.
	Transport http.RoundTripper
}

// Channel is Slack as a surface. Its methods may be called by many goroutines.
type Channel struct {
	web       *web.Client
	oneToken  bool
	settings  Settings
	self      Self
	publicURL *url.URL
	botName   string
	sessions  func(ctx context.Context, principal string, limit int) ([]SessionLine, error)
	session   func(ctx context.Context, key string) (SessionLine, bool, error)
	approval  func(ctx context.Context, id string) (approvals.View, error)
	approvals func(ctx context.Context, open bool, limit int) ([]approvals.View, error)
	removed   func(ctx context.Context, team, enterprise string, at time.Time) error
	review    func(context.Context, Review) error
	log       *slog.Logger
	redact    func(string) string
	now       func() time.Time
	entropy   io.Reader
	// approvalChannel is asked each time: the agent's folder may have changed.
	approvalChannel func() string

	live    *live
	unsent  *unsent
	refused *refused
}

var (
	_ sessions.Channel        = (*Channel)(nil)
	_ sessions.Weigher        = (*Channel)(nil)
	_ sessions.StopAuthorizer = (*Channel)(nil)
	_ sessions.StopWitness    = (*Channel)(nil)
	_ sessions.Follower       = (*Channel)(nil)

	_ sessions.ApprovalSurface = (*Channel)(nil)
	_ sessions.DecisionWitness = (*Channel)(nil)
	_ sessions.Requesting      = (*Channel)(nil)
	_ sessions.Resumer         = (*Channel)(nil)
)

// New returns the channel. It calls nobody: whether Slack takes a token is what
// [Channel.CheckApp] finds out.
func New(o Options) (*Channel, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.BotName == "" {
		o.BotName = "Liaison"
	}
	if o.Entropy == nil {
		o.Entropy = rand.Reader
	}
	if o.Workspaces == nil {
		o.Workspaces = nowhere{}
	}
	client, err := web.New(web.Options{
		Workspaces: o.Workspaces, APIURL: o.APIURL, Transport: o.Transport, Logger: o.Logger, Now: o.Now, Random: o.Random,
	})
	if err != nil {
		return nil, err
	}
	return &Channel{
		web: client, oneToken: o.OneToken, settings: o.Settings, self: o.Self, publicURL: o.PublicURL, botName: o.BotName, sessions: o.Sessions,
		live: newLive(client, o.Settings.Reply, o.Now, o.Logger), review: o.Review,
		log: o.Logger, redact: o.Redact, now: o.Now, unsent: newUnsent(), refused: newRefused(o.Logger),
		session: o.Session, removed: o.Removed, entropy: o.Entropy,
		approval: o.Approval, approvals: o.Approvals, approvalChannel: o.ApprovalChannel,
	}, nil
}

// Name implements [sessions.Channel].
func (c *Channel) Name() string { return Name }

// Map implements [sessions.Channel].
func (c *Channel) Map(d sessions.Delivery) (sessions.Intent, error) {
	return Map(d, c.self, c.settings)
}

// CheckApp asks Slack whether it takes the token of [Options.OneToken], and says in
// a few words who we are there. Where workspaces install the app by themselves
// there is none to ask about.
func (c *Channel) CheckApp(ctx context.Context) (string, error) {
	if !c.oneToken {
		return "each workspace has its own token", nil
	}
	w, err := c.web.Workspace(ctx, web.Place{})
	if err != nil {
		return "", fmt.Errorf("slack: find the workspace: %w", err)
	}
	who, err := c.web.Identity(ctx, web.Place{Team: w.Team, Enterprise: w.Enterprise})
	if err != nil {
		return "", fmt.Errorf("slack: %w", err)
	}
	return fmt.Sprintf("bot %s in %s", who.BotUser, who.TeamName), nil
}

// nowhere is the source of workspaces of an app that is installed nowhere.
type nowhere struct{}

// Workspace implements [workspace.Source].
func (nowhere) Workspace(context.Context, string, string) (workspace.Workspace, error) {
	return workspace.Workspace{}, workspace.ErrNotInstalled
}
