package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/bridge/local/chat"
	"github.com/liaison-bot/liaison/bridge/local/workspace"
)

// maxShownResult is how much of a built-in tool's result is shown in the stream
// and kept in the run's record. The model reads all of it.
const maxShownResult = 8 << 10

// tools are those that the run may use: built-in ones by the names that
// restrictions have, then the caller's. A tool of the caller's whose name is
// taken is offered to the model as custom_NAME; the caller sees its own name.
func (r *chatRun) tools() []chat.Tool {
	out := r.readingTools(r.showCall)
	if len(r.task.Subagents) > 0 && slices.Contains(r.task.Tools, toolTask) {
		out = append(out, r.taskTool())
	}
	for _, c := range r.task.Custom {
		name := c.Name
		if slices.Contains(r.engine.Tools(), name) {
			name = "custom_" + name
		}
		name = chat.OfferedName(name, func(n string) bool {
			return slices.ContainsFunc(out, func(t chat.Tool) bool { return t.Name == n })
		})
		out = append(out, r.customTool(name, c))
	}
	return r.serverTools(out)
}

// readingTools are the tools over the working directories; show runs one and
// tells the watchers.
func (r *chatRun) readingTools(show func(context.Context, string, chat.Invocation, func(context.Context) chat.Output) chat.Output) []chat.Tool {
	var out []chat.Tool
	for _, tool := range r.workspace.Tools() {
		if !slices.Contains(r.task.Tools, tool.Name) {
			continue
		}
		out = append(out, chat.Tool{
			Name: tool.Name, Description: tool.Description, Schema: tool.Schema,
			Call: func(ctx context.Context, c chat.Invocation) chat.Output {
				return show(ctx, tool.Name, c, func(ctx context.Context) chat.Output { return callReading(ctx, tool, c.Args) })
			},
		})
	}
	return out
}

func callReading(ctx context.Context, tool workspace.Tool, args map[string]any) chat.Output {
	text, err := tool.Call(ctx, args)
	var refused *workspace.Refusal
	switch {
	case err == nil:
		return chat.Output{Text: text}
	case errors.As(err, &refused):
		return chat.Output{Text: refused.Reason, Failed: true}
	}
	return chat.Output{Text: "the call was cancelled", Failed: true}
}

// showCall runs a built-in tool between its start and its end in the stream.
func (r *chatRun) showCall(ctx context.Context, name string, c chat.Invocation, run func(context.Context) chat.Output) chat.Output {
	id := r.callID(c.ID)
	r.emit(toolStart{CallID: id, Name: name, Args: c.Args})
	end := toolEnd{CallID: id, Name: name, Args: c.Args, Failed: true,
		Result: map[string]any{"status": "error", "error": "the tool failed unexpectedly"}}
	defer func() { r.emit(end) }() // also when it panics
	out := run(ctx)
	end.Failed = out.Failed
	if out.Failed {
		end.Result = map[string]any{"status": "error", "error": cut(out.Text, maxShownResult)}
	} else {
		end.Result = map[string]any{"status": "success", "value": map[string]any{"text": cut(out.Text, maxShownResult), "bytes": len(out.Text)}}
	}
	return out
}

// customTool is a tool of the caller's. Its calls are shown by who makes them.
func (r *chatRun) customTool(offered string, c customTool) chat.Tool {
	return chat.Tool{
		Name: offered, Description: c.Description, Schema: c.InputSchema,
		Call: func(ctx context.Context, call chat.Invocation) chat.Output {
			result, err := r.task.CallCustom(ctx, call.ID, c.Name, call.Args)
			if err != nil {
				return chat.Output{Text: err.Error(), Failed: true}
			}
			text, images, failed := readAnswer(result)
			if len(images) > 0 {
				text = strings.TrimSpace(fmt.Sprintf("%s\n(%d images are not shown)", text, len(images)))
			}
			return chat.Output{Text: text, Failed: failed}
		},
	}
}

// taskTool gives a piece of work to a subagent: another conversation with a
// prompt of its own and the tools that read, without this one.
func (r *chatRun) taskTool() chat.Tool {
	var names []any
	description := "Give a piece of work to another agent that has the same files and knows nothing of this conversation. Its answer is the result. The agents are:"
	for _, s := range r.task.Subagents {
		names = append(names, s.Name)
		description += fmt.Sprintf("\n- %s: %s", s.Name, s.Description)
	}
	return chat.Tool{
		Name: toolTask, Description: description,
		Schema: map[string]any{
			"type": "object", "required": []any{"agent", "prompt"},
			"properties": map[string]any{
				"agent":  map[string]any{"type": "string", "enum": names, "description": "Who does it."},
				"prompt": map[string]any{"type": "string", "description": "What to do, and all that has to be known for it."},
			},
		},
		Call: func(ctx context.Context, c chat.Invocation) chat.Output {
			return r.showCall(ctx, toolTask, c, func(ctx context.Context) chat.Output { return r.delegate(ctx, c) })
		},
	}
}

// delegate runs a subagent.
func (r *chatRun) delegate(ctx context.Context, c chat.Invocation) chat.Output {
	name, _ := c.Args["agent"].(string)
	prompt, _ := c.Args["prompt"].(string)
	i := slices.IndexFunc(r.task.Subagents, func(s subagent) bool { return s.Name == name })
	switch {
	case i < 0:
		return chat.Output{Text: fmt.Sprintf("there is no agent %.80q", name), Failed: true}
	case strings.TrimSpace(prompt) == "":
		return chat.Output{Text: "the prompt is empty", Failed: true}
	}
	steps, err := r.grant()
	if err != nil {
		return chat.Output{Text: err.Error(), Failed: true}
	}
	used := 0
	defer func() { r.giveBack(steps - used) }()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := r.task.Subagents[i]
	modelID := cmp.Or(s.Model, r.task.Model)
	if !r.engine.Accepts(modelID) {
		return chat.Output{Text: fmt.Sprintf("the agent %s has the model %s, which the endpoint of this one does not offer", name, modelID), Failed: true}
	}
	tell := func(format string, args ...any) {
		r.emit(progress{Status: "running", Text: cut(name+": "+fmt.Sprintf(format, args...), maxShownResult)})
	}
	tools := r.readingTools(func(ctx context.Context, tool string, call chat.Invocation, run func(context.Context) chat.Output) chat.Output {
		tell("%s %s", tool, jsonText(call.Args))
		return run(ctx)
	})
	var told chat.Usage
	ans, err := r.engine.endpoint.Run(ctx, chat.Request{
		Model: modelID, System: subagentPrompt(ctx, r.task, r.workspace, s), Prompt: prompt, Tools: tools, Steps: steps,
		Window: r.engine.catalog.window(modelID),
		Watch: chat.Observer{Said: func(s string) { tell("%s", s) }, Waiting: r.waiting, Used: func(total chat.Usage) {
			r.delegatedUsed(total.Sub(told))
			told = total
			if r.overspent() {
				stop(errSubagentTokens)
			}
		}},
	})
	r.delegatedUsed(ans.Usage.Sub(told))
	used = ans.Steps
	if errors.Is(context.Cause(ctx), errSubagentTokens) {
		err = errSubagentTokens
	}
	if err != nil {
		return chat.Output{Text: fmt.Sprintf("the agent %s failed: %v", name, err), Failed: true}
	}
	return chat.Output{Text: ans.Text}
}
