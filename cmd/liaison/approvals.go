package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/gen/api"
)

func newApprovals(con *console) *cobra.Command {
	c := group("approvals", "List, show and decide about tool calls that wait for a person")
	conn := newConnection(con, c)
	c.AddCommand(
		newApprovalsList(conn),
		newApprovalsShow(conn),
		newApprovalsDecision(conn, &cobra.Command{
			Use:   "approve APPROVAL...",
			Short: "Approve tool calls: they run",
			Long: `Approve tool calls, as the operator. Each runs on the service's host with the
input that "approvals show" shows, once as many people have approved it as it
needs; where that is several people, the operator is none of them. To approve again what was
approved is no error; what was denied, or ended otherwise, has exit status 5.`,
		}, api.VerdictApprove),
		newApprovalsDecision(conn, &cobra.Command{
			Use:   "deny APPROVAL...",
			Short: "Deny tool calls: they never run",
			Long: `Deny tool calls, as the operator or as the caller for whom they were asked. They
never run, and the agent is told the reason. To deny again what was denied is no
error; what was approved, or ended otherwise, has exit status 5.`,
		}, api.VerdictDeny),
	)
	return c
}

func newApprovalsList(conn *connection) *cobra.Command {
	var limit int
	var all bool
	var before, session string
	c := &cobra.Command{
		Use:   "list",
		Short: "List tool calls that wait for a person, newest first",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := conn.open()
			if err != nil {
				return err
			}
			defer s.Close()
			list, err := listApprovals(c.Context(), s, session, before, all, limit)
			if err != nil {
				return err
			}
			if conn.json {
				return writeJSON(conn.con.out, list)
			}
			return conn.con.showApprovals(list, all, session)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "also those about which nobody can decide any more")
	c.Flags().IntVar(&limit, "limit", 30, "the most approvals to list")
	c.Flags().StringVar(&before, "before", "", "go on after the approval with this id")
	c.Flags().StringVar(&session, "session", "", "only those of this session")
	_ = c.RegisterFlagCompletionFunc("session", conn.completeSession)
	return positive(c, &limit)
}

func listApprovals(ctx context.Context, s *remote.Service, session, before string, all bool, limit int) (*api.ApprovalList, error) {
	states := api.ListApprovalsParamsStateOpen
	if all {
		states = api.ListApprovalsParamsStateAll
	}
	found, next, err := collect(given(before), limit, func(before *string, limit *int) ([]api.Approval, *string, error) {
		page, err := remote.Call[api.ApprovalList](ctx, s, func(ctx context.Context) (*http.Response, error) {
			if session != "" {
				return s.API().ListSessionApprovals(ctx, session, &api.ListSessionApprovalsParams{
					State: given(api.ListSessionApprovalsParamsState(states)), Before: before, Limit: limit,
				})
			}
			return s.API().ListApprovals(ctx, &api.ListApprovalsParams{State: &states, Before: before, Limit: limit})
		})
		if err != nil {
			return nil, nil, err
		}
		return page.Approvals, page.Next, nil
	})
	if err != nil {
		return nil, err
	}
	return &api.ApprovalList{Approvals: found, Next: next}, nil
}

func (c *console) showApprovals(list *api.ApprovalList, all bool, session string) error {
	rows := make([][]string, 0, len(list.Approvals))
	for _, a := range list.Approvals {
		ends := "-"
		if open(a.State) {
			ends = c.ago(a.ExpiresAt)
		}
		rows = append(rows, []string{a.Id, string(a.State), a.ToolName, orDash(set(a.Subject)), c.ago(a.CreatedAt), ends, a.RequestedBy})
	}
	err := c.screen().Table([]terminal.Column{
		{Title: "APPROVAL"}, {Title: "STATE", Style: approvalStyle}, {Title: "TOOL"}, {Title: "ABOUT"}, {Title: "ASKED"}, {Title: "EXPIRES"}, {Title: "FOR"},
	}, rows)
	more := "liaison approvals list"
	if all {
		more += " --all"
	}
	if session != "" {
		more += " --session " + session
	}
	c.more(list.Next != nil, more+" --before "+set(list.Next))
	return err
}

// open reports whether somebody can still decide.
func open(s api.ApprovalState) bool {
	return s == api.ApprovalStatePending || s == api.ApprovalStateApproving
}

// approvalStyle colours how far a call has come.
func approvalStyle(state string) terminal.Style {
	switch api.ApprovalState(state) {
	case api.ApprovalStateDone:
		return terminal.Green
	case api.ApprovalStateFailed, api.ApprovalStateUnknown, api.ApprovalStateDenied:
		return terminal.Red
	case api.ApprovalStatePending, api.ApprovalStateApproving, api.ApprovalStateApproved, api.ApprovalStateExecuting:
		return terminal.Yellow
	}
	return terminal.Dim
}

func newApprovalsShow(conn *connection) *cobra.Command {
	return &cobra.Command{
		Use:   "show APPROVAL",
		Short: "Show what a tool call would do, who may decide and what was decided",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := conn.open()
			if err != nil {
				return err
			}
			defer s.Close()
			detail, err := getApproval(c.Context(), s, args[0])
			if err != nil {
				return err
			}
			if conn.json {
				return writeJSON(conn.con.out, detail)
			}
			return conn.con.showApproval(&detail.Approval)
		},
		ValidArgsFunction: conn.completeApproval(true),
	}
}

func getApproval(ctx context.Context, s *remote.Service, id string) (*api.ApprovalDetail, error) {
	return remote.Call[api.ApprovalDetail](ctx, s, func(ctx context.Context) (*http.Response, error) {
		return s.API().GetApproval(ctx, id)
	})
}

func (c *console) showApproval(a *api.Approval) error {
	out := c.screen()
	when := func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return terminal.Moment(*t) + " (" + c.ago(*t) + ")"
	}
	state := string(a.State)
	if r := set(a.Reason); r != "" {
		state += ": " + r
	}
	expires := ""
	if open(a.State) {
		expires = when(&a.ExpiresAt)
	}
	fields(out,
		"approval", a.Id,
		"state", state,
		"tool", a.ToolName,
		"does", set(a.Summary),
		"risk", string(a.Risk),
		"about", set(a.Subject),
		"for", a.RequestedBy,
		"who decides", whoDecides(a),
		"asked", when(&a.CreatedAt),
		"expires", expires,
		"started", when(a.StartedAt),
		"ended", when(a.EndedAt),
		"session", a.SessionId,
		"turn", a.TurnId,
		"call", a.CallId,
		"input hash", a.InputHash,
	)
	fmt.Fprintf(out, "\n%s\n%s\n", out.Styled(terminal.Bold, "input"), terminal.Text(a.InputText))
	votes := a.Votes
	if a.Decision != nil && a.Decision.Decision == api.VerdictDeny {
		votes = append(votes[:len(votes):len(votes)], *a.Decision)
	}
	for i, v := range votes {
		if i == 0 {
			fmt.Fprintf(out, "\n%s\n", out.Styled(terminal.Bold, "decisions"))
		}
		said := map[api.Verdict]string{api.VerdictApprove: "approved", api.VerdictDeny: "denied"}[v.Decision]
		line := fmt.Sprintf("%s by %s in %s, %s", said, v.By, v.Place, c.ago(v.At))
		if why := set(v.Reason); why != "" {
			line += ": " + why
		}
		fmt.Fprintln(out, terminal.Line(line))
	}
	if o := a.Outcome; o != nil {
		fmt.Fprintf(out, "\n%s\n%s\n", out.Styled(terminal.Bold, fmt.Sprintf("answer (%s)", terminal.Span(time.Duration(o.DurationMs)*time.Millisecond))), terminal.Text(o.Text))
	}
	return out.Err()
}

// whoDecides names those who may decide now.
func whoDecides(a *api.Approval) string {
	var who []string
	for _, g := range a.Approvers {
		for _, list := range []struct {
			ids    []string
			prefix string
		}{{g.Slack, "Slack "}, {g.SlackGroups, "Slack group "}, {g.Github, "GitHub "}, {g.GithubTeams, "GitHub team "}} {
			for _, id := range list.ids {
				who = append(who, list.prefix+id)
			}
		}
		if set(g.Codeowners) {
			who = append(who, "code owners")
		}
	}
	if a.OperatorMayDecide {
		who = append(who, "the operator")
	}
	text := strings.Join(who, ", ")
	if len(who) == 0 {
		text = "nobody"
	}
	if a.MinApprovals > 1 {
		text = fmt.Sprintf("%d of: %s", a.MinApprovals, text)
	}
	return text
}

// newApprovalsDecision makes a command that decides about approvals one after
// another, up to the first that is refused.
func newApprovalsDecision(conn *connection, c *cobra.Command, verdict api.Verdict) *cobra.Command {
	var reason string
	c.Args = cobra.MinimumNArgs(1)
	c.RunE = func(c *cobra.Command, ids []string) error {
		s, err := conn.open()
		if err != nil {
			return err
		}
		defer s.Close()
		for _, id := range ids {
			decided, err := decideApproval(c.Context(), s, id, api.Decision{Decision: verdict, Reason: given(reason)})
			if err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
			a := &decided.Approval
			if conn.json {
				err = writeLine(conn.con.out, decided)
			} else {
				_, err = fmt.Fprintf(conn.con.out, "%s %s\n", terminal.Line(a.Id), decidedText(a))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	c.Flags().StringVar(&reason, "reason", "", "why: told to the agent and shown on every card")
	c.ValidArgsFunction = conn.completeApproval(false)
	return c
}

func decideApproval(ctx context.Context, s *remote.Service, id string, d api.Decision) (*api.Decided, error) {
	detail, err := getApproval(ctx, s, id)
	if err != nil {
		return nil, err
	}
	return remote.Call[api.Decided](ctx, s, func(ctx context.Context) (*http.Response, error) {
		return s.API().DecideApproval(ctx, detail.Approval.SessionId, id, d)
	})
}

func decidedText(a *api.Approval) string {
	switch {
	case a.State == api.ApprovalStateApproving:
		return fmt.Sprintf("has %d of %d approvals", len(a.Votes), a.MinApprovals)
	case a.Decision != nil && a.Decision.Decision == api.VerdictApprove:
		return "is approved: " + terminal.Line(a.ToolName) + " runs"
	}
	return "is denied"
}

// completeApproval offers approvals that wait, or all of them.
func (c *connection) completeApproval(all bool) func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if all && len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.complete(cmd, func(ctx context.Context, s *remote.Service) ([]cobra.Completion, error) {
			list, err := listApprovals(ctx, s, "", "", all, maxCompleted)
			if err != nil {
				return nil, err
			}
			var offers []cobra.Completion
			for _, a := range list.Approvals {
				offers = append(offers, cobra.CompletionWithDesc(a.Id, terminal.Line(a.ToolName+" "+set(a.Subject))))
			}
			return offers, nil
		})
	}
}
