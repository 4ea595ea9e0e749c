package sessions

import (
	"maps"
	"slices"

	"github.com/liaison-bot/liaison/bridge"
)

// taskTool is the built-in tool by which an agent gives work to its subagents.
const taskTool = "task"

// readingTools are the built-in tools of an agent whose author chose none. It reads
// the evidence and nothing else: what it reads was written by strangers, so it gets
// no way to act on it.
func readingTools() []string { return []string{"read", "grep", "glob", "ls"} }

// reachingTools are the built-in tools by which an agent changes something or reaches
// somebody. Those that it has not been given are denied by name, since some bridges
// leave in what their list of allowed tools does not know.
func reachingTools() []string {
	return []string{"shell", "edit", "write", "delete", taskTool, "web_search", "web_fetch"}
}

// agentOptions is what a bridge is told of an agent, when it makes it and each time
// that it goes on with it.
func agentOptions(r RunRequest, model string) bridge.AgentOptions {
	o := bridge.AgentOptions{
		ID: r.AgentID, Name: "liaison " + r.SessionID, Model: model, ModelParams: r.ModelParams,
		CustomTools: r.Tools, MCPServers: r.MCPServers, Subagents: r.Subagents, Cloud: r.Cloud,
	}
	if r.Cloud == nil {
		o.Local = &bridge.LocalOptions{Dir: r.Dir}
		if r.Project {
			o.Local.SettingSources = []bridge.SettingSource{bridge.SettingsProject}
		}
	}
	if slices.Contains(r.Denied, mcpTool) {
		o.CustomTools, o.MCPServers = nil, nil
	}
	if slices.Contains(r.Denied, taskTool) {
		o.Subagents = nil
	}
	o.Tools, o.DisallowedTools = permit(r, len(o.CustomTools)+len(o.MCPServers) > 0, len(o.Subagents) > 0)
	return o
}

// permit returns the built-in tools that an agent has and those that it never has.
// The tool "mcp" stands for the host's own tools and for servers, and goes with them
// whatever the agent's author says, as "task" goes with subagents: what a subagent
// may do is not restricted by its parent's list in every bridge.
func permit(r RunRequest, servers, subagents bool) (allowed, denied []string) {
	allowed = readingTools()
	if r.BuiltIn != nil {
		allowed = r.BuiltIn
	}
	goes := map[string]bool{mcpTool: servers, taskTool: subagents}
	allowed = slices.DeleteFunc(slices.Clone(allowed), func(name string) bool {
		_, special := goes[name]
		return special
	})
	for _, name := range slices.Sorted(maps.Keys(goes)) {
		if goes[name] {
			allowed = append(allowed, name)
		}
	}
	for _, name := range append(reachingTools(), mcpTool) {
		if !slices.Contains(allowed, name) {
			denied = append(denied, name)
		}
	}
	for _, name := range r.Denied {
		if !slices.Contains(denied, name) {
			denied = append(denied, name)
		}
	}
	return allowed, denied
}
