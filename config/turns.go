package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// TurnLimits bound what one turn may use up. Zero means no limit.
type TurnLimits struct {
	// Tokens counts what goes in and what comes out, together.
	Tokens    int64
	ToolCalls int
	// CostUSD is in US dollars, and holds only for models with a known price.
	CostUSD float64
}

// Price is what a model costs, in US dollars per million tokens.
type Price struct {
	Input, Output float64
	// CacheRead and CacheWrite are the input's price where none is given.
	CacheRead, CacheWrite float64
}

// maxPrice is far above any price per million tokens: what is larger is a
// price per token in some other unit.
const maxPrice = 1e5

// buildTurns reads how many turns run, and what each may take.
func buildTurns(c *Config, v *values, p *problems) {
	var err error
	if c.MaxRunningTurns, err = parseCount(v.textOf(EnvMaxRunningTurns)); err != nil {
		p.add(EnvMaxRunningTurns, "%v", err)
	}
	if c.TurnTimeout, err = time.ParseDuration(v.textOf(EnvTurnTimeout)); err != nil || c.TurnTimeout <= 0 {
		p.add(EnvTurnTimeout, "%q is not a positive duration such as 30m", v.textOf(EnvTurnTimeout))
	}
	if c.TurnLimits.Tokens, err = strconv.ParseInt(v.textOf(EnvTurnTokens), 10, 64); err != nil || c.TurnLimits.Tokens < 0 {
		p.add(EnvTurnTokens, "%q is not a whole number; 0 means no limit", v.textOf(EnvTurnTokens))
	}
	if c.TurnLimits.ToolCalls, err = strconv.Atoi(v.textOf(EnvTurnToolCalls)); err != nil || c.TurnLimits.ToolCalls < 0 {
		p.add(EnvTurnToolCalls, "%q is not a whole number; 0 means no limit", v.textOf(EnvTurnToolCalls))
	}
	if c.TurnLimits.CostUSD, err = parseAmount(v.textOf(EnvTurnCost)); err != nil {
		p.add(EnvTurnCost, "%q is not an amount of US dollars such as 2.50; 0 means no limit", v.textOf(EnvTurnCost))
	}
	buildPrices(c, v, p)
}

func buildPrices(c *Config, v *values, p *problems) {
	entries, _ := v.list(EnvModelPrices)
	for _, entry := range entries {
		// A model's name may hold an equals sign, a price never does.
		at := strings.LastIndexByte(entry, '=')
		model := strings.TrimSpace(entry[:max(at, 0)])
		price, err := parsePrice(entry[at+1:])
		_, twice := c.Prices[model]
		switch {
		case model == "":
			p.add(EnvModelPrices, "%q is not model=input/output, such as my-model=3/15", entry)
		case err != nil:
			p.add(EnvModelPrices, "%q: %v", entry, err)
		case twice:
			p.add(EnvModelPrices, "%q is there twice", model)
		default:
			if c.Prices == nil {
				c.Prices = map[string]Price{}
			}
			c.Prices[model] = price
		}
	}
}

// parsePrice reads input/output, input/output/cacheRead or
// input/output/cacheRead/cacheWrite.
func parsePrice(s string) (Price, error) {
	parts := strings.Split(s, "/")
	if len(parts) < 2 || len(parts) > 4 {
		return Price{}, fmt.Errorf("%q must be two to four prices with slashes between them", s)
	}
	amounts := make([]float64, 0, 4)
	for _, part := range parts {
		amount, err := parseAmount(strings.TrimSpace(part))
		if err != nil || amount > maxPrice {
			return Price{}, fmt.Errorf("%q is not a price in US dollars per million tokens", part)
		}
		amounts = append(amounts, amount)
	}
	for len(amounts) < cap(amounts) {
		amounts = append(amounts, amounts[0])
	}
	return Price{Input: amounts[0], Output: amounts[1], CacheRead: amounts[2], CacheWrite: amounts[3]}, nil
}

// parseAmount reads a number that is not negative.
func parseAmount(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("%q is not an amount", s)
	}
	return f, nil
}

func parseCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not a number of at least 1", s)
	}
	return n, nil
}
