package local

import (
	"context"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

func (s *agentService) GetRun(ctx context.Context, req *connect.Request[sdkv1.GetRunRequest]) (*connect.Response[sdkv1.GetRunResponse], error) {
	rec, _, err := s.server.registry.findRun(ctx, req.Msg.GetRunId())
	if err != nil {
		return nil, err
	}
	if id := req.Msg.GetOptions().GetAgentId(); id != "" && id != rec.AgentID {
		return nil, runNotFound(rec.ID)
	}
	return connect.NewResponse(&sdkv1.GetRunResponse{Run: rec.snapshot(s.server.now())}), nil
}

// ListRuns lists an agent's runs, the newest first.
func (s *agentService) ListRuns(ctx context.Context, req *connect.Request[sdkv1.ListRunsRequest]) (*connect.Response[sdkv1.ListRunsResponse], error) {
	o := req.Msg.GetOptions()
	before, err := readCursor(o.GetCursor())
	if err != nil {
		return nil, err
	}
	recs, more, err := s.server.registry.listRuns(ctx, req.Msg.GetAgentId(), before, pageSize(o.GetLimit()))
	if err != nil {
		return nil, err
	}
	out, bytes := new(sdkv1.ListRunsResponse), 0
	for _, rec := range recs {
		if bytes += len(rec.Result); bytes > maxPageBytes && len(out.Items) > 0 {
			more = true
			break
		}
		out.Items = append(out.Items, rec.snapshot(s.server.now()))
	}
	if n := len(out.Items); more && n > 0 {
		out.NextCursor = writeCursor(out.Items[n-1].GetRunId())
	}
	return connect.NewResponse(out), nil
}

// WaitLiveRun waits for the end of a run of this process. A run that has ended
// is answered at once, whichever process ran it; one that a crash left behind
// never ends by itself and is not found.
func (s *agentService) WaitLiveRun(ctx context.Context, req *connect.Request[sdkv1.WaitLiveRunRequest]) (*connect.Response[sdkv1.WaitLiveRunResponse], error) {
	rec, live, err := s.server.registry.findRun(ctx, req.Msg.GetRunId())
	if err != nil {
		return nil, err
	}
	switch {
	case live != nil:
		select {
		case <-live.done:
			rec = live.rec
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case !rec.Status.ended():
		return nil, leftBehind(connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_RUN_NOT_FOUND, rec.ID)
	}
	return connect.NewResponse(&sdkv1.WaitLiveRunResponse{Result: rec.result(s.server.now())}), nil
}

// leftBehind is about a run whose process died before it ended.
func leftBehind(code connect.Code, sdk sdkv1.SdkErrorCode, id string) *fault {
	return newFault(code, sdk,
		"run %s is not live: an earlier bridge process ended in the middle of it; cancel it, or send with local.force to expire it", id)
}

// CancelRun ends a run, live or left behind by a crash, and answers when its
// end is recorded. A run that has ended stays as it is.
func (s *agentService) CancelRun(ctx context.Context, req *connect.Request[sdkv1.CancelRunRequest]) (*connect.Response[sdkv1.CancelRunResponse], error) {
	r := s.server.registry
	rec, live, err := r.findRun(ctx, req.Msg.GetRunId())
	if err != nil {
		return nil, err
	}
	if id := req.Msg.GetAgentId(); id != "" && id != rec.AgentID {
		return nil, runNotFound(rec.ID)
	}
	switch {
	case live != nil:
		live.cancel(stopCancelled)
		r.awaitOrFinish(live, stopCancelled)
	case !rec.Status.ended():
		if err := r.cancelLeftBehind(context.WithoutCancel(ctx), rec); err != nil {
			return nil, err
		}
	}
	return connect.NewResponse(&sdkv1.CancelRunResponse{}), nil
}

// cancelLeftBehind ends a run that no process runs any more.
func (r *registry) cancelLeftBehind(ctx context.Context, rec runRecord) error {
	a, err := r.lockAgent(ctx, rec.AgentID)
	if err != nil {
		return err
	}
	defer a.unlock()
	if a.rec.ActiveRun == rec.ID {
		return r.endActive(ctx, a, stopCancelled)
	}
	// The agent knows nothing of it: the crash, or a full disk, was between two
	// writes. Another call may have ended it meanwhile.
	rec, _, err = r.findRun(ctx, rec.ID)
	if err != nil || rec.Status.ended() {
		return err
	}
	return r.endLeftBehind(ctx, rec, stopCancelled)
}
