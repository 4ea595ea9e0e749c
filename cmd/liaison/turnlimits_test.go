package main

import (
	"testing"

	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/sessions"
)

func TestTurnLimitsAreHandedOn(t *testing.T) {
	for name, c := range map[string]struct {
		in   config.TurnLimits
		want sessions.TurnLimits
	}{
		"set":  {config.TurnLimits{Tokens: 5, ToolCalls: 6, CostUSD: 7.5}, sessions.TurnLimits{Tokens: 5, ToolCalls: 6, CostUSD: 7.5}},
		"none": {config.TurnLimits{}, sessions.TurnLimits{Tokens: -1, ToolCalls: -1, CostUSD: -1}},
	} {
		if got := turnLimits(c.in); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	got := prices(map[string]config.Price{"m": {Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}})["m"]
	if want := (sessions.Price{InputUSD: 1, OutputUSD: 2, CacheReadUSD: 3, CacheWriteUSD: 4}); got != want {
		t.Errorf("price %+v, want %+v", got, want)
	}
}
