package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// customCalls makes the calls of custom tools of one run and shows them in its
// stream.
type customCalls struct {
	caller  *toolCaller
	agentID string
	runID   string
	tools   []customTool
	report  func(event)
	logger  *slog.Logger

	mu    sync.Mutex
	given map[string]bool // call ids of this run
}

// bind gives the function that an engine calls; its calls end with run too.
func (c *customCalls) bind(run context.Context) func(context.Context, string, string, map[string]any) (map[string]any, error) {
	return func(ctx context.Context, callID, name string, args map[string]any) (map[string]any, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(run, cancel)()
		return c.call(ctx, c.unique(callID), name, args)
	}
}

// call makes one call. The tool's start and end are reported even when it does
// not exist: a model asked for it.
func (c *customCalls) call(ctx context.Context, callID, name string, args map[string]any) (map[string]any, error) {
	if args == nil {
		args = map[string]any{}
	}
	shown := map[string]any{"providerIdentifier": customProvider, "toolName": name, "args": args}
	c.report(toolStart{CallID: callID, Name: toolMCP, Args: shown})
	var answer map[string]any
	var err error
	if slices.ContainsFunc(c.tools, func(t customTool) bool { return t.Name == name }) {
		answer, err = c.caller.call(ctx, c.agentID, callID, name, args)
	} else {
		err = &toolFailure{"unknown tool", fmt.Sprintf("there is no custom tool named %.80q", name)}
	}
	end := toolEnd{CallID: callID, Name: toolMCP, Args: shown}
	switch {
	case ctx.Err() != nil:
		end.Failed, end.Result = true, map[string]any{"status": "error", "error": "the call was cancelled"}
	case err != nil:
		c.logger.Warn("a custom tool could not be called", "run", c.runID, "tool", cut(name, maxIDBytes), "cause", causeOf(err))
		end.Failed, end.Result = true, map[string]any{"status": "error", "error": err.Error()}
	default:
		_, _, end.Failed = readAnswer(answer)
		status := "success"
		if end.Failed {
			status = "error"
		}
		end.Result = map[string]any{"status": status, "value": answer}
	}
	c.report(end)
	return answer, err
}

// causeOf is a failed call in a word, without what the tool or the model said.
func causeOf(err error) string {
	var f *toolFailure
	if errors.As(err, &f) {
		return f.kind
	}
	return "unknown"
}

// unique makes a call id that no other call of the agent has: callers remember
// answers by it, and models count their calls from zero in every run.
func (c *customCalls) unique(callID string) string {
	base := "call-" + strings.TrimPrefix(c.runID, runPrefix)
	c.mu.Lock()
	defer c.mu.Unlock()
	id := base + "-" + callID
	if checkID("call id", id) != nil || c.given[id] {
		for n := len(c.given) + 1; ; n++ {
			if id = fmt.Sprintf("%s-%d", base, n); !c.given[id] {
				break
			}
		}
	}
	c.given[id] = true
	return id
}
