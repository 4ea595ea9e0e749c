package github

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/github/repoconfig"
	"github.com/liaison-bot/liaison/sessions"
)

// Options configure the channel. AppID and Key are needed.
type Options struct {
	// AppID is the GitHub App's numeric id.
	AppID int64
	// Key is the App's private key.
	Key *rsa.PrivateKey
	// APIURL is the REST root as it stands; nothing is appended, and a slash at
	// its end makes no difference. Empty means https://api.github.com.
	APIURL string
	// GraphQLURL is where the GraphQL API is. Empty means the place that belongs
	// to APIURL.
	GraphQLURL string
	// PublicURL is where people reach our own pages, for links to a session's
	// page; nil where there are none.
	PublicURL *url.URL
	// BotName is what people write after "@" to speak to us. Empty means the App's
	// slug, which is learned by [Channel.CheckApp].
	BotName string
	// Version is ours, for the User-Agent.
	Version string
	// Logger receives what an operator should know. Nil discards it.
	Logger *slog.Logger
	// Redact masks secrets in what goes to an agent or to GitHub. Nil leaves
	// text as it is.
	Redact func(string) string
	// Cache keeps file contents between reviews. Optional.
	Cache evidence.Cache

	// WritePause is the time between two writes of one installation. Zero means
	// none, as for tests; the service's own is one second.
	WritePause time.Duration
	// Configurations keeps the last good configuration of each repository, and who
	// the App is, over a restart. Optional.
	Configurations repoconfig.Store
	// AllowedBots are the numeric user ids of bots that may ask and command like
	// people with write permission. No other bot is answered.
	AllowedBots []int64
	// Budgets are the most that a repository's configuration can allow in a day; zero
	// ones are those of [repoconfig.Default].
	Budgets repoconfig.Budgets

	// Approval returns an approval as people may see it, or [approvals.ErrUnknown].
	// Nil knows none, so that nobody can decide about any here.
	Approval func(ctx context.Context, id string) (approvals.View, error)
	// People are GitHub logins by the Slack users that they are.
	People map[string]string

	// Now and Random are the clock and the source of randomness; nil means the real ones.
	Now    func() time.Time
	Random io.Reader
	// Transport carries the requests; nil means a transport of our own with Go's defaults.
	Transport http.RoundTripper
	// Evidence prepares the workspace; nil means evidence.Build.
	Evidence func(context.Context, evidence.Request) (evidence.Summary, error)
}

// Channel is GitHub as a surface. Its methods may be called by many goroutines.
type Channel struct {
	// introduced is used up once it was asked who we are, where nothing said so.
	introduced sync.Once

	app    *app
	redact func(string) string
	random io.Reader
	cache  evidence.Cache
	build  func(context.Context, evidence.Request) (evidence.Summary, error)

	permissions *permissions
	configs     *repoconfig.Reader
	owners      *owners
	bots        map[int64]bool
	approval    func(ctx context.Context, id string) (approvals.View, error)
	members     *members
	// inSlack are the Slack users by their GitHub logins in small letters.
	inSlack map[string]string
	budgets repoconfig.Budgets
}

var _ sessions.Channel = (*Channel)(nil)

// New returns the channel. It calls nobody: whether GitHub knows the App is
// what [Channel.CheckApp] finds out.
func New(o Options) (*Channel, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Evidence == nil {
		o.Evidence = evidence.Build
	}
	a, err := newApp(o)
	if err != nil {
		return nil, fmt.Errorf("github: %w", err)
	}
	usual := repoconfig.Default().Budgets
	c := &Channel{
		app: a, redact: o.Redact, random: o.Random, cache: o.Cache, build: o.Evidence,
		permissions: &permissions{now: o.Now, known: map[person]permitted{}},
		configs:     repoconfig.NewReader(o.Configurations, o.Now),
		owners:      &owners{app: a, clients: map[int64]*gh.Client{}},
		bots:        map[int64]bool{},
		approval:    o.Approval,
		members:     &members{now: o.Now, known: map[membership]belongs{}},
		inSlack:     map[string]string{},
		budgets: repoconfig.Budgets{
			ActorPerDay:      cmp.Or(o.Budgets.ActorPerDay, usual.ActorPerDay),
			PullPerDay:       cmp.Or(o.Budgets.PullPerDay, usual.PullPerDay),
			RepositoryPerDay: cmp.Or(o.Budgets.RepositoryPerDay, usual.RepositoryPerDay),
		},
	}
	for user, login := range o.People {
		c.inSlack[strings.ToLower(login)] = user
	}
	for _, id := range o.AllowedBots {
		c.bots[id] = true
	}
	return c, nil
}

// Name implements sessions.Channel.
func (c *Channel) Name() string { return Name }

// Map implements sessions.Channel. It is pure but for who we are, which is
// asked once where nothing says it, and learned meanwhile.
func (c *Channel) Map(d sessions.Delivery) (sessions.Intent, error) {
	if c.app.self().Handle == "" {
		c.introduced.Do(c.introduce)
	}
	if d.Event == eventHanded {
		return c.mapHanded(d)
	}
	return Map(d, c.app.self())
}
