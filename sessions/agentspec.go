package sessions

import (
	"context"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/tools"
)

// Agent is what turns are run with, as the agent's folder describes it at a moment.
// A turn uses one from its beginning to its end.
type Agent struct {
	// Version identifies the description.
	Version string
	// Tools are what agents may call on the host; nil offers none.
	Tools *tools.Registry
	// Scripts are the names of tools that are scripts for the agent's own machine.
	Scripts []string
	// Model is the model's name, and ModelParams its settings; an empty name leaves
	// it to the bridge.
	Model       string
	ModelParams map[string]string
	// BuiltIn are the bridge's own tools that the agent has; nil means those that only
	// read its workspace. Denied are taken away whatever BuiltIn says.
	BuiltIn []string
	Denied  []string
	// Subagents are by the name that the agent calls them by.
	Subagents map[string]bridge.Subagent
	// MCPServers returns the servers that a session's agent may use. An error fails
	// the turn: it never runs without somebody's identity. Nil means none.
	MCPServers func(ctx context.Context, t tools.Turn) (map[string]bridge.MCPServer, error)
	// Cloud, where not nil, runs the agent at the provider.
	Cloud *bridge.CloudOptions
	// Limits and Timeout are narrower than the service's own, where not zero.
	Limits  TurnLimits
	Timeout time.Duration
	// LayOut writes what the agent finds in its workspace: instructions, skills,
	// scripts, seed files. What is there already from an earlier turn is replaced where
	// the agent's author owns it, and left alone where it is a seed. Nil writes nothing.
	LayOut func(ctx context.Context, dir string) error
	// Preamble is told to the agent with its first message where it has no workspace
	// of ours.
	Preamble string
}
