package bridge

import (
	"context"
	"iter"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// AgentInfo is what the bridge's record says of an agent.
type AgentInfo struct {
	ID      string
	Name    string
	Summary string
	Status  AgentStatus
	// Created and Modified are zero when the bridge did not say.
	Created  time.Time
	Modified time.Time
	Archived bool
	// Dir is a local agent's working directory; empty for cloud agents.
	Dir string
	// Cloud is nil for local agents.
	Cloud *CloudAgentInfo
}

// CloudAgentInfo is what is known of a cloud agent only.
type CloudAgentInfo struct {
	// Environment is nil when the bridge did not say.
	Environment *CloudEnvironment
	// Repositories are URLs.
	Repositories []string
	Metadata     map[string]string
}

// AgentStatus is how the last run of an agent stands.
type AgentStatus string

// The states of an agent. AgentUnknown stands for none, and for a state that this
// version does not know.
const (
	AgentUnknown  AgentStatus = ""
	AgentRunning  AgentStatus = "running"
	AgentFinished AgentStatus = "finished"
	AgentError    AgentStatus = "error"
)

// Runtime is where agents run.
type Runtime string

// The runtimes.
const (
	RuntimeLocal Runtime = "local"
	RuntimeCloud Runtime = "cloud"
)

// ListAgentsOptions say which agents to list: those that fit every field that is set.
type ListAgentsOptions struct {
	// Runtime lists agents of one kind only; which are listed when it is empty is
	// the bridge's choice.
	Runtime Runtime
	// Dir lists the agents of one working directory.
	Dir string
	// PullRequestURL lists the cloud agents of one pull request.
	PullRequestURL string
	// IncludeArchived lists archived agents too.
	IncludeArchived bool
	// PageSize is how many are fetched at a time; the bridge's choice when 0.
	PageSize int
}

func (c *Client) listAgents(ctx context.Context, o ListAgentsOptions) iter.Seq2[AgentInfo, error] {
	const op = "list agents"
	return pages(op, o.PageSize, func(cursor string) ([]AgentInfo, string, error) {
		runtime, err := wireRuntime(op, o.Runtime)
		if err != nil {
			return nil, "", err
		}
		conn, err := c.supervisor.connection(ctx)
		if err != nil {
			return nil, "", err
		}
		w := &sdkv1.ListAgentsOptions{
			Limit: uint32(o.PageSize), Cursor: cursor, Runtime: runtime, Cwd: o.Dir, PrUrl: o.PullRequestURL,
			ApiKey: c.options.APIKey,
		}
		if o.IncludeArchived {
			w.IncludeArchived = &o.IncludeArchived
		}
		res, err := query(ctx, conn, op, conn.agents.ListAgents, &sdkv1.ListAgentsRequest{Options: w})
		if err != nil {
			return nil, "", err
		}
		return convert(res.GetItems(), agentInfo), res.GetNextCursor(), nil
	})
}

// wireRuntime leaves the choice to the bridge when none is made.
func wireRuntime(op string, r Runtime) (sdkv1.Runtime, error) {
	switch r {
	case "":
		return sdkv1.Runtime_RUNTIME_UNSPECIFIED, nil
	case RuntimeLocal:
		return sdkv1.Runtime_RUNTIME_LOCAL, nil
	case RuntimeCloud:
		return sdkv1.Runtime_RUNTIME_CLOUD, nil
	default:
		return 0, invalid(op, "the runtime %.40q is not one of %q and %q", r, RuntimeLocal, RuntimeCloud)
	}
}

// runtimeOf tells an agent's runtime by its id.
func runtimeOf(agentID string) sdkv1.Runtime {
	if isCloudID(agentID) {
		return sdkv1.Runtime_RUNTIME_CLOUD
	}
	return sdkv1.Runtime_RUNTIME_LOCAL
}

// The operations on an agent's record take the agent's directory where it is
// known: some bridges keep one store for each.

func (c *Client) operation(dir string) *sdkv1.AgentOperationOptions {
	return &sdkv1.AgentOperationOptions{Cwd: dir, ApiKey: c.options.APIKey}
}

func (c *Client) getAgent(ctx context.Context, id, dir string) (AgentInfo, error) {
	const op = "get agent"
	res, err := readAgent(ctx, c, op, id, agentService.GetAgent, &sdkv1.GetAgentRequest{AgentId: id, Options: c.operation(dir)})
	if err != nil {
		return AgentInfo{}, err
	}
	if res.GetAgent() == nil {
		return AgentInfo{}, refuse(op, connect.CodeInternal, "", "the bridge answered without the agent %s", id)
	}
	return agentInfo(res.GetAgent()), nil
}

func (c *Client) archiveAgent(ctx context.Context, id, dir string) error {
	return changeAgent(ctx, c, "archive agent", id, agentService.ArchiveAgent,
		&sdkv1.ArchiveAgentRequest{AgentId: id, Options: c.operation(dir)})
}

func (c *Client) unarchiveAgent(ctx context.Context, id, dir string) error {
	return changeAgent(ctx, c, "unarchive agent", id, agentService.UnarchiveAgent,
		&sdkv1.UnarchiveAgentRequest{AgentId: id, Options: c.operation(dir)})
}

func (c *Client) deleteAgent(ctx context.Context, id, dir string) error {
	const op = "delete agent"
	if c.isBusy(id) {
		return refuse(op, connect.CodeFailedPrecondition, "AGENT_BUSY", "agent %s has a run under way; cancel it first", id)
	}
	err := changeAgent(ctx, c, op, id, agentService.DeleteAgent,
		&sdkv1.DeleteAgentRequest{AgentId: id, Options: c.operation(dir)})
	if err == nil {
		c.forgetTools(id)
	}
	return err
}

type (
	agentService = sdkv1connect.SdkAgentServiceClient
	// agentMethod is a method expression, such as agentService.GetAgent.
	agentMethod[Req, Res any] func(agentService, context.Context, *connect.Request[Req]) (*connect.Response[Res], error)
)

// readAgent makes a call that reads the record of one agent, which need not be
// resumed for it.
func readAgent[Req, Res any](ctx context.Context, c *Client, op, id string, method agentMethod[Req, Res], req *Req) (*Res, error) {
	conn, err := c.forAgent(ctx, op, id)
	if err != nil {
		return nil, err
	}
	return query(ctx, conn, op, method.of(conn), req)
}

// changeAgent makes a call that changes the record of one agent.
func changeAgent[Req, Res any](ctx context.Context, c *Client, op, id string, method agentMethod[Req, Res], req *Req) error {
	conn, err := c.forAgent(ctx, op, id)
	if err == nil {
		_, err = call(ctx, conn, op, method.of(conn), req)
	}
	return err
}

func (c *Client) forAgent(ctx context.Context, op, id string) (*connection, error) {
	if id == "" {
		return nil, invalid(op, "no agent id was given")
	}
	return c.supervisor.connection(ctx)
}

func (m agentMethod[Req, Res]) of(conn *connection) unary[Req, Res] {
	return func(ctx context.Context, req *connect.Request[Req]) (*connect.Response[Res], error) {
		return m(conn.agents, ctx, req)
	}
}

func agentInfo(a *sdkv1.SdkAgentInfo) AgentInfo {
	info := AgentInfo{
		ID: a.GetAgentId(), Name: a.GetName(), Summary: a.GetSummary(), Status: agentStatus(a.GetStatus()),
		Created: instant(a.GetCreatedAt()), Modified: instant(a.GetLastModified()), Archived: a.GetArchived(),
		Dir: a.GetLocal().GetCwd(),
	}
	if cloud := a.GetCloud(); cloud != nil {
		info.Cloud = &CloudAgentInfo{Repositories: cloud.GetRepos(), Metadata: cloud.GetMetadata()}
		if e := cloud.GetEnv(); e != nil {
			info.Cloud.Environment = &CloudEnvironment{Type: environmentType(e.GetType()), Name: e.GetName()}
		}
	}
	return info
}

func agentStatus(s sdkv1.AgentInfoStatus) AgentStatus {
	switch s {
	case sdkv1.AgentInfoStatus_AGENT_INFO_STATUS_RUNNING:
		return AgentRunning
	case sdkv1.AgentInfoStatus_AGENT_INFO_STATUS_FINISHED:
		return AgentFinished
	case sdkv1.AgentInfoStatus_AGENT_INFO_STATUS_ERROR:
		return AgentError
	default:
		return AgentUnknown
	}
}

func environmentType(t sdkv1.CloudEnvironmentType) CloudEnvironmentType {
	if t == sdkv1.CloudEnvironmentType_CLOUD_ENVIRONMENT_TYPE_UNSPECIFIED {
		return ""
	}
	return CloudEnvironmentType(strings.ToLower(strings.TrimPrefix(t.String(), "CLOUD_ENVIRONMENT_TYPE_")))
}

// instant is zero for a time that was not said, or that no calendar has.
func instant(t *timestamppb.Timestamp) time.Time {
	if t == nil || t.CheckValid() != nil {
		return time.Time{}
	}
	return t.AsTime()
}
