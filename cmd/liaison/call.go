package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/gen/api"
)

// calling is one "liaison call".
type calling struct {
	conn           *connection
	input, session string
	dryRun         bool
}

func newCall(con *console) *cobra.Command {
	r := &calling{}
	c := &cobra.Command{
		Use:   "call [flags] TOOL",
		Short: "Call a tool of the service's, without an agent",
		Long: `Call a tool as an agent would: the same checks, limits and approvals hold. What it
answers goes to standard output.

Without --session the call works in a directory of its own, which is gone
afterwards. With it, it works in the session's workspace and is on its record; a
session whose turn runs or waits is busy (exit status 5).

A tool that fails has exit status 1. A call that waits for a person has exit status
8, and its approval's id is printed: it runs once somebody approves it.`,
		Example: `  liaison call weather --input '{"city":"Berlin"}'
  liaison call deploy --input @deploy.json --session ses_01J… --dry-run
  jq -n '{service: "shop"}' | liaison call deploy --input -`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return r.run(c.Context(), args[0]) },
	}
	r.conn = newConnection(con, c)
	f := c.Flags()
	f.StringVar(&r.input, "input", "{}", "the tool's `arguments`: a JSON object, @FILE, or - for standard input")
	f.StringVar(&r.session, "session", "", "call it in this session")
	f.BoolVar(&r.dryRun, "dry-run", false, "let a call that writes only say so, and not run")
	_ = c.RegisterFlagCompletionFunc("session", r.conn.completeSession)
	c.ValidArgsFunction = r.completeTool
	return c
}

func (r *calling) run(ctx context.Context, tool string) error {
	input, err := r.read()
	if err != nil {
		return unusable(fmt.Errorf("--input: %w", err))
	}
	s, err := r.conn.open()
	if err != nil {
		return err
	}
	defer s.Close()
	// A tool may take minutes, and the service bounds it.
	answer, err := remote.CallLong[json.RawMessage](ctx, s, func(ctx context.Context) (*http.Response, error) {
		return s.API().CallTool(ctx, tool, api.ToolCallRequest{Input: input, SessionId: given(r.session), DryRun: given(r.dryRun)})
	})
	if err != nil {
		return err
	}
	var got struct {
		api.ToolCallResult
		ApprovalID string `json:"approvalId"`
	}
	if err := json.Unmarshal(*answer, &got); err != nil {
		return fmt.Errorf("read the tool's answer: %w", err)
	}
	con := r.conn.con
	switch {
	case r.conn.json:
		err = writeJSON(con.out, answer)
	case got.ApprovalID != "":
		_, err = fmt.Fprintln(con.out, terminal.Line(got.ApprovalID))
		fmt.Fprintf(con.notes(), "liaison: the call waits for a person; \"liaison approvals show %s\" says for whom\n", terminal.Line(got.ApprovalID))
	default:
		err = con.showResult(got.Result)
	}
	switch {
	case err != nil:
		return err
	case got.ApprovalID != "":
		return exitStatus{status: exitWaiting}
	case got.IsError:
		return exitStatus{status: exitFailed}
	}
	return nil
}

// read returns the arguments of --input.
func (r *calling) read() (json.RawMessage, error) {
	data, err := []byte(r.input), error(nil)
	if name, ok := strings.CutPrefix(r.input, "@"); ok {
		data, err = readSmall(name, maxMessage)
	} else if r.input == "-" {
		data, err = readAtMost(r.conn.con.in, "standard input", maxMessage)
	}
	if err != nil {
		return nil, err
	}
	if !json.Valid(data) {
		return nil, errors.New(`it is not JSON; write it as '{"name":"value"}', or @FILE, or - for standard input`)
	}
	return bytes.TrimSpace(data), nil
}

// showResult writes what a tool answered: a text as it is, a value as JSON.
func (c *console) showResult(result json.RawMessage) error {
	var text string
	if json.Unmarshal(result, &text) != nil {
		return writeJSON(c.out, result)
	}
	out := c.screen()
	fmt.Fprintln(out, strings.TrimSuffix(terminal.Text(text), "\n"))
	return out.Err()
}

func (r *calling) completeTool(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return r.conn.complete(cmd, func(ctx context.Context, s *remote.Service) ([]cobra.Completion, error) {
		list, err := listTools(ctx, s, r.session)
		if err != nil {
			return nil, err
		}
		var offers []cobra.Completion
		for _, t := range list.Tools {
			offers = append(offers, cobra.CompletionWithDesc(t.Name, terminal.Line(t.Description)))
		}
		return offers, nil
	})
}

func newToolsList(con *console) *cobra.Command {
	var session string
	c := &cobra.Command{
		Use:   "tools",
		Short: `List the tools that "liaison call" can call`,
		Long: `List the tools that can be called without an agent: what they do to the world,
and which calls of them wait for a person. --json has the schemas of their input.`,
		Args: cobra.NoArgs,
	}
	conn := newConnection(con, c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := conn.open()
		if err != nil {
			return err
		}
		defer s.Close()
		list, err := listTools(c.Context(), s, session)
		if err != nil {
			return err
		}
		if conn.json {
			return writeJSON(con.out, list)
		}
		rows := make([][]string, 0, len(list.Tools))
		for _, t := range list.Tools {
			rows = append(rows, []string{t.Name, t.Effect, t.Approval, t.Description})
		}
		return con.screen().Table([]terminal.Column{{Title: "TOOL"}, {Title: "EFFECT"}, {Title: "APPROVAL"}, {Title: "DESCRIPTION"}}, rows)
	}
	c.Flags().StringVar(&session, "session", "", "what can be called in this session")
	_ = c.RegisterFlagCompletionFunc("session", conn.completeSession)
	return c
}

func listTools(ctx context.Context, s *remote.Service, session string) (*api.ToolList, error) {
	return remote.Call[api.ToolList](ctx, s, func(ctx context.Context) (*http.Response, error) {
		return s.API().ListTools(ctx, &api.ListToolsParams{Session: given(session)})
	})
}
