package bridge

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"
)

// Run is one run of an agent. Its stream is read to the end whether or not
// anybody listens, and continued from the bridge's record when it breaks.
type Run struct {
	client  *Client
	agentID string
	calls   runCalls
	follows *follower
	limits  runLimits
	events  *eventBuffer
	release func()
	// tools ends with the run or its cancellation, and with it the calls of tools.
	tools    context.Context
	endTools context.CancelFunc
	toolsID  func(runID string) // tells the tools the run's id
	// cut ends the follower.
	cut context.CancelCauseFunc
	// before is the id of the run of this agent before it, if known.
	before string
	// abandon says that whoever sent is gone; the context is for what only they wait for.
	abandoned context.Context
	abandon   context.CancelFunc

	// named is closed when id is set, or when the run has ended without one.
	named chan struct{}
	// done is closed when result and err are set.
	done   chan struct{}
	id     string
	result Result
	err    error

	mu        sync.Mutex
	cancelled *time.Timer // set when the bridge has accepted a cancellation
}

// runLimits are the bounds of [Options] that following a run needs.
type runLimits struct {
	stall, toolStall, call time.Duration
	retry                  Retry
	jitter                 func() float64
}

// cancelPatience is how long a run may take to end after the bridge has accepted
// its cancellation.
const cancelPatience = 30 * time.Second

var errUnconfirmed = errors.New("the cancelled run did not end in time")

// RunFailedError says that a run ended in another way than finished. It comes
// from [Run.Text], [Run.TextStream] and [Prompt].
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

// newRun makes a run that is not followed yet. Release is called when it has ended.
func newRun(agentID string, calls runCalls, limits runLimits, release func()) *Run {
	r := &Run{
		agentID: agentID, calls: calls, limits: limits, events: newEventBuffer(), release: release,
		named: make(chan struct{}), done: make(chan struct{}),
	}
	var ctx context.Context
	ctx, r.cut = context.WithCancelCause(calls.life())
	r.tools, r.endTools = context.WithCancel(ctx)
	r.abandoned, r.abandon = context.WithCancel(ctx)
	r.follows = newFollower(ctx, calls, agentID, limits)
	r.follows.named = r.name
	r.follows.deliver = func(e Event) bool {
		r.events.push(e)
		return true
	}
	return r
}

// follow reads the run to its end, whoever listens, and settles it. It returns
// when nothing of the run is left on this side. Without a stream to start the run
// it begins with the record.
func (r *Run) follow(open opener) {
	err := r.follows.run(open, r.begin)
	if err != nil && r.wasCancelled() && !errors.Is(err, ErrClosed) {
		r.concludeCancelled()
		err = nil
	}
	r.settle(r.follows.view.result, err)
}

func (r *Run) settle(result Result, err error) {
	result.RunID, result.AgentID = r.id, r.agentID
	if err != nil {
		result = Result{}
	}
	r.result, r.err = result, err
	r.mu.Lock()
	if r.cancelled != nil {
		r.cancelled.Stop()
	}
	r.mu.Unlock()
	r.endTools()
	r.abandon()
	r.cut(nil)
	r.release() // before the end is seen, so that whoever sees it can send again
	close(r.done)
	if r.id == "" {
		close(r.named)
	}
	r.events.close()
}

// name gives the run its id.
func (r *Run) name(id string) {
	r.id = id
	if r.toolsID != nil {
		r.toolsID(id)
	}
	close(r.named)
	if r.abandoned.Err() != nil {
		go r.cancelAbandoned()
	}
}

// await returns the run once it has a name.
func (r *Run) await(ctx context.Context) (*Run, error) {
	select {
	case <-r.named:
	case <-ctx.Done():
		r.abandon()
		select {
		case <-r.named: // it may have missed the mark
			go r.cancelAbandoned()
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

// cancelAbandoned cancels a run whose sender is gone and could never do it.
func (r *Run) cancelAbandoned() {
	_ = r.Cancel(r.calls.life()) // best effort: nobody is there to be told
}

// ID returns the run's id.
func (r *Run) ID() string { return r.id }

// AgentID returns the id of the agent whose run it is.
func (r *Run) AgentID() string { return r.agentID }

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
