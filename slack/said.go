package slack

import (
	"strings"

	"github.com/liaison-bot/liaison/slack/event"
)

// said is what a request says, as people read it. It is never empty: an empty
// message would withdraw what it was before an edit.
func said(r request) string {
	if text := strings.TrimSpace(event.Plain(r.Text)); text != "" {
		return text
	}
	if r.Forwards {
		return "(something was shared without words)"
	}
	if len(r.Files) == 0 {
		return "(a mention without words; see what was said before it)"
	}
	names := make([]string, 0, len(r.Files))
	for _, f := range r.Files {
		name := f.Name
		if name == "" {
			name = f.ID
		}
		names = append(names, name)
	}
	return "(files without words: " + strings.Join(names, ", ") + ")"
}

// maxTitle bounds a title in characters. Slack shows about as many of a thread's
// (https://docs.slack.dev/ai/agent-sessions takes 200).
const maxTitle = 80

// title is the first line of a text, cut at a word.
func title(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Join(strings.Fields(strings.NewReplacer("<@", "@", ">", "").Replace(line)), " ")
	runes := []rune(line)
	if len(runes) <= maxTitle {
		return line
	}
	line = string(runes[:maxTitle-1])
	if space := strings.LastIndexByte(line, ' '); space > len(line)/2 {
		line = line[:space]
	}
	return line + "…"
}
