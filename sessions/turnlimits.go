package sessions

import (
	"cmp"
	"fmt"
	"math"
	"sync"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// Defaults of [TurnLimits], for a turn with all its attempts. A review of a large
// pull request takes some hundred thousand tokens and a few dozen tool calls.
const (
	DefaultTurnTokens    = 5_000_000
	DefaultTurnToolCalls = 300
	DefaultTurnCostUSD   = 10
)

// TurnLimits bounds what one turn may use, all its attempts together. A turn that
// uses more is cancelled and fails with the reason. Zero means the default, and
// a negative number no limit.
type TurnLimits struct {
	// Tokens bounds the total, input and output, cached ones too.
	Tokens int64
	// ToolCalls bounds how many tools the agent calls.
	ToolCalls int
	// CostUSD bounds the estimated cost of a model that has a price.
	CostUSD float64
}

func (l TurnLimits) withDefaults() TurnLimits {
	l.Tokens = cmp.Or(l.Tokens, DefaultTurnTokens)
	l.ToolCalls = cmp.Or(l.ToolCalls, DefaultTurnToolCalls)
	l.CostUSD = cmp.Or(l.CostUSD, DefaultTurnCostUSD)
	if l.Tokens < 0 {
		l.Tokens = math.MaxInt64
	}
	if l.ToolCalls < 0 {
		l.ToolCalls = math.MaxInt
	}
	if l.CostUSD < 0 {
		l.CostUSD = math.Inf(1)
	}
	return l
}

// narrowed returns the narrower of both, of which by may leave some out.
func (l TurnLimits) narrowed(by TurnLimits) TurnLimits {
	if by.Tokens > 0 {
		l.Tokens = min(l.Tokens, by.Tokens)
	}
	if by.ToolCalls > 0 {
		l.ToolCalls = min(l.ToolCalls, by.ToolCalls)
	}
	if by.CostUSD > 0 {
		l.CostUSD = min(l.CostUSD, by.CostUSD)
	}
	return l
}

// limitError says which limit a turn has passed.
type limitError struct{ what, limit string }

// Error implements error, for a person.
func (e *limitError) Error() string {
	return fmt.Sprintf("the turn was stopped: it used %s, and %s is the most for one turn", e.what, e.limit)
}

// exceeded returns the limit that s passes, or nil.
func (l TurnLimits) exceeded(s spent) error {
	switch {
	case tokens(s.usage) > l.Tokens:
		return &limitError{fmt.Sprintf("%d tokens", tokens(s.usage)), fmt.Sprint(l.Tokens)}
	case s.calls > l.ToolCalls:
		return &limitError{fmt.Sprintf("%d tool calls", s.calls), fmt.Sprint(l.ToolCalls)}
	case s.cost > l.CostUSD:
		return &limitError{fmt.Sprintf("an estimated %.2f USD", s.cost), fmt.Sprintf("%.2f", l.CostUSD)}
	}
	return nil
}

// tokens is the total, also where a bridge did not add it up.
func tokens(u state.Usage) int64 { return max(u.TotalTokens, u.InputTokens+u.OutputTokens) }

// spent is what a turn, or an attempt at it, has used.
type spent struct {
	usage state.Usage
	calls int
	cost  float64
	model string
}

func spentOn(t state.Turn) spent {
	return spent{usage: t.Usage, calls: t.ToolCalls, cost: t.CostUSD, model: t.Model}
}

func (s spent) plus(o spent) spent {
	return spent{
		usage: s.usage.Plus(o.usage), calls: s.calls + o.calls, cost: s.cost + o.cost,
		model: cmp.Or(o.model, s.model),
	}
}

// on writes it to a turn's row.
func (s spent) on(t *state.Turn) {
	t.Usage, t.ToolCalls, t.CostUSD, t.Model = s.usage, s.calls, s.cost, s.model
}

// meter counts what one attempt uses while it runs, and tells once when the turn
// has used more than it may.
type meter struct {
	e      *Engine
	limits TurnLimits
	// asked is the model that the turn wants; empty where the bridge chooses.
	asked string
	// before is what earlier attempts have used.
	before  spent
	reached func(error)

	mu sync.Mutex
	// runs are the tokens of each run: an attempt whose bridge died has two.
	runs  map[string]bridge.Usage
	calls map[string]bool
	model string
	told  bool
}

func newMeter(e *Engine, t state.Turn, agent Agent, reached func(error)) *meter {
	return &meter{
		e: e, limits: e.limits.narrowed(agent.Limits), asked: agent.Model, before: spentOn(t), reached: reached,
		runs: make(map[string]bridge.Usage), calls: make(map[string]bool),
	}
}

// observe counts one event of a run.
func (m *meter) observe(ev bridge.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch p := ev.Payload.(type) {
	case bridge.System:
		m.model = cmp.Or(p.Model, m.model)
		return
	case bridge.Assistant:
		for _, use := range p.ToolUses {
			m.calls[ev.RunID+"/"+use.ID] = true
		}
	case bridge.ToolCall:
		m.calls[ev.RunID+"/"+p.CallID] = true
	case bridge.Tokens:
		m.runs[ev.RunID] = p.Usage
	default:
		return
	}
	if m.told {
		return
	}
	if err := m.limits.exceeded(m.before.plus(m.spent())); err != nil {
		m.told = true
		m.reached(err)
	}
}

// end takes what the result says, which is more exact than the events.
func (m *meter) end(r bridge.Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.model = cmp.Or(r.Model, m.model)
	if r.Usage != (bridge.Usage{}) {
		delete(m.runs, "") // of events that did not name their run
		m.runs[r.RunID] = r.Usage
	}
}

// sofar returns what the attempt has used until now.
func (m *meter) sofar() spent {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent()
}

func (m *meter) spent() spent {
	s := spent{calls: len(m.calls), model: m.model}
	for _, u := range m.runs {
		s.usage = s.usage.Plus(usageOf(u))
	}
	if p, ok := m.e.priceOf(m.asked, m.model); ok {
		s.cost = p.CostOf(s.usage)
	}
	return s
}
