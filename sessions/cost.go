package sessions

import (
	"github.com/liaison-bot/liaison/state"
)

// Price is what a model costs, in US dollars per million tokens.
type Price struct {
	InputUSD  float64 `json:"inputUsd"`
	OutputUSD float64 `json:"outputUsd"`
	// CacheReadUSD and CacheWriteUSD are those of input that the provider's
	// cache had or took.
	CacheReadUSD  float64 `json:"cacheReadUsd"`
	CacheWriteUSD float64 `json:"cacheWriteUsd"`
}

// CostOf estimates what so many tokens cost, in US dollars. Some providers count
// cached input in the input and others beside it; their total tells which.
func (p Price) CostOf(u state.Usage) float64 {
	const million = 1_000_000
	cached := u.CacheReadTokens + u.CacheWriteTokens
	fresh := u.InputTokens
	if u.TotalTokens < u.InputTokens+u.OutputTokens+cached {
		fresh = max(fresh-cached, 0)
	}
	return (float64(fresh)*p.InputUSD +
		float64(u.OutputTokens)*p.OutputUSD +
		float64(u.CacheReadTokens)*p.CacheReadUSD +
		float64(u.CacheWriteTokens)*p.CacheWriteUSD) / million
}

// priceOf returns the price of the first of these models that has one.
func (e *Engine) priceOf(models ...string) (Price, bool) {
	for _, m := range models {
		if p, ok := e.prices[m]; ok && m != "" {
			return p, true
		}
	}
	return Price{}, false
}
