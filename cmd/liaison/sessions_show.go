package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/gen/api"
)

func newSessionsShow(conn *connection) *cobra.Command {
	return &cobra.Command{
		Use:   "show SESSION",
		Short: "Show a session and its turns",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := conn.open()
			if err != nil {
				return err
			}
			defer s.Close()
			detail, err := getSession(c.Context(), s, args[0])
			if err != nil {
				return err
			}
			if conn.json {
				return writeJSON(conn.con.out, detail)
			}
			return conn.con.showSession(detail)
		},
		ValidArgsFunction: conn.completeSession,
	}
}

// fields writes names and values below each other; those without a value are left out.
func fields(out *terminal.Output, pairs ...string) {
	width := 0
	for i := 0; i < len(pairs); i += 2 {
		width = max(width, len(pairs[i]))
	}
	for i := 0; i < len(pairs); i += 2 {
		if value := terminal.Line(pairs[i+1]); value != "" {
			fmt.Fprintf(out, "%s %s\n", out.Styled(terminal.Bold, fmt.Sprintf("%-*s", width, pairs[i])), value)
		}
	}
}

func (c *console) showSession(d *api.SessionDetail) error {
	out := c.screen()
	s := &d.Session
	kind := []string{s.Channel, string(s.Mode), string(s.Status)}
	if set(s.DryRun) {
		kind = append(kind, "dry run")
	}
	fields(out,
		"session", s.Id,
		"title", set(s.Title),
		"kind", strings.Join(kind, ", "),
		"owner", set(s.Principal),
		"paused", set(s.Paused),
		"revision", set(s.Revision),
		"created", terminal.Moment(s.CreatedAt)+" ("+c.ago(s.CreatedAt)+")",
		"changed", terminal.Moment(s.UpdatedAt)+" ("+c.ago(s.UpdatedAt)+")",
		"dashboard", d.PlaygroundUrl,
	)
	if len(d.Turns) == 0 {
		fmt.Fprintln(out, "\nno turn yet")
		return out.Err()
	}
	fmt.Fprintln(out)
	rows := make([][]string, 0, len(d.Turns))
	for _, t := range d.Turns {
		message := t.Message
		if n := set(t.Gathered); n > 0 {
			message = fmt.Sprintf("(and %d more) %s", n, message)
		}
		rows = append(rows, []string{
			t.Id, string(t.Status), c.ago(t.QueuedAt), took(t.StartedAt, t.EndedAt),
			fmt.Sprint(t.ToolCalls), terminal.Count(t.Usage.TotalTokens), dollars(t.CostUsd), message,
		})
	}
	if err := out.Table([]terminal.Column{
		{Title: "TURN"}, {Title: "STATUS", Style: statusStyle}, {Title: "ASKED"}, {Title: "TOOK", Right: true},
		{Title: "TOOLS", Right: true}, {Title: "TOKENS", Right: true}, {Title: "COST", Right: true}, {Title: "MESSAGE"},
	}, rows); err != nil {
		return err
	}
	for _, t := range d.Turns {
		why := set(t.Reason)
		if why == "" {
			why = set(t.WaitsFor)
		}
		if why != "" {
			fmt.Fprintf(out, "%s %s: %s\n", terminal.Line(t.Id), out.Styled(statusStyle(string(t.Status)), terminal.Line(string(t.Status))), terminal.Line(why))
		}
	}
	return out.Err()
}

func (c *console) showStopped(out *terminal.Output, s *api.Stopped) {
	turn := set(s.Interrupted)
	switch {
	case turn == "" && len(s.Dropped) == 0:
		fmt.Fprintf(out, "nothing was running or waiting in %s\n", terminal.Line(s.SessionId))
	case turn != "":
		fmt.Fprintf(out, "interrupted %s\n", terminal.Line(turn))
	}
	for _, id := range s.Dropped {
		fmt.Fprintf(out, "dropped %s\n", terminal.Line(id))
	}
}

// dollars writes an estimated cost.
func dollars(usd *float64) string {
	if usd == nil {
		return "-"
	}
	return fmt.Sprintf("$%.4f", *usd)
}
