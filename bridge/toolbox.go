package bridge

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// toolbox has the tools of a client's agents and runs their calls. A bridge
// knows one place for all tools; the agent's id finds the right ones.
type toolbox struct {
	logger *slog.Logger
	mask   func(string) string
	// under counts calls, which may outlive the request that asked for them.
	under *gate

	mu     sync.Mutex
	agents map[string]*agentTools // guarded by mu, with all that is below it
}

// agentTools is what one agent may call.
type agentTools struct {
	tools map[string]*offeredTool
	run   *toolRun // nil while no run is under way
	// leaving makes the end of the run the end of the tools.
	leaving bool
	past    keyRing // calls that are over and whose answer is not remembered
}

// toolRun is one run of an agent. A call belongs to the run that was under way
// when it came, and ends with it.
type toolRun struct {
	ctx    context.Context
	cancel context.CancelFunc
	id     string // empty until the run has a name
	ledger callLedger
	// working is how many of its calls are under way.
	working int
}

func newToolbox(logger *slog.Logger, mask func(string) string, under *gate) *toolbox {
	return &toolbox{logger: logger, mask: mask, under: under, agents: map[string]*agentTools{}}
}

// offer makes tools the only ones that the agent has.
func (b *toolbox) offer(agentID string, tools map[string]*offeredTool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.agents[agentID]
	if a == nil {
		if len(tools) == 0 {
			return
		}
		a = new(agentTools)
		b.agents[agentID] = a
	}
	a.tools, a.leaving = tools, false
}

// leave takes the agent's tools away once no run is under way that may call them.
func (b *toolbox) leave(agentID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.agents[agentID]; a != nil {
		a.leaving = true
		if a.run == nil {
			delete(b.agents, agentID)
		}
	}
}

// forget takes the agent's tools away and ends what they do.
func (b *toolbox) forget(agentID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.agents[agentID]; a != nil && a.run != nil {
		a.run.cancel()
	}
	delete(b.agents, agentID)
}

// begin lets the agent call its tools until end is called or ctx is done.
func (b *toolbox) begin(ctx context.Context, agentID string) (named func(string), end func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.agents[agentID]
	if a == nil {
		return func(string) {}, func() {}
	}
	if a.run != nil { // its end was missed
		a.finish(a.run)
	}
	r := new(toolRun)
	r.ctx, r.cancel = context.WithCancel(ctx)
	a.run = r
	named = func(runID string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		r.id = runID
	}
	end = func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		a.finish(r)
		if a.leaving && a.run == nil && b.agents[agentID] == a {
			delete(b.agents, agentID)
		}
	}
	return named, end
}

// finish ends a run: its calls are cancelled, and only their keys are kept.
func (a *agentTools) finish(r *toolRun) {
	r.cancel()
	if a.run != r {
		return
	}
	a.run = nil
	for key := range r.ledger.calls {
		a.past.add(key)
	}
}

// working reports whether a call of the agent's run is under way.
func (b *toolbox) working(agentID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.agents[agentID]
	return a != nil && a.run != nil && a.run.working > 0
}

// end cancels all calls.
func (b *toolbox) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.agents {
		if a.run != nil {
			a.run.cancel()
		}
	}
}

// call answers one call of a bridge. What the agent can be told is a result; the
// only error is the end of ctx, which is the caller's connection: the tool goes
// on without it, since the bridge may ask again for the same call on another.
func (b *toolbox) call(ctx context.Context, req *sdkv1.CallCustomToolRequest) (*structpb.Struct, error) {
	args, err := encodeArguments(req.GetArgs())
	if err != nil {
		return refusal("the arguments of tool %.100s cannot be used: %v", req.GetToolName(), err), nil
	}
	run, call, refused := b.admit(req, args)
	if refused != nil {
		return refused, nil
	}
	select {
	case <-call.done:
		return call.result, nil
	case <-run.ctx.Done():
		return refusal("the run that called tool %s is over", req.GetToolName()), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// admit finds the call that the request repeats, or starts a new one.
func (b *toolbox) admit(req *sdkv1.CallCustomToolRequest, args []byte) (*toolRun, *toolCall, *structpb.Struct) {
	var key callKey
	if req.GetToolCallId() != "" {
		key = newCallKey(req.GetToolCallId(), req.GetToolName(), args)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.agents[req.GetAgentId()]
	switch {
	case a == nil:
		return nil, nil, refusal("agent %.100q has no tools here", req.GetAgentId())
	case a.run == nil || a.run.ctx.Err() != nil:
		return nil, nil, refusal("agent %s has no run under way, so its tools cannot be called", req.GetAgentId())
	}
	if key != (callKey{}) {
		if call := a.run.ledger.calls[key]; call != nil {
			return a.run, call, nil
		}
		if a.past.has(key) {
			return nil, nil, refusal("this call of tool %s was made before and is over", req.GetToolName())
		}
	}
	tool := a.tools[req.GetToolName()]
	if tool == nil {
		return nil, nil, refusal("there is no tool %.100q; there is %s", req.GetToolName(), strings.Join(slices.Sorted(maps.Keys(a.tools)), ", "))
	}
	if !b.under.enter() {
		return nil, nil, refusal("the program that has tool %s is stopping", tool.Name)
	}
	call := &toolCall{done: make(chan struct{})}
	if key != (callKey{}) {
		a.run.ledger.begin(key, call)
	}
	invocation := ToolInvocation{AgentID: req.GetAgentId(), RunID: a.run.id, CallID: req.GetToolCallId(), Tool: tool.Name, Args: args}
	a.run.working++
	go b.execute(a, a.run, key, call, tool, invocation)
	return a.run, call, nil
}

// execute runs a call to its end and remembers the answer.
func (b *toolbox) execute(a *agentTools, run *toolRun, key callKey, call *toolCall, tool *offeredTool, c ToolInvocation) {
	defer b.under.leave()
	defer func() {
		if p := recover(); p != nil || call.result == nil { // neither: the tool called runtime.Goexit
			b.logger.Error("a tool panicked", "tool", c.Tool, "agent", c.AgentID, "run", c.RunID, "call", c.CallID,
				"panic", b.mask(fmt.Sprint(p)), "stack", b.mask(string(debug.Stack())))
			call.result = refusal("tool %s failed unexpectedly", c.Tool)
		}
		defer close(call.done) // after it is remembered: whoever has the answer may ask at once for more
		b.mu.Lock()
		defer b.mu.Unlock()
		run.working--
		if a.run == run && key != (callKey{}) {
			run.ledger.remember(key, call, &a.past)
		}
	}()
	call.result = b.answer(run.ctx, tool, c)
}

// answer calls the tool and turns what comes of it into a result.
func (b *toolbox) answer(ctx context.Context, tool *offeredTool, c ToolInvocation) *structpb.Struct {
	if err := tool.check(c.Args); err != nil {
		return refusal("the arguments of tool %s do not match its schema: %v", c.Tool, err)
	}
	r, err := tool.Call(ctx, c)
	if err != nil {
		return refusal("%s", b.mask(err.Error()))
	}
	result, err := encodeResult(r)
	if err != nil {
		b.logger.Warn("the result of a tool cannot be sent", "tool", c.Tool, "agent", c.AgentID, "run", c.RunID, "call", c.CallID, "error", err)
		return refusal("the result of tool %s cannot be sent: %s", c.Tool, b.mask(err.Error()))
	}
	return result
}
