package event

import "strings"

// Slack escapes these three characters and no others
// (https://docs.slack.dev/messaging/formatting-message-text#escaping).
var (
	escape   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	unescape = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">")
)

// Plain returns a text in Slack's notation as people read it: links with their
// address, mentions by name where Slack sent one. A user of whom only the id is
// known stays as "<@U…>", so that the name can be put in by who knows it.
func Plain(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "<")
		b.WriteString(unescape.Replace(before))
		if !found {
			return b.String()
		}
		inner, after, closed := strings.Cut(rest, ">")
		if !closed {
			b.WriteString("<" + unescape.Replace(rest))
			return b.String()
		}
		b.WriteString(plainBracket(inner))
		text = after
	}
}

// plainBracket is what stood between angle brackets.
func plainBracket(inner string) string {
	target, label, _ := strings.Cut(inner, "|")
	target, label = unescape.Replace(target), unescape.Replace(label)
	switch {
	case strings.HasPrefix(target, "@"):
		if label == "" {
			return "<" + target + ">"
		}
		return "@" + strings.TrimPrefix(label, "@")
	case strings.HasPrefix(target, "#"):
		return "#" + strings.TrimPrefix(first(label, target[1:]), "#")
	case strings.HasPrefix(target, "!"):
		// "!here", "!subteam^S1|@team", "!date^…|yesterday"
		if label != "" {
			return label
		}
		name, _, _ := strings.Cut(target[1:], "^")
		return "@" + name
	}
	address := strings.TrimPrefix(target, "mailto:")
	if label == "" || label == target || label == address || "http://"+label == target || "https://"+label == target {
		return address
	}
	return label + " (" + address + ")"
}

// Mentions reports whether a text in Slack's notation names a user.
func Mentions(text, user string) bool {
	return user != "" && (strings.Contains(text, "<@"+user+">") || strings.Contains(text, "<@"+user+"|"))
}

// CutMention removes the mentions of a user with which a text begins, and what
// people put behind one. With no user it removes the first mention of anybody.
func CutMention(text, user string) string {
	for {
		text = strings.TrimSpace(text)
		inner, ok := strings.CutPrefix(text, "<@")
		if !ok {
			return text
		}
		target, after, closed := strings.Cut(inner, ">")
		if id, _, _ := strings.Cut(target, "|"); !closed || user != "" && id != user {
			return text
		}
		text = strings.TrimLeft(after, " ,:\u00a0\n\t")
		if user == "" {
			return strings.TrimSpace(text)
		}
	}
}
