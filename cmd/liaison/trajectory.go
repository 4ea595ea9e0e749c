package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/trajectory"
	"github.com/liaison-bot/liaison/gen/api"
	"github.com/liaison-bot/liaison/state"
)

func newTrajectory(con *console) *cobra.Command {
	var events string
	var conn *connection
	c := &cobra.Command{
		Use:   "trajectory SESSION | --events FILE",
		Short: "Show what a session did: tool calls, reply, usage",
		Long: `Show what a session did, turn by turn: the tools that the agent called with what
they answered, the reply, the tokens. With --events it reads a saved record
(sessions/<id>/events.ndjson below LIAISON_STATE_DIR, or what "sessions tail
--json --no-follow" printed; "-" is standard input) and needs no service. Events
of unknown types are skipped, and a last line that was cut short is said to be.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if (len(args) == 1) == (events != "") {
				return unusable(errors.New("name a session of the running service, or a saved record with --events"))
			}
			var t *trajectory.Trajectory
			var err error
			if events != "" {
				t, err = con.savedTrajectory(events)
			} else {
				t, err = conn.trajectory(c.Context(), args[0])
			}
			if err != nil {
				return err
			}
			if conn.json {
				return writeJSON(con.out, t)
			}
			return con.showTrajectory(t)
		},
	}
	conn = newConnection(con, c)
	c.Flags().StringVar(&events, "events", "", "saved record of a session (events.ndjson); - is standard input")
	c.ValidArgsFunction = conn.completeSession
	return c
}

func (c *console) savedTrajectory(name string) (*trajectory.Trajectory, error) {
	in := c.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, unusable(err)
		}
		defer f.Close()
		in = f
	}
	t, err := trajectory.Read(in)
	if errors.Is(err, trajectory.ErrNotARecord) || errors.Is(err, trajectory.ErrEmpty) {
		return nil, unusable(fmt.Errorf("%s: %w", name, err))
	}
	return t, err
}

func (c *connection) trajectory(ctx context.Context, session string) (*trajectory.Trajectory, error) {
	s, err := c.open()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	body, err := s.Open(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.API().GetSessionEvents(ctx, session, &api.GetSessionEventsParams{})
	})
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return trajectory.Read(body)
}

func (c *console) showTrajectory(t *trajectory.Trajectory) error {
	out := c.screen()
	fields(out, "session", t.SessionID, "channel", t.Channel, "title", t.Title)
	for _, turn := range t.Turns {
		showTurn(out, turn)
	}
	fmt.Fprintf(out, "\n%s\n", out.Styled(terminal.Bold, usageLine(t.Usage, t.CostUSD)))
	if t.Torn {
		fmt.Fprintln(out, "The last line was cut short and is left out.")
	}
	return out.Err()
}

func showTurn(out *terminal.Output, t *trajectory.Turn) {
	head := strings.TrimSpace(t.TurnID + " " + t.Status)
	if !t.StartedAt.IsZero() && !t.EndedAt.IsZero() {
		head += " in " + terminal.Span(t.EndedAt.Sub(t.StartedAt))
	}
	if t.Model != "" {
		head += " with " + t.Model
	}
	fmt.Fprintf(out, "\n%s\n", out.Styled(statusStyle(t.Status), terminal.Line(head)))
	quote(out, "> ", t.Message)
	for _, s := range t.Steps {
		fmt.Fprintf(out, "  %s\n", terminal.Line(fmt.Sprintf("%s: %s (%s)", s.Name, s.Note, terminal.Span(time.Duration(s.DurationMS)*time.Millisecond))))
	}
	for i, call := range t.ToolCalls {
		showCall(out, i+1, call)
	}
	quote(out, "", t.Reply)
	if t.Error != "" {
		fmt.Fprintf(out, "  %s\n", out.Styled(terminal.Red, terminal.Line(t.Error)))
	}
	if t.Usage.TotalTokens > 0 {
		fmt.Fprintf(out, "  %s\n", out.Styled(terminal.Dim, usageLine(t.Usage, t.CostUSD)))
	}
}

func showCall(out *terminal.Output, number int, c *trajectory.ToolCall) {
	fmt.Fprintf(out, "  %d. %s\n", number, terminal.Line(call(c.Name, c.Args)))
	style, said := terminal.Dim, "→ "+compact(c.Result)
	switch {
	case !c.Done:
		style, said = terminal.Yellow, "→ no end is recorded"
	case c.IsError:
		style, said = terminal.Red, "→ failed: "+c.Error+compact(c.Result)
	}
	if c.DurationMS > 0 {
		said += " (" + terminal.Span(time.Duration(c.DurationMS)*time.Millisecond) + ")"
	}
	fmt.Fprintf(out, "     %s\n", out.Styled(style, terminal.Line(said)))
}

// quote writes a text of several lines.
func quote(out io.Writer, mark, text string) {
	for l := range strings.Lines(strings.TrimRight(terminal.Text(text), "\n")) {
		fmt.Fprintf(out, "  %s%s\n", mark, strings.TrimRight(l, "\n"))
	}
}

func usageLine(u state.Usage, usd float64) string {
	said := fmt.Sprintf("%s tokens: %s in (%s from the cache), %s out",
		terminal.Count(u.TotalTokens), terminal.Count(u.InputTokens), terminal.Count(u.CacheReadTokens), terminal.Count(u.OutputTokens))
	if usd > 0 {
		said += ", about " + dollars(&usd)
	}
	return said
}
