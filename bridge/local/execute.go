package local

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
)

// execute runs the engine and records its end. It says first what every run
// says first.
func (r *registry) execute(live *run, eng engine, t task) {
	ctx := live.ctx
	defer live.cancel(nil)
	var mu sync.Mutex
	recorded := 0 // guarded by mu, so that a delta knows its place
	record := func(kind string, fields map[string]any) {
		message := map[string]any{"type": kind, "agent_id": t.AgentID, "run_id": t.RunID}
		for key, value := range fields {
			message[key] = value
		}
		switch err := live.log.append(ctx, r.now().UTC(), kind, message); {
		case err == nil:
			recorded++
		case errors.Is(err, errSealed):
		case errors.Is(err, errLogFull):
			live.cancel(&stop{statusError, "record_full", fmt.Sprintf("the run said more than the %d KiB that are kept of one run", r.maxLog>>10)})
		default:
			r.recordFailed(live, err)
		}
	}
	report := func(e event) {
		mu.Lock()
		defer mu.Unlock()
		live.feed.report(recorded, e)
		if _, fleeting := e.(delta); !fleeting {
			record(e.message())
		}
	}
	mu.Lock()
	record(durableOnly, map[string]any{"request_id": requestPrefix + t.RunID})
	record("status", map[string]any{"status": string(statusRunning)})
	record("system", map[string]any{"subtype": "init", "model": map[string]any{"id": t.Model}, "tools": shownTools(t)})
	mu.Unlock()

	if len(t.Custom) > 0 {
		calls := &customCalls{
			caller: r.tools, agentID: t.AgentID, runID: t.RunID, tools: t.Custom,
			report: report, logger: r.logger, given: make(map[string]bool),
		}
		t.CallCustom = calls.bind(ctx)
	}
	ans, err := guarded(ctx, eng, t, report)

	end := runRecord{Status: statusFinished, Result: strings.ToValidUTF8(ans.Text, "\uFFFD"), Usage: ans.Usage}
	var failure *runFailure
	var told *stop
	var panicked *enginePanic
	switch {
	case errors.As(context.Cause(ctx), &told):
		end.Status, end.ErrorCode, end.Reason = told.status, told.code, told.reason
	case errors.As(err, &failure):
		end.Status, end.ErrorCode, end.Reason = statusError, failure.Code, failure.Reason
	case errors.As(err, &panicked):
		r.logger.Error("the engine panicked", "run", t.RunID, "panic", panicked.value, "stack", string(panicked.stack))
		end.Status, end.ErrorCode, end.Reason = statusError, "engine_failed", "the agent failed unexpectedly; the bridge's log has the details"
	case err != nil:
		r.logger.Error("a run failed", "run", t.RunID, "error", err)
		end.Status, end.ErrorCode, end.Reason = statusError, "engine_failed", "the run failed: "+err.Error()
	default:
		mu.Lock()
		live.feed.ended(recorded, ans.Usage)
		record("usage", map[string]any{"usage": ans.Usage.fields()})
		mu.Unlock()
	}
	r.settleMemory(live) // before the lock: it may be megabytes
	live.agent.changing.Lock()
	defer live.agent.unlock()
	r.finish(live, end)
}

// guarded turns an engine's panic into an error, so that one bad file does not
// end the bridge and every other run with it.
func guarded(ctx context.Context, eng engine, t task, emit func(event)) (ans answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &enginePanic{value: p, stack: debug.Stack()}
		}
	}()
	return eng.Run(ctx, t, emit)
}

// enginePanic is a panic of an engine, for the log only.
type enginePanic struct {
	value any
	stack []byte
}

func (p *enginePanic) Error() string { return "the engine panicked" }

// settleMemory stores what the engine kept of the run. A failure is not the
// run's: its answer stands, only the next run knows less.
func (r *registry) settleMemory(live *run) {
	if err := live.memory.settle(); err != nil {
		r.logger.Error("what an agent remembers could not be stored", "run", live.rec.ID, "error", err)
	}
}

// shownTools are the tools that a run's first message names.
func shownTools(t task) []any {
	tools := make([]any, 0, len(t.Tools)+1)
	for _, name := range t.Tools {
		tools = append(tools, name)
	}
	if len(t.Custom) > 0 {
		tools = append(tools, toolMCP)
	}
	return tools
}
