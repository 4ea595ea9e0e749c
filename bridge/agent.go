package bridge

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// ErrAgentClosed is returned by what needs an agent that [Agent.Close] has let go of.
var ErrAgentClosed = errors.New("bridge: the agent is closed")

// Agent is one conversation with a model, attached to the bridge. It is safe for
// concurrent use, but has one run at a time.
type Agent struct {
	client  *Client
	id      string
	options AgentOptions

	// state is an agentState.
	state atomic.Int32
	// attaching is held while a fresh bridge is told of the agent.
	attaching chan struct{}

	mu sync.Mutex
	// generation is the bridge process that knows the agent.
	generation uint64
	model      string
	lastRun    string // the id of the last run of this handle
}

// ID returns the agent's id, with which it can be resumed.
func (a *Agent) ID() string { return a.id }

// Model returns the id of the model that the bridge chose.
func (a *Agent) Model() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.model
}

// attached returns the live generation, after telling a fresh one of the agent:
// to it, the agent is unknown. An agent that was closed or deleted is refused.
func (a *Agent) attached(ctx context.Context) (*connection, error) {
	const op = "use agent"
	if err := a.open(op); err != nil {
		return nil, err
	}
	conn, err := a.client.supervisor.connection(ctx)
	if err != nil {
		return nil, err
	}
	select {
	case a.attaching <- struct{}{}:
		defer func() { <-a.attaching }()
	case <-ctx.Done():
		return nil, fmt.Errorf("bridge: %s: wait for the agent to be attached: %w", op, ctx.Err())
	}
	a.mu.Lock()
	known := a.generation == conn.generation
	a.mu.Unlock()
	if known {
		return conn, nil
	}
	wire, err := a.client.wireOptions(op, a.id, a.options)
	if err != nil {
		return nil, err
	}
	res, err := conn.resume(ctx, a.id, wire)
	if err != nil {
		return nil, err
	}
	if err := a.client.offerTools(ctx, conn, a.id, a.options.CustomTools); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.generation = conn.generation
	if m := res.GetModel().GetId(); m != "" {
		a.model = m
	}
	return conn, nil
}

// agentState is what was done to an agent through its handle.
type agentState int32

const (
	agentOpen agentState = iota
	agentClosed
	agentDeleted
)

// open refuses the use of an agent that is known to be closed or deleted.
func (a *Agent) open(op string) error {
	if agentState(a.state.Load()) == agentClosed {
		err := refuse(op, connect.CodeFailedPrecondition, "", "agent %s was closed; resume it to use it again", a.id)
		err.cause = ErrAgentClosed
		return err
	}
	return a.notDeleted(op)
}

// notDeleted is for what the bridge's record of a closed agent still tells.
func (a *Agent) notDeleted(op string) error {
	if agentState(a.state.Load()) == agentDeleted {
		return refuse(op, connect.CodeNotFound, "AGENT_NOT_FOUND", "agent %s was deleted", a.id)
	}
	return nil
}

// dir is the agent's directory, by which some bridges find its record.
func (a *Agent) dir() string {
	if a.options.Local == nil {
		return ""
	}
	return a.options.Local.Dir
}

// Reload makes the bridge read the agent's settings files again.
func (a *Agent) Reload(ctx context.Context) error {
	conn, err := a.attached(ctx)
	if err != nil {
		return err
	}
	_, err = call(ctx, conn, "reload agent", conn.agents.ReloadAgent, &sdkv1.ReloadAgentRequest{AgentId: a.id})
	return err
}

// Info looks the agent's record up.
func (a *Agent) Info(ctx context.Context) (AgentInfo, error) {
	if err := a.notDeleted("get agent"); err != nil {
		return AgentInfo{}, err
	}
	return a.client.getAgent(ctx, a.id, a.dir())
}

// Runs lists the agent's runs; see [Client.Runs].
func (a *Agent) Runs(ctx context.Context, o ListRunsOptions) iter.Seq2[RunSnapshot, error] {
	if o.Dir == "" {
		o.Dir = a.dir()
	}
	return func(yield func(RunSnapshot, error) bool) {
		if err := a.notDeleted("list runs"); err != nil {
			yield(RunSnapshot{}, err)
			return
		}
		a.client.Runs(ctx, a.id, o)(yield)
	}
}

// Archive hides the agent; see [Agents.Archive].
func (a *Agent) Archive(ctx context.Context) error {
	if err := a.notDeleted("archive agent"); err != nil {
		return err
	}
	return a.client.archiveAgent(ctx, a.id, a.dir())
}

// Unarchive takes the effect of Archive back.
func (a *Agent) Unarchive(ctx context.Context) error {
	if err := a.notDeleted("unarchive agent"); err != nil {
		return err
	}
	return a.client.unarchiveAgent(ctx, a.id, a.dir())
}

// Delete removes the agent and its runs for good; see [Agents.Delete]. Deleting
// twice is ErrNotFound.
func (a *Agent) Delete(ctx context.Context) error {
	if err := a.notDeleted("delete agent"); err != nil {
		return err
	}
	if err := a.client.deleteAgent(ctx, a.id, a.dir()); err != nil {
		return err
	}
	a.state.Store(int32(agentDeleted))
	return nil
}

// Close lets go of the agent; its record stays and can be resumed. A run under
// way goes on. An agent that is closed or deleted, or whose bridge has ended, is
// closed already.
func (a *Agent) Close(ctx context.Context) error {
	if !a.state.CompareAndSwap(int32(agentOpen), int32(agentClosed)) {
		return nil
	}
	a.mu.Lock()
	generation := a.generation
	a.mu.Unlock()
	conn := a.client.supervisor.last()
	if conn == nil || conn.generation != generation || !conn.alive() {
		return nil
	}
	_, err := call(ctx, conn, "close agent", conn.agents.CloseAgent, &sdkv1.CloseAgentRequest{AgentId: a.id})
	if err == nil || errors.Is(err, ErrNotFound) || !conn.alive() {
		a.client.leaveTools(a.id)
		return nil
	}
	// The bridge still has it: closing can be tried again.
	a.state.CompareAndSwap(int32(agentClosed), int32(agentOpen))
	return err
}
