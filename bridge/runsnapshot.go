package bridge

import (
	"context"
	"iter"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// RunSnapshot is what the bridge's record says of a run.
type RunSnapshot struct {
	ID      string
	AgentID string
	// Status of a run that a crashed host left behind may be running for ever. A
	// bridge may list a run that waits for an agent's first message.
	Status RunStatus
	// Text is the final answer; empty before the end.
	Text        string
	Model       string
	ModelParams map[string]string
	Duration    time.Duration
	// Created is zero when the bridge did not say.
	Created time.Time
	// Usage is all zero when the bridge did not say.
	Usage Usage
	// Branches are those that a cloud run has pushed to.
	Branches []GitBranch
}

// GitBranch is a branch that a run has pushed to.
type GitBranch struct {
	RepositoryURL string
	Branch        string
	// PullRequestURL is empty when the run opened none.
	PullRequestURL string
}

// ListRunsOptions tune a list of runs.
type ListRunsOptions struct {
	// Dir is the agent's working directory. Some bridges keep one store for each and
	// find an agent in no other.
	Dir string
	// PageSize is how many are fetched at a time; the bridge's choice when 0.
	PageSize int
}

// Runs lists the runs of an agent page by page, as far as the caller reads. The
// agent need not be resumed for it. An error ends the list; an agent that the
// bridge does not know is ErrNotFound.
func (c *Client) Runs(ctx context.Context, agentID string, o ListRunsOptions) iter.Seq2[RunSnapshot, error] {
	const op = "list runs"
	return pages(op, o.PageSize, func(cursor string) ([]RunSnapshot, string, error) {
		res, err := readAgent(ctx, c, op, agentID, agentService.ListRuns, &sdkv1.ListRunsRequest{AgentId: agentID, Options: &sdkv1.ListRunsOptions{
			Limit: uint32(o.PageSize), Cursor: cursor, Runtime: runtimeOf(agentID), Cwd: o.Dir, ApiKey: c.options.APIKey,
		}})
		if err != nil {
			return nil, "", err
		}
		return convert(res.GetItems(), runSnapshot), res.GetNextCursor(), nil
	})
}

// GetRun looks a run up, live or not. A run that the bridge does not know is
// ErrNotFound or ErrInvalid: bridges differ.
func (c *Client) GetRun(ctx context.Context, agentID, runID string) (RunSnapshot, error) {
	const op = "get run"
	if runID == "" {
		return RunSnapshot{}, invalid(op, "no run id was given")
	}
	res, err := readAgent(ctx, c, op, agentID, agentService.GetRun, &sdkv1.GetRunRequest{RunId: runID, Options: &sdkv1.GetRunOptions{
		Runtime: runtimeOf(agentID), AgentId: agentID, ApiKey: c.options.APIKey,
	}})
	if err != nil {
		return RunSnapshot{}, err
	}
	if res.GetRun() == nil {
		return RunSnapshot{}, refuse(op, connect.CodeInternal, "", "the bridge answered without the run %s", runID)
	}
	return runSnapshot(res.GetRun()), nil
}

func runSnapshot(s *sdkv1.RunSnapshot) RunSnapshot {
	return RunSnapshot{
		ID: s.GetRunId(), AgentID: s.GetAgentId(), Status: lifecycle(s.GetStatus()), Text: s.GetResult(),
		Model: s.GetModel().GetId(), ModelParams: modelParams(s.GetModel().GetParams()),
		Duration: milliseconds(s.GetDurationMs()), Created: instant(s.GetCreatedAt()), Usage: usageOf(s.GetUsage()),
		Branches: convert(s.GetGit().GetBranches(), func(b *sdkv1.RunGitBranchInfo) GitBranch {
			return GitBranch{RepositoryURL: b.GetRepoUrl(), Branch: b.GetBranch(), PullRequestURL: b.GetPrUrl()}
		}),
	}
}

func modelParams(values []*sdkv1.ModelParameterValue) map[string]string {
	if len(values) == 0 {
		return nil
	}
	params := make(map[string]string, len(values))
	for _, v := range values {
		params[v.GetId()] = v.GetValue()
	}
	return params
}
