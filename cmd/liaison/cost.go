package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/gen/api"
)

func newCost(con *console) *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use:   "cost [SESSION]",
		Short: "Show tokens and estimated cost, of a session or of the newest ones",
		Long: `Show what a session's turns used, or without SESSION what each of the newest
sessions did. Costs are estimates, from the prices in LIAISON_MODEL_PRICES; a turn
whose model has no price there counts tokens only.

With --json a session's report is the API's; without SESSION it is one line for
each session.`,
		Args: cobra.MaximumNArgs(1),
	}
	conn := newConnection(con, c)
	c.RunE = func(c *cobra.Command, args []string) error {
		s, err := conn.open()
		if err != nil {
			return err
		}
		defer s.Close()
		if len(args) == 0 {
			return conn.costs(c.Context(), s, limit)
		}
		report, err := sessionCost(c.Context(), s, args[0])
		if err != nil {
			return err
		}
		if conn.json {
			return writeJSON(con.out, report)
		}
		return con.showCost(report)
	}
	c.ValidArgsFunction = conn.completeSession
	c.Flags().IntVar(&limit, "limit", 20, "without SESSION: how many sessions")
	return positive(c, &limit)
}

func sessionCost(ctx context.Context, s *remote.Service, id string) (*api.CostReport, error) {
	return remote.Call[api.CostReport](ctx, s, func(ctx context.Context) (*http.Response, error) {
		return s.API().GetSessionCost(ctx, id)
	})
}

// costColumns begin both tables; the last column differs.
func costColumns(first, last string) []terminal.Column {
	return []terminal.Column{
		{Title: first}, {Title: "TOOLS", Right: true}, {Title: "IN", Right: true}, {Title: "CACHED", Right: true},
		{Title: "OUT", Right: true}, {Title: "COST", Right: true}, {Title: last},
	}
}

func costRow(first string, tools int, u api.Usage, usd *float64, last string) []string {
	return []string{
		first, fmt.Sprint(tools), terminal.Count(u.InputTokens), terminal.Count(u.CacheReadTokens),
		terminal.Count(u.OutputTokens), dollars(usd), orDash(last),
	}
}

func (c *console) showCost(r *api.CostReport) error {
	rows := make([][]string, 0, len(r.Turns)+1)
	for _, t := range r.Turns {
		rows = append(rows, costRow(t.TurnId, t.ToolCalls, t.Usage, t.CostUsd, set(t.Model)))
	}
	rows = append(rows, costRow("total", r.Total.ToolCalls, r.Total.Usage, r.Total.CostUsd, unpriced(r.Total.Unpriced)))
	return c.screen().Table(costColumns("TURN", "MODEL"), rows)
}

// unpriced says that a sum is not the whole.
func unpriced(turns int) string {
	if turns == 0 {
		return ""
	}
	return fmt.Sprintf("without %d turns of models without a price", turns)
}

// costs reports on the newest sessions.
func (c *connection) costs(ctx context.Context, s *remote.Service, limit int) error {
	list, err := listSessions(ctx, s, "", "", limit)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, session := range list.Sessions {
		r, err := sessionCost(ctx, s, session.Id)
		if err != nil {
			return fmt.Errorf("session %s: %w", session.Id, err)
		}
		if c.json {
			if err := writeLine(c.con.out, r); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, costRow(session.Id, r.Total.ToolCalls, r.Total.Usage, r.Total.CostUsd, set(session.Title)))
	}
	if c.json {
		return nil
	}
	return c.con.screen().Table(costColumns("SESSION", "TITLE"), rows)
}
