package bridge

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// cloudPrefix begins the ids of cloud agents, and of no other.
const cloudPrefix = "bc-"

func isCloudID(id string) bool { return strings.HasPrefix(strings.ToLower(id), cloudPrefix) }

// mcpTool is the built-in tool through which an agent calls custom tools, and
// taskTool the one through which it gives work to subagents.
const (
	mcpTool  = "mcp"
	taskTool = "task"
)

// wireOptions is the one place where agent options are put on the wire, so that
// creating and resuming cannot restrict an agent differently. The id is the one
// that is asked for or resumed; it is not put on the wire here. A model that was
// left out is left out.
func (c *Client) wireOptions(op, id string, o AgentOptions) (*sdkv1.AgentOptions, error) {
	if err := checkOptions(op, id, o); err != nil {
		return nil, err
	}
	w := &sdkv1.AgentOptions{
		Model: wireModel(o.Model, o.ModelParams),
		// Always passed: not every release falls back to its environment.
		ApiKey:          c.options.APIKey,
		Name:            o.Name,
		DisallowedTools: o.DisallowedTools,
	}
	if o.Tools != nil {
		w.Tools = &sdkv1.ToolList{Names: o.Tools}
	}
	var err error
	if o.Cloud != nil || isCloudID(id) {
		w.Cloud, err = wireCloud(op, o.Cloud)
	} else {
		w.Local, err = wireLocal(op, o.Local, o.CustomTools)
	}
	if err != nil {
		return nil, err
	}
	if w.Mode, err = wireMode(op, o.Mode); err != nil {
		return nil, err
	}
	if w.McpServers, err = wireMCPServers(op, o.MCPServers); err != nil {
		return nil, err
	}
	if w.Agents, err = wireSubagents(op, o.Subagents, o.MCPServers); err != nil {
		return nil, err
	}
	return w, nil
}

// checkOptions refuses what contradicts itself.
func checkOptions(op, id string, o AgentOptions) error {
	switch {
	case o.Local != nil && o.Cloud != nil:
		return invalid(op, "both Local and Cloud are set; choose one")
	case isCloudID(id) && o.Local != nil:
		return invalid(op, "the id %.80q begins with %s, which is kept for cloud agents, but Local is set", id, cloudPrefix)
	case len(o.CustomTools) > 0 && (o.Cloud != nil || isCloudID(id)):
		return invalid(op, "custom tools are for local agents; a cloud agent cannot reach this program")
	case len(o.CustomTools) > 0 && !allowed(o, mcpTool):
		return invalid(op, "the agent has custom tools, but may not use the tool %q through which it calls them; add it to Tools, or take it from DisallowedTools", mcpTool)
	case len(o.Subagents) > 0 && !allowed(o, taskTool):
		return invalid(op, "the agent has subagents, but may not use the tool %q through which it calls them; add it to Tools, or take it from DisallowedTools", taskTool)
	}
	return nil
}

func allowed(o AgentOptions, tool string) bool {
	return (o.Tools == nil || slices.Contains(o.Tools, tool)) && !slices.Contains(o.DisallowedTools, tool)
}

// wireLocal puts local options on the wire; nil ones mean the current directory.
func wireLocal(op string, l *LocalOptions, tools []Tool) (*sdkv1.LocalAgentOptions, error) {
	if l == nil {
		dir, err := os.Getwd()
		if err != nil {
			return nil, invalid(op, "Local is not set and the current directory cannot be found: %v", err)
		}
		l = &LocalOptions{Dir: dir}
	}
	if !filepath.IsAbs(l.Dir) {
		return nil, invalid(op, "Local.Dir %.200q is not an absolute path", l.Dir)
	}
	for _, dir := range l.ExtraDirs {
		if !filepath.IsAbs(dir) {
			return nil, invalid(op, "%.200q in Local.ExtraDirs is not an absolute path", dir)
		}
	}
	w := &sdkv1.LocalAgentOptions{Cwd: []string{l.Dir}, Dirs: l.ExtraDirs, AutoReview: l.AutoReview}
	for _, s := range l.SettingSources {
		n, known := sdkv1.SettingSource_value["SETTING_SOURCE_"+strings.ToUpper(string(s))]
		if s == "" || !known || n == 0 {
			return nil, invalid(op, "%.40q in Local.SettingSources is not an owner of settings that this version knows", s)
		}
		w.SettingSources = append(w.SettingSources, sdkv1.SettingSource(n))
	}
	if l.Sandbox != nil {
		w.SandboxOptions = &sdkv1.SandboxOptions{Enabled: l.Sandbox}
	}
	var err error
	if w.CustomTools, err = wireTools(tools); err != nil {
		return nil, invalid(op, "%v", err)
	}
	return w, nil
}

func wireCloud(op string, o *CloudOptions) (*sdkv1.CloudAgentOptions, error) {
	if o == nil {
		return &sdkv1.CloudAgentOptions{}, nil
	}
	w := &sdkv1.CloudAgentOptions{
		WorkOnCurrentBranch: o.WorkOnCurrentBranch, AutoCreatePr: o.AutoCreatePR,
		SkipReviewerRequest: o.SkipReviewerRequest, OpenAsCursorGithubApp: o.OpenAsProvidersApp,
		EnvVars: o.EnvironmentVariables, Metadata: o.Metadata,
	}
	if e := o.Environment; e != nil {
		n, known := sdkv1.CloudEnvironmentType_value["CLOUD_ENVIRONMENT_TYPE_"+strings.ToUpper(string(e.Type))]
		if e.Type != "" && (!known || n == 0) {
			return nil, invalid(op, "Cloud.Environment.Type %.40q is not a kind of machine that this version knows", e.Type)
		}
		w.Env = &sdkv1.CloudEnvironment{Type: sdkv1.CloudEnvironmentType(n), Name: e.Name}
	}
	for i, r := range o.Repositories {
		if r.URL == "" {
			return nil, invalid(op, "repository %d of Cloud.Repositories has no URL", i+1)
		}
		w.Repos = append(w.Repos, &sdkv1.CloudRepository{Url: r.URL, StartingRef: r.StartingRef, PrUrl: r.PullRequestURL})
	}
	return w, nil
}

func wireSubagents(op string, agents map[string]Subagent, servers map[string]MCPServer) (map[string]*sdkv1.AgentDefinition, error) {
	if len(agents) == 0 {
		return nil, nil
	}
	all := make(map[string]*sdkv1.AgentDefinition, len(agents))
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		s := agents[name]
		switch {
		case name == "":
			return nil, invalid(op, "a subagent has no name")
		case s.Description == "":
			return nil, invalid(op, "the subagent %.80q has no description; the agent chooses by it", name)
		}
		w := &sdkv1.AgentDefinition{Description: s.Description, Prompt: s.Prompt, Model: wireModel(s.Model, nil)}
		if s.Model == "" {
			w.InheritModel = proto.Bool(true)
		}
		for _, server := range s.MCPServerNames {
			if _, known := servers[server]; !known {
				return nil, invalid(op, "the subagent %.80q names the MCP server %.80q, which the agent does not have", name, server)
			}
			w.McpServers = append(w.McpServers, &sdkv1.AgentDefinitionMcpServer{
				Value: &sdkv1.AgentDefinitionMcpServer_Name{Name: server},
			})
		}
		for i, server := range s.MCPServers {
			config, err := wireMCPServer(op, fmt.Sprintf("%d of subagent %s", i+1, name), server)
			if err != nil {
				return nil, err
			}
			w.McpServers = append(w.McpServers, &sdkv1.AgentDefinitionMcpServer{
				Value: &sdkv1.AgentDefinitionMcpServer_InlineConfig{InlineConfig: config},
			})
		}
		all[name] = w
	}
	return all, nil
}
