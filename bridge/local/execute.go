package local

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"
)

// execute runs the engine and records what it says and how it ends.
func (r *registry) execute(live *run, eng engine, t task) {
	ctx := live.ctx
	defer live.cancel(nil)
	record := &recorder{registry: r, live: live, agentID: t.AgentID, runID: t.RunID}
	record.opening(t)
	if len(t.Custom) > 0 {
		calls := &customCalls{
			caller: r.tools, agentID: t.AgentID, runID: t.RunID, tools: t.Custom,
			report: record.report, logger: r.logger, given: make(map[string]bool),
		}
		t.CallCustom = calls.bind(ctx)
	}
	ans, err := guarded(ctx, eng, t, record.report)

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
		record.used(ans.Usage)
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
