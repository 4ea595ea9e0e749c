package tools

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// toolName is what model providers accept as the name of a function, which has
// maxToolName bytes at most.
var toolName = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

const maxToolName = 64

// Registry has the tools of a host. Its methods may be called by many goroutines.
type Registry struct {
	tools  map[string]*readyTool
	memory memory
}

// readyTool is a tool with its schema made ready.
type readyTool struct {
	Tool
	input *inputSchema
}

// New returns a registry of tools. Their names must be valid and unique, their
// schemas JSON Schemas of objects, and each needs Run.
func New(all ...Tool) (*Registry, error) {
	r := &Registry{tools: make(map[string]*readyTool, len(all))}
	for _, t := range all {
		switch {
		case len(t.Name) > maxToolName || !toolName.MatchString(t.Name):
			return nil, fmt.Errorf("tools: the name of tool %.80q is not 1 to 64 letters, digits, '_' or '-'", t.Name)
		case r.tools[t.Name] != nil:
			return nil, fmt.Errorf("tools: two tools are named %q", t.Name)
		case t.Run == nil:
			return nil, fmt.Errorf("tools: tool %q has no Run", t.Name)
		}
		input, err := compile(t.InputSchema)
		if err != nil {
			return nil, fmt.Errorf("tools: the input schema of tool %q: %w", t.Name, err)
		}
		r.tools[t.Name] = &readyTool{Tool: t, input: input}
	}
	return r, nil
}

// Offered returns the tools that a turn gets, by name.
func (r *Registry) Offered(t Turn) []Tool {
	var out []Tool
	for _, name := range slices.Sorted(maps.Keys(r.tools)) {
		if tool := r.tools[name]; tool.offered(t) {
			out = append(out, tool.Tool)
		}
	}
	return out
}

func (t *readyTool) offered(to Turn) bool { return t.Offered == nil || t.Offered(to) }

// find returns a tool of the turn's. The error is for the agent.
func (r *Registry) find(t Turn, name string) (*readyTool, error) {
	if tool := r.tools[name]; tool != nil && tool.offered(t) {
		return tool, nil
	}
	var names []string
	for _, tool := range r.Offered(t) {
		names = append(names, tool.Name)
	}
	if len(names) == 0 {
		return nil, errors.New("there are no tools of the host here")
	}
	return nil, fmt.Errorf("there is no tool %.80q; there is %s", name, strings.Join(names, ", "))
}
