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

func (s *agentService) CreateAgent(_ context.Context, req *connect.Request[sdkv1.CreateAgentRequest]) (*connect.Response[sdkv1.CreateAgentResponse], error) {
	if err := refuseIdempotencyKey(req.Msg.IdempotencyKey); err != nil {
		return nil, err
	}
	o := req.Msg.GetOptions()
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
	if err := s.server.registry.create(spec); err != nil {
		return nil, err
	}
	s.server.noteUnused(spec.id, spec.model, o)
	return connect.NewResponse(&sdkv1.CreateAgentResponse{
		AgentId: spec.id, Model: &sdkv1.ModelSelection{Id: spec.model},
	}), nil
}

// create keeps a new agent, attached to this process.
func (r *registry) create(spec agentSpec) error {
	now := r.now().UTC()
	rec := agentRecord{ID: spec.id, Name: spec.name, Model: spec.model, Dir: spec.dir, Created: now, Modified: now}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch err := r.store.createAgent(rec); {
	case errors.Is(err, errExists):
		// The vendor's bridge answers a second create with this code too.
		return newFault(connect.CodeInternal, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INTERNAL_ERROR,
			"agent %s exists; call ResumeAgent to use it again", spec.id)
	case err != nil:
		return err
	}
	r.agents[spec.id] = &agent{rec: rec, attached: true, offer: spec.offer}
	return nil
}

func (s *agentService) ResumeAgent(_ context.Context, req *connect.Request[sdkv1.ResumeAgentRequest]) (*connect.Response[sdkv1.ResumeAgentResponse], error) {
	spec, err := s.server.checkOptions(req.Msg.GetOptions())
	if err != nil {
		return nil, err
	}
	r := s.server.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	a, err := r.agentByID(req.Msg.GetAgentId())
	if err != nil {
		return nil, err
	}
	modelID := cmp.Or(spec.model, a.rec.Model)
	if err := s.server.checkModel(modelID); err != nil {
		return nil, err
	}
	err = r.change(a, func(rec *agentRecord) {
		rec.Model, rec.Dir, rec.Name = modelID, cmp.Or(spec.dir, rec.Dir), cmp.Or(spec.name, rec.Name)
	})
	if err != nil {
		return nil, err
	}
	// Restrictions and offers are this call's alone; those of an earlier one are forgotten.
	a.attached, a.offer = true, spec.offer
	s.server.noteUnused(a.rec.ID, modelID, req.Msg.GetOptions())
	return connect.NewResponse(&sdkv1.ResumeAgentResponse{
		AgentId: a.rec.ID, Model: &sdkv1.ModelSelection{Id: modelID},
	}), nil
}

// ReloadAgent has nothing to read again: agents here have no settings files.
func (s *agentService) ReloadAgent(_ context.Context, req *connect.Request[sdkv1.ReloadAgentRequest]) (*connect.Response[sdkv1.ReloadAgentResponse], error) {
	r := s.server.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.attachedAgent(req.Msg.GetAgentId()); err != nil {
		return nil, err
	}
	return connect.NewResponse(&sdkv1.ReloadAgentResponse{}), nil
}

// CloseAgent lets go of the agent; a run under way goes on to its end.
func (s *agentService) CloseAgent(_ context.Context, req *connect.Request[sdkv1.CloseAgentRequest]) (*connect.Response[sdkv1.CloseAgentResponse], error) {
	r := s.server.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	a, err := r.attachedAgent(req.Msg.GetAgentId())
	if err != nil {
		return nil, err
	}
	a.attached, a.offer = false, offer{}
	return connect.NewResponse(&sdkv1.CloseAgentResponse{}), nil
}

func (s *agentService) GetAgent(_ context.Context, req *connect.Request[sdkv1.GetAgentRequest]) (*connect.Response[sdkv1.GetAgentResponse], error) {
	r := s.server.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	a, err := r.agentByID(req.Msg.GetAgentId())
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&sdkv1.GetAgentResponse{Agent: a.rec.info()}), nil
}

// ListAgents lists the newest first.
func (s *agentService) ListAgents(_ context.Context, req *connect.Request[sdkv1.ListAgentsRequest]) (*connect.Response[sdkv1.ListAgentsResponse], error) {
	o := req.Msg.GetOptions()
	r := s.server.registry
	r.mu.Lock()
	var found []agentRecord
	for _, a := range r.agents {
		switch {
		case o.GetRuntime() == sdkv1.Runtime_RUNTIME_CLOUD, o.GetPrUrl() != "": // of cloud agents, and there are none
		case a.rec.Archived && !o.GetIncludeArchived():
		case o.GetCwd() != "" && a.rec.Dir != o.GetCwd():
		default:
			found = append(found, a.rec)
		}
	}
	r.mu.Unlock()
	slices.SortFunc(found, func(a, b agentRecord) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
	})
	pageOf, next, err := page(found, func(a agentRecord) string { return a.ID }, o.GetLimit(), o.GetCursor())
	if err != nil {
		return nil, err
	}
	out := &sdkv1.ListAgentsResponse{NextCursor: next}
	for _, a := range pageOf {
		out.Items = append(out.Items, a.info())
	}
	return connect.NewResponse(out), nil
}

func (s *agentService) ArchiveAgent(_ context.Context, req *connect.Request[sdkv1.ArchiveAgentRequest]) (*connect.Response[sdkv1.ArchiveAgentResponse], error) {
	if err := s.server.registry.archive(req.Msg.GetAgentId(), true); err != nil {
		return nil, err
	}
	return connect.NewResponse(&sdkv1.ArchiveAgentResponse{}), nil
}

func (s *agentService) UnarchiveAgent(_ context.Context, req *connect.Request[sdkv1.UnarchiveAgentRequest]) (*connect.Response[sdkv1.UnarchiveAgentResponse], error) {
	if err := s.server.registry.archive(req.Msg.GetAgentId(), false); err != nil {
		return nil, err
	}
	return connect.NewResponse(&sdkv1.UnarchiveAgentResponse{}), nil
}

// archive sets or takes off the archived mark; doing so twice changes nothing.
func (r *registry) archive(id string, archived bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, err := r.agentByID(id)
	if err != nil {
		return err
	}
	if a.rec.Archived == archived {
		return nil
	}
	return r.change(a, func(rec *agentRecord) { rec.Archived = archived })
}

// DeleteAgent removes the agent with its runs; not while one is live.
func (s *agentService) DeleteAgent(_ context.Context, req *connect.Request[sdkv1.DeleteAgentRequest]) (*connect.Response[sdkv1.DeleteAgentResponse], error) {
	r := s.server.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	a, err := r.agentByID(req.Msg.GetAgentId())
	if err != nil {
		return nil, err
	}
	if _, live := r.live[a.rec.ActiveRun]; live {
		return nil, agentBusy(a.rec.ID, a.rec.ActiveRun)
	}
	if err := r.store.deleteAgent(a.rec.ID); err != nil {
		return nil, err
	}
	delete(r.agents, a.rec.ID)
	for _, id := range a.runs {
		delete(r.owner, id)
	}
	return connect.NewResponse(&sdkv1.DeleteAgentResponse{}), nil
}
