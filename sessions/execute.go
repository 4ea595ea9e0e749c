package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/failpoint"
	"github.com/liaison-bot/liaison/tools"
)

const (
	// maxExecuting is how many calls that people agreed to run at once.
	maxExecuting = 8
	// executeTimeout bounds one of them, should its tool's own time not end it.
	executeTimeout = tools.MaxTimeout + time.Minute
	// maxOutcomeText bounds what is kept of a tool's answer, in bytes.
	maxOutcomeText = 64 << 10
)

// executions are the calls that people agreed to, while they run.
type executions struct {
	places chan struct{}
	// ctx ends them, some time after the service was asked to stop.
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu  sync.Mutex
	ids map[string]bool // of approvals; guarded by mu
}

func newExecutions() *executions {
	return &executions{places: make(chan struct{}, maxExecuting), ids: make(map[string]bool)}
}

// begin sets the bound of all executions.
func (x *executions) begin(ctx context.Context) { x.ctx, x.cancel = context.WithCancelCause(ctx) }

// enter reports whether nobody sees to this approval yet.
func (x *executions) enter(id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ids[id] {
		return false
	}
	x.ids[id] = true
	return true
}

func (x *executions) leave(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.ids, id)
}

// execute makes the call of an approval that was granted, once there is a place.
// It is called in the session's actor and does not wait.
func (e *Engine) execute(sessionID, id string) {
	if !e.executions.enter(id) {
		return
	}
	e.actors.run(func() {
		defer e.executions.leave(id)
		select {
		case e.executions.places <- struct{}{}:
			defer func() { <-e.executions.places }()
		case <-e.actors.turns.Done():
			return // the next process does it
		}
		if err := e.carryOut(sessionID, id); err != nil && !isNothing(err) {
			e.logger.Error("a call that people agreed to was not made, or its end is not stored; the next start looks",
				"session", sessionID, "approval", id, "error", err)
		}
	})
}

// carryOut takes a granted approval to its end.
func (e *Engine) carryOut(sessionID, id string) error {
	var call tools.Call
	var rec approvals.Record
	err := inActor(e, sessionID, func(a *actor) error {
		if a.e.actors.isStopping() {
			return errNothingNew
		}
		err := a.decide(func(d *draft) error {
			h, err := a.approval(id)
			if err != nil {
				return err
			}
			call = a.callOf(h.rec)
			step, ok := h.rec.Begin(a.e.store.Epoch(), a.e.now())
			if err := e.stale(call, h.rec); err != nil {
				step, ok = h.rec.Refuse(clip(e.redact(err.Error()), maxReasonText), a.e.now())
			}
			if !ok {
				return errNothingNew
			}
			if h.rec.Parked && h.rec.AgentID != "" {
				d.event(EventActionsRequested, h.rec.TurnID, actionsRequested{Actions: []action{{
					CallID: h.rec.CallID, Name: h.rec.Tool, Args: recordable(h.rec.Input, e.redact),
					Truncated: len(h.rec.Input) > maxActionData, ApprovalID: h.rec.ID,
				}}})
			}
			d.step(h, step)
			rec = h.rec
			return nil
		})
		a.schedule() // the agent may hear that it is not run
		return err
	})
	if err != nil || rec.State.Ended() {
		return err
	}
	began := e.now()
	result, fault := e.runAgreed(call, rec)
	failpoint.At("approval.ran")
	took := max(e.now().Sub(began), 0)
	if fault != nil && !errors.Is(fault, errStopped) {
		if found, err := e.found(call, rec); err == nil {
			result, fault = found, nil
		}
	}
	return e.storeOutcome(sessionID, id, result, fault, took)
}

// callOf is the call that people agreed to, as its turn would make it.
func (a *actor) callOf(r approvals.Record) tools.Call {
	return tools.Call{
		Turn: tools.Turn{
			SessionID: a.id, TurnID: r.TurnID, Attempt: r.Attempt, Channel: r.Channel, Request: r.Request,
			Principal: r.Requester.Principal, Mode: string(a.sess.Mode), Surface: a.surface(),
			Dir: a.e.Workspace(a.id), DryRun: a.sess.DryRun,
		},
		AgentID: r.AgentID, CallID: r.CallID, ApprovalID: r.ID, Input: r.Input,
	}
}

// stale says why a call that people agreed to is not made any more.
func (e *Engine) stale(c tools.Call, r approvals.Record) error {
	registry := e.registry()
	if registry == nil {
		return errors.New("there are no tools any more")
	}
	return registry.Stale(c, r.Tool, r.Fingerprint)
}

// runAgreed runs the tool. An error says that it cannot be told what came of it.
func (e *Engine) runAgreed(c tools.Call, r approvals.Record) (tools.Result, error) {
	ctx, cancel := context.WithTimeoutCause(e.executions.ctx, executeTimeout,
		fmt.Errorf("it took longer than %s and was stopped", executeTimeout))
	defer cancel()
	registry := e.registry()
	if registry == nil {
		return tools.Result{Text: "There are no tools any more.", IsError: true}, nil
	}
	if _, err := e.makeWorkspace(c.SessionID); err != nil {
		return tools.Result{Text: err.Error(), IsError: true}, nil
	}
	var result tools.Result
	err := guard("tool "+r.Tool, e.redact, func() (err error) {
		result, err = registry.Execute(ctx, c, r.Tool, r.Fingerprint, agreed{e})
		return err
	})
	var panicked *tools.PanicError
	switch {
	case err == nil:
		return result, nil
	case errors.As(err, &panicked):
		e.noteToolError(c, r.Tool, err)
		return tools.Result{}, err
	case ctx.Err() != nil:
		return tools.Result{}, context.Cause(ctx)
	default: // the tool was not run
		return tools.Result{Text: err.Error(), IsError: true}, nil
	}
}

// storeOutcome stores what came of a call. An execution that was cut short because the
// service stops is left to the next process, which can look for what it did.
func (e *Engine) storeOutcome(sessionID, id string, result tools.Result, fault error, took time.Duration) error {
	if errors.Is(fault, errStopped) {
		e.logger.Warn("a call that people agreed to was cut short by the stop; the next start looks what came of it",
			"session", sessionID, "approval", id)
		return nil
	}
	if fault != nil {
		e.logger.Warn("nobody knows what came of a call that people agreed to; it is not repeated, and a person has to look",
			"session", sessionID, "approval", id, "error", fault)
	}
	return inActor(e, sessionID, func(a *actor) error {
		err := a.decide(func(d *draft) error {
			h, err := a.approval(id)
			if err != nil {
				return err
			}
			at := a.e.now()
			step, ok := h.rec.Lose(lostReason(fault), at)
			if fault == nil {
				step, ok = h.rec.Finish(approvals.Outcome{
					Text: clip(e.redact(result.Text), maxOutcomeText), IsError: result.IsError, DurationMS: took.Milliseconds(),
				}, at)
				d.result = &result
			}
			if !ok {
				return errNothingNew
			}
			d.step(h, step)
			return nil
		})
		if err == nil {
			a.schedule()
		}
		return err
	})
}

func lostReason(fault error) string {
	if fault == nil {
		return ""
	}
	return clip(fault.Error(), maxReasonText)
}

// noteResult drafts the event of an execution that no turn records.
func (d *draft) noteResult(r approvals.Record) {
	if !r.Parked {
		return
	}
	ev := actionResult{CallID: r.CallID, Name: r.Tool, IsError: r.State != approvals.Done, ApprovalID: r.ID}
	if r.Outcome != nil {
		ev.Result, ev.Truncated = quoted(r.Outcome.Text), len(r.Outcome.Text) > maxActionData
	} else {
		ev.Error = cmp.Or(r.Reason, "it is not known whether it was done")
	}
	d.event(EventActionResult, r.TurnID, ev)
}

// agreed is the ledger of calls that people agreed to: what the turn that asked is
// told as long as it runs here.
type agreed struct{ e *Engine }

func (l agreed) Acting(_ context.Context, c tools.Call, tool string) error {
	return whileRunning(inActor(l.e, c.SessionID, func(a *actor) error { return a.noteActed(c.TurnID, tool) }))
}

func (l agreed) Keep(ctx context.Context, c tools.Call, tool string, r tools.Result) error {
	if r.Output == nil {
		return nil // the approval keeps the answer
	}
	return whileRunning(l.e.KeepOutput(ctx, c.SessionID, c.TurnID, tool, r.Output))
}

func (agreed) Ask(context.Context, tools.Call, tools.Tool) (tools.Result, error) {
	return tools.Result{}, errors.New("people were asked already")
}

func whileRunning(err error) error {
	if errors.Is(err, ErrTurnNotRunning) {
		return nil
	}
	return err
}

// inActor has a session's actor do something and waits for it, also while the
// service starts or stops.
func inActor(e *Engine, sessionID string, work func(*actor) error) error {
	done := make(chan error, 1)
	e.actors.post(sessionID, func(a *actor) {
		err := errPanicked
		defer func() { done <- err }()
		err = work(a)
	})
	return <-done
}
