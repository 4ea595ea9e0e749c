package bridge

import (
	"context"
	"fmt"
	"iter"
)

// newFollower follows a run that has no name yet. It ends with ctx.
func newFollower(ctx context.Context, calls runCalls, agentID string, limits runLimits) *follower {
	return &follower{
		calls: calls, jitter: limits.jitter, ctx: ctx, agentID: agentID,
		watch: newWatch(limits.stall, limits.toolStall), replay: newReplay(),
	}
}

// AttachRun returns a handle on a run that another program has started, such as
// a cloud run that an earlier process of a host left behind. Its events come from
// the bridge's record, from the first one. It counts as a run of this client:
// the agent is busy until it has ended. The agent need not be resumed, but its
// tools can only be called if it was. A run that the bridge does not know is
// ErrNotFound or ErrInvalid: bridges differ.
func (c *Client) AttachRun(ctx context.Context, agentID, runID string) (*Run, error) {
	const op = "attach run"
	if agentID == "" || runID == "" {
		return nil, invalid(op, "an agent id and a run id are needed")
	}
	release, err := c.reserve(ctx, agentID)
	if err != nil {
		return nil, err
	}
	conn, err := c.supervisor.connection(ctx)
	if err == nil {
		_, err = conn.getRun(ctx, agentID, runID)
	}
	if err != nil {
		release()
		return nil, err
	}
	run := c.newRun(conn, agentID, release)
	run.follows.name(runID)
	go run.follow(nil)
	return run, nil
}

// Observe streams the record of a run, live or over, from its start or after an
// offset that an earlier Observe gave in [Event.Offset], or [Run.Offset]. It ends
// when the run has ended, or with an error: of ctx, of a run that stalled, of a
// bridge that cannot be observed. A stream that breaks in between is continued.
//
// The reader sets the pace and loses nothing. The run is neither held up nor
// cancelled, whatever happens here; [Client.GetRun] tells how it ended.
func (c *Client) Observe(ctx context.Context, runID, after string) iter.Seq2[Event, error] {
	return c.observe(ctx, "", runID, after)
}

// Observe is [Client.Observe] for this run. It has all events again, or those
// after an offset, beside what [Run.Events] gives.
func (r *Run) Observe(ctx context.Context, after string) iter.Seq2[Event, error] {
	return r.client.observe(ctx, r.agentID, r.id, after)
}

// Offset is where an Observe goes on after the last event that [Run.Events] gave.
// It is empty, which means from the start, until the run's own stream has broken
// and been continued: the offsets of a Send cannot be observed from.
func (r *Run) Offset() string { return r.events.readUpTo() }

func (c *Client) observe(ctx context.Context, agentID, runID, after string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if runID == "" {
			yield(Event{}, invalid("observe run", "no run id was given"))
			return
		}
		conn, err := c.supervisor.connection(ctx)
		if err != nil {
			yield(Event{}, err)
			return
		}
		following, cut := context.WithCancelCause(ctx)
		defer cut(nil)
		defer context.AfterFunc(conn.ctx, func() { cut(context.Cause(conn.ctx)) })()
		f := newFollower(following, conn, agentID, runLimits{
			stall: c.options.StallTimeout, toolStall: c.options.ToolStallTimeout, jitter: conn.jitter,
		})
		f.runID, f.base, f.after = runID, after, after
		f.deliver = func(e Event) bool {
			f.watch.pause()
			defer f.watch.resume()
			return yield(e, nil)
		}
		_, err = f.observe(nil)
		switch {
		case err == nil || f.unwanted:
		case ctx.Err() != nil:
			yield(Event{}, fmt.Errorf("bridge: observe run %s: %w", runID, context.Cause(ctx)))
		default:
			yield(Event{}, conn.explain("observe run", err))
		}
	}
}
