package sessions

import (
	"context"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// Runner runs agents. The engine asks for one run of a session at a time.
type Runner interface {
	// Run runs the agent once and returns how that ended. Events are handed to
	// observe one after another, from one goroutine, before Run returns. When
	// ctx ends, the run is cancelled and Run returns soon. It may fail with
	// [*RetryError]; any other error fails the turn, with its text shown to people.
	Run(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error)
}

// RunRequest describes one run.
type RunRequest struct {
	SessionID string
	TurnID    string
	// AgentID names the session's agent, which need not exist yet.
	AgentID string
	// Dir is the agent's working directory, absolute.
	Dir    string
	Prompt string
	// Images go with the prompt. A bridge that takes none gets the prompt alone.
	Images []Image
	// Model is empty where the bridge shall choose, and ModelParams are its settings.
	Model       string
	ModelParams map[string]string
	// BuiltIn, Denied, Subagents and Cloud are those of the [Agent]. A cloud agent
	// has no Dir of ours.
	BuiltIn   []string
	Denied    []string
	Subagents map[string]bridge.Subagent
	Cloud     *bridge.CloudOptions
	// MCPServers are servers of tools that the bridge connects to.
	MCPServers map[string]bridge.MCPServer
	// Project is set when the host has written instructions into Dir, which the bridge
	// shall read as those of a project.
	Project bool
	// Preamble comes before the first prompt of an agent that has no Dir.
	Preamble string
	// Tools are functions of the host that the agent may call while it runs.
	Tools []bridge.Tool
	// Force allows to expire a run of this agent that stands in the way: the
	// engine knows of none that is alive, so a dead process left it.
	Force bool
	// Sent is the intention to send a run that an earlier attempt of this turn
	// left without its end. Nil means that there is nothing to look for.
	Sent *state.Sending
	// SentHere is set when this process left it, and not one that is dead.
	SentHere bool
	// Note stores an intention before a run is sent, and its name afterwards.
	// When it fails, nothing may be sent. Nil stores nothing.
	Note func(ctx context.Context, s state.Sending) error
	// Bound stores the id that a provider gave the agent, by which the next turn finds
	// it. Nil stores nothing.
	Bound func(ctx context.Context, agentID string) error
	// Acted reports whether the turn has done something to the world, in this
	// attempt or before. Then no other run may be sent for it. Nil means no.
	Acted func() bool
}
