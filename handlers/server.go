package handlers

import (
	"context"
	"log/slog"
	"net/http"
	"path"
	"time"

	"github.com/liaison-bot/liaison/handlers/answer"
	"github.com/liaison-bot/liaison/state"
)

// Options is what the handlers need of the rest of the process.
type Options struct {
	// Inbox takes verified deliveries.
	Inbox state.Inbox
	// Check reports whether the store can be written; it may be slow.
	Check func(context.Context) error
	// GitHubSecrets and SlackSecrets are the accepted secrets of webhooks; with none
	// the channel is off and its route answers 404.
	GitHubSecrets []string
	SlackSecrets  []string
	// SlackInstall serves the pages by which workspaces install the Slack app. Nil
	// means that there are none.
	SlackInstall http.Handler
	// Metrics is told of every webhook. Nil counts nothing.
	Metrics Metrics
	// Intake counts what is in hand. Nil counts for nobody.
	Intake *Intake
	// Hasten is told of what was just stored and somebody waits for at a screen, such
	// as a click: within 3 s Slack lets a view be opened for it. It must not wait. Nil
	// hastens nothing.
	Hasten func(source, id string)
	// API serves what is below /v1/ and admits its callers itself.
	API    http.Handler
	Now    func() time.Time
	Logger *slog.Logger
}

// New returns the handler of the public listener.
func New(o Options) http.Handler {
	mux := http.NewServeMux()
	get := func(path string, h http.Handler) {
		mux.Handle("GET "+path, h)
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", "GET, HEAD")
			fail(w, http.StatusMethodNotAllowed, "method_not_allowed", "this path is read with GET")
		})
	}
	get("/healthz", http.HandlerFunc(healthz))
	get("/readyz", &readiness{check: o.Check, now: o.Now})
	if o.API != nil {
		mux.Handle("/v1/", o.API)
	}
	in := newIntake(o)
	if len(o.GitHubSecrets) > 0 {
		mux.Handle("/webhooks/github", &githubWebhook{intake: in, secrets: newHMACSecrets(o.GitHubSecrets)})
	} else {
		mux.HandleFunc("/webhooks/github", channelOff("the GitHub channel is off; GITHUB_APP_ID turns it on"))
	}
	if len(o.SlackSecrets) > 0 {
		mux.Handle("/webhooks/slack", &slackWebhook{intake: in, secrets: newHMACSecrets(o.SlackSecrets)})
	} else {
		mux.HandleFunc("/webhooks/slack", channelOff("webhooks of Slack are off; SLACK_SIGNING_SECRET turns them on"))
	}
	if o.SlackInstall != nil {
		mux.Handle("/slack/install", o.SlackInstall)
		mux.Handle("/slack/oauth", o.SlackInstall)
	}
	mux.HandleFunc("/", notFound)
	return recoverer(o.Logger, hurry(cleanPaths(mux)))
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	fail(w, http.StatusNotFound, "not_found", "there is nothing at this path")
}

// cleanPaths answers paths that the mux would redirect, or refuse in words of its
// own: a client of an API follows no redirect to a page.
func cleanPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, clean := r.URL.Path, path.Clean(r.URL.Path)
		if p == "/v1" || p != clean && (clean == "/" || p != clean+"/") {
			notFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func newIntake(o Options) *intake {
	if o.Metrics == nil {
		o.Metrics = noMetrics{}
	}
	if o.Intake == nil {
		o.Intake = &Intake{}
	}
	if o.Hasten == nil {
		o.Hasten = func(string, string) {}
	}
	return &intake{
		inbox: o.Inbox, memory: newBodyMemory(&o.Intake.bytes), now: o.Now, log: o.Logger,
		metrics: o.Metrics, counts: o.Intake, hasten: o.Hasten,
	}
}

func channelOff(message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusNotFound, "channel_off", message)
	}
}

// Limits on connections. GitHub gives up after 10 s
// (https://docs.github.com/en/webhooks/using-webhooks/best-practices-for-using-webhooks);
// whoever takes much longer to send a request is not a platform.
const (
	readHeaderTimeout = 10 * time.Second
	// bodyTimeout bounds reading one body, also one that is refused unread: the
	// server reads on for a while before it gives up a connection.
	bodyTimeout = 30 * time.Second
	// replyTimeout bounds a request with its answer: a client that reads nothing
	// would hold its connection for ever.
	replyTimeout   = bodyTimeout + storeTimeout + 10*time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
)

// hurry bounds the time that a client may take. The deadlines are set per
// request and not for the server, so that a route which streams can lift them.
func hurry(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Connections that cannot have deadlines (in tests) go without them.
		conn := http.NewResponseController(w)
		now := time.Now()
		_ = conn.SetWriteDeadline(now.Add(replyTimeout))
		if r.ContentLength != 0 {
			_ = conn.SetReadDeadline(now.Add(bodyTimeout))
		}
		next.ServeHTTP(w, r)
	})
}

// NewServer returns a server for h with limits against slow clients; what a
// handler of [New] takes is bounded there.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// recoverer turns a panic into a 500 without its text, which may hold anything.
func recoverer(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch v := recover(); v {
			case nil:
			case http.ErrAbortHandler:
				panic(v)
			default:
				log.Error("request handler panicked", "path", r.URL.Path, "panic", v)
				fail(w, http.StatusInternalServerError, "internal", "this is a fault of the service; its log has the details")
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// fail and reply are how every route here answers.
func fail(w http.ResponseWriter, status int, code, message string) {
	answer.Refuse(w, status, code, message)
}

func reply(w http.ResponseWriter, status int, body any) { answer.JSON(w, status, body) }
