package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
)

// turnError says that the turn that was followed did not complete.
type turnError struct {
	turn        string
	why         string
	interrupted bool
}

func (e *turnError) Error() string {
	how := "failed"
	if e.interrupted {
		how = "was interrupted"
	}
	return fmt.Sprintf("turn %s %s: %s", e.turn, how, e.why)
}

// replyWriter shows one turn: the reply on standard output as it is written,
// and on a terminal what else happens on standard error.
type replyWriter struct {
	out, notes *terminal.Output
	turn       string
	// written is the part of the present message that was shown; open is set while
	// its last line has no end; said once any message was.
	written    strings.Builder
	open, said bool
}

// mine reports whether an event is of the turn that is followed.
func (w *replyWriter) mine(e *remote.Event) bool { return set(e.TurnId) == w.turn }

// event shows one event. It returns [remote.ErrStop] at the end of the turn, and
// a [*turnError] at a bad one.
func (w *replyWriter) event(e *remote.Event) error {
	if !w.mine(e) {
		return nil
	}
	var d eventData
	// A field of another kind than ours is left out, as the rest of it is shown.
	_ = e.Decode(&d)
	switch e.Type {
	case "message.appended":
		w.write(d.Text)
	case "message.completed":
		w.complete(d.Text)
	case "turn.queued":
		if d.Position > 0 || d.WaitsFor != "" || d.Reason != "" {
			w.note(terminal.Yellow, "queued: "+queued(&d))
		}
	case "actions.requested":
		for _, a := range d.Actions {
			w.note(terminal.Dim, "→ "+call(a.Name, a.Args))
		}
	case "action.result":
		if d.IsError {
			w.note(terminal.Red, "← "+d.Name+" failed: "+d.Error+compact(d.Result))
		}
	case "action.approval_requested":
		w.note(terminal.Yellow, parked(&d)+`; "liaison approvals show" says for whom`)
	case "action.approval_resolved":
		w.note(terminal.Yellow, resolved(&d))
	case "turn.completed":
		var result string
		if !w.said && json.Unmarshal(d.Result, &result) == nil {
			w.complete(result)
		}
		w.note(terminal.Dim, spent(d.Usage.TotalTokens, d.CostUSD, time.Duration(d.DurationMS)*time.Millisecond))
		return w.end(remote.ErrStop)
	case "turn.failed":
		return w.end(w.failed(e))
	}
	return w.out.Err()
}

// eventJSON returns what writes the events of the turn as they came.
func (w *replyWriter) eventJSON(out io.Writer) func(*remote.Event) error {
	return func(e *remote.Event) error {
		if !w.mine(e) {
			return nil
		}
		if _, err := out.Write(append(e.Line, '\n')); err != nil {
			return err
		}
		switch e.Type {
		case "turn.completed":
			return remote.ErrStop
		case "turn.failed":
			return w.failed(e)
		}
		return nil
	}
}

func (w *replyWriter) failed(e *remote.Event) error {
	var d struct {
		eventData
		Interrupted bool
	}
	_ = e.Decode(&d)
	return &turnError{turn: w.turn, why: failure(&d.eventData), interrupted: d.Interrupted}
}

// end returns how the turn ended, unless it could not be shown.
func (w *replyWriter) end(how error) error {
	w.endLine()
	if err := w.out.Err(); err != nil {
		return err
	}
	return how
}

func (w *replyWriter) write(text string) {
	if text == "" {
		return
	}
	w.said = true
	w.written.WriteString(text)
	fmt.Fprint(w.out, terminal.Text(text))
	w.open = !strings.HasSuffix(text, "\n")
}

// complete shows what was not shown of a whole message. One that is other than
// its pieces is shown again.
func (w *replyWriter) complete(text string) {
	rest, same := strings.CutPrefix(text, w.written.String())
	if !same {
		w.endLine()
		rest = text
	}
	w.write(rest)
	w.endLine()
	w.written.Reset()
}

func (w *replyWriter) endLine() {
	if w.open {
		fmt.Fprintln(w.out)
		w.open = false
	}
}

// note tells a person at a terminal something that is not part of the reply.
func (w *replyWriter) note(style terminal.Style, text string) {
	if w.notes.Terminal() {
		w.endLine()
		fmt.Fprintln(w.notes, w.notes.Styled(style, terminal.Line(text)))
	}
}

// writeLine writes a value as one line of JSON.
func writeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
