package sessions

import (
	"cmp"

	"github.com/liaison-bot/liaison/state"
)

// Price is what a model costs, in US dollars per million tokens.
type Price struct {
	InputUSD  float64 `json:"inputUsd"`
	OutputUSD float64 `json:"outputUsd"`
	// CacheReadUSD and CacheWriteUSD are those of input that the provider's
	// cache had or took; zero means that they cost what other input does.
	CacheReadUSD  float64 `json:"cacheReadUsd,omitempty"`
	CacheWriteUSD float64 `json:"cacheWriteUsd,omitempty"`
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
		float64(u.CacheReadTokens)*cmp.Or(p.CacheReadUSD, p.InputUSD) +
		float64(u.CacheWriteTokens)*cmp.Or(p.CacheWriteUSD, p.InputUSD)) / million
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
