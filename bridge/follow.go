package bridge

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// farewell bounds the wait for what follows a result: done, and the end of the
// stream. Neither changes the result.
const farewell = 2 * time.Second

// frames is a run's stream; Connect's has this shape.
type frames interface {
	Receive() bool
	Msg() *sdkv1.RunStreamMessage
	Err() error
	Close() error
}

// runCalls is what following a run needs of the bridge but for the stream.
type runCalls interface {
	// life ends with the bridge's process or the client; its cause says why.
	life() context.Context
	cancelRun(ctx context.Context, agentID, runID string) error
	// outcome asks how a run has ended, waiting for it at most as long as ctx
	// allows, or only looks when wait is false.
	outcome(ctx context.Context, agentID, runID string, wait bool) (Result, error)
	failure(ctx context.Context, op string, err error) error
}

// follow reads the stream to its end, whoever listens, and settles the run. It
// returns when nothing of the run is left on this side.
func (r *Run) follow(open func(context.Context) (frames, error)) {
	ctx, cancel := context.WithCancel(r.calls.life())
	defer cancel()

	received := make(chan *sdkv1.RunStreamMessage)
	var streamErr error // valid after received is closed
	go func() {
		defer close(received)
		streamErr = receive(ctx, open, received)
	}()

	view := projection{run: r}
	err := r.read(ctx, &view, received)
	cancel()
	for range received { // until the reader has gone
	}
	switch {
	case view.ended:
		err = nil
	case err == nil:
		err = r.recover(&view, streamErr)
	case errors.Is(err, ErrStalled):
		err = r.probe(&view, err)
	}
	r.settle(view.result, err)
}

// receive passes every message on until the stream ends, and returns why.
func receive(ctx context.Context, open func(context.Context) (frames, error), out chan<- *sdkv1.RunStreamMessage) error {
	stream, err := open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	for stream.Receive() {
		select {
		case out <- stream.Msg():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return stream.Err()
}

// read projects messages until the stream ends (nil), the run stalls, or the
// bridge is gone.
func (r *Run) read(ctx context.Context, view *projection, received <-chan *sdkv1.RunStreamMessage) error {
	silence, eventless := time.NewTimer(r.stall), time.NewTimer(r.toolStall)
	defer silence.Stop()
	defer eventless.Stop()
	for {
		select {
		case m, ok := <-received:
			if !ok {
				return nil
			}
			silence.Reset(r.stall)
			if view.take(m) {
				eventless.Reset(r.toolStall)
			}
			if view.ended || view.done {
				silence.Reset(farewell)
			}
		case <-silence.C:
			if view.ended || view.done {
				return nil
			}
			if len(view.openTools) == 0 {
				return stalled(r.stall, "nothing at all")
			}
			// While a tool is open, old bridges send nothing: the longer budget counts.
		case <-eventless.C:
			return stalled(r.toolStall, "no event")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func stalled(budget time.Duration, what string) error {
	return refuse("follow run", connect.CodeDeadlineExceeded, sdkStalled, "the run brought %s for %s", what, budget)
}

// recover finds the result of a run whose stream broke. A broken stream does not
// cancel a run: it may have ended or still be going.
func (r *Run) recover(view *projection, streamErr error) error {
	// A stream that was ended in order says nothing of the process; one that broke
	// may be the first sign of its death.
	var err error = refuse("send", connect.CodeInternal, "", "the bridge ended the run's stream before its result")
	if streamErr != nil {
		err = r.calls.failure(r.calls.life(), "send", streamErr)
	}
	if r.id == "" || r.calls.life().Err() != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.calls.life(), r.toolStall)
	defer cancel()
	result, askErr := r.calls.outcome(ctx, r.agentID, r.id, true)
	if askErr != nil {
		if cause := context.Cause(r.calls.life()); cause != nil {
			return cause
		}
		r.giveUp()
		return err
	}
	view.adopt(result)
	return nil
}

// probe looks once whether a run that stalled has ended after all. If not, it is
// given up on both sides.
func (r *Run) probe(view *projection, stall error) error {
	if r.id == "" {
		return stall
	}
	result, err := r.calls.outcome(r.calls.life(), r.agentID, r.id, false)
	if err == nil {
		view.adopt(result)
		return nil
	}
	if cause := context.Cause(r.calls.life()); cause != nil {
		return cause
	}
	r.giveUp()
	return stall
}

// giveUp cancels a run that nobody follows any more.
func (r *Run) giveUp() {
	_ = r.calls.cancelRun(r.calls.life(), r.agentID, r.id) // best effort: its end is not known either way
}

// name gives the run its id, which whatever comes first carries.
func (r *Run) name(id string) {
	if id == "" || r.id != "" {
		return
	}
	r.id = id
	close(r.named)
	if r.abandoned.Load() {
		go r.giveUp()
	}
}

func (r *Run) settle(result Result, err error) {
	r.result, r.err = result, err
	r.release() // first, so that whoever saw the end can send again
	close(r.done)
	if r.id == "" {
		close(r.named)
	}
	r.events.close()
}

// projection is what the messages of a run have said so far.
type projection struct {
	run       *Run
	openTools map[string]struct{}
	reason    string
	usage     Usage
	result    Result
	ended     bool // result is set
	done      bool // the stream says that nothing follows
}

// take projects one message and reports whether it was an event, as opposed to
// a keepalive (no case set) or a case that is not known.
func (p *projection) take(m *sdkv1.RunStreamMessage) bool {
	switch env := m.GetEnvelope().(type) {
	case *sdkv1.RunStreamMessage_SdkMessage:
		e := decodeEvent(env.SdkMessage)
		p.run.name(e.RunID)
		p.note(e.Payload)
		e.Offset = m.GetOffset()
		if e.AgentID == "" {
			e.AgentID = p.run.agentID
		}
		if e.RunID == "" {
			e.RunID = p.run.id
		}
		p.run.events.push(e)
	case *sdkv1.RunStreamMessage_Result:
		p.finish(env.Result)
	case *sdkv1.RunStreamMessage_Done:
		p.run.name(env.Done.GetRunId())
		p.done = true
	case *sdkv1.RunStreamMessage_InteractionUpdate, *sdkv1.RunStreamMessage_Step:
		// Never asked for; still a sign of life.
	default:
		return false
	}
	return true
}

func (p *projection) note(payload Payload) {
	switch v := payload.(type) {
	case Status:
		if v.Message != "" {
			p.reason = v.Message
		}
	case Tokens:
		p.usage = v.Usage
	case ToolCall:
		if v.Status == ToolRunning {
			if p.openTools == nil {
				p.openTools = map[string]struct{}{}
			}
			p.openTools[v.CallID] = struct{}{}
		} else {
			delete(p.openTools, v.CallID)
		}
	}
}

func (p *projection) finish(m *sdkv1.RunStreamResult) {
	p.run.name(m.GetRunId())
	status := lifecycle(m.GetStatus())
	if status == RunUnknown {
		status = lifecycle(m.GetResult().GetStatus())
	}
	result := resultOf(m.GetResult())
	result.Status, result.ErrorCode = status, m.GetErrorCode()
	p.adopt(result)
}

// adopt takes a result and adds what only the stream has said.
func (p *projection) adopt(result Result) {
	result.RunID, result.AgentID, result.Reason = p.run.id, p.run.agentID, p.reason
	if result.Usage == (Usage{}) {
		result.Usage = p.usage
	}
	p.result, p.ended = result, true
}
