package bridge

import (
	"context"
	"time"
)

// toolsAfterCancel is how long a bridge may take to answer a cancellation before
// the tools that it may be waiting for are ended.
const toolsAfterCancel = time.Second

// Cancel asks the run to stop, and the tools of this program that it has called.
// It still ends by itself, soon, with status cancelled: wait for it. One that the
// bridge does not end within half a minute, or not before its own end, counts as
// cancelled too. Cancelling a run that has ended does nothing.
func (r *Run) Cancel(ctx context.Context) error {
	select {
	case <-r.done:
		return nil
	default:
	}
	// The bridge hears of it first: a tool that ended before would answer a model
	// that goes on. But a bridge may wait for its tools before it answers.
	waiting := time.AfterFunc(toolsAfterCancel, r.endTools)
	err := r.calls.cancelRun(ctx, r.agentID, r.id)
	waiting.Stop()
	r.endTools()
	select {
	case <-r.done: // it has ended meanwhile, and the bridge may have said so
		return nil
	default:
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancelled == nil {
		r.cancelled = time.AfterFunc(cancelPatience, func() { r.cut(errUnconfirmed) })
	}
	return nil
}

// wasCancelled reports whether the bridge has accepted a cancellation.
func (r *Run) wasCancelled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cancelled != nil
}

// concludeCancelled ends a cancelled run whose end the bridge has not told.
func (r *Run) concludeCancelled() {
	view := &r.follows.view
	ctx, cancel := context.WithTimeout(r.calls.life(), r.limits.call)
	defer cancel()
	result, err := r.calls.getRun(ctx, r.agentID, r.id)
	if err != nil || !result.Status.Ended() {
		result = Result{Status: RunCancelled}
		if view.reason == "" {
			view.reason = "cancelled; the bridge did not confirm the end"
		}
	}
	view.adopt(result)
}
