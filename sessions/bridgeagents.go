package sessions

import (
	"context"
	"iter"

	"github.com/liaison-bot/liaison/bridge"
)

// agents is what the runner needs of a bridge.
type agents interface {
	// Attached reports whether the bridge goes on when this process ends.
	Attached() bool
	Models(ctx context.Context) ([]bridge.Model, error)
	Create(ctx context.Context, o bridge.AgentOptions) (agent, error)
	Resume(ctx context.Context, id string, o bridge.AgentOptions) (agent, error)
	// Runs lists all runs of an agent.
	Runs(ctx context.Context, agentID string) iter.Seq2[bridge.RunSnapshot, error]
	// Attach returns a handle on a run that was sent before.
	Attach(ctx context.Context, agentID, runID string) (run, error)
}

type agent interface {
	ID() string
	Send(ctx context.Context, m bridge.Message, o bridge.SendOptions) (run, error)
	Close(ctx context.Context) error
}

type run interface {
	ID() string
	Events(ctx context.Context) iter.Seq2[bridge.Event, error]
	Wait(ctx context.Context) (bridge.Result, error)
	Cancel(ctx context.Context) error
}

// clientAgents is the real bridge behind the runner's interfaces.
type clientAgents struct{ client *bridge.Client }

func (c clientAgents) Attached() bool { return c.client.Attached() }

func (c clientAgents) Models(ctx context.Context) ([]bridge.Model, error) {
	return c.client.Models(ctx)
}

func (c clientAgents) Create(ctx context.Context, o bridge.AgentOptions) (agent, error) {
	return wrapAgent(c.client.Agents().Create(ctx, o))
}

func (c clientAgents) Resume(ctx context.Context, id string, o bridge.AgentOptions) (agent, error) {
	return wrapAgent(c.client.Agents().Resume(ctx, id, o))
}

func (c clientAgents) Runs(ctx context.Context, agentID string) iter.Seq2[bridge.RunSnapshot, error] {
	return c.client.Runs(ctx, agentID, bridge.ListRunsOptions{})
}

func (c clientAgents) Attach(ctx context.Context, agentID, runID string) (run, error) {
	attached, err := c.client.AttachRun(ctx, agentID, runID)
	if err != nil {
		return nil, err
	}
	return attached, nil
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
