package bridge

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// frames is a run's stream; Connect's has this shape.
type frames interface {
	Receive() bool
	Msg() *frame
	Err() error
	Close() error
}

// runCalls is what following a run needs of the bridge.
type runCalls interface {
	// life ends with the bridge's process or the client; its cause says why.
	life() context.Context
	// observe streams the record of a run, from its start or after an offset.
	observe(ctx context.Context, runID, after string) (frames, error)
	// waitRun blocks until a run that is live in the bridge ends. Only ctx bounds it.
	waitRun(ctx context.Context, runID string) (Result, error)
	// getRun reads how a run stands; it may not have ended.
	getRun(ctx context.Context, agentID, runID string) (Result, error)
	// runSince names the run of an agent that began at a time or after it, unless
	// it is one that is known; empty when there is none.
	runSince(ctx context.Context, agentID string, began time.Time, known string) (string, error)
	cancelRun(ctx context.Context, agentID, runID string) error
	ping(ctx context.Context) error
	// condemn ends a bridge that answers nothing any more, if it is ours to end.
	condemn(why error)
	// explain gives an error our types; failure also waits until it is clear
	// whether it came of the end of the process.
	explain(op string, err error) error
	failure(ctx context.Context, op string, err error) error
}

func (c *connection) life() context.Context { return c.ctx }

func (c *connection) explain(op string, err error) error { return explain(op, err, c.mask) }

// explain keeps what has our types already.
func explain(op string, err error, mask func(string) string) error {
	var e *Error
	var process *ProcessError
	if errors.As(err, &e) || errors.As(err, &process) || errors.Is(err, ErrClosed) {
		return err
	}
	return newError(op, err, mask)
}

func (c *connection) observe(ctx context.Context, runID, after string) (frames, error) {
	req := &sdkv1.ObserveRunRequest{RunId: runID}
	if after != "" {
		req.AfterOffset = &after
	}
	return stream(c.observing.CallServerStream(ctx, connect.NewRequest(req)))
}

func (c *connection) send(ctx context.Context, req *sdkv1.SendRequest) (frames, error) {
	return stream(c.sending.CallServerStream(ctx, connect.NewRequest(req)))
}

// stream keeps a nil pointer out of an interface.
func stream(s *connect.ServerStreamForClient[frame], err error) (frames, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (c *connection) waitRun(ctx context.Context, runID string) (Result, error) {
	res, err := c.agents.WaitLiveRun(ctx, connect.NewRequest(&sdkv1.WaitLiveRunRequest{RunId: runID}))
	if err != nil {
		return Result{}, newError("wait for run", err, c.mask)
	}
	return resultOf(res.Msg.GetResult()), nil
}

func (c *connection) getRun(ctx context.Context, agentID, runID string) (Result, error) {
	res, err := query(ctx, c, "get run", c.agents.GetRun, &sdkv1.GetRunRequest{
		// A run that is not live is looked for by its agent.
		RunId: runID, Options: &sdkv1.GetRunOptions{Runtime: runtimeOf(agentID), AgentId: agentID, ApiKey: c.apiKey},
	})
	if err != nil {
		return Result{}, err
	}
	s := res.GetRun()
	return Result{
		RunID: s.GetRunId(), AgentID: s.GetAgentId(),
		Status: lifecycle(s.GetStatus()), Text: s.GetResult(), Model: s.GetModel().GetId(),
		Duration: milliseconds(s.GetDurationMs()), Usage: usageOf(s.GetUsage()),
	}, nil
}

// maxRunPages bounds the search for a run: new runs are among the first.
const maxRunPages = 5

func (c *connection) runSince(ctx context.Context, agentID string, began time.Time, known string) (string, error) {
	began = began.Truncate(time.Millisecond) // as exact as bridges are
	o := &sdkv1.ListRunsOptions{Limit: 50, Runtime: runtimeOf(agentID), ApiKey: c.apiKey}
	var first *sdkv1.RunSnapshot
	for range maxRunPages {
		res, err := query(ctx, c, "list runs", c.agents.ListRuns, &sdkv1.ListRunsRequest{AgentId: agentID, Options: o})
		if err != nil {
			return "", err
		}
		for _, s := range res.GetItems() {
			created := s.GetCreatedAt().AsTime()
			if s.GetCreatedAt() == nil || created.Before(began) || s.GetRunId() == known {
				continue
			}
			if first == nil || created.Before(first.GetCreatedAt().AsTime()) {
				first = s
			}
		}
		if res.GetNextCursor() == "" || res.GetNextCursor() == o.GetCursor() {
			break
		}
		o.Cursor = res.GetNextCursor()
	}
	return first.GetRunId(), nil
}

// condemn implements runCalls. A process that answers nothing would hold up
// everything that comes after.
func (c *connection) condemn(why error) {
	if c.process == nil {
		return
	}
	c.condemned.Store(&why)
	c.process.kill()
	_ = sleep(c.ctx, exitNotice) // the end of the process ends c.ctx, with why
}

// resultOf leaves the ids to the run, which knows them.
func resultOf(r *sdkv1.RunResult) Result {
	return Result{
		Status: lifecycle(r.GetStatus()), Text: r.GetResult(), Model: r.GetModel().GetId(),
		Duration: milliseconds(r.GetDurationMs()), Usage: usageOf(r.GetUsage()),
	}
}

func milliseconds(n uint64) time.Duration {
	return time.Duration(min(n, uint64(365*24*time.Hour/time.Millisecond))) * time.Millisecond
}
