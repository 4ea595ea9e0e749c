package local

import (
	"strings"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// maxNameBytes bounds an agent's name, which is for people.
const maxNameBytes = 1 << 10

// agentSpec is what the options of a create or resume ask for, checked. Empty
// fields were not given.
type agentSpec struct {
	id    string
	name  string
	model string
	dir   string
	offer offer
}

// checkOptions reads the options that create and resume share. What this
// bridge cannot do is refused, so that nobody believes it was done.
//
// MCP servers, subagents, custom tools and setting sources are offers to a
// model; an agent is free not to use them, and the built-in reviewer does not.
// [server.noteUnused] says so in the log.
func (s *server) checkOptions(o *sdkv1.AgentOptions) (agentSpec, error) {
	if o.GetApiKey() == "" {
		return agentSpec{}, noAPIKey("agents")
	}
	if o.GetCloud() != nil {
		return agentSpec{}, unavailableFeature("this bridge runs local agents only; set options.local")
	}
	if len(o.GetName()) > maxNameBytes {
		return agentSpec{}, invalid("options.name has %d bytes; at most %d are accepted", len(o.GetName()), maxNameBytes)
	}
	if st := o.GetLocal().GetStore(); st.GetType() == "custom" || st.GetRootDir() != "" {
		return agentSpec{}, unavailableFeature("this bridge has one store for all agents; set --local-store when it is started instead of options.local.store")
	}
	spec := agentSpec{id: o.GetAgentId(), name: o.GetName(), model: o.GetModel().GetId()}
	if spec.model != "" {
		if err := s.checkModel(spec.model); err != nil {
			return agentSpec{}, err
		}
	}
	var err error
	if spec.offer, err = s.checkOffer(o); err != nil {
		return agentSpec{}, err
	}
	if len(o.GetLocal().GetCwd()) > 0 {
		if spec.dir, err = workingDir(o.GetLocal().GetCwd()); err != nil {
			return agentSpec{}, err
		}
	}
	return spec, nil
}

// checkModel refuses a model that no engine answers for.
func (s *server) checkModel(id string) error {
	if _, ok := s.engineFor(id); ok {
		return nil
	}
	var known []string
	for _, e := range s.engines {
		for _, m := range e.Models() {
			known = append(known, m.ID)
		}
	}
	return newFault(connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INVALID_MODEL,
		"model %.80q is not offered by this bridge; it has %s", id, strings.Join(known, ", "))
}

// workingDir checks options.local.cwd.
func workingDir(cwd []string) (string, error) {
	if len(cwd) != 1 {
		return "", invalid("options.local.cwd has %d directories; exactly one is needed", len(cwd))
	}
	return existingDirectory("options.local.cwd", cwd[0])
}

// refuseIdempotencyKey answers as the vendor's bridge does for local agents,
// which cannot keep that promise.
func refuseIdempotencyKey(key *string) error {
	if key != nil {
		return unavailableFeature("idempotency keys are not offered for local agents; leave idempotency_key unset")
	}
	return nil
}
