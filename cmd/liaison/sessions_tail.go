package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
)

func newSessionsTail(conn *connection) *cobra.Command {
	var from int64
	var noFollow bool
	c := &cobra.Command{
		Use:   "tail SESSION",
		Short: "Show a session's events, then those that come",
		Long: `Show what is recorded of a session, then follow it until Ctrl-C. A connection
that is cut is made again; no event is shown twice or left out.

With --json every event is one line of JSON. Without, pieces of a text that is
being written are left out: it is shown when it is whole.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if from < 0 {
				return unusable(fmt.Errorf("--from: events are counted from 0"))
			}
			s, err := conn.open()
			if err != nil {
				return err
			}
			defer s.Close()
			show := conn.con.showEvent(conn.con.screen())
			if conn.json {
				show = conn.con.writeEvent
			}
			if noFollow {
				return s.Recorded(c.Context(), args[0], from, show)
			}
			return s.Follow(c.Context(), args[0], from, show, conn.con.lost)
		},
		ValidArgsFunction: conn.completeSession,
	}
	c.Flags().Int64Var(&from, "from", 0, "index of the first event to show")
	c.Flags().BoolVar(&noFollow, "no-follow", false, "end after what is recorded now")
	return c
}

// writeEvent writes an event as it came.
func (c *console) writeEvent(e *remote.Event) error {
	_, err := c.out.Write(append(e.Line, '\n'))
	return err
}

// lost tells a person that a stream will be opened again.
func (c *console) lost(err error) {
	if notes := c.notes(); notes.Terminal() {
		fmt.Fprintln(notes, notes.Styled(terminal.Dim, terminal.Line(err.Error())+"; trying again"))
	}
}

// eventData is the union of what people are shown of events.
type eventData struct {
	Channel   string
	Title     string
	Text      string
	Principal string
	Position  int
	Attempt   int
	Reason    string
	WaitsFor  string
	Step      string
	Note      string
	Error     string
	Name      string
	CallID    string
	IsError   bool
	// Of a call that waits for a person, and of what was decided about it.
	ApprovalID string
	Args       json.RawMessage
	State      string
	By         string
	Place      string
	Result     json.RawMessage
	Actions    []struct {
		CallID string
		Name   string
		Args   json.RawMessage
	}
	Usage      struct{ TotalTokens int64 }
	CostUSD    *float64
	DurationMS int64
}

// maxShown bounds what is shown of a tool's arguments or its result, in columns.
const maxShown = 160

// showEvent returns what writes one line for an event, and whole texts below it.
func (c *console) showEvent(out *terminal.Output) func(*remote.Event) error {
	return func(e *remote.Event) error {
		var d eventData
		// A field of another kind than ours is left out, as the rest of it is shown.
		_ = e.Decode(&d)
		line, block, style := describe(e, &d)
		if block == "" && line == hidden {
			return nil
		}
		head := out.Styled(terminal.Dim, e.At.Local().Format(time.TimeOnly)) + " "
		if line == "" {
			head += out.Styled(style, terminal.Line(e.Type))
		} else {
			head += out.Styled(style, fmt.Sprintf("%-19s", terminal.Line(e.Type))) + " " + terminal.Line(line)
		}
		fmt.Fprintln(out, head)
		if block != "" {
			for l := range strings.Lines(strings.TrimRight(terminal.Text(block), "\n")) {
				fmt.Fprintf(out, "         │ %s\n", strings.TrimRight(l, "\n"))
			}
		}
		return out.Err()
	}
}

// hidden is what [describe] says of events that are not shown.
const hidden = "\x00"

// describe says what an event is about: a line, a text to be shown whole, and
// how it looks. Nothing is shown of pieces that come whole later.
func describe(e *remote.Event, d *eventData) (line, block string, style terminal.Style) {
	switch e.Type {
	case "message.appended", "reasoning.appended", "step.started":
		return hidden, "", terminal.Plain
	case "session.started":
		return strings.TrimSpace(d.Channel + " " + d.Title), "", terminal.Bold
	case "message.received":
		return d.Principal, d.Text, terminal.Bold
	case "message.completed":
		return "", d.Text, terminal.Bold
	case "reasoning.completed":
		return "", d.Text, terminal.Dim
	case "turn.queued":
		return queued(d), "", terminal.Yellow
	case "turn.started":
		return set(e.TurnId), "", terminal.Yellow
	case "step.completed":
		return fmt.Sprintf("%s: %s", d.Step, d.Note), "", terminal.Plain
	case "actions.requested":
		calls := make([]string, 0, len(d.Actions))
		for _, a := range d.Actions {
			calls = append(calls, call(a.Name, a.Args))
		}
		return strings.Join(calls, "; "), "", terminal.Plain
	case "action.result":
		if d.IsError {
			return d.Name + " failed: " + d.Error + compact(d.Result), "", terminal.Red
		}
		return d.Name + " " + compact(d.Result), "", terminal.Plain
	case "action.approval_requested":
		return parked(d) + ": " + call(d.Name, d.Args), "", terminal.Yellow
	case "action.approval_resolved":
		return resolved(d), "", terminal.Yellow
	case "turn.completed":
		return spent(d.Usage.TotalTokens, d.CostUSD, time.Duration(d.DurationMS)*time.Millisecond), "", terminal.Green
	case "turn.failed":
		return failure(d), "", terminal.Red
	}
	line = compact(raw(e))
	if line == "{}" {
		line = ""
	}
	return line, "", terminal.Plain
}

func queued(d *eventData) string {
	said := "starts at once"
	if d.Position > 0 {
		said = fmt.Sprintf("%d before it", d.Position)
	}
	if d.WaitsFor != "" {
		said = "waits for " + d.WaitsFor
	} else if d.Reason != "" {
		said = d.Reason
	}
	return said
}

// parked names the approval of a call that waits.
func parked(d *eventData) string { return d.ApprovalID + " waits for a person" }

// resolved says what was decided about a call, by whom and why.
func resolved(d *eventData) string {
	said := fmt.Sprintf("%s is %s: %s", d.ApprovalID, d.State, d.Name)
	if d.By != "" {
		said += ", by " + d.By
	}
	if d.Place != "" {
		said += " in " + d.Place
	}
	if d.Reason != "" {
		said += ": " + d.Reason
	}
	return said
}

// failure joins the error and the reason of a turn.
func failure(d *eventData) string {
	if d.Reason == "" || strings.Contains(d.Error, d.Reason) {
		return d.Error
	}
	return strings.TrimPrefix(d.Error+": "+d.Reason, ": ")
}

// spent sums a turn up.
func spent(tokens int64, usd *float64, lasted time.Duration) string {
	said := terminal.Span(lasted) + ", " + terminal.Count(tokens) + " tokens"
	if usd != nil && *usd > 0 {
		said += ", about " + dollars(usd)
	}
	return said
}

// call writes a tool's name with its arguments.
func call(name string, args json.RawMessage) string {
	return strings.TrimSpace(name + " " + compact(args))
}

// compact writes JSON on one line, cut where it becomes long.
func compact(value json.RawMessage) string {
	var b bytes.Buffer
	if len(value) == 0 || json.Compact(&b, value) != nil {
		return ""
	}
	return terminal.Cut(terminal.Line(b.String()), maxShown)
}

// raw is the data of an event as it came.
func raw(e *remote.Event) json.RawMessage {
	var data json.RawMessage
	_ = e.Decode(&data)
	return data
}
