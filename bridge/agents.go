package bridge

import (
	"context"
	"iter"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// Agents makes agents, finds them again and looks after their records. What
// takes an id works for agents of earlier programs too.
type Agents struct{ client *Client }

// Create makes a new agent. It is not idempotent, not even with an id of the
// caller's: record the intention first and, when in doubt, Resume.
func (a *Agents) Create(ctx context.Context, o AgentOptions) (*Agent, error) {
	const op = "create agent"
	return a.client.open(ctx, op, o.ID, o, func(conn *connection, options *sdkv1.AgentOptions) (opened, error) {
		options.AgentId = o.ID
		return call(ctx, conn, op, conn.agents.CreateAgent, &sdkv1.CreateAgentRequest{Options: options})
	})
}

// Resume attaches to an agent that this or an earlier bridge process made. An
// agent that the bridge does not know is ErrNotFound. Nothing is remembered: the
// options are those of Create, the model included. Agents whose ids begin with
// "bc-" are of the cloud and need no Cloud options.
func (a *Agents) Resume(ctx context.Context, id string, o AgentOptions) (*Agent, error) {
	const op = "resume agent"
	if id == "" {
		return nil, invalid(op, "no agent id was given")
	}
	return a.client.open(ctx, op, id, o, func(conn *connection, options *sdkv1.AgentOptions) (opened, error) {
		return conn.resume(ctx, id, options)
	})
}

// opened is what the answers to create and resume have in common.
type opened interface {
	GetAgentId() string
	GetModel() *sdkv1.ModelSelection
}

func (c *connection) resume(ctx context.Context, id string, o *sdkv1.AgentOptions) (*sdkv1.ResumeAgentResponse, error) {
	return call(ctx, c, "resume agent", c.agents.ResumeAgent, &sdkv1.ResumeAgentRequest{AgentId: id, Options: o})
}

// open checks the options, completes them, makes the call and returns the handle.
func (c *Client) open(
	ctx context.Context, op, id string, o AgentOptions, ask func(*connection, *sdkv1.AgentOptions) (opened, error),
) (*Agent, error) {
	wire, err := c.wireOptions(op, id, o)
	if err != nil {
		return nil, err
	}
	conn, err := c.supervisor.connection(ctx)
	if err != nil {
		return nil, err
	}
	if o.Model == "" {
		if o.Model, err = c.firstModel(ctx, conn, op); err != nil {
			return nil, err
		}
		wire.Model = wireModel(o.Model, o.ModelParams)
	}
	if o.Local == nil && wire.Local != nil {
		// What is resumed after a crash must not depend on where this program is by then.
		o.Local = &LocalOptions{Dir: wire.Local.Cwd[0]}
	}
	res, err := ask(conn, wire)
	if err != nil {
		return nil, err
	}
	if res.GetAgentId() != "" {
		id = res.GetAgentId()
	}
	if id == "" {
		return nil, refuse(op, connect.CodeInternal, "", "the bridge gave the new agent no id")
	}
	agent := &Agent{client: c, id: id, options: o, generation: conn.generation, model: o.Model, attaching: make(chan struct{}, 1)}
	if m := res.GetModel().GetId(); m != "" {
		agent.model = m
	}
	if err := c.offerTools(ctx, conn, id, o.CustomTools); err != nil {
		return nil, err
	}
	return agent, nil
}

// firstModel returns the model of agents for which none was chosen. The bridge is
// asked once in each of its generations.
func (c *Client) firstModel(ctx context.Context, conn *connection, op string) (string, error) {
	c.mu.Lock()
	known := c.preferred
	c.mu.Unlock()
	if known.model != "" && known.generation == conn.generation {
		return known.model, nil
	}
	models, err := conn.listModels(ctx, c.options.APIKey)
	if err != nil {
		return "", err
	}
	if len(models) == 0 || models[0].ID == "" {
		return "", refuse(op, connect.CodeFailedPrecondition, "INVALID_MODEL", "no model was chosen, and the bridge offers none")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.preferred = preferredModel{generation: conn.generation, model: models[0].ID}
	return models[0].ID, nil
}

// preferredModel is the first model that a generation of the bridge lists.
type preferredModel struct {
	generation uint64
	model      string
}

// Get looks an agent up. An agent that the bridge does not know is ErrNotFound.
func (a *Agents) Get(ctx context.Context, id string) (AgentInfo, error) {
	return a.client.getAgent(ctx, id, "")
}

// List lists agents page by page, as far as the caller reads. An error ends it.
func (a *Agents) List(ctx context.Context, o ListAgentsOptions) iter.Seq2[AgentInfo, error] {
	return a.client.listAgents(ctx, o)
}

// Archive hides an agent: it takes no messages and is left out of lists until
// it is unarchived. Archiving twice is harmless.
func (a *Agents) Archive(ctx context.Context, id string) error {
	return a.client.archiveAgent(ctx, id, "")
}

// Unarchive takes the effect of Archive back.
func (a *Agents) Unarchive(ctx context.Context, id string) error {
	return a.client.unarchiveAgent(ctx, id, "")
}

// Delete removes an agent and its runs for good. An agent with a run under way
// is ErrAgentBusy, one that is not there ErrNotFound.
func (a *Agents) Delete(ctx context.Context, id string) error {
	return a.client.deleteAgent(ctx, id, "")
}
