package sessions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// Bounds of a cancelled run, which together stay below stopTurns.
const (
	// cancelTimeout is how long the bridge may take to accept a cancellation.
	cancelTimeout = 3 * time.Second
	// cancelWait is how long a cancelled run may take to end, after which it is
	// left behind; the next run of the agent expires it.
	cancelWait = 6 * time.Second
	// closeTimeout is how long the bridge may take to let go of an agent.
	closeTimeout = 2 * time.Second
)

// NewBridgeRunner returns a Runner that runs agents behind a bridge, restricted
// to what the request gives them. The client stays the caller's to close, after the
// engine has stopped. A nil logger discards.
func NewBridgeRunner(client *bridge.Client, logger *slog.Logger) Runner {
	return newBridgeRunner(clientAgents{client}, logger)
}

func newBridgeRunner(agents agents, logger *slog.Logger) *bridgeRunner {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &bridgeRunner{agents: agents, logger: logger, now: time.Now}
}

type bridgeRunner struct {
	agents agents
	logger *slog.Logger
	now    func() time.Time
}

const (
	// rateLimit is what people are told that a turn waits for when a provider
	// says that it was asked too often.
	rateLimit = "the model's rate limit"
	// codeLimited is the protocol's code for it. In a run's result it may have a prefix.
	codeLimited = "RATE_LIMIT_EXCEEDED"
)

// attempt is one call of Run.
type attempt struct {
	RunRequest
	// sent is the intention that has no end yet; nil when there is none.
	sent *state.Sending
	// first is set when the agent has been sent nothing before.
	first bool
	// mayLive is set while the bridge that may have got the run is alive.
	mayLive bool
	// left is set when the run was left to go on without us.
	left atomic.Bool
}

// Run implements [Runner]. A bridge that dies under a run is started once more.
func (r *bridgeRunner) Run(ctx context.Context, req RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
	t := &attempt{RunRequest: req, mayLive: req.SentHere || r.agents.Attached()}
	if req.Sent != nil {
		s := *req.Sent
		t.sent = &s
	}
	result, err := r.once(ctx, t, observe)
	var died *bridge.ProcessError
	if errors.As(err, &died) && ctx.Err() == nil {
		r.logger.Warn("the bridge died under a run; going on with a fresh one",
			"session", req.SessionID, "turn", req.TurnID, "error", err)
		t.mayLive = false
		result, err = r.once(ctx, t, observe)
	}
	return result, r.worthRetrying(err)
}

func (r *bridgeRunner) once(ctx context.Context, t *attempt, observe func(bridge.Event)) (bridge.Result, error) {
	a, fresh, err := r.attach(ctx, t)
	if err != nil {
		return bridge.Result{}, err
	}
	// The session sleeps until its next turn, so the bridge need not hold it.
	defer func() {
		if t.left.Load() {
			return
		}
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if err := a.Close(closing); err != nil {
			r.logger.Debug("agent not closed", "agent", t.AgentID, "error", err)
		}
	}()
	running, err := r.start(ctx, a, fresh, t)
	if err != nil {
		return bridge.Result{}, err
	}
	result, err := r.follow(ctx, t, running, observe)
	switch adopted := running.listed; {
	case err == nil || adopted.ID == "" || ctx.Err() != nil:
	case adopted.Status == bridge.RunFinished:
		// It cannot be followed any more, but its result is known.
		r.logger.Warn("an ended run is taken from the list", "session", t.SessionID, "run", adopted.ID, "error", err)
		return resultOf(adopted), nil
	case notLive(err):
		r.logger.Warn("a run that was listed as running is not live", "session", t.SessionID, "run", adopted.ID, "error", err)
		t.mayLive = false
		if running, err = r.start(ctx, a, fresh, t); err != nil {
			return bridge.Result{}, err
		}
		result, err = r.follow(ctx, t, running, observe)
	}
	return result, heldOff(result, err)
}

// notLive reports whether a bridge says that it does not run what it lists as running.
func notLive(err error) bool {
	var answer *bridge.Error
	return errors.Is(err, bridge.ErrNotFound) || errors.As(err, &answer) && answer.Code == "failed_precondition"
}

func resultOf(s bridge.RunSnapshot) bridge.Result {
	return bridge.Result{
		RunID: s.ID, AgentID: s.AgentID, Status: s.Status, Text: s.Text,
		Model: s.Model, Duration: s.Duration, Usage: s.Usage,
	}
}

// heldOff makes an error of a run that began and then met the model's rate
// limit. Nothing that it did remains, so that it can be sent again.
func heldOff(result bridge.Result, err error) error {
	if err != nil || result.Status != bridge.RunError || !strings.HasSuffix(strings.ToUpper(result.ErrorCode), codeLimited) {
		return err
	}
	return &RetryError{WaitsFor: rateLimit, Err: &bridge.Error{
		Op: "run", Code: "resource_exhausted", SDKCode: codeLimited, Message: runFailure(result),
	}}
}

// follow hands a run's events on and returns how it ended.
func (r *bridgeRunner) follow(ctx context.Context, t *attempt, running run, observe func(bridge.Event)) (bridge.Result, error) {
	// The stream outlives ctx for as long as a cancelled run may take to end.
	stream, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	cancelled := make(chan struct{})
	stopped := context.AfterFunc(ctx, func() {
		defer close(cancelled)
		if r.goesOn(ctx) {
			t.left.Store(true)
			cut(errRunLeftBehind)
			return
		}
		r.cancel(stream, running, t)
		time.AfterFunc(cancelWait, func() { cut(errRunLeftBehind) })
	})
	defer func() {
		if !stopped() {
			<-cancelled
		}
	}()
	for ev, err := range running.Events(stream) {
		if err != nil {
			break // Wait says what it means
		}
		observe(ev)
	}
	result, err := running.Wait(stream)
	if err != nil && ctx.Err() != nil {
		return bridge.Result{RunID: running.ID(), AgentID: t.AgentID}, context.Cause(ctx)
	}
	return result, err
}

// errRunLeftBehind ends the wait for a run that does not react to its
// cancellation, or that the next process will go on with.
var errRunLeftBehind = errors.New("the run was left behind")

// goesOn reports whether a run shall outlive this process: the service stops and
// the bridge does not, so that the next process finds the run and goes on with it.
func (r *bridgeRunner) goesOn(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return r.agents.Attached() && (errors.Is(cause, errHandOver) || errors.Is(cause, errStopped))
}

// cancel asks the bridge to end the run.
func (r *bridgeRunner) cancel(ctx context.Context, running run, t *attempt) {
	ctx, cancel := context.WithTimeout(ctx, cancelTimeout)
	defer cancel()
	if err := running.Cancel(ctx); err != nil {
		r.logger.Warn("run not cancelled", "session", t.SessionID, "run", running.ID(), "error", err)
	}
}

// attach finds the session's agent or makes it, and reports whether it is fresh.
// Creating is not idempotent, so it comes second: an agent whose creation was not
// recorded is found by its id. One that the bridge has lost is made anew.
func (r *bridgeRunner) attach(ctx context.Context, t *attempt) (a agent, fresh bool, err error) {
	model, err := r.model(ctx, t.Model)
	if err != nil {
		return nil, false, err
	}
	options := agentOptions(t.RunRequest, model)
	if t.Cloud != nil {
		return r.attachElsewhere(ctx, t, options)
	}
	a, err = r.agents.Resume(ctx, t.AgentID, options)
	if errors.Is(err, bridge.ErrNotFound) {
		a, err = r.agents.Create(ctx, options)
		fresh = true
	}
	return a, fresh, err
}

// attachElsewhere does the same for an agent of a provider's, which names it. One
// whose name could not be stored before a crash has done nothing yet.
func (r *bridgeRunner) attachElsewhere(ctx context.Context, t *attempt, options bridge.AgentOptions) (a agent, fresh bool, err error) {
	if isElsewhere(t.AgentID) {
		a, err = r.agents.Resume(ctx, t.AgentID, options)
		if !errors.Is(err, bridge.ErrNotFound) {
			return a, false, err
		}
	}
	options.ID = ""
	if a, err = r.agents.Create(ctx, options); err != nil {
		return nil, false, err
	}
	if t.Bound != nil {
		if err := t.Bound(ctx, a.ID()); err != nil {
			return nil, false, fmt.Errorf("store the agent's name: %w", err)
		}
	}
	t.AgentID = a.ID()
	return a, true, nil
}

// model returns the asked one, or the one that the bridge lists first.
func (r *bridgeRunner) model(ctx context.Context, asked string) (string, error) {
	if asked != "" {
		return asked, nil
	}
	models, err := r.agents.Models(ctx)
	if err != nil {
		return "", err
	}
	if len(models) == 0 {
		return "", errors.New("no model is set and the bridge lists none")
	}
	return models[0].ID, nil
}

// worthRetrying marks errors that pass by themselves. A dead bridge is none of
// them: it was given its second chance, and the turn may be what kills it.
func (r *bridgeRunner) worthRetrying(err error) error {
	var died *bridge.ProcessError
	var marked *RetryError
	switch {
	case err == nil, errors.As(err, &marked), errors.As(err, &died), errors.Is(err, bridge.ErrStalled):
		return err
	case errors.Is(err, bridge.ErrUnknownOutcome):
		// The next attempt looks for the run before it sends another.
	case bridge.ClassOf(err) != bridge.ClassRetry:
		return err
	}
	retry := &RetryError{Err: fmt.Errorf("the bridge cannot run the agent now: %w", err)}
	switch {
	case errors.Is(err, bridge.ErrRateLimited):
		retry.WaitsFor = rateLimit
	case errors.Is(err, bridge.ErrUpstream), errors.Is(err, bridge.ErrUnavailable):
		retry.WaitsFor = "the model"
	}
	var answer *bridge.Error
	if errors.As(err, &answer) {
		retry.After = answer.RetryAfter
		if l := answer.RateLimit; l != nil && retry.After == 0 && !l.Reset.IsZero() {
			retry.After = max(l.Reset.Sub(r.now()), 0)
		}
	}
	return retry
}
