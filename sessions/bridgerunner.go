package sessions

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/bridge"
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

// The agent reads the evidence and nothing else: what it reads was written by
// strangers, so it gets no way to act on it. Subagents ("task") are left out
// because the restrictions of their parent do not hold for them.
var (
	allowedTools    = []string{"read", "grep", "glob", "ls"}
	disallowedTools = []string{"shell", "edit", "write", "delete", "task", "web_search", "web_fetch", "mcp"}
)

// NewBridgeRunner returns a Runner that runs agents behind a bridge, restricted
// to reading their working directory. The client stays the caller's to close,
// after the engine has stopped. A nil logger discards.
func NewBridgeRunner(client *bridge.Client, logger *slog.Logger) Runner {
	return newBridgeRunner(clientAgents{client}, logger)
}

func newBridgeRunner(agents agents, logger *slog.Logger) *bridgeRunner {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &bridgeRunner{agents: agents, logger: logger, now: time.Now}
}

// agents is what the runner needs of a bridge.
type agents interface {
	Models(ctx context.Context) ([]bridge.Model, error)
	Create(ctx context.Context, o bridge.AgentOptions) (agent, error)
	Resume(ctx context.Context, id string, o bridge.AgentOptions) (agent, error)
}

type agent interface {
	Send(ctx context.Context, m bridge.Message, o bridge.SendOptions) (run, error)
	Close(ctx context.Context) error
}

type run interface {
	ID() string
	Events(ctx context.Context) iter.Seq2[bridge.Event, error]
	Wait(ctx context.Context) (bridge.Result, error)
	Cancel(ctx context.Context) error
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

// Run implements [Runner]. A bridge that dies under a run is started once more.
func (r *bridgeRunner) Run(ctx context.Context, req RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
	result, err := r.once(ctx, req, observe)
	var died *bridge.ProcessError
	if errors.As(err, &died) && ctx.Err() == nil {
		r.logger.Warn("the bridge died under a run; running it once more on a fresh one",
			"session", req.SessionID, "turn", req.TurnID, "error", err)
		result, err = r.once(ctx, req, observe)
	}
	return result, r.worthRetrying(err)
}

func (r *bridgeRunner) once(ctx context.Context, req RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
	a, err := r.attach(ctx, req)
	if err != nil {
		return bridge.Result{}, err
	}
	// The session sleeps until its next turn, so the bridge need not hold it.
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if err := a.Close(closing); err != nil {
			r.logger.Debug("agent not closed", "agent", req.AgentID, "error", err)
		}
	}()
	running, err := r.send(ctx, a, req)
	if err != nil {
		return bridge.Result{}, err
	}
	// The stream outlives ctx for as long as a cancelled run may take to end.
	stream, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	cancelled := make(chan struct{})
	stopped := context.AfterFunc(ctx, func() {
		defer close(cancelled)
		r.cancel(stream, running, req)
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
		return bridge.Result{RunID: running.ID(), AgentID: req.AgentID}, context.Cause(ctx)
	}
	if err == nil && result.Status == bridge.RunError && strings.HasSuffix(strings.ToUpper(result.ErrorCode), codeLimited) {
		// The run began and was then held off. Nothing that it did remains, so
		// that it can be sent again.
		err = &RetryError{WaitsFor: rateLimit, Err: &bridge.Error{
			Op: "run", SDKCode: codeLimited, Message: runFailure(result),
		}}
	}
	return result, err
}

// errRunLeftBehind ends the wait for a run that does not react to its cancellation.
var errRunLeftBehind = errors.New("the cancelled run did not end in time")

// cancel asks the bridge to end the run.
func (r *bridgeRunner) cancel(ctx context.Context, running run, req RunRequest) {
	ctx, cancel := context.WithTimeout(ctx, cancelTimeout)
	defer cancel()
	if err := running.Cancel(ctx); err != nil {
		r.logger.Warn("run not cancelled", "session", req.SessionID, "run", running.ID(), "error", err)
	}
}

// attach finds the session's agent or makes it. Creating is not idempotent, so
// it comes second: an agent whose creation was not recorded is found by its id.
func (r *bridgeRunner) attach(ctx context.Context, req RunRequest) (agent, error) {
	model, err := r.model(ctx, req.Model)
	if err != nil {
		return nil, err
	}
	options := bridge.AgentOptions{
		ID: req.AgentID, Name: "liaison " + req.SessionID, Model: model,
		Local: &bridge.LocalOptions{Dir: req.Dir},
		Tools: allowedTools, DisallowedTools: disallowedTools,
	}
	a, err := r.agents.Resume(ctx, req.AgentID, options)
	if errors.Is(err, bridge.ErrNotFound) {
		a, err = r.agents.Create(ctx, options)
	}
	return a, err
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

// send starts the run. A run that a dead process left may stand in its way;
// bridges report that as busy or as an internal error without a code, and it is
// expired at most once.
func (r *bridgeRunner) send(ctx context.Context, a agent, req RunRequest) (run, error) {
	message := bridge.Message{Text: req.Prompt}
	running, err := a.Send(ctx, message, bridge.SendOptions{})
	stuck := errors.Is(err, bridge.ErrAgentBusy) || errors.Is(err, bridge.ErrInternal)
	if !stuck || !req.Force || ctx.Err() != nil {
		return running, err
	}
	r.logger.Warn("agent is stuck in a run that nobody knows; expiring it",
		"session", req.SessionID, "agent", req.AgentID, "error", err)
	return a.Send(ctx, message, bridge.SendOptions{Force: true})
}

// worthRetrying marks errors that pass by themselves. A dead bridge is none of
// them: it was given its second chance, and the turn may be what kills it.
func (r *bridgeRunner) worthRetrying(err error) error {
	var died *bridge.ProcessError
	var marked *RetryError
	if err == nil || errors.As(err, &marked) || errors.As(err, &died) || errors.Is(err, bridge.ErrStalled) || bridge.ClassOf(err) != bridge.ClassRetry {
		return err
	}
	retry := &RetryError{Err: fmt.Errorf("the bridge cannot run the agent now: %w", err)}
	if errors.Is(err, bridge.ErrRateLimited) {
		retry.WaitsFor = rateLimit
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

// clientAgents is the real bridge behind the runner's interfaces.
type clientAgents struct{ client *bridge.Client }

func (c clientAgents) Models(ctx context.Context) ([]bridge.Model, error) {
	return c.client.Models(ctx)
}

func (c clientAgents) Create(ctx context.Context, o bridge.AgentOptions) (agent, error) {
	return wrapAgent(c.client.Agents().Create(ctx, o))
}

func (c clientAgents) Resume(ctx context.Context, id string, o bridge.AgentOptions) (agent, error) {
	return wrapAgent(c.client.Agents().Resume(ctx, id, o))
}

func wrapAgent(a *bridge.Agent, err error) (agent, error) {
	if err != nil {
		return nil, err
	}
	return clientAgent{a}, nil
}

type clientAgent struct{ *bridge.Agent }

func (a clientAgent) Send(ctx context.Context, m bridge.Message, o bridge.SendOptions) (run, error) {
	running, err := a.Agent.Send(ctx, m, o)
	if err != nil {
		return nil, err
	}
	return running, nil
}
