package main

import (
	"context"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/gen/api"
)

func newSessions(con *console) *cobra.Command {
	c := group("sessions", "List, show, follow and stop sessions")
	conn := newConnection(con, c)
	c.AddCommand(
		newSessionsList(conn),
		newSessionsShow(conn),
		newSessionsTail(conn),
		newSessionsStop(conn),
	)
	return c
}

func newSessionsList(conn *connection) *cobra.Command {
	var limit int
	var before, channel string
	c := &cobra.Command{
		Use:   "list",
		Short: "List sessions, newest first",
		Long: `List sessions, newest first: the operator's list has everybody's, those of
GitHub and Slack included; a named caller's has its own.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := conn.open()
			if err != nil {
				return err
			}
			defer s.Close()
			list, err := listSessions(c.Context(), s, before, channel, limit)
			if err != nil {
				return err
			}
			if conn.json {
				return writeJSON(conn.con.out, list)
			}
			return conn.con.showSessions(list)
		},
	}
	c.Flags().IntVar(&limit, "limit", 30, "the most sessions to list")
	c.Flags().StringVar(&before, "before", "", "go on after the session with this id")
	c.Flags().StringVar(&channel, "channel", "", "only sessions of this surface: github, slack or http")
	return positive(c, &limit)
}

// positive makes a limit below 1 an unusable command line.
func positive(c *cobra.Command, limit *int) *cobra.Command {
	c.PreRunE = func(*cobra.Command, []string) error {
		if *limit < 1 {
			return unusable(errLimit)
		}
		return nil
	}
	return c
}

func listSessions(ctx context.Context, s *remote.Service, before, channel string, limit int) (*api.SessionList, error) {
	sessions, next, err := collect(given(before), limit, func(before *string, limit *int) ([]api.Session, *string, error) {
		page, err := remote.Call[api.SessionList](ctx, s, func(ctx context.Context) (*http.Response, error) {
			return s.API().ListSessions(ctx, &api.ListSessionsParams{Before: before, Channel: given(channel), Limit: limit})
		})
		if err != nil {
			return nil, nil, err
		}
		return page.Sessions, page.Next, nil
	})
	if err != nil {
		return nil, err
	}
	return &api.SessionList{Ok: true, Sessions: sessions, Next: next}, nil
}

func (c *console) showSessions(list *api.SessionList) error {
	rows := make([][]string, 0, len(list.Sessions))
	for _, s := range list.Sessions {
		status := string(s.Status)
		if set(s.Paused) != "" {
			status = "paused"
		}
		rows = append(rows, []string{s.Id, status, s.Channel, c.ago(s.UpdatedAt), orDash(set(s.Title))})
	}
	err := c.screen().Table([]terminal.Column{
		{Title: "SESSION"}, {Title: "STATUS", Style: statusStyle}, {Title: "CHANNEL"}, {Title: "CHANGED"}, {Title: "TITLE"},
	}, rows)
	c.more(set(list.Next) != "", "liaison sessions list --before "+set(list.Next))
	return err
}

// more tells a person who looks at a screen how the list goes on.
func (c *console) more(there bool, command string) {
	if notes := c.notes(); there && notes.Terminal() {
		_, _ = notes.Write([]byte(notes.Styled(terminal.Dim, "more: "+terminal.Line(command)) + "\n"))
	}
}

// statusStyle colours the state of anything.
func statusStyle(status string) terminal.Style {
	switch status {
	case "completed", "done":
		return terminal.Green
	case "failed", "dead":
		return terminal.Red
	case "running", "queued", "pending", "paused", "interrupted":
		return terminal.Yellow
	case "archived", "ignored":
		return terminal.Dim
	}
	return terminal.Plain
}

func getSession(ctx context.Context, s *remote.Service, id string) (*api.SessionDetail, error) {
	return remote.Call[api.SessionDetail](ctx, s, func(ctx context.Context) (*http.Response, error) {
		return s.API().GetSession(ctx, id)
	})
}

func newSessionsStop(conn *connection) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "stop SESSION",
		Short: "Interrupt a session's turn and drop what waits",
		Long: `Interrupt the turn that runs in a session and drop the turns that wait in it.
The session stays: it takes follow-ups. Stopping one that does nothing is no error.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := conn.open()
			if err != nil {
				return err
			}
			defer s.Close()
			stopped, err := stopSession(c.Context(), s, args[0], reason)
			if err != nil {
				return err
			}
			if conn.json {
				return writeJSON(conn.con.out, stopped)
			}
			out := conn.con.screen()
			conn.con.showStopped(out, stopped)
			return out.Err()
		},
		ValidArgsFunction: conn.completeSession,
	}
	c.Flags().StringVar(&reason, "reason", "", "one line for the record")
	return c
}

func stopSession(ctx context.Context, s *remote.Service, id, reason string) (*api.Stopped, error) {
	return remote.Call[api.Stopped](ctx, s, func(ctx context.Context) (*http.Response, error) {
		return s.API().StopSession(ctx, id, api.StopRequest{Reason: given(reason)})
	})
}

// took is how long something lasted, as far as that is known.
func took(from, to *time.Time) string {
	if from == nil || to == nil {
		return "-"
	}
	return terminal.Span(to.Sub(*from))
}
