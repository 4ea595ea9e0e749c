package sim

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// SlackOptions describe the Slack app that the simulated Slack knows.
type SlackOptions struct {
	// AppID is the app's id. Empty means "A0LIAISON".
	AppID string
	// BotName is the display name of the app's bot user. Empty means "liaison".
	BotName string
	// SigningSecret signs deliveries. [Slack.SetSigningSecret] changes it.
	SigningSecret string
	// AppToken ("xapp-…") opens Socket Mode connections. Empty refuses all.
	AppToken string
	// ConfigToken ("xoxe.xoxp-…") creates and changes apps by their manifest.
	// Empty refuses all.
	ConfigToken string
	// ClientID and ClientSecret identify the app when it installs itself by OAuth.
	ClientID, ClientSecret string
	// RedirectURLs are those that the app may use with OAuth.
	RedirectURLs []string
	// Scopes are granted to every bot token that names none. Nil means all that
	// the methods of this simulator ask for.
	Scopes []string
	// TokenRotation has OAuth give out tokens that live 12 hours.
	TokenRotation bool
	// HistoryLimit caps the page of conversations.history and .replies: 15 for an
	// app that falls under the stricter limits. 0 means the documented 1,000.
	// https://docs.slack.dev/reference/methods/conversations.replies
	HistoryLimit int
	// PostBurst is how many messages a channel takes within a second before it
	// answers 429. 0 means no such limit.
	// https://docs.slack.dev/apis/web-api/rate-limits
	PostBurst int
	// StreamLife is how long a stream takes text. 0 means 5 minutes, which is
	// what people measure; Slack documents no number.
	StreamLife time.Duration
	// Now is the platform's clock, used for time stamps and everything that
	// expires. Nil means time.Now.
	Now func() time.Time
	// AckTimeout is how long a delivery waits for its answer, in real time.
	// 0 means Slack's 3 seconds.
	AckTimeout time.Duration
	// SocketPing is how often open sockets are pinged, in real time. 0 means 10
	// seconds, negative never.
	SocketPing time.Duration
	// Watch is told of every call with its answer. It must not call back, and is
	// called by many goroutines. Optional.
	Watch func(Exchange)
}

// Slack is a Slack on loopback. It is an [http.Handler], safe for concurrent
// use. The zero value is not usable; call [NewSlack].
type Slack struct {
	opts    SlackOptions
	methods map[string]slackMethod

	mu      sync.Mutex
	changed chan struct{}
	base    string // scheme and host, without a trailing slash
	ids     int64
	lastTS  int64 // microseconds of the youngest time stamp

	workspaces map[string]*workspace
	users      map[string]*slackUser
	channels   map[string]*slackChannel
	groups     map[string]SlackUserGroup
	tokens     map[string]*slackToken
	files      map[string]*slackFile
	calls      []SlackCall
	misfits    []string // see Unfit
	faults     []*slackFault
	statuses   map[statusPlace]SlackStatus
	interact   slackInteractions
	grants     slackGrants
	apps       map[string]object // manifests by the id of their app
	contexts   map[string]string // event_context → id of the workspace
	sockets    slackSockets
	sending    slackSending

	listener *loopback
	stop     chan struct{} // closed by Close, releases what hangs
	once     sync.Once
	late     sync.WaitGroup // effects that come after their answer
}

// NewSlack returns a Slack without workspaces.
func NewSlack(o SlackOptions) *Slack {
	if o.AppID == "" {
		o.AppID = "A0LIAISON"
	}
	if o.BotName == "" {
		o.BotName = "liaison"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.StreamLife == 0 {
		o.StreamLife = 5 * time.Minute
	}
	if o.SocketPing == 0 {
		o.SocketPing = 10 * time.Second
	}
	if o.AckTimeout == 0 {
		o.AckTimeout = 3 * time.Second
	}
	s := &Slack{
		opts:       o,
		changed:    make(chan struct{}),
		base:       "https://slack.invalid",
		workspaces: map[string]*workspace{},
		users:      map[string]*slackUser{},
		channels:   map[string]*slackChannel{},
		groups:     map[string]SlackUserGroup{},
		tokens:     map[string]*slackToken{},
		files:      map[string]*slackFile{},
		statuses:   map[statusPlace]SlackStatus{},
		interact:   slackInteractions{triggers: map[string]*slackTrigger{}, answers: map[string]*slackResponseURL{}},
		grants:     slackGrants{codes: map[string]*slackCode{}, refresh: map[string]*slackToken{}},
		apps:       map[string]object{},
		contexts:   map[string]string{},
		sockets:    slackSockets{tickets: map[string]bool{}, acks: map[string]chan []byte{}},
		stop:       make(chan struct{}),
	}
	s.sending.secret = o.SigningSecret
	s.methods = s.methodTable()
	return s
}

// Start listens on a free port of 127.0.0.1 and returns [Slack.URL].
func (s *Slack) Start() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener != nil {
		return "", errStarted
	}
	l, base, err := listenLoopback(s)
	if err != nil {
		return "", err
	}
	s.listener, s.base = l, base
	return s.base + "/api/", nil
}

// Close drops every connection, releases what hangs, and waits for the server
// and the deliveries to end. It is safe to call twice and without [Slack.Start].
func (s *Slack) Close() error {
	s.once.Do(func() { close(s.stop) })
	s.mu.Lock()
	l := s.listener
	s.mu.Unlock()
	err := l.close()
	s.DropSockets()
	s.sending.workers.Wait()
	s.late.Wait()
	return err
}

// URL is the root of the Web API with a trailing slash, as SLACK_API_URL wants it.
func (s *Slack) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.base + "/api/"
}

// SetURL tells a Slack that is served by a caller's own server under which
// scheme and host, such as "http://127.0.0.1:8081", it is reached.
func (s *Slack) SetURL(base string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base = strings.TrimSuffix(base, "/")
}

// Changed returns a channel that is closed at the next change of the world or
// the next call. Take it before looking, or a change in between is missed.
func (s *Slack) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Wait returns nil once cond holds, and the context's error if it never does.
// cond runs without the simulator's lock and may call its methods.
func (s *Slack) Wait(ctx context.Context, cond func() bool) error {
	for {
		changed := s.Changed()
		if cond() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("sim: wait for Slack: %w", ctx.Err())
		}
	}
}

// notify wakes everybody in Wait. Callers hold the lock.
func (s *Slack) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// newID returns a fresh id such as "Ev0000000000012". Callers hold the lock.
func (s *Slack) newID(prefix string) string {
	s.ids++
	return fmt.Sprintf("%s%08X", prefix, 0x0A00_0000+s.ids)
}

// newTS returns a fresh time stamp, above every earlier one. A fraction of six
// digits with zeros at its end is what a float would lose. Callers hold the lock.
func (s *Slack) newTS() string {
	s.lastTS = max(s.opts.Now().UnixMicro(), s.lastTS+10)
	return formatTS(s.lastTS)
}

// formatTS prints microseconds as Slack prints time stamps.
func formatTS(micros int64) string { return fmt.Sprintf("%d.%06d", micros/1e6, micros%1e6) }

// isTS reports whether a text has the form of a time stamp.
func isTS(ts string) bool {
	seconds, fraction, found := strings.Cut(ts, ".")
	if !found || len(fraction) != 6 {
		return false
	}
	_, errSeconds := strconv.ParseUint(seconds, 10, 63)
	_, errFraction := strconv.ParseUint(fraction, 10, 63)
	return errSeconds == nil && errFraction == nil
}

// lessTS compares two time stamps, also of unequal lengths. Slack takes plain
// seconds for bounds too.
func lessTS(a, b string) bool { return microsOf(a) < microsOf(b) }

func microsOf(ts string) int64 {
	seconds, fraction, _ := strings.Cut(ts, ".")
	whole, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return 0
	}
	part, err := strconv.ParseInt((fraction + "000000")[:6], 10, 64)
	if err != nil {
		return 0
	}
	return whole*1e6 + part
}

// ServeHTTP answers the Web API and the other addresses that Slack gives out.
func (s *Slack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method, isAPI := strings.CutPrefix(r.URL.Path, "/api/")
	if !isAPI {
		s.serveElsewhere(w, r)
		return
	}
	s.serveMethod(w, r, method)
}
