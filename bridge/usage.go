package bridge

import (
	"context"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// AgentUsage is what an agent has used in all its runs.
type AgentUsage struct {
	Usage Usage
	// Cost is nil when the bridge did not say.
	Cost *Cost
	// Runs are the same numbers for each run.
	Runs []RunUsage
}

// RunUsage is what one run has used.
type RunUsage struct {
	RunID string
	Usage Usage
	// Cost is nil when the bridge did not say.
	Cost *Cost
}

// Cost is in US cents and fractions of them.
type Cost struct {
	// RawCents is the price of the tokens, ChargedCents what the account pays.
	RawCents     float64
	ChargedCents float64
}

// Usage asks what an agent has used, in all its runs, or in one of them when
// runID is not empty. Some bridges know it of cloud agents only and answer
// ErrFeatureUnavailable for others; a run's own tokens are in its [Result].
func (c *Client) Usage(ctx context.Context, agentID, runID string) (AgentUsage, error) {
	req := &sdkv1.GetUsageRequest{AgentId: agentID}
	if runID != "" {
		req.RunId = &runID
	}
	res, err := readAgent(ctx, c, "get usage", agentID, agentService.GetUsage, req)
	if err != nil {
		return AgentUsage{}, err
	}
	u := res.GetUsage()
	return AgentUsage{
		Usage: usageOf(u.GetUsage()), Cost: costOf(u.GetCost()),
		Runs: convert(u.GetRuns(), func(r *sdkv1.RunUsage) RunUsage {
			return RunUsage{RunID: r.GetRunId(), Usage: usageOf(r.GetUsage()), Cost: costOf(r.GetCost())}
		}),
	}, nil
}

func costOf(c *sdkv1.UsageCost) *Cost {
	if c == nil {
		return nil
	}
	return &Cost{RawCents: c.GetRawCostCents(), ChargedCents: c.GetChargedCents()}
}
