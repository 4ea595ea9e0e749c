package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/liaison-bot/liaison/agent"
	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/tools/command"
	"github.com/liaison-bot/liaison/tools/condition"
)

// The time of a call of a folder's tool, where its author names none, and at most.
const (
	DefaultTimeout = 2 * time.Minute
	MaxTimeout     = agent.MaxToolTimeout
)

// ErrAgentTool means that a tool is a script for the agent's own machine, which the
// host does not run.
var ErrAgentTool = errors.New("the tool runs where the agent runs, and not on the host")

// FolderOptions say what a tool of a folder gets from the host.
type FolderOptions struct {
	// Policy says who may decide about a call of the tool.
	Policy func(c Call) approvals.Policy
	// StateDir is where each tool has a folder of its own, by its name, which outlives
	// calls. TempDir is where private folders of calls are made; empty means the
	// system's.
	StateDir, TempDir string
	// LookupEnv finds a variable of the host's environment. Nil means [os.LookupEnv].
	LookupEnv func(name string) (string, bool)
	// Redact masks the host's secrets in what the tool prints. Nil masks none.
	Redact func(string) string
}

// FromFolder makes a tool of an executable in an agent's folder. It fails with
// [ErrAgentTool] for one that does not run on the host, with a [*condition.Error]
// for an expression that cannot be used, and where there is nothing that could be
// run.
func FromFolder(t agent.Tool, o FolderOptions) (Tool, error) {
	switch t.Flavor {
	case agent.OnAgent:
		return Tool{}, ErrAgentTool
	case agent.Host:
		return Tool{}, errors.New("the tool is the service's own, and has no executable")
	}
	effect, err := effectOf(t)
	if err != nil {
		return Tool{}, fmt.Errorf("the condition of effect: %w", err)
	}
	gate, err := gateOf(t, o.Policy)
	if err != nil {
		return Tool{}, fmt.Errorf("the condition of needsApproval: %w", err)
	}
	executable, err := command.New(command.Options{
		Dir: t.Dir, Run: t.Run, Env: t.Env, StateDir: filepath.Join(o.StateDir, t.Name),
		TempDir: o.TempDir, LookupEnv: o.LookupEnv, Redact: o.Redact,
	})
	if err != nil {
		return Tool{}, err
	}
	if err := unchanged(t); err != nil {
		return Tool{}, err
	}
	tool := Tool{
		Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
		Direct: func() bool { return true }, Effect: effect, EffectNote: t.Effect.Expression, DryRun: t.DryRunResult,
		Gate: gate, Timeout: DefaultTimeout, Fingerprint: t.Fingerprint,
		Run: func(ctx context.Context, c Call) (Result, error) {
			if err := unchanged(t); err != nil {
				return Result{}, err
			}
			out, err := executable.Run(ctx, commandCall(c))
			return resultOf(out), err
		},
	}
	if t.Timeout > 0 {
		tool.Timeout = min(t.Timeout, MaxTimeout)
	}
	return tool, nil
}

// unchanged makes sure that what would run is what was read, so that nobody agrees
// to one thing and gets another.
func unchanged(t agent.Tool) error {
	root, err := os.OpenRoot(t.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return errors.New("the tool's folder was removed since it was read, so that it is not run")
	}
	if err != nil {
		return fmt.Errorf("the tool's folder cannot be read: %w", err)
	}
	defer root.Close()
	now, err := agent.Fingerprint(root.FS())
	if err != nil {
		return err
	}
	if now != t.Fingerprint {
		return errors.New("the tool's folder was changed since it was read, so that it is not run; the next turn reads it again, unless something in the agent's folder is wrong now")
	}
	return nil
}

func commandCall(c Call) command.Call {
	return command.Call{
		Input: c.Input, Workspace: c.Dir, ID: c.CallID, ApprovalID: c.ApprovalID,
		SessionID: c.SessionID, Channel: c.Channel, Mode: c.Mode, Principal: c.Principal, Subject: c.Subject,
	}
}

func resultOf(out command.Output) Result {
	r := Result{Text: out.Text, IsError: out.IsError, Structured: out.Structured}
	for _, i := range out.Images {
		r.Images = append(r.Images, Image(i))
	}
	return r
}

// effectOf says what a call does. Where its condition cannot be decided, it writes.
func effectOf(t agent.Tool) (func(json.RawMessage) Effect, error) {
	switch {
	case t.Effect.Reads:
		return Reads, nil
	case t.Effect.Expression == "":
		return nil, nil
	}
	reads, err := condition.ForInput(t.Effect.Expression, t.InputSchema)
	if err != nil {
		return nil, err
	}
	return func(input json.RawMessage) Effect {
		if holds, err := reads.Holds(context.Background(), condition.Call{Input: input}); err != nil || !holds {
			return Write
		}
		return Read
	}, nil
}

// gateOf is nil for a tool whose calls wait for nobody.
func gateOf(t agent.Tool, policy func(Call) approvals.Policy) (*Gate, error) {
	needs, err := Needs(t.Approval, t.InputSchema)
	if err != nil || needs == nil {
		return nil, err
	}
	return &Gate{Needs: needs, Note: t.Approval.Expression, Policy: policy, Risk: t.Risk}, nil
}

// Needs is [Gate.Needs] for a condition; nil for one that never holds. Schema is
// that of the tool's input. The error is a [*condition.Error].
func Needs(c agent.Condition, schema json.RawMessage) (func(Call) (bool, error), error) {
	switch {
	case c.Always:
		return func(Call) (bool, error) { return true, nil }, nil
	case c.Expression == "":
		return nil, nil
	}
	compiled, err := condition.ForCall(c.Expression, schema)
	if err != nil {
		return nil, err
	}
	return func(c Call) (bool, error) {
		return compiled.Holds(context.Background(), condition.Call{
			Input: c.Input, Channel: c.Channel, Mode: c.Mode, Principal: c.Principal, DryRun: c.DryRun, Subject: c.Subject,
		})
	}, nil
}
