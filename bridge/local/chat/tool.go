package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Tool is a function that the model may call.
type Tool struct {
	// Name is of letters, digits, underscores and dashes, at most 64; see [OfferedName].
	Name        string
	Description string
	// Schema is the JSON Schema of the arguments, an object; nil takes any.
	Schema map[string]any
	// Call runs the tool. It returns soon after ctx is done.
	Call func(ctx context.Context, c Invocation) Output
}

// Invocation is one call of a tool.
type Invocation struct {
	// ID is unique in the run.
	ID   string
	Args map[string]any
}

// Output is what a tool tells the model.
type Output struct {
	Text string
	// Failed marks what the model should read as an error.
	Failed bool
}

// OfferedName makes a name that endpoints take out of any, different from those
// taken already.
func OfferedName(name string, taken func(string) bool) string {
	base := strings.Map(func(r rune) rune {
		if validName(string(r)) {
			return r
		}
		return '_'
	}, name)
	if base == "" {
		base = "tool"
	}
	base = base[:min(len(base), 58)]
	out := base
	for i := 2; taken(out); i++ {
		out = fmt.Sprintf("%s_%d", base, i)
	}
	return out
}

// parameters is a schema as endpoints insist on it: of an object, with properties.
func (t Tool) parameters() map[string]any {
	out := map[string]any{"type": "object", "properties": map[string]any{}}
	for k, v := range t.Schema {
		out[k] = v
	}
	return out
}

// parseArguments reads the arguments of a call as models write them: an object,
// nothing at all, or an object in a JSON text.
func parseArguments(raw string) (map[string]any, error) {
	raw = strings.TrimSpace(raw)
	if raw == "" || raw == "null" {
		return map[string]any{}, nil
	}
	if len(raw) > maxArgumentBytes {
		return nil, fmt.Errorf("the arguments have %d bytes; at most %d are accepted", len(raw), maxArgumentBytes)
	}
	var inner string
	if raw[0] == '"' && json.Unmarshal([]byte(raw), &inner) == nil {
		raw = strings.TrimSpace(inner)
	}
	var args map[string]any
	if err := json.Unmarshal([]byte(raw), &args); err != nil {
		return nil, fmt.Errorf("the arguments are not a JSON object (%w)", err)
	}
	if deeper(args, maxArgumentDepth) {
		return nil, fmt.Errorf("the arguments are nested more than %d levels deep", maxArgumentDepth)
	}
	if args == nil {
		args = map[string]any{}
	}
	return args, nil
}

// deeper reports whether a JSON value has more levels than that.
func deeper(v any, levels int) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			if levels == 0 || deeper(inner, levels-1) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(inner any) bool { return levels == 0 || deeper(inner, levels-1) })
	}
	return false
}

// pending is a call on its way: what the conversation will say of it, and what
// is to be run. One with a refusal is not run; the refusal is its result.
type pending struct {
	call    Call
	tool    *Tool
	args    map[string]any
	refusal string
}

// prepare checks what the model called. The calls become valid for the
// conversation even when they cannot be run.
func prepare(raw []*rawCall, tools []Tool, cut bool) []pending {
	out := make([]pending, 0, len(raw))
	ids := make(map[string]bool)
	for i, r := range raw {
		p := pending{call: Call{ID: r.id, Name: r.name, Arguments: "{}", Extra: r.extra}}
		for n := i; p.call.ID == "" || len(p.call.ID) > maxCallID || ids[p.call.ID]; n++ {
			p.call.ID = fmt.Sprintf("call_%d", n)
		}
		ids[p.call.ID] = true
		args, err := parseArguments(r.arguments.String())
		if err == nil {
			p.args = args
			// What was just decoded can be encoded.
			data, _ := json.Marshal(args) //nolint:errchkjson // see above
			p.call.Arguments = string(data)
		}
		index := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == r.name })
		switch {
		case i >= maxCalls:
			p.refusal = fmt.Sprintf("Error: a message may call at most %d tools; this call was not run.", maxCalls)
		case r.name == "":
			p.refusal = "Error: the call has no tool name. " + known(tools)
		case index < 0:
			p.refusal = fmt.Sprintf("Error: there is no tool %.80q. %s", r.name, known(tools))
		case r.overflow:
			p.refusal = fmt.Sprintf("Error: the arguments have more than the %d bytes that are accepted.", maxArgumentBytes)
		case err != nil && cut:
			p.refusal = "Error: the call was cut off by the output limit before its arguments were complete. Make it shorter."
		case err != nil:
			p.refusal = fmt.Sprintf("Error: %v. They were: %.300q", err, r.arguments.String())
		default:
			p.tool = &tools[index]
		}
		if !validName(p.call.Name) {
			p.call.Name = "unknown"
		}
		out = append(out, p)
	}
	return out
}

func known(tools []Tool) string {
	if len(tools) == 0 {
		return "There are no tools; answer without."
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return "The tools are: " + strings.Join(names, ", ") + "."
}

// callTools runs the calls, a few at once, and returns their results in order.
// After the end of ctx no further call is begun.
func (r *run) callTools(ctx context.Context, calls []pending) []Message {
	results := make([]Message, len(calls))
	places := make(chan struct{}, maxParallel)
	var all sync.WaitGroup
	for i, p := range calls {
		results[i] = Message{Role: RoleTool, CallID: p.call.ID, Text: p.refusal}
		if p.tool == nil {
			continue
		}
		r.calls++
		c := Invocation{ID: strconv.Itoa(r.calls), Args: p.args}
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			results[i].Text = noteUnfinished
			continue
		}
		all.Go(func() {
			defer func() { <-places }()
			results[i].Text = r.callTool(ctx, *p.tool, c)
		})
	}
	all.Wait()
	return results
}

// callTool runs one call; a tool that panics has failed, nothing more.
func (r *run) callTool(ctx context.Context, t Tool, c Invocation) (text string) {
	defer func() {
		if p := recover(); p != nil {
			r.e.logger.Error("a tool panicked", "tool", t.Name, "panic", p, "stack", string(debug.Stack()))
			text = "Error: the tool failed unexpectedly."
		}
	}()
	out := t.Call(ctx, c)
	text = strings.ToValidUTF8(cutMiddle(out.Text, maxResultBytes), "\uFFFD")
	switch {
	case out.Failed:
		return "Error: " + strings.TrimPrefix(text, "Error: ")
	case text == "":
		return "(The tool returned nothing.)"
	}
	return text
}

// anyRun reports whether at least one call could be given to a tool.
func anyRun(calls []pending) bool {
	return slices.ContainsFunc(calls, func(p pending) bool { return p.tool != nil })
}
