package bridge

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"time"
)

// Run is one run of an agent. Its stream is read to the end whether or not
// anybody listens.
type Run struct {
	agentID string
	calls   runCalls
	events  *eventBuffer
	release func()
	// stall and toolStall are the two budgets of silence; see [Options].
	stall, toolStall time.Duration

	// named is closed when id is set, or when the run has ended without one.
	named chan struct{}
	// done is closed when result and err are set.
	done      chan struct{}
	id        string
	result    Result
	err       error
	abandoned atomic.Bool
}

// RunFailedError says that a run ended in another way than finished. Only
// [Run.Text] makes an error of it.
type RunFailedError struct{ Result Result }

// Error implements error.
func (e *RunFailedError) Error() string {
	reason := e.Result.Reason
	if reason == "" {
		reason = e.Result.ErrorCode
	}
	if reason == "" {
		return fmt.Sprintf("bridge: run %s ended with status %q", e.Result.RunID, e.Result.Status)
	}
	return fmt.Sprintf("bridge: run %s ended with status %q: %s", e.Result.RunID, e.Result.Status, reason)
}

func newRun(agentID string, calls runCalls, release func(), stall, toolStall time.Duration) *Run {
	return &Run{
		agentID: agentID, calls: calls, events: newEventBuffer(), release: release,
		stall: stall, toolStall: toolStall,
		named: make(chan struct{}), done: make(chan struct{}),
	}
}

// await returns the run once it has a name.
func (r *Run) await(ctx context.Context) (*Run, error) {
	select {
	case <-r.named:
	case <-ctx.Done():
		r.abandoned.Store(true)
		select {
		case <-r.named: // it may have missed the mark
			go func() { _ = r.Cancel(context.WithoutCancel(ctx)) }()
		default:
		}
		return nil, fmt.Errorf("bridge: send: wait for the run to start: %w", ctx.Err())
	}
	if r.id == "" {
		<-r.done
		return nil, r.err
	}
	return r, nil
}

// ID returns the run's id.
func (r *Run) ID() string { return r.id }

// Events returns the run's events as they come, each once, and ends when the run
// has ended and all are read. An error is the last thing it yields: of ctx, or
// why the run was lost. Leaving the loop keeps what was not read for the next.
func (r *Run) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			e, ok, err := r.events.next(ctx)
			if err != nil {
				yield(Event{}, err)
				return
			}
			if !ok {
				break
			}
			if !yield(e, nil) {
				return
			}
		}
		<-r.done
		if r.err != nil {
			yield(Event{}, r.err)
		}
	}
}

// Wait returns how the run ended, without regard to whether its events are read.
// A run that failed is a Result that says so; an error means that its end is not
// known: the process died ([*ProcessError]), the run stalled, the client was
// closed, or ctx ended, which does not cancel the run.
func (r *Run) Wait(ctx context.Context) (Result, error) {
	select {
	case <-r.done:
		return r.result, r.err
	case <-ctx.Done():
		return Result{}, fmt.Errorf("bridge: wait for run %s: %w", r.id, ctx.Err())
	}
}

// Text waits and returns the final text, or a [*RunFailedError].
func (r *Run) Text(ctx context.Context) (string, error) {
	result, err := r.Wait(ctx)
	if err != nil {
		return "", err
	}
	if result.Status != RunFinished {
		return "", &RunFailedError{Result: result}
	}
	return result.Text, nil
}

// Cancel asks the run to stop. It still ends by itself, soon, with status
// cancelled: wait for it. Cancelling a run that has ended does nothing.
func (r *Run) Cancel(ctx context.Context) error {
	select {
	case <-r.done:
		return nil
	default:
	}
	err := r.calls.cancelRun(ctx, r.agentID, r.id)
	select {
	case <-r.done: // it has ended meanwhile, and the bridge may have said so
		return nil
	default:
		return err
	}
}
