package bridge

import (
	"context"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

func (c *connection) life() context.Context { return c.ctx }

// outcome implements runCalls: WaitLiveRun while the run lives in the bridge,
// GetRun for its record.
func (c *connection) outcome(ctx context.Context, agentID, runID string, wait bool) (Result, error) {
	if wait {
		res, err := c.agents.WaitLiveRun(ctx, connect.NewRequest(&sdkv1.WaitLiveRunRequest{RunId: runID}))
		if err == nil {
			if result := resultOf(res.Msg.GetResult()); result.Status.Ended() {
				return result, nil
			}
		}
	}
	res, err := call(ctx, c, "get run", c.agents.GetRun, &sdkv1.GetRunRequest{
		RunId: runID,
		// Only runs of local agents are made here, and a run that is not live is
		// looked for by its agent.
		Options: &sdkv1.GetRunOptions{Runtime: sdkv1.Runtime_RUNTIME_LOCAL, AgentId: agentID},
	})
	if err != nil {
		return Result{}, err
	}
	s := res.GetRun()
	result := Result{
		Status: lifecycle(s.GetStatus()), Text: s.GetResult(), Model: s.GetModel().GetId(),
		Duration: milliseconds(s.GetDurationMs()), Usage: usageOf(s.GetUsage()),
	}
	if !result.Status.Ended() {
		return Result{}, refuse("get run", connect.CodeFailedPrecondition, "", "run %s has not ended", runID)
	}
	return result, nil
}

// resultOf leaves the ids to the run, which knows them.
func resultOf(r *sdkv1.RunResult) Result {
	return Result{
		Status: lifecycle(r.GetStatus()), Text: r.GetResult(), Model: r.GetModel().GetId(),
		Duration: milliseconds(r.GetDurationMs()), Usage: usageOf(r.GetUsage()),
	}
}

func milliseconds(n uint64) time.Duration {
	return time.Duration(min(n, uint64(365*24*time.Hour/time.Millisecond))) * time.Millisecond
}
