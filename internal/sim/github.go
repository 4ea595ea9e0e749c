package sim

import (
	"context"
	"crypto/rsa"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// GitHubOptions describe the GitHub App that the simulated GitHub knows.
type GitHubOptions struct {
	// AppID is the App's numeric id, the issuer of its JSON web tokens.
	AppID int64
	// Slug is the App's name in URLs; what it writes is signed "<slug>[bot]".
	Slug string
	// PublicKey verifies the App's tokens. Nil refuses every token.
	PublicKey *rsa.PublicKey
	// WebhookSecret signs deliveries. Empty leaves them unsigned, as GitHub does.
	WebhookSecret string
	// Now is the platform's clock, used for tokens, limits and time stamps.
	// Nil means time.Now. A shifted clock simulates drift between the hosts.
	Now func() time.Time
	// PathPrefix is put before every path: "/api/v3" behaves like Enterprise Server.
	PathPrefix string
	// RefuseAnnotation is a part of an annotation's title for which it is refused,
	// as GitHub does for reasons that it does not document.
	RefuseAnnotation string
	// WriteRedirectStatus answers a write to a renamed repository.
	// 0 means 301, the harsher answer: Go's client turns such a POST into a GET.
	WriteRedirectStatus int
	// Watch is told of every exchange that no fault was made to disturb. It must
	// not call back, and is called by many goroutines. Optional.
	Watch func(Exchange)
}

// Exchange is a request and its answer, as they went over the wire.
type Exchange struct {
	Method string `json:"method"`
	// Path is the escaped path below the REST root.
	Path    string `json:"path"`
	Query   string `json:"query,omitempty"`
	Request []byte `json:"request,omitempty"`
	Status  int    `json:"status"`
	// Answer is empty where it is not JSON.
	Answer []byte `json:"answer,omitempty"`
}

// GitHub is a GitHub on loopback. It is an [http.Handler], safe for concurrent
// use. The zero value is not usable; call [NewGitHub].
type GitHub struct {
	opts   GitHubOptions
	prefix string

	mu      sync.Mutex
	changed chan struct{}
	base    string // scheme and host, without a trailing slash
	ids     int64
	created time.Time

	users         map[string]*user
	installations map[int64]*installation
	hook          HookConfig
	tokens        map[string]*token
	repos         map[int64]*repository
	names         map[string]int64 // lower-case full name → id
	oldNames      map[string]int64 // names that redirect
	comments      map[int64]*comment
	checks        map[int64]*checkRun
	statuses      map[statusKey][]Status
	suites        map[string]int64             // app, repository and SHA → check suite id
	teams         map[string]map[string]string // org/team → login → state
	manifests     map[string]manifest          // by the code of their conversion
	deliveries    []*hookDelivery              // in order of their ids
	hookURL       string
	redelivering  sync.WaitGroup
	requests      []RecordedRequest
	faults        []*fault
	limit         rateLimit // of the installations
	pointLimit    rateLimit // of GraphQL, which GitHub counts apart
	appLimit      rateLimit // of the App's own calls, which GitHub counts apart
	publicLimit   rateLimit // of calls without an identity
	rootTable     []route
	repoTable     []route

	listener *loopback
	stop     chan struct{} // closed by Close, releases requests that hang
	once     sync.Once
}

// NewGitHub returns a GitHub without repositories or installations.
func NewGitHub(o GitHubOptions) *GitHub {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.WriteRedirectStatus == 0 {
		o.WriteRedirectStatus = http.StatusMovedPermanently
	}
	prefix := strings.TrimSuffix(o.PathPrefix, "/")
	if prefix != "" && !strings.HasPrefix(prefix, "/") {
		prefix = "/" + prefix
	}
	g := &GitHub{
		opts:          o,
		prefix:        prefix,
		changed:       make(chan struct{}),
		base:          "http://github.invalid",
		ids:           3_000_000_000, // above 2³², so that a client with 32-bit ids fails
		created:       o.Now().UTC(),
		users:         map[string]*user{},
		hook:          HookConfig{URL: "https://liaison.example.com/webhooks/github", ContentType: "json"},
		installations: map[int64]*installation{},
		tokens:        map[string]*token{},
		repos:         map[int64]*repository{},
		names:         map[string]int64{},
		oldNames:      map[string]int64{},
		comments:      map[int64]*comment{},
		checks:        map[int64]*checkRun{},
		statuses:      map[statusKey][]Status{},
		suites:        map[string]int64{},
		teams:         map[string]map[string]string{},
		manifests:     map[string]manifest{},
		limit:         newRateLimit(hourlyLimit),
		pointLimit:    newRateLimit(hourlyLimit),
		appLimit:      newRateLimit(hourlyLimit),
		publicLimit:   newRateLimit(publicHourlyLimit),
		stop:          make(chan struct{}),
	}
	g.rootTable, g.repoTable = g.rootRoutes(), g.repoRoutes()
	return g
}

// Start listens on a free port of 127.0.0.1 and returns [GitHub.URL].
func (g *GitHub) Start() (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.listener != nil {
		return "", errStarted
	}
	l, base, err := listenLoopback(g)
	if err != nil {
		return "", err
	}
	g.listener, g.base = l, base
	return g.api("/"), nil
}

// Close drops every connection, releases requests that hang, and waits for the
// server to end. It is safe to call twice and without [GitHub.Start].
func (g *GitHub) Close() error {
	g.once.Do(func() { close(g.stop) })
	g.mu.Lock()
	l := g.listener
	g.mu.Unlock()
	err := l.close()
	g.redelivering.Wait()
	return err
}

// URL is the REST root with a trailing slash, as GITHUB_API_URL wants it.
func (g *GitHub) URL() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.api("/")
}

// SetURL tells a GitHub that is served by a caller's own server under which
// scheme and host, such as "http://127.0.0.1:8081", it is reached.
func (g *GitHub) SetURL(base string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.base = strings.TrimSuffix(base, "/")
}

// Changed returns a channel that is closed at the next change of the world or
// the next request. Take it before looking, or a change in between is missed.
func (g *GitHub) Changed() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.changed
}

// Wait returns nil once cond holds, and the context's error if it never does.
// cond runs without the simulator's lock and may call its methods.
func (g *GitHub) Wait(ctx context.Context, cond func() bool) error {
	for {
		changed := g.Changed()
		if cond() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("sim: wait for GitHub: %w", ctx.Err())
		}
	}
}

// notify wakes everybody in Wait. Callers hold the lock.
func (g *GitHub) notify() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// nextID returns a fresh id. Callers hold the lock.
func (g *GitHub) nextID() int64 {
	g.ids++
	return g.ids
}

// now is the platform's time, in whole seconds as GitHub prints it.
func (g *GitHub) now() time.Time { return g.opts.Now().UTC().Truncate(time.Second) }

// api is the absolute URL of a REST path; web that of a page.
func (g *GitHub) api(path string) string { return g.base + g.prefix + path }
func (g *GitHub) web(path string) string { return g.base + path }
