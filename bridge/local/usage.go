package local

import (
	"context"
	"slices"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// GetUsage sums the tokens of an agent's runs, or gives those of one. A run
// counts when it has ended. There is no cost: whoever serves the model knows it.
func (s *agentService) GetUsage(ctx context.Context, req *connect.Request[sdkv1.GetUsageRequest]) (*connect.Response[sdkv1.GetUsageResponse], error) {
	var total usage
	out := new(sdkv1.AgentUsage)
	add := func(rec runRecord) {
		total = total.plus(rec.Usage)
		out.Runs = append(out.Runs, &sdkv1.RunUsage{RunId: rec.ID, Usage: rec.Usage.proto()})
	}
	r, agentID := s.server.registry, req.Msg.GetAgentId()
	if one := req.Msg.RunId; one != nil {
		if _, err := r.agentInfo(ctx, agentID); err != nil {
			return nil, err
		}
		rec, _, err := r.findRun(ctx, *one)
		switch {
		case err != nil:
			return nil, err
		case rec.AgentID != agentID:
			return nil, runNotFound(rec.ID)
		}
		add(rec)
	} else if err := r.eachRun(ctx, agentID, add); err != nil {
		return nil, err
	}
	slices.Reverse(out.Runs) // the oldest first
	out.Usage = total.proto()
	return connect.NewResponse(&sdkv1.GetUsageResponse{Usage: out}), nil
}

// usage counts tokens; all zero for an engine without a model.
type usage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_tokens"`
	CacheWrite int64 `json:"cache_write_tokens"`
	// Reasoning is part of Output.
	Reasoning int64 `json:"reasoning_tokens,omitempty"`
}

func (u usage) total() int64 { return u.Input + u.Output }

func (u usage) plus(v usage) usage {
	return usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Reasoning: u.Reasoning + v.Reasoning,
	}
}

func (u usage) proto() *sdkv1.TokenUsage {
	out := &sdkv1.TokenUsage{
		InputTokens: u.Input, OutputTokens: u.Output,
		CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite,
		TotalTokens: u.total(),
	}
	if u.Reasoning > 0 {
		out.ReasoningTokens = &u.Reasoning
	}
	return out
}

// fields are the usage as the protocol's JSON spells it.
func (u usage) fields() map[string]any {
	out := map[string]any{
		"inputTokens": u.Input, "outputTokens": u.Output,
		"cacheReadTokens": u.CacheRead, "cacheWriteTokens": u.CacheWrite,
		"totalTokens": u.total(),
	}
	if u.Reasoning > 0 {
		out["reasoningTokens"] = u.Reasoning
	}
	return out
}
