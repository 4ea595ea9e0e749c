package bridge

import (
	"context"
	"errors"

	"connectrpc.com/connect"
)

// opener opens a stream of a run. The stream ends with the context.
type opener func(context.Context) (frames, error)

// follower follows one run over as many streams as it takes; see [follower.run].
// It belongs to one goroutine.
type follower struct {
	calls  runCalls
	jitter func() float64
	watch  *watch
	replay *replay
	view   projection

	// ctx ends all that the follower does; its cause says why.
	ctx context.Context
	// agentID may be empty until the first event; runID is until the run has a name.
	agentID, runID string
	// named is told the run's id when it comes to be known; deliver gets every
	// event once, in order, and returns false when no more are wanted.
	named   func(runID string)
	deliver func(Event) bool
	// wantsMore is set when deltas or steps were asked for, which no record repeats.
	wantsMore bool

	// base is the offset that the caller has observed up to, after the last one
	// that ObserveRun gave.
	base, after string
	opened      bool // anything but a keepalive has come
	fresh       bool // the current stream has brought something new
	unwanted    bool // deliver has returned false
}

// errNoResult is why a stream is broken that ended in order, but too soon.
var errNoResult = &Error{
	Op: "follow run", Code: connect.CodeInternal.String(), detailed: true,
	Message: "the bridge ended the run's stream before its result",
}

// read takes one stream to its end and returns why it is not the end of the run,
// or nil if it is.
func (f *follower) read(open opener, observed bool) error {
	ctx, cut := context.WithCancelCause(f.ctx)
	defer cut(nil)
	f.fresh, f.view.done = false, false
	f.watch.start(cut)
	defer f.watch.stop()
	stream, err := open(ctx)
	if err == nil {
		for stream.Receive() {
			if !f.take(stream.Msg(), observed) {
				f.unwanted = true
				cut(nil)
				break
			}
		}
		err = stream.Err()
		_ = stream.Close() // it was read to its end, or cut
	}
	cause := context.Cause(ctx)
	switch {
	case f.view.ended || f.unwanted:
		return nil
	case cause != nil && !errors.Is(cause, errLeft):
		return cause
	case err == nil || cause != nil:
		return errNoResult
	default:
		return err
	}
}

// take takes one frame and reports whether more are wanted.
func (f *follower) take(m *frame, observed bool) bool {
	f.watch.frame()
	switch m.kind {
	case frameMessage:
		return f.message(m, observed)
	case frameDelta, frameStep:
		f.opened = true
		// A stream that is behind has nothing to add to what its messages say.
		return (observed && !f.replay.current) || f.give(decodeEvent(m, f.agentID, f.runID), observed)
	case frameResult:
		f.opened = true
		f.name(m.result.GetRunId())
		if !f.account() {
			return false
		}
		f.view.finish(m.result)
	case frameDone:
		f.name(m.done.GetRunId())
		f.view.done = true
	case frameEmpty: // a keepalive: a sign of life and nothing else
	}
	if f.view.ended || f.view.done {
		f.watch.event()
		f.watch.leave()
	}
	return true
}

// message takes an sdk_message.
func (f *follower) message(m *frame, observed bool) bool {
	f.opened = true
	e := decodeEvent(m, f.agentID, f.runID)
	f.name(e.RunID)
	if f.agentID == "" {
		f.agentID = e.AgentID
	}
	f.view.note(e.Payload)
	if _, isTool := e.Payload.(ToolCall); isTool {
		f.watch.tools(len(f.view.openTools) > 0)
	}
	if !observed {
		f.replay.live(m)
		return f.give(e, false)
	}
	if m.offset != "" {
		f.after = m.offset
	}
	return !f.replay.admit(m) || f.account() && f.give(e, true)
}

// give hands an event to the consumer.
func (f *follower) give(e Event, observed bool) bool {
	if e.AgentID == "" {
		e.AgentID = f.agentID
	}
	if e.RunID == "" {
		e.RunID = f.runID
	}
	e.replayed = observed
	f.fresh = true
	f.watch.event()
	return f.deliver(e)
}

// account says so when messages of the record were held back.
func (f *follower) account() bool {
	if n := f.replay.missing(); n > 0 {
		return f.gap(n)
	}
	return true
}

func (f *follower) gap(events int) bool {
	return f.deliver(Event{AgentID: f.agentID, RunID: f.runID, Payload: Gap{Events: events}})
}

// name notes the run's id, which whatever comes first carries.
func (f *follower) name(id string) {
	if id == "" || f.runID != "" {
		return
	}
	f.runID = id
	if f.named != nil {
		f.named(id)
	}
}
