package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/agent"
	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/tools"
)

// definitions is where an agent's definition comes from.
type definitions interface {
	Current() *agent.Definition
	Problems() []agent.Problem
}

// agents makes what turns are run with of an agent's folder, once for each version
// of it. What a turn has got it keeps, whatever becomes of the folder.
type agents struct {
	source definitions
	// host are the service's own tools, of which an agent has those that its folder
	// names.
	host []tools.Tool
	// executable makes a tool of one of the folder's executables.
	executable func(t agent.Tool, p func(tools.Call) approvals.Policy) (tools.Tool, error)
	// model is that of agents that name none, and approvers decide where an agent's
	// settings name nobody.
	model     string
	approvers approvals.Approvers
	// connect knows the environment to which connections refer.
	connect connector
	log     *slog.Logger

	mu sync.Mutex
	// seen is the version that was looked at last, and unusable why it is not taken.
	seen     string
	unusable error
	current  sessions.Agent
	def      *agent.Definition
	tools    []tools.Tool
}

// newAgents reads the agent's folder for the first time.
func newAgents(s *service, cfg *config.Config, redact func(string) string, log *slog.Logger) (*agents, error) {
	source, err := agent.NewSource(agent.Options{Dir: cfg.Agent.Dir, Checks: folderChecks(), Log: log, Now: time.Now})
	if err != nil {
		return nil, unusable(fmt.Errorf("%s: %w", config.EnvAgentDir, err))
	}
	for _, p := range source.Problems() {
		log.Warn("the agent's folder", "problem", p.String())
	}
	a := &agents{
		source: source, host: toolsOfService(s), executable: executables(cfg, redact), model: cfg.Model, log: log,
		approvers: approversOf(cfg.Agent.Approvers),
		connect:   connector{lookup: os.LookupEnv, redact: redact, log: log},
	}
	if err := a.start(); err != nil {
		return nil, unusable(fmt.Errorf("%s: %w", config.EnvAgentDir, err))
	}
	return a, nil
}

// executables makes tools of what is executable in a folder.
func executables(cfg *config.Config, redact func(string) string) func(agent.Tool, func(tools.Call) approvals.Policy) (tools.Tool, error) {
	return func(t agent.Tool, policy func(tools.Call) approvals.Policy) (tools.Tool, error) {
		return tools.FromFolder(t, tools.FolderOptions{
			Policy: policy, StateDir: filepath.Join(cfg.StateDir, "tools"), Redact: redact,
		})
	}
}

// start makes the first version. Its error says why that cannot be used.
func (a *agents) start() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.look()
	return a.unusable
}

// agent returns what a turn that begins now is run with.
func (a *agents) agent() sessions.Agent {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.look()
	return a.current
}

// look takes a new version if there is one. One that cannot be used is told once,
// and the one before stays.
func (a *agents) look() {
	def := a.source.Current()
	if def.Version == a.seen && a.def != nil {
		return
	}
	a.seen = def.Version
	made, all, err := a.make(def)
	if a.unusable = err; err != nil {
		if a.def != nil {
			a.log.Error("the agent's folder has changed and cannot be used; going on with what it was", "dir", def.Dir, "error", err)
		}
		return
	}
	if a.def != nil {
		a.log.Info("the agent's folder has changed; the next turns run with it", "dir", def.Dir, "version", def.Version)
	}
	a.current, a.def, a.tools = made, def, all
}

func (a *agents) make(def *agent.Definition) (sessions.Agent, []tools.Tool, error) {
	all, err := a.toolsOf(def)
	if err != nil {
		return sessions.Agent{}, nil, err
	}
	registry, err := tools.New(all...)
	if err != nil {
		return sessions.Agent{}, nil, err
	}
	made := sessions.Agent{
		Version: def.Version, Tools: registry, Model: a.model, BuiltIn: def.BuiltIn, Denied: def.Disallowed,
		Subagents: subagents(def.Subagents), MCPServers: a.connect.servers(def), Cloud: cloud(def),
		Limits:  sessions.TurnLimits{Tokens: def.Limits.Tokens, ToolCalls: def.Limits.ToolCalls, CostUSD: def.Limits.CostUSD},
		Timeout: def.Limits.Duration,
		LayOut:  func(ctx context.Context, dir string) error { return agent.LayOut(ctx, def, dir) },
	}
	if def.Model != "" {
		made.Model, made.ModelParams = def.Model, def.ModelParams
	}
	for _, t := range def.Tools {
		if t.Flavor == agent.OnAgent {
			made.Scripts = append(made.Scripts, t.Name)
		}
	}
	if made.Cloud != nil {
		made.Preamble = def.Preamble()
	}
	return made, all, nil
}

func subagents(all []agent.Subagent) map[string]bridge.Subagent {
	if len(all) == 0 {
		return nil
	}
	out := make(map[string]bridge.Subagent, len(all))
	for _, s := range all {
		out[s.ID] = bridge.Subagent{Description: s.Description, Prompt: s.Instructions, Model: s.Model}
	}
	return out
}

// cloud is nil for an agent that runs here.
func cloud(def *agent.Definition) *bridge.CloudOptions {
	if def.Runtime != agent.CloudHosted || def.Cloud == nil {
		return nil
	}
	out := &bridge.CloudOptions{AutoCreatePR: &def.Cloud.AutoCreatePR, WorkOnCurrentBranch: &def.Cloud.CurrentBranch}
	if name := def.Cloud.Environment; name != "" {
		out.Environment = &bridge.CloudEnvironment{Type: bridge.EnvironmentCloud, Name: name}
	}
	for _, r := range def.Cloud.Repositories {
		out.Repositories = append(out.Repositories, bridge.CloudRepository{URL: r.URL, StartingRef: r.Ref})
	}
	return out
}

// approversOf hands the settings on.
func approversOf(a config.Approvers) approvals.Approvers {
	return approvals.Approvers{Slack: a.Slack, SlackGroups: a.SlackGroups, GitHub: a.GitHub, GitHubTeams: a.GitHubTeams}
}

// toolsOf are the tools of the host that an agent has: its executables, and what it
// names of the service's own.
func (a *agents) toolsOf(def *agent.Definition) ([]tools.Tool, error) {
	named := make(map[string]agent.Tool)
	var all []tools.Tool
	for _, t := range def.Tools {
		switch t.Flavor {
		case agent.Host:
			named[t.Name] = t
		case agent.Server:
			made, err := a.executable(t, policyOf(def.Approvals, t, a.approvers))
			if err != nil {
				return nil, fmt.Errorf("tool %s: %w", t.Name, err)
			}
			all = append(all, made)
		}
	}
	for _, own := range a.host {
		t, is := named[own.Name]
		delete(named, own.Name)
		switch {
		case !is && own.Name != alwaysOffered:
			continue
		case is:
			var err error
			if own, err = hostTool(own, t, policyOf(def.Approvals, t, a.approvers)); err != nil {
				return nil, fmt.Errorf("tool %s: %w", t.Name, err)
			}
		}
		if def.Dir == "" && own.Gate != nil && onlyOperator(def.Approvals, t, a.approvers) {
			a.log.Info("a tool of the built-in agent is left out, because nobody is named who could approve its calls",
				"tool", own.Name, "settings", config.EnvApproversSlack+", "+config.EnvApproversGitHub)
			continue
		}
		all = append(all, own)
	}
	for name := range named {
		if def.Dir != "" {
			a.log.Warn("the agent names a tool of the service's that is not there, since its platform is not set up", "tool", name)
		}
	}
	return all, nil
}

// alwaysOffered is the tool that reviews are handed in by, which needs no naming.
const alwaysOffered = "submit_review"
