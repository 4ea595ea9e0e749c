package api

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/handlers/answer"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// Runtime is what the API needs of the engine.
type Runtime interface {
	// Send and Stop are decided durably before they return.
	Send(ctx context.Context, m sessions.Message) (sessions.Sent, error)
	Stop(ctx context.Context, r sessions.StopRequest) (sessions.Stopped, error)
	// Events yields a session's events; see [sessions.Engine.Events].
	Events(ctx context.Context, sessionID string, from int64, follow bool) iter.Seq2[state.Event, error]
	// LastIndex is the index of the last event, and -1 when there is none.
	LastIndex(ctx context.Context, sessionID string) (int64, error)
	// Approvals and Approval show calls that wait or waited for a person, and Decide
	// counts what somebody says about one; see [sessions.Engine.Decide].
	Approvals(ctx context.Context, f sessions.ApprovalFilter, limit int) ([]approvals.View, error)
	Approval(ctx context.Context, id string) (approvals.View, error)
	Decide(ctx context.Context, b approvals.Ballot) (approvals.View, error)
	// DirectTools are the tools that can be called without an agent, in a session or
	// outside of one, and CallTool calls one; see [sessions.Engine.CallTool].
	DirectTools(ctx context.Context, sessionID string) ([]sessions.DirectTool, error)
	CallTool(ctx context.Context, c sessions.ToolCall) (sessions.ToolAnswer, error)
}

// Store is what the API reads of the store, and the decisions that a person may
// take about deliveries and dead letters.
type Store interface {
	state.Sessions
	state.SessionIndex
	state.Queue
	state.DeliveryIndex
	state.DeadLetters
	state.Audit
	state.Committer
}

// Options is what the API works with. Runtime, Store, Keeping and Info are needed.
type Options struct {
	Runtime Runtime
	Store   Store
	// Keeping compacts and backs up the store.
	Keeping state.Keeping
	// Info returns what GET /v1/info shows; it must hold no secret.
	Info func() any
	// Logs are shown to the operator. Nil shows none.
	Logs *Logs
	// Token is the operator's bearer token, Tokens those of named callers. With
	// none of either, direct callers on this machine have the operator's rights.
	Token  string
	Tokens []Token
	// PublicURL is where the service is reached from outside, without a slash at
	// its end. Empty takes the address that the caller used.
	PublicURL string
	// MaxStreams is how many streams may be open at once; [DefaultMaxStreams] when zero.
	MaxStreams int
	// Now is the clock; nil means the real one.
	Now func() time.Time
	// Logger receives what an operator should know. Nil discards it.
	Logger *slog.Logger
}

// API serves the routes under /v1.
type API struct {
	runtime     Runtime
	store       Store
	keeping     state.Keeping
	info        func() any
	logs        *Logs
	admission   *admission
	publicURL   string
	streams     *places
	description func() (description, error)
	now         func() time.Time
	log         *slog.Logger
	mux         *http.ServeMux

	// stopping ends streams and backups.
	stopping context.Context
	stop     context.CancelFunc

	// letters lets one person at a time decide about dead letters.
	letters sync.Mutex
}

// New returns the API.
func New(o Options) *API {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Logs == nil {
		o.Logs = NewLogs(slog.LevelInfo)
	}
	if o.MaxStreams == 0 {
		o.MaxStreams = DefaultMaxStreams
	}
	stopping, stop := context.WithCancel(context.Background())
	a := &API{
		runtime: o.Runtime, store: o.Store, keeping: o.Keeping, info: o.Info, logs: o.Logs,
		admission: newAdmission(o.Token, o.Tokens), publicURL: strings.TrimSuffix(o.PublicURL, "/"),
		streams: newPlaces(o.MaxStreams), description: sync.OnceValues(readDescription),
		now: o.Now, log: o.Logger, stopping: stopping, stop: stop,
	}
	a.mux = a.newMux()
	return a
}

// Stop ends every stream and backup, so that a server can shut down. Clients
// resume by index at the next process.
func (a *API) Stop() { a.stop() }

// ServeHTTP implements [http.Handler].
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

// access says who may use a route.
type access int

const (
	anyone access = iota + 1
	// principals are all who are admitted; what they see depends on who they are.
	principals
	operators
)

// route is one operation of the description.
type route struct {
	method, path string
	access       access
	// query are the parameters that it knows.
	query []string
	serve func(w http.ResponseWriter, r *http.Request, p Principal) error
}

// routes are all operations, as openapi.yaml describes them.
func (a *API) routes() []route {
	const get, post = http.MethodGet, http.MethodPost
	return []route{
		{get, "/v1/health", anyone, nil, a.health},
		{get, "/v1/openapi.json", anyone, nil, a.describeJSON},
		{get, "/v1/openapi.yaml", anyone, nil, a.describeYAML},

		{post, "/v1/session", principals, nil, a.start},
		{get, "/v1/session/{id}", principals, nil, a.session},
		{post, "/v1/session/{id}", principals, nil, a.followUp},
		{get, "/v1/session/{id}/stream", principals, []string{"startIndex"}, a.stream},
		{get, "/v1/session/{id}/events", principals, []string{"startIndex", "format"}, a.events},
		{post, "/v1/session/{id}/stop", principals, nil, a.stopSession},
		{get, "/v1/session/{id}/cost", principals, nil, a.cost},
		{get, "/v1/session/{id}/approvals", principals, []string{"state", "before", "limit"}, a.sessionApprovals},
		{post, "/v1/session/{id}/approvals/{callId}", principals, nil, a.decide},
		{get, "/v1/sessions", principals, []string{"before", "limit", "channel"}, a.list},
		{get, "/v1/approvals", principals, []string{"state", "before", "limit"}, a.allApprovals},
		{get, "/v1/approvals/{approvalId}", principals, nil, a.approval},
		{get, "/v1/tools", principals, []string{"session"}, a.listTools},
		{post, "/v1/tools/{name}", principals, nil, a.callTool},
		{get, "/v1/info", principals, nil, a.showInfo},

		{get, "/v1/deliveries", operators, []string{"source", "status", "session", "before", "limit"}, a.deliveries},
		{get, "/v1/deliveries/{source}/{id}", operators, []string{"body"}, a.delivery},
		{post, "/v1/deliveries/{source}/{id}/replay", operators, nil, a.replay},
		{get, "/v1/dead", operators, []string{"after", "limit"}, a.dead},
		{post, "/v1/dead/retry", operators, nil, a.retryDead},
		{post, "/v1/dead/drop", operators, nil, a.dropDead},
		{get, "/v1/logs", operators, []string{"after", "limit"}, a.showLogs},
		{post, "/v1/compact", operators, nil, a.compact},
		{get, "/v1/backup", operators, nil, a.backup},
		{get, "/v1/audit", operators, []string{"since", "after"}, a.audit},
	}
}

func (a *API) newMux() *http.ServeMux {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	for _, rt := range a.routes() {
		mux.HandleFunc(rt.method+" "+rt.path, func(w http.ResponseWriter, r *http.Request) { a.serve(rt, w, r) })
		methods[rt.path] = append(methods[rt.path], rt.method)
	}
	for path, known := range methods {
		slices.Sort(known)
		allow := strings.Join(known, ", ")
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { refuseMethod(w, allow) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		answer.Refuse(w, http.StatusNotFound, "not_found", "the API has nothing at this path; GET /v1/openapi.json lists what it has")
	})
	return mux
}

func refuseMethod(w http.ResponseWriter, allow string) {
	w.Header().Set("Allow", allow)
	answer.Refuse(w, http.StatusMethodNotAllowed, "method_not_allowed", "this path knows "+allow)
}

// serve admits a request and answers what its route says.
func (a *API) serve(rt route, w http.ResponseWriter, r *http.Request) {
	if r.Method != rt.method { // HEAD, which a pattern for GET takes too
		refuseMethod(w, rt.method)
		return
	}
	p, err := a.admit(rt.access, w, r)
	if err == nil {
		err = checkQuery(r, rt.query)
	}
	if err == nil {
		err = rt.serve(w, r, p)
	}
	if err != nil {
		a.refuse(w, r, err)
	}
}

func (a *API) admit(needed access, w http.ResponseWriter, r *http.Request) (Principal, error) {
	if needed == anyone {
		return Principal{}, nil
	}
	p, err := a.admission.admit(r)
	if err != nil {
		if refused, ok := errors.AsType[*refusal](err); ok && refused.status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="liaison"`)
		}
		return p, err
	}
	if needed == operators && !p.Operator {
		return p, refusef(http.StatusForbidden, "operator_only", "this is for the operator: send LIAISON_API_TOKEN")
	}
	return p, nil
}
