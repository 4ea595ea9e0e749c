package bridge

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// Agents makes agents and finds them again.
type Agents struct{ client *Client }

// Agent is one conversation with a model, attached to the bridge. It is safe for
// concurrent use, but has one run at a time.
type Agent struct {
	client  *Client
	id      string
	options AgentOptions

	mu sync.Mutex
	// generation is the bridge process that knows the agent.
	generation uint64
	model      string
}

// Create makes a new agent. It is not idempotent, not even with an id of the
// caller's: record the intention first and, when in doubt, Resume.
func (a *Agents) Create(ctx context.Context, o AgentOptions) (*Agent, error) {
	const op = "create agent"
	options, err := a.client.wireOptions(op, o)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(o.ID, "bc-") {
		return nil, refuse(op, connect.CodeInvalidArgument, "VALIDATION_ERROR", "the id %q begins with bc-, which is kept for cloud agents", o.ID)
	}
	options.AgentId = o.ID
	conn, err := a.client.supervisor.connection(ctx)
	if err != nil {
		return nil, err
	}
	res, err := call(ctx, conn, op, conn.agents.CreateAgent, &sdkv1.CreateAgentRequest{Options: options})
	if err != nil {
		return nil, err
	}
	if res.GetAgentId() == "" {
		return nil, refuse(op, connect.CodeInternal, "", "the bridge gave the new agent no id")
	}
	return a.client.agent(conn, res.GetAgentId(), o, res.GetModel().GetId()), nil
}

// Resume attaches to an agent that this or an earlier bridge process made. An
// agent that the bridge does not know is ErrNotFound.
func (a *Agents) Resume(ctx context.Context, id string, o AgentOptions) (*Agent, error) {
	conn, err := a.client.supervisor.connection(ctx)
	if err != nil {
		return nil, err
	}
	agentID, model, err := a.client.resume(ctx, conn, id, o)
	if err != nil {
		return nil, err
	}
	return a.client.agent(conn, agentID, o, model), nil
}

func (c *Client) agent(conn *connection, id string, o AgentOptions, model string) *Agent {
	if model == "" {
		model = o.Model
	}
	return &Agent{client: c, id: id, options: o, generation: conn.generation, model: model}
}

func (c *Client) resume(ctx context.Context, conn *connection, id string, o AgentOptions) (agentID, model string, err error) {
	const op = "resume agent"
	options, err := c.wireOptions(op, o)
	if err != nil {
		return "", "", err
	}
	if id == "" {
		return "", "", refuse(op, connect.CodeInvalidArgument, "VALIDATION_ERROR", "no agent id was given")
	}
	res, err := call(ctx, conn, op, conn.agents.ResumeAgent, &sdkv1.ResumeAgentRequest{AgentId: id, Options: options})
	if err != nil {
		return "", "", err
	}
	if res.GetAgentId() != "" {
		id = res.GetAgentId()
	}
	return id, res.GetModel().GetId(), nil
}

// wireOptions is the one place where agent options are put on the wire, so that
// creating and resuming cannot restrict an agent differently.
func (c *Client) wireOptions(op string, o AgentOptions) (*sdkv1.AgentOptions, error) {
	if o.Model == "" {
		return nil, refuse(op, connect.CodeInvalidArgument, "INVALID_MODEL", "no model was given")
	}
	if o.Local == nil || !filepath.IsAbs(o.Local.Dir) {
		return nil, refuse(op, connect.CodeInvalidArgument, "VALIDATION_ERROR", "Local.Dir must be an absolute path")
	}
	w := &sdkv1.AgentOptions{
		Model: &sdkv1.ModelSelection{Id: o.Model},
		// Always passed: not every release falls back to its environment.
		ApiKey: c.options.APIKey,
		Name:   o.Name,
		// No setting sources: the files of a working directory may be a stranger's.
		Local:           &sdkv1.LocalAgentOptions{Cwd: []string{o.Local.Dir}},
		DisallowedTools: o.DisallowedTools,
	}
	if o.Tools != nil {
		w.Tools = &sdkv1.ToolList{Names: o.Tools}
	}
	return w, nil
}

// ID returns the agent's id, with which it can be resumed.
func (a *Agent) ID() string { return a.id }

// Model returns the id of the model that the bridge chose.
func (a *Agent) Model() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.model
}

// Send starts a run and returns when the bridge has named it. One run at a time:
// until the last one of this agent has ended, Send fails with ErrAgentBusy. When
// as many runs are under way as Options allow, it waits for ctx at most. If ctx
// ends before the run has a name, the run is cancelled as soon as it has one;
// afterwards ctx has no meaning for it.
func (a *Agent) Send(ctx context.Context, m Message, o SendOptions) (*Run, error) {
	req, err := a.client.wireSend(a.id, m, o)
	if err != nil {
		return nil, err
	}
	release, err := a.client.reserve(ctx, a.id)
	if err != nil {
		return nil, err
	}
	conn, err := a.attached(ctx)
	if err != nil {
		release()
		return nil, err
	}
	if size := proto.Size(req); conn.maxMessage > 0 && size > conn.maxMessage {
		release()
		return nil, refuse("send", connect.CodeInvalidArgument, "VALIDATION_ERROR",
			"the message has %d bytes; the bridge takes %d", size, conn.maxMessage)
	}
	run := newRun(a.id, conn, release, a.client.options.StallTimeout, a.client.options.ToolStallTimeout)
	go run.follow(func(ctx context.Context) (frames, error) {
		return conn.agents.Send(ctx, connect.NewRequest(req))
	})
	return run.await(ctx)
}

// attached returns the live generation, after telling a fresh one of the agent:
// to it, the agent is unknown.
func (a *Agent) attached(ctx context.Context) (*connection, error) {
	conn, err := a.client.supervisor.connection(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.generation == conn.generation {
		return conn, nil
	}
	_, model, err := a.client.resume(ctx, conn, a.id, a.options)
	if err != nil {
		return nil, err
	}
	a.generation = conn.generation
	if model != "" {
		a.model = model
	}
	return conn, nil
}

// Close lets go of the agent; its record stays and can be resumed. An agent
// whose bridge has ended is closed already.
func (a *Agent) Close(ctx context.Context) error {
	a.mu.Lock()
	generation := a.generation
	a.mu.Unlock()
	conn := a.client.supervisor.last()
	if conn == nil || conn.generation != generation || !conn.alive() {
		return nil
	}
	_, err := call(ctx, conn, "close agent", conn.agents.CloseAgent, &sdkv1.CloseAgentRequest{AgentId: a.id})
	if errors.Is(err, ErrNotFound) || !conn.alive() {
		return nil
	}
	return err
}
