package local

import (
	"context"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/bridge/local/reviewer"
	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// The caller's tools by which the reviewer acts, where it is offered them.
const (
	toolSetLabels   = "set_labels"
	toolPostToSlack = "post_to_slack"
)

// maxReasonNames bounds how many files a reason names.
const maxReasonNames = 5

// offers reports whether the caller serves a tool.
func (t task) offers(name string) bool {
	return t.CallCustom != nil && slices.ContainsFunc(t.Custom, func(c customTool) bool { return c.Name == name })
}

// label has a change that touches how software is deployed labelled so, and says
// what came of it; empty where there is nothing to say.
func label(ctx context.Context, t task, r reviewer.Report) (string, error) {
	if len(r.Deployment) == 0 || !t.offers(toolSetLabels) {
		return "", nil
	}
	named := r.Deployment[:min(len(r.Deployment), maxReasonNames)]
	answer, err := t.CallCustom(ctx, "label", toolSetLabels, map[string]any{
		"add": []any{"deployment"}, "create": true, "reason": "It changes how this is deployed: " + strings.Join(named, ", "),
	})
	return acted(ctx, "The label `deployment`", answer, err)
}

// pendingAnswer is how the host answers a call that waits for a person.
var pendingAnswer = lazyregexp.New(`"status"\s*:\s*"pending"`)

// acted says what came of a call. What it answered stays with the host.
func acted(ctx context.Context, what string, answer map[string]any, err error) (string, error) {
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	text, _, failed := readAnswer(answer)
	failed = failed || err != nil // whatever went wrong is on record
	switch {
	case pendingAnswer.MatchString(text):
		return what + " waits for a person to decide.", nil
	case failed:
		return what + " was not done; the record of the turn says why.", nil
	}
	return what + " is done.", nil
}

// Fences of strangers' text in what the agent is told: a word and the marker of the
// turn, up to the line that ends it.
var (
	fenceBegins = lazyregexp.New(`^([a-z]+) ([0-9a-f]{32})$`)
	announce    = lazyregexp.New(`(?i)\bannounce in (C[A-Z0-9]{6,20}): *(\S.*)`)
	heardOf     = lazyregexp.New(`^Your call of the tool ([A-Za-z0-9_-]{1,64}) \([^)]*\) (.*)`)
)

// fenced returns the lines of the prompt within fences of any of some words.
func fenced(prompt string, words ...string) []string {
	var lines []string
	var kind, end string
	for line := range strings.Lines(prompt) {
		line = strings.TrimRight(line, "\n")
		switch m := fenceBegins.FindStringSubmatch(line); {
		case end != "" && line == end:
			end = ""
		case end == "" && m != nil:
			kind, end = m[1], "end "+m[2]
		case end != "" && slices.Contains(words, kind):
			lines = append(lines, line)
		}
	}
	return lines
}

// outcomeHeard answers a turn that brings what became of calls, in a sentence for each. The
// surfaces put that where they put questions, or in a fence of its own.
func outcomeHeard(prompt string) (string, bool) {
	var all []string
	for _, line := range fenced(prompt, "outcome", "question") {
		if m := heardOf.FindStringSubmatch(line); m != nil {
			became := m[2]
			if i := strings.Index(became, ". "); i >= 0 {
				became = became[:i+1]
			}
			all = append(all, "The call of `"+m[1]+"` "+strings.TrimSuffix(strings.TrimSpace(became), ".")+".")
		}
	}
	return strings.Join(all, " "), len(all) > 0
}

// announced posts what somebody asked to have announced in a channel of Slack.
func announced(ctx context.Context, t task) (string, bool, error) {
	if !t.offers(toolPostToSlack) {
		return "", false, nil
	}
	for _, line := range fenced(t.Prompt, "question") {
		if m := announce.FindStringSubmatch(line); m != nil {
			answer, err := t.CallCustom(ctx, "announce", toolPostToSlack, map[string]any{"channel": strings.ToUpper(m[1]), "text": m[2]})
			text, err := acted(ctx, "The announcement", answer, err)
			return text, true, err
		}
	}
	return "", false, nil
}
