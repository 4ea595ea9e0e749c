package slack

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/internal/unseen"
	"github.com/liaison-bot/liaison/slack/event"
	"github.com/liaison-bot/liaison/slack/web"
)

// The bounds of a conversation as it is written down, in bytes.
const (
	maxTranscript = 64 << 10
	// maxLine bounds one message; Slack's own longest has some 40,000 characters.
	maxLine = 16 << 10
)

// newline stands for the end of a line within a message, so that each message is
// one line and nobody can write a line of somebody else's.
const newline = " ⏎ "

// utterance is one message as it is written down.
type utterance struct {
	ts string
	// who and role are of who wrote it; both are safe in a line.
	who, id, role string
	marks         []string
	text          string // one line
	attached      string // one line: what it carries beside its text
	files         []event.File
}

// utter writes messages down, in their order.
func (n *names) utter(ctx context.Context, messages []web.Reply) []utterance {
	all := make([]utterance, 0, len(messages))
	for _, m := range messages {
		all = append(all, n.utterance(ctx, m))
	}
	return all
}

func (n *names) utterance(ctx context.Context, m web.Reply) utterance {
	u := utterance{ts: m.TS, role: n.role(ctx, m), id: event.ID(m.User)}
	switch {
	case u.role == roleSelf:
		u.who, u.id = n.bot, ""
	case u.id != "":
		u.who = label(n.user(ctx, u.id).Name)
	}
	if u.who == "" {
		u.who = label(m.Name)
	}
	if u.id == "" && u.role == roleApp {
		u.id = event.ID(m.Bot)
	}
	if m.Subtype == tombstone {
		u.marks = []string{"deleted"}
		return u
	}
	if m.Edited {
		u.marks = append(u.marks, "edited")
	}
	if m.Subtype == "thread_broadcast" {
		u.marks = append(u.marks, "also sent to the channel")
	}
	content := event.ReadContent(m.Fields)
	u.text, u.attached = oneLine(n.readable(ctx, content.Text)), oneLine(n.readable(ctx, content.Attached))
	u.files = content.Files
	return u
}

// oneLine shows a stranger's text on one line, with what a reader would not see.
func oneLine(text string) string {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	text = strings.NewReplacer("\r\n", newline, "\n", newline, "\r", newline, "\u2028", newline, "\u2029", newline, "\u0085", newline, "\v", newline, "\f", newline).Replace(text)
	text, _ = unseen.Reveal(text)
	return text
}

// line is the whole of a message on one line, which begins with what is ours to say.
func (u utterance) line() string {
	var b strings.Builder
	b.WriteString("[" + stamp(u.ts) + "] ")
	about := []string{u.role}
	if u.id != "" {
		about = append([]string{u.id}, about...)
	}
	about = append(about, u.marks...)
	fmt.Fprintf(&b, "%s (%s):", orSomebody(u.who), strings.Join(about, ", "))
	if u.text != "" {
		b.WriteString(" " + cut(u.text, maxLine))
	}
	if u.attached != "" {
		b.WriteString(" [with it came: " + cut(u.attached, maxLine) + "]")
	}
	if len(u.files) > 0 {
		var all []string
		for _, f := range u.files {
			all = append(all, fileLabel(f))
		}
		b.WriteString(" [files: " + strings.Join(all, ", ") + "]")
	}
	return b.String()
}

// fileLabel is a file's name, safe in a line, with its id.
func fileLabel(f event.File) string {
	name := label(f.Name)
	if name == "" {
		return f.ID
	}
	return name + " (" + f.ID + ")"
}

// cut shortens a text to a number of bytes, between characters, and says so.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf(" … (%d bytes more)", len(text)-most)
}

// newest returns the lines of as many messages as there is room for: the first one,
// and then the newest. Omitted is how many are missing between.
func newest(all []utterance, room int) (lines []string, omitted int) {
	if len(all) == 0 {
		return nil, 0
	}
	first := all[0].line()
	room -= len(first)
	from := len(all)
	for from > 1 {
		line := all[from-1].line()
		if room -= len(line) + 1; room < 0 {
			break
		}
		from--
	}
	lines = append(lines, first)
	for _, u := range all[from:] {
		lines = append(lines, u.line())
	}
	return lines, from - 1
}

// stamp is the time of a message, for reading.
func stamp(ts string) string {
	at, ok := sentAt(ts)
	if !ok {
		return "at an unknown time"
	}
	return at.Format("2006-01-02 15:04:05Z")
}

// sentAt is the time that a ts tells, in whole seconds.
func sentAt(ts string) (time.Time, bool) {
	seconds, _, _ := strings.Cut(ts, ".")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n <= 0 || n > 1<<40 {
		return time.Time{}, false
	}
	return time.Unix(n, 0).UTC(), true
}
