package main

import (
	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/sessions"
)

// turnLimits hands the settings on. In them zero means no limit.
func turnLimits(c config.TurnLimits) sessions.TurnLimits {
	l := sessions.TurnLimits{Tokens: c.Tokens, ToolCalls: c.ToolCalls, CostUSD: c.CostUSD}
	if l.Tokens == 0 {
		l.Tokens = -1
	}
	if l.ToolCalls == 0 {
		l.ToolCalls = -1
	}
	if l.CostUSD == 0 {
		l.CostUSD = -1
	}
	return l
}

func prices(of map[string]config.Price) map[string]sessions.Price {
	prices := make(map[string]sessions.Price, len(of))
	for model, p := range of {
		prices[model] = sessions.Price{
			InputUSD: p.Input, OutputUSD: p.Output, CacheReadUSD: p.CacheRead, CacheWriteUSD: p.CacheWrite,
		}
	}
	return prices
}
