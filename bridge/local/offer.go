package local

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/bridge/local/toolserver"
	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

const (
	// maxOffered bounds the custom tools, subagents, MCP servers and further
	// directories of one agent, each.
	maxOffered = 256
	// maxDescriptionBytes bounds what a model is told of one tool or subagent.
	maxDescriptionBytes = 64 << 10
)

// namePattern is a name that a model can call something by, which has maxName
// bytes at most.
var namePattern = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

const maxName = 64

func callable(name string) bool { return len(name) <= maxName && namePattern.MatchString(name) }

// offer is what the caller of create or resume offers an agent. It is not kept:
// the caller gives it again when it resumes.
type offer struct {
	tools     toolPolicy
	custom    []customTool
	subagents []subagent
	servers   []toolserver.Server
	extraDirs []string
	plan      bool
}

// customTools are those of the offer that the policy allows.
func (o offer) customTools() []customTool {
	if len(o.tools.allowed([]string{toolMCP})) == 0 {
		return nil
	}
	return o.custom
}

// toolServers are those of the offer that the policy allows.
func (o offer) toolServers() []toolserver.Server {
	if len(o.tools.allowed([]string{toolMCP})) == 0 {
		return nil
	}
	return o.servers
}

// checkOffer reads what options offer.
func (s *server) checkOffer(o *sdkv1.AgentOptions) (offer, error) {
	var out offer
	if o.GetTools() != nil {
		out.tools = toolPolicy{restricted: true, only: o.GetTools().GetNames()}
	}
	out.tools.never = o.GetDisallowedTools()
	out.plan = o.GetMode() == sdkv1.AgentModeOption_AGENT_MODE_OPTION_PLAN
	if n := len(o.GetMcpServers()); n > maxOffered {
		return offer{}, invalid("options.mcp_servers has %d entries; at most %d are accepted", n, maxOffered)
	}
	var err error
	if out.servers, err = readServers(o.GetMcpServers()); err != nil {
		return offer{}, err
	}
	if out.custom, err = readCustomTools(o.GetLocal().GetCustomTools()); err != nil {
		return offer{}, err
	}
	if out.subagents, err = s.readSubagents(o.GetAgents()); err != nil {
		return offer{}, err
	}
	if out.extraDirs, err = readExtraDirs(o.GetLocal().GetDirs()); err != nil {
		return offer{}, err
	}
	return out, nil
}

// readCustomTools orders them by name, so that a model sees the same list each time.
func readCustomTools(defined map[string]*sdkv1.CustomToolDefinition) ([]customTool, error) {
	if len(defined) > maxOffered {
		return nil, invalid("options.local.custom_tools has %d entries; at most %d are accepted", len(defined), maxOffered)
	}
	var out []customTool
	for _, name := range slices.Sorted(maps.Keys(defined)) {
		d := defined[name]
		switch {
		case !callable(name):
			return nil, invalid("options.local.custom_tools has the name %.80q; a name has 1 to 64 letters, digits, _ and -", name)
		case len(d.GetDescription()) > maxDescriptionBytes:
			return nil, invalid("the description of custom tool %s has %d bytes; at most %d are accepted", name, len(d.GetDescription()), maxDescriptionBytes)
		}
		tool := customTool{Name: name, Description: d.GetDescription()}
		if schema := d.GetInputSchema(); schema != nil {
			tool.InputSchema = schema.AsMap()
			if kind, ok := tool.InputSchema["type"]; ok && kind != "object" {
				return nil, invalid("the input schema of custom tool %s is not an object's", name)
			}
		}
		out = append(out, tool)
	}
	return out, nil
}

// readSubagents orders them by name.
func (s *server) readSubagents(defined map[string]*sdkv1.AgentDefinition) ([]subagent, error) {
	if len(defined) > maxOffered {
		return nil, invalid("options.agents has %d entries; at most %d are accepted", len(defined), maxOffered)
	}
	var out []subagent
	for _, name := range slices.Sorted(maps.Keys(defined)) {
		d := defined[name]
		switch {
		case !callable(name):
			return nil, invalid("options.agents has the name %.80q; a name has 1 to 64 letters, digits, _ and -", name)
		case strings.TrimSpace(d.GetDescription()) == "":
			return nil, invalid("the subagent %s has no description; the agent needs it to know when to use it", name)
		case max(len(d.GetDescription()), len(d.GetPrompt())) > maxDescriptionBytes:
			return nil, invalid("the description or prompt of subagent %s has more than %d bytes", name, maxDescriptionBytes)
		}
		sub := subagent{Name: name, Description: d.GetDescription(), Prompt: d.GetPrompt()}
		if id := d.GetModel().GetId(); id != "" && !d.GetInheritModel() {
			if err := s.checkModel(id); err != nil {
				return nil, err
			}
			sub.Model = id
		}
		out = append(out, sub)
	}
	return out, nil
}

// readExtraDirs checks options.local.dirs.
func readExtraDirs(dirs []string) ([]string, error) {
	if len(dirs) > maxOffered {
		return nil, invalid("options.local.dirs has %d entries; at most %d are accepted", len(dirs), maxOffered)
	}
	var out []string
	for _, dir := range dirs {
		clean, err := existingDirectory("options.local.dirs", dir)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, clean) {
			out = append(out, clean)
		}
	}
	return out, nil
}

// existingDirectory refuses what is not an absolute path of a directory.
func existingDirectory(field, dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", invalid("%s %.200q is not an absolute path", field, dir)
	}
	// A path with a zero byte or of a megabyte fails here like any other.
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return "", invalid("%s %.200q is not a directory that exists", field, dir)
	}
	return filepath.Clean(dir), nil
}

// noteUnused says in the log what an agent was offered and its engine, or this
// bridge, makes no use of: silence would look like a tool that nobody wanted.
func (s *server) noteUnused(agentID, modelID string, o *sdkv1.AgentOptions) {
	var can abilities
	if eng, ok := s.engineFor(modelID); ok {
		can = abilitiesOf(eng)
	}
	servers := 0
	for _, sub := range o.GetAgents() {
		servers += len(sub.GetMcpServers())
	}
	note := func(what string, count int, used bool) {
		if count > 0 && !used {
			s.logger.Warn("an agent was offered what its model does not use", "agent", agentID, "model", modelID, "what", what, "count", count)
		}
	}
	note("MCP servers", len(o.GetMcpServers()), can.Servers)
	note("MCP servers of subagents", servers, false)
	note("custom tools", len(o.GetLocal().GetCustomTools()), can.CustomTools)
	note("subagents", len(o.GetAgents()), can.Subagents)
}
