package github

import (
	"cmp"
	"crypto/rsa"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/github/repoconfig"
)

// app signs in as the GitHub App and keeps one client for each repository.
type app struct {
	id   int64
	key  *rsa.PrivateKey
	root *url.URL
	// public is where people reach our own pages; nil where there are none.
	public  *url.URL
	wire    *wire
	circuit *circuit
	grants  grants
	pacer   *pacer
	quota   *quota
	answers *revalidator
	log     *slog.Logger
	now     func() time.Time
	// bot is the user id of the App's bot account, once known.
	bot atomic.Int64
	// handle is what people call us: the operator's word, if named is set, or the
	// App's slug once it is known.
	handle atomic.Pointer[string]
	named  bool
	// kept remembers who we are over a restart; nil remembers nothing.
	kept repoconfig.Store

	mu    sync.Mutex
	repos map[repoID]*repository
}

// repoID names a repository as one installation reaches it.
type repoID struct{ installation, repository int64 }

// repository is the way to one repository, with its own token.
type repository struct {
	id        repoID
	client    *gh.Client
	transport *repoTransport
}

func newApp(o Options) (*app, error) {
	switch {
	case o.AppID <= 0:
		return nil, errors.New("the GitHub App's id is missing")
	case o.Key == nil:
		return nil, errors.New("the GitHub App's private key is missing")
	}
	root, err := parseRoot(cmp.Or(o.APIURL, "https://api.github.com/"))
	if err != nil {
		return nil, err
	}
	graphQL, err := graphQLRoot(root, o.GraphQLURL)
	if err != nil {
		return nil, err
	}
	base := o.Transport
	if base == nil {
		base = http.DefaultTransport.(*http.Transport).Clone()
	}
	a := &app{
		id:   o.AppID,
		key:  o.Key,
		root: root, public: o.PublicURL,
		wire: &wire{
			base:      base,
			root:      root,
			graphQL:   graphQL,
			userAgent: "liaison/" + cmp.Or(o.Version, "dev"),
			clock:     &clockWatch{now: o.Now, log: o.Logger},
			reach:     &reach{now: o.Now, log: o.Logger},
		},
		circuit: &circuit{now: o.Now, log: o.Logger, open: map[int64]*breach{}},
		grants:  grants{known: map[int64]grant{}},
		pacer:   newPacer(o.WritePause, o.Now),
		quota:   &quota{now: o.Now},
		answers: &revalidator{},
		log:     o.Logger,
		now:     o.Now,
		repos:   map[repoID]*repository{},
		named:   o.BotName != "",
		kept:    o.Configurations,
	}
	if o.BotName != "" {
		a.handle.Store(&o.BotName)
	}
	a.recallIdentity()
	return a, nil
}

func (a *app) self() Self {
	s := Self{AppID: a.id, BotID: a.bot.Load()}
	if handle := a.handle.Load(); handle != nil {
		s.Handle = *handle
	}
	return s
}

// repository returns the way to a repository. Neither id may be zero: a token
// for installation 0 is a request that GitHub answers with a puzzling 404.
func (a *app) repository(installation, id int64) (*repository, error) {
	if installation <= 0 || id <= 0 {
		return nil, errForeignHook
	}
	key := repoID{installation, id}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.repos[key]; r != nil {
		return r, nil
	}
	t := &repoTransport{app: a, id: key}
	r := &repository{id: key, transport: t, client: a.pacedClient(installation, a.answers.through(key, t))}
	a.repos[key] = r
	return r, nil
}

// client returns a go-github client over a transport whose requests are bounded in time.
func (a *app) client(t http.RoundTripper) *gh.Client {
	return a.clientOver(timed{next: t, limit: requestTimeout})
}

// pacedClient is one whose writes wait for their turn in an installation.
func (a *app) pacedClient(installation int64, t http.RoundTripper) *gh.Client {
	return a.clientOver(paced{next: timed{next: t, limit: requestTimeout}, pacer: a.pacer, installation: installation})
}

// clientOver returns a go-github client over a transport. It follows no redirect
// by itself: the token would travel along, and a write would become a read.
func (a *app) clientOver(t http.RoundTripper) *gh.Client {
	c := gh.NewClient(&http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	c.BaseURL = a.root
	c.UserAgent = a.wire.userAgent
	return c
}

// signer returns a transport that signs with a token for one repository and
// with these permissions. It has an AppsTransport to itself: refreshing a token
// writes to it without a lock.
func (a *app) signer(id repoID, permissions *gh.InstallationPermissions, base http.RoundTripper) *ghinstallation.Transport {
	apps := ghinstallation.NewAppsTransportFromPrivateKey(base, a.id, a.key)
	apps.BaseURL = a.root.String()
	t := ghinstallation.NewFromAppsTransport(apps, id.installation)
	t.InstallationTokenOptions = &gh.InstallationTokenOptions{
		RepositoryIDs: []int64{id.repository},
		Permissions:   permissions,
	}
	return t
}
