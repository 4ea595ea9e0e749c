package local

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// agentService is SdkAgentService. What it does not answer is in
// unoffered.go.
type agentService struct {
	sdkv1connect.UnimplementedSdkAgentServiceHandler

	server *server
}

func (s *agentService) CreateAgent(ctx context.Context, req *connect.Request[sdkv1.CreateAgentRequest]) (*connect.Response[sdkv1.CreateAgentResponse], error) {
	if err := refuseIdempotencyKey(req.Msg.IdempotencyKey); err != nil {
		return nil, err
	}
	o := req.Msg.GetOptions()
	s.server.refreshModels(ctx, wantedModels(o)...)
	spec, err := s.server.checkOptions(o)
	switch {
	case err != nil:
		return nil, err
	case spec.model == "":
		return nil, invalid("options.model.id is empty; ListModels has the ids")
	case spec.dir == "":
		return nil, invalid("options.local.cwd is empty; a local agent needs its working directory")
	}
	if spec.id == "" {
		if spec.id, err = s.server.ids.next(agentPrefix); err != nil {
			return nil, err
		}
	}
	if err := checkID("options.agent_id", spec.id); err != nil {
		return nil, err
	}
	if strings.HasPrefix(strings.ToLower(spec.id), cloudPrefix) {
		return nil, invalid("options.agent_id begins with %q, which is for cloud agents", cloudPrefix)
	}
	if err := s.server.registry.create(ctx, spec); err != nil {
		return nil, err
	}
	s.server.noteUnused(spec.id, spec.model, o)
	return connect.NewResponse(&sdkv1.CreateAgentResponse{
		AgentId: spec.id, Model: &sdkv1.ModelSelection{Id: spec.model},
	}), nil
}

// create keeps a new agent, attached to this process.
func (r *registry) create(ctx context.Context, spec agentSpec) error {
	now := r.now().UTC()
	rec := agentRecord{ID: spec.id, Name: spec.name, Model: spec.model, Dir: spec.dir, Created: now, Modified: now}
	a := r.lockPlace(spec.id)
	defer a.unlock()
	err := errExists
	if !a.loaded {
		if err = r.store.createAgent(context.WithoutCancel(ctx), rec); err != nil {
			r.forget(spec.id, a)
		}
	}
	switch {
	case errors.Is(err, errExists):
		// The vendor's bridge answers a second create with this code too.
		return newFault(connect.CodeInternal, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INTERNAL_ERROR,
			"agent %s exists; call ResumeAgent to use it again", spec.id)
	case err != nil:
		return err
	}
	r.set(func() { a.loaded, a.rec, a.attached, a.offer = true, rec, true, spec.offer })
	return nil
}

func (s *agentService) ResumeAgent(ctx context.Context, req *connect.Request[sdkv1.ResumeAgentRequest]) (*connect.Response[sdkv1.ResumeAgentResponse], error) {
	s.server.refreshModels(ctx, wantedModels(req.Msg.GetOptions())...)
	spec, err := s.server.checkOptions(req.Msg.GetOptions())
	if err != nil {
		return nil, err
	}
	r := s.server.registry
	a, err := r.lockAgent(ctx, req.Msg.GetAgentId())
	if err != nil {
		return nil, err
	}
	defer a.unlock()
	modelID := cmp.Or(spec.model, a.rec.Model)
	if err := s.server.checkModel(modelID); err != nil {
		return nil, err
	}
	err = r.change(ctx, a, func(rec *agentRecord) {
		rec.Model, rec.Dir, rec.Name = modelID, cmp.Or(spec.dir, rec.Dir), cmp.Or(spec.name, rec.Name)
	})
	if err != nil {
		return nil, err
	}
	// Restrictions and offers are this call's alone; those of an earlier one are forgotten.
	r.set(func() { a.attached, a.offer = true, spec.offer })
	s.server.noteUnused(a.rec.ID, modelID, req.Msg.GetOptions())
	return connect.NewResponse(&sdkv1.ResumeAgentResponse{
		AgentId: a.rec.ID, Model: &sdkv1.ModelSelection{Id: modelID},
	}), nil
}

// ReloadAgent has nothing to read again: agents here have no settings files.
func (s *agentService) ReloadAgent(ctx context.Context, req *connect.Request[sdkv1.ReloadAgentRequest]) (*connect.Response[sdkv1.ReloadAgentResponse], error) {
	a, err := s.server.registry.lockAttached(ctx, req.Msg.GetAgentId())
	if err != nil {
		return nil, err
	}
	a.unlock()
	return connect.NewResponse(&sdkv1.ReloadAgentResponse{}), nil
}

// CloseAgent lets go of the agent; a run under way goes on to its end.
func (s *agentService) CloseAgent(ctx context.Context, req *connect.Request[sdkv1.CloseAgentRequest]) (*connect.Response[sdkv1.CloseAgentResponse], error) {
	r := s.server.registry
	a, err := r.lockAttached(ctx, req.Msg.GetAgentId())
	if err != nil {
		return nil, err
	}
	defer a.unlock()
	r.set(func() { a.attached, a.offer = false, offer{} })
	return connect.NewResponse(&sdkv1.CloseAgentResponse{}), nil
}

func (s *agentService) GetAgent(ctx context.Context, req *connect.Request[sdkv1.GetAgentRequest]) (*connect.Response[sdkv1.GetAgentResponse], error) {
	rec, err := s.server.registry.agentInfo(ctx, req.Msg.GetAgentId())
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&sdkv1.GetAgentResponse{Agent: rec.info()}), nil
}

// ListAgents lists the newest first.
func (s *agentService) ListAgents(ctx context.Context, req *connect.Request[sdkv1.ListAgentsRequest]) (*connect.Response[sdkv1.ListAgentsResponse], error) {
	o := req.Msg.GetOptions()
	all, err := s.server.registry.allAgents(ctx)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(all, func(a agentRecord) bool {
		// The first two are of cloud agents, and there are none.
		return o.GetRuntime() == sdkv1.Runtime_RUNTIME_CLOUD || o.GetPrUrl() != "" ||
			a.Archived && !o.GetIncludeArchived() || o.GetCwd() != "" && a.Dir != o.GetCwd()
	})
	slices.SortFunc(found, newestFirst)
	pageOf, next, err := agentPage(found, o.GetLimit(), o.GetCursor())
	if err != nil {
		return nil, err
	}
	out := &sdkv1.ListAgentsResponse{NextCursor: next}
	for _, a := range pageOf {
		out.Items = append(out.Items, a.info())
	}
	return connect.NewResponse(out), nil
}

func (s *agentService) ArchiveAgent(ctx context.Context, req *connect.Request[sdkv1.ArchiveAgentRequest]) (*connect.Response[sdkv1.ArchiveAgentResponse], error) {
	if err := s.server.registry.archive(ctx, req.Msg.GetAgentId(), true); err != nil {
		return nil, err
	}
	return connect.NewResponse(&sdkv1.ArchiveAgentResponse{}), nil
}

func (s *agentService) UnarchiveAgent(ctx context.Context, req *connect.Request[sdkv1.UnarchiveAgentRequest]) (*connect.Response[sdkv1.UnarchiveAgentResponse], error) {
	if err := s.server.registry.archive(ctx, req.Msg.GetAgentId(), false); err != nil {
		return nil, err
	}
	return connect.NewResponse(&sdkv1.UnarchiveAgentResponse{}), nil
}

// archive sets or takes off the archived mark; doing so twice changes nothing.
func (r *registry) archive(ctx context.Context, id string, archived bool) error {
	a, err := r.lockAgent(ctx, id)
	if err != nil {
		return err
	}
	defer a.unlock()
	if a.rec.Archived == archived {
		return nil
	}
	return r.change(ctx, a, func(rec *agentRecord) { rec.Archived = archived })
}

// DeleteAgent removes the agent with its runs; not while one is live.
func (s *agentService) DeleteAgent(ctx context.Context, req *connect.Request[sdkv1.DeleteAgentRequest]) (*connect.Response[sdkv1.DeleteAgentResponse], error) {
	r := s.server.registry
	id := req.Msg.GetAgentId()
	a, err := r.lockAgent(ctx, id)
	if err != nil {
		return nil, err
	}
	defer a.unlock()
	if run := a.rec.ActiveRun; r.isLive(run) {
		return nil, agentBusy(id, run)
	}
	if err := r.store.deleteAgent(context.WithoutCancel(ctx), id); err != nil {
		return nil, err
	}
	r.forget(id, a)
	return connect.NewResponse(&sdkv1.DeleteAgentResponse{}), nil
}
