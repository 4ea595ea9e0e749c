package bridge

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
)

// Send starts a run and returns when the bridge has named it. One run at a time:
// until the last one of this agent has ended, Send fails with ErrAgentBusy. When
// as many runs are under way as Options allow, it waits for ctx at most. If ctx
// ends before the run has a name, the run is cancelled as soon as it has one;
// afterwards ctx has no meaning for it.
//
// One Send never starts two runs. It is tried again, within Options.Retry, only
// when the bridge's refusal proves that nothing ran: the agent is busy in the
// bridge, a rate limit, no room. When the connection breaks before the run has a
// name, the bridge's list of runs is looked at: a run that has begun since is
// this one and is followed; if there is none, the error is ErrUnknownOutcome.
func (a *Agent) Send(ctx context.Context, m Message, o SendOptions) (*Run, error) {
	req, err := a.client.wireSend(a.id, m, o)
	if err != nil {
		return nil, err
	}
	release, err := a.client.reserve(ctx, a.id)
	if err != nil {
		return nil, err
	}
	conn, err := a.attached(ctx)
	if err != nil {
		release()
		return nil, err
	}
	if size := proto.Size(req); conn.maxMessage > 0 && size > conn.maxMessage {
		release()
		return nil, refuse("send", connect.CodeInvalidArgument, "VALIDATION_ERROR",
			"the message has %d bytes; the bridge takes %d", size, conn.maxMessage)
	}
	run := a.client.newRun(conn, a.id, release)
	run.follows.wantsMore = o.Deltas || o.Steps
	a.mu.Lock()
	run.before = a.lastRun
	a.mu.Unlock()
	go run.follow(func(ctx context.Context) (frames, error) { return conn.send(ctx, req) })
	if run, err = run.await(ctx); err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.lastRun = run.id
	a.mu.Unlock()
	return run, nil
}

// newRun makes a run of this client, with its tools.
func (c *Client) newRun(conn *connection, agentID string, release func()) *Run {
	r := newRun(agentID, conn, runLimits{
		stall: c.options.StallTimeout, toolStall: c.options.ToolStallTimeout, call: c.options.CallTimeout,
		retry: c.options.Retry, jitter: conn.jitter,
	}, release)
	r.client = c
	r.follows.watch.working = func() bool { return c.callbacks.tools.working(agentID) }
	named, end := c.beginTools(r.tools, agentID)
	r.toolsID = named
	r.release = func() { end(); release() }
	return r
}

// begin reads the stream that starts the run until it ends or breaks; the latter
// is its error. A run that has no name afterwards does not exist, as far as is known.
func (r *Run) begin(open opener) error {
	f := r.follows
	tries := newRetrier(r.limits.retry, r.limits.jitter)
	for {
		began := time.Now()
		lost := f.read(open, false)
		if lost == nil || f.runID != "" {
			return lost
		}
		if f.ctx.Err() != nil {
			return context.Cause(f.ctx)
		}
		err := f.calls.explain("send", lost)
		if stalled(lost) {
			err = f.watch.stalled(lost)
		}
		if f.opened || !nothingRan(err) {
			return r.find(began, lost, err)
		}
		if err := tries.again(r.abandoned, err); err != nil {
			return err
		}
		f.watch.forgive()
	}
}

// nothingRan reports whether the bridge has refused a Send in a way that proves
// that no run came of it, and that may pass.
func nothingRan(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.answered &&
		(errors.Is(e, ErrAgentBusy) || errors.Is(e, ErrRateLimited) || errors.Is(e, ErrExhausted))
}

// lookups is how often a run is looked for that a Send may have started: a
// bridge may record it a moment after the connection has broken.
const lookups = 3

// find looks for the run of a Send whose stream broke before it named the run,
// and names it. If there is none, it returns err, marked as doubtful where the
// bridge has not answered.
func (r *Run) find(began time.Time, lost, err error) error {
	f := r.follows
	var e *Error
	if !errors.As(err, &e) || !f.opened && refused(lost, e) {
		return f.calls.failure(f.ctx, "send", err)
	}
	times := lookups
	if e.answered { // it had all the time it wanted to record the run
		times = 1
	}
	for i := range times {
		if i > 0 && sleep(f.ctx, backoff(firstRetryWait, maxRetryWait, i-1, r.limits.jitter)) != nil {
			return context.Cause(f.ctx)
		}
		id, lookErr := r.calls.runSince(f.ctx, r.agentID, began, r.before)
		if lookErr == nil && id != "" {
			f.name(id)
			return lost
		}
	}
	if f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	if !e.answered {
		doubt := *e
		doubt.doubtful = true
		return &doubt
	}
	return err
}

// refused reports whether the failure of a Send proves that no run came of it: the
// bridge was not reached, or has refused the request.
func refused(lost error, e *Error) bool {
	var dial *net.OpError
	if errors.As(lost, &dial) && dial.Op == "dial" {
		return true
	}
	may := []connect.Code{
		connect.CodeUnavailable, connect.CodeDeadlineExceeded, connect.CodeCanceled,
		connect.CodeUnknown, connect.CodeAborted, connect.CodeInternal, connect.CodeDataLoss,
	}
	return e.answered && !slices.ContainsFunc(may, func(c connect.Code) bool { return c.String() == e.Code })
}
