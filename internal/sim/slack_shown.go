package sim

import (
	"regexp"
	"slices"
	"strings"
)

// shownText is everything that a person reads of a message.
func shownText(m *slackMessage) string {
	if len(m.blocks) == 0 {
		return m.text
	}
	var b strings.Builder
	if m.stream != nil && m.text != "" { // the blocks of a stream come below its text
		b.WriteString(m.text + "\n")
	}
	for _, block := range m.blocks {
		writeShown(&b, block)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// writeShown writes the texts of a block, a line each.
func writeShown(b *strings.Builder, v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			writeShown(b, e)
		}
	case object:
		if text, is := v["text"].(string); is {
			b.WriteString(text)
			b.WriteString("\n")
		}
		if v["type"] == "rich_text" || strings.HasPrefix(str(v["type"]), "rich_text_") {
			writeRich(b, v)
			return
		}
		for _, key := range []string{"title", "text", "fields", "elements", "rows", "accessory", "label", "tasks", "details", "output"} {
			if _, isText := v[key].(string); !isText || key == "title" || key == "details" || key == "output" {
				writeShown(b, v[key])
			}
		}
	case string:
		b.WriteString(v)
		b.WriteString("\n")
	}
}

// writeRich writes a rich text: its runs in one line, its parts in one each.
func writeRich(b *strings.Builder, v object) {
	elements, _ := v["elements"].([]any)
	for _, e := range elements {
		o, is := e.(object)
		if !is {
			continue
		}
		switch str(o["type"]) {
		case "text":
			b.WriteString(str(o["text"]))
		case "link":
			b.WriteString(str(o["url"]))
		case "user":
			b.WriteString("<@" + str(o["user_id"]) + ">")
		case "usergroup":
			b.WriteString("<!subteam^" + str(o["usergroup_id"]) + ">")
		case "channel":
			b.WriteString("<#" + str(o["channel_id"]) + ">")
		case "broadcast":
			b.WriteString("<!" + str(o["range"]) + ">")
		case "emoji":
			b.WriteString(":" + str(o["name"]) + ":")
		default:
			writeRich(b, o)
			b.WriteString("\n")
		}
	}
}

// str is a value's text, and empty for anything else.
func str(v any) string {
	s, _ := v.(string)
	return s
}

// mentions are the forms that notify somebody; a label after "|" changes nothing.
var (
	mentions      = regexp.MustCompile(`<(@[UW][A-Z0-9]+|!(?:channel|here|everyone)|!subteam\^[A-Z0-9]+)(?:\|[^<>]*)?>`)
	plainMentions = regexp.MustCompile(`(?:^|[^\w])(@(?:channel|here|everyone))\b`)
)

// richRuns are the runs of all rich texts among blocks, as each stands for itself,
// and the blocks that are none.
func richRuns(blocks []any) (runs []string, others []any) {
	var walk func(v object)
	walk = func(v object) {
		elements, _ := v["elements"].([]any)
		for _, e := range elements {
			o, _ := e.(object)
			if strings.HasPrefix(str(o["type"]), "rich_text_") {
				walk(o)
				continue
			}
			var b strings.Builder
			writeRich(&b, object{"elements": []any{o}})
			runs = append(runs, b.String())
		}
	}
	for _, block := range blocks {
		if o, is := block.(object); is && o["type"] == "rich_text" {
			walk(o)
		} else {
			others = append(others, block)
		}
	}
	return runs, others
}

// pingsOf lists whom a message notifies. It is stricter than Slack: it counts a
// mention in the fallback text and in code too, where a client may still ping, and in
// a run of a rich text, but none that begins in one run and ends in another.
func pingsOf(m *slackMessage) []string {
	var found []string
	add := func(p string) {
		if !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	texts := []string{m.text}
	if rich, others := richRuns(m.blocks); len(rich) > 0 {
		texts = append(append(texts, rich...), shownText(&slackMessage{blocks: others, text: m.text}))
	} else {
		texts = append(texts, shownText(m))
	}
	for _, text := range texts {
		for _, match := range mentions.FindAllStringSubmatch(text, -1) {
			add("<" + match[1] + ">")
		}
		if m.pings {
			for _, match := range plainMentions.FindAllStringSubmatch(text, -1) {
				add(match[1])
			}
		}
	}
	return found
}
