package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/liaison-bot/liaison/agent"
	"github.com/liaison-bot/liaison/tools"
	"github.com/liaison-bot/liaison/tools/command"
	"github.com/liaison-bot/liaison/tools/condition"
)

// hostTools are the names of the service's own tools. Each surface brings its own,
// where that is set up; a folder can name them before.
func hostTools() []string {
	return []string{"ask_person", "merge_pull_request", "post_comment", "post_to_slack", "request_reviewers", "set_labels", "submit_review"}
}

// asksAlways reports whether a tool of the service waits for a person by its code.
func asksAlways(name string) bool { return name == "merge_pull_request" }

// folderChecks hold an agent's folder against what runs it.
func folderChecks() agent.Checks {
	return agent.Checks{
		Effect: func(expression string, schema json.RawMessage) error {
			_, err := condition.ForInput(expression, schema)
			return err
		},
		Approval: func(expression string, schema json.RawMessage) error {
			_, err := condition.ForCall(expression, schema)
			return err
		},
		InputSchema: checkInputSchema,
		Program:     command.Check,
		HostTool:    func(name string) bool { return slices.Contains(hostTools(), name) },
		HostAsks:    asksAlways,
	}
}

// checkInputSchema makes a schema ready as the registry will.
func checkInputSchema(schema json.RawMessage) error {
	_, err := tools.New(tools.Tool{Name: "x", InputSchema: schema, Run: func(context.Context, tools.Call) (tools.Result, error) {
		return tools.Result{}, errors.New("only its schema is checked")
	}})
	if cause := errors.Unwrap(err); cause != nil {
		return cause
	}
	return err
}
