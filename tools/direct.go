package tools

import (
	"encoding/json"
	"maps"
	"slices"
)

// Direct returns the tools of a turn that people may call without an agent, by name.
func (r *Registry) Direct(t Turn) []Tool {
	var out []Tool
	for _, name := range slices.Sorted(maps.Keys(r.tools)) {
		if tool := r.tools[name]; tool.direct() && tool.offered(t) {
			out = append(out, tool.Tool)
		}
	}
	return out
}

func (t *readyTool) direct() bool { return t.Direct != nil && t.Direct() }

// Check says what is wrong with an input, for whoever hands it in; nil means that
// the tool takes it, or that there is no such tool.
func (r *Registry) Check(name string, input json.RawMessage) error {
	tool := r.tools[name]
	if tool == nil {
		return nil
	}
	return tool.input.check(input)
}

// DescribeEffect says what calls of a tool do, in words for people.
func (t Tool) DescribeEffect() string {
	switch {
	case t.EffectNote != "":
		return t.EffectNote
	case t.Effect == nil:
		return string(Write)
	}
	return string(t.Effect(json.RawMessage(`{}`)))
}

// The answers of [Tool.DescribeGate] where no condition decides.
const (
	GateNever  = "never"
	GateAlways = "always"
)

// DescribeGate says which calls of a tool wait for a person, in words for people.
func (t Tool) DescribeGate() string {
	switch {
	case t.Gate == nil:
		return GateNever
	case t.Gate.Note != "":
		return t.Gate.Note
	}
	return GateAlways
}
