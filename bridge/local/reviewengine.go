package local

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/bridge/local/reviewer"
)

// reviewerModel is the id of the built-in reviewer.
const reviewerModel = "liaison-reviewer"

// The tools that the reviewer's steps are shown as.
const (
	toolRead = "read"
	toolGrep = "grep"
)

// fragmentBytes is about how much text one assistant message carries: a
// paragraph or two, as people would read it arriving.
const fragmentBytes = 600

// reviewEngine runs the built-in reviewer as if it were a model: fixed rules
// over the evidence in the working directory, no network and no tokens.
type reviewEngine struct{}

func (reviewEngine) Models() []model {
	return []model{{
		ID:          reviewerModel,
		Name:        "Liaison built-in reviewer",
		Description: "Reviews the pull request in the working directory by fixed rules: no model, no network, the same answer each time.",
	}}
}

func (reviewEngine) Tools() []string { return []string{toolGrep, toolRead} }

func (reviewEngine) Abilities() abilities { return abilities{CustomTools: true} }

func (reviewEngine) Run(ctx context.Context, t task, emit func(event)) (answer, error) {
	began := time.Now()
	if !slices.Contains(t.Tools, toolRead) {
		return answer{}, &runFailure{
			Code:   "tool_not_allowed",
			Reason: "the built-in reviewer needs the tool read, which this agent may not use; allow read, or choose another model",
		}
	}
	emit(thought{Text: "I am a set of fixed rules, not a model. I read the manifest of the pull request first, " +
		"then the changed files, and report what deserves a person's look, the most severe first."})
	emit(thought{Took: time.Since(began)})

	if text, ok := outcomeHeard(t.Prompt); ok {
		return speak(text, emit), nil
	}
	if text, ok, err := announced(ctx, t); ok || err != nil {
		return speak(text, emit), err
	}
	trace := func(s reviewer.Step) { emit(stepEvent(t, s)) }
	text, asked, err := reviewer.Answer(ctx, t.Dir, trace)
	if asked || err != nil {
		return speak(text, emit), err
	}
	report, err := reviewer.Review(ctx, t.Dir, trace)
	if err != nil {
		return answer{}, err
	}
	text = report.Markdown()
	if !report.NoEvidence {
		if err := submit(ctx, t, report); err != nil {
			return answer{}, err
		}
		told, err := label(ctx, t, report)
		if err != nil {
			return answer{}, err
		}
		if told != "" {
			text = strings.TrimRight(text, "\n") + "\n\n" + told
		}
		text = fmt.Sprintf("%s\n\n<!-- liaison:findings errors=%d warnings=%d -->\n", strings.TrimRight(text, "\n"),
			report.Count(reviewer.SeverityError), report.Count(reviewer.SeverityWarning))
	}
	return speak(text, emit), nil
}

// speak says the answer piece by piece.
func speak(text string, emit func(event)) answer {
	for _, fragment := range fragments(text, fragmentBytes) {
		emit(said{Text: fragment})
	}
	return answer{Text: text}
}

// stepEvent shows a step of the review as a tool call. A sweep is shown as
// reading when the agent may not use grep: reading is what it does.
func stepEvent(t task, s reviewer.Step) event {
	// Unique for the agent: callers key calls by agent and call id.
	callID := fmt.Sprintf("call-%s-%d", strings.TrimPrefix(t.RunID, runPrefix), s.Call)
	name := s.Tool
	if !slices.Contains(t.Tools, name) {
		name = toolRead
	}
	args := map[string]any{"path": s.Path}
	if !s.Done {
		return toolStart{CallID: callID, Name: name, Args: args}
	}
	status := "success"
	if s.Failed {
		status = "error"
	}
	return toolEnd{CallID: callID, Name: name, Args: args, Failed: s.Failed,
		Result: map[string]any{"status": status, "value": map[string]any{"summary": s.Summary, "bytes": s.Bytes}}}
}

// fragments cuts text into pieces of about size bytes that end with a line,
// and that make the text again when put together. One longer line stays whole.
func fragments(text string, size int) []string {
	var out []string
	var piece strings.Builder
	for line := range strings.Lines(text) {
		if piece.Len() > 0 && piece.Len()+len(line) > size {
			out = append(out, piece.String())
			piece.Reset()
		}
		piece.WriteString(line)
	}
	if piece.Len() > 0 {
		out = append(out, piece.String())
	}
	return out
}
