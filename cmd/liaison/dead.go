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

func newDead(con *console) *cobra.Command {
	c := group("dead", "List what was given up, try it again, or take it off the list")
	conn := newConnection(con, c)
	c.AddCommand(
		newDeadList(conn),
		newDeadDecision(conn, &cobra.Command{
			Use:   "retry LETTER...",
			Short: "Try once more what was given up",
		}, "will be tried again", func(ctx context.Context, s *remote.Service, id string) (*http.Response, error) {
			return s.API().RetryDead(ctx, api.DeadRequest{Id: id})
		}),
		newDeadDecision(conn, &cobra.Command{
			Use:   "drop LETTER...",
			Short: "Take what was given up off the list",
		}, "is dropped", func(ctx context.Context, s *remote.Service, id string) (*http.Response, error) {
			return s.API().DropDead(ctx, api.DeadRequest{Id: id})
		}),
	)
	return c
}

func newDeadList(conn *connection) *cobra.Command {
	var limit int
	var after string
	c := &cobra.Command{
		Use:   "list",
		Short: "List deliveries and writes that were given up, with the reason",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := conn.open()
			if err != nil {
				return err
			}
			defer s.Close()
			list, err := listDead(c.Context(), s, after, limit)
			if err != nil {
				return err
			}
			if conn.json {
				return writeJSON(conn.con.out, list)
			}
			return conn.con.showDead(list)
		},
	}
	c.Flags().IntVar(&limit, "limit", 100, "the most letters to list")
	c.Flags().StringVar(&after, "after", "", "go on after the letter with this id")
	return positive(c, &limit)
}

func listDead(ctx context.Context, s *remote.Service, after string, limit int) (*api.DeadList, error) {
	dead, next, err := collect(given(after), limit, func(after *string, limit *int) ([]api.DeadLetter, *string, error) {
		page, err := remote.Call[api.DeadList](ctx, s, func(ctx context.Context) (*http.Response, error) {
			return s.API().ListDead(ctx, &api.ListDeadParams{After: after, Limit: limit})
		})
		if err != nil {
			return nil, nil, err
		}
		return page.Dead, page.Next, nil
	})
	if err != nil {
		return nil, err
	}
	return &api.DeadList{Ok: true, Dead: dead, Next: next}, nil
}

func (c *console) showDead(list *api.DeadList) error {
	rows := make([][]string, 0, len(list.Dead))
	for _, d := range list.Dead {
		rows = append(rows, []string{c.ago(d.At), d.Id, d.Reason})
	}
	err := c.screen().Table([]terminal.Column{{Title: "GIVEN UP"}, {Title: "LETTER"}, {Title: "REASON"}}, rows)
	c.more(list.Next != nil, "liaison dead list --after "+set(list.Next))
	return err
}

// newDeadDecision makes a command that decides about letters one after another,
// up to the first that is refused.
func newDeadDecision(conn *connection, c *cobra.Command, done string, decide func(context.Context, *remote.Service, string) (*http.Response, error)) *cobra.Command {
	c.Args = cobra.MinimumNArgs(1)
	c.RunE = func(c *cobra.Command, ids []string) error {
		s, err := conn.open()
		if err != nil {
			return err
		}
		defer s.Close()
		for _, id := range ids {
			accepted, err := remote.Call[api.Accepted](c.Context(), s, func(ctx context.Context) (*http.Response, error) {
				return decide(ctx, s, id)
			})
			if err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
			if conn.json {
				err = writeLine(conn.con.out, accepted)
			} else {
				_, err = fmt.Fprintf(conn.con.out, "%s %s\n", terminal.Line(id), done)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return c
}
