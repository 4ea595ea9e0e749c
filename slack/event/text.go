package event

import (
	"strings"
	"unicode/utf8"
)

// Bounds of a text that is put together from blocks: a message holds 50 blocks
// (https://docs.slack.dev/reference/block-kit/blocks) and some 40,000 characters.
const (
	maxBlocks    = 100
	maxElements  = 1000
	maxDepth     = 8
	maxBlockText = 40_000
)

// readOwnText returns a message's text, and where there is none that of its blocks:
// new kinds of messages come without the text that old apps read.
func readOwnText(o object) string {
	if text := o.text("text"); strings.TrimSpace(text) != "" {
		return text
	}
	var w blockWriter
	for _, block := range o.objects("blocks", maxBlocks) {
		w.block(block)
	}
	return w.String()
}

// readAttached returns the text of what is attached to a message: an alert of
// another app, a message that somebody shares, the preview of a link.
// Fields: https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments
func readAttached(o object) string {
	var w blockWriter
	for _, a := range o.objects("attachments", maxBlocks) {
		begun := w.text.Len()
		w.words(a.text("pretext"))
		w.words(a.text("author_name"))
		w.words(a.text("title"))
		w.words(a.text("text"))
		for _, f := range a.objects("fields", maxBlocks) {
			w.words(strings.TrimPrefix(f.text("title")+": "+f.text("value"), ": "))
		}
		if w.text.Len() == begun {
			w.words(a.text("fallback"))
		}
		if link := first(a.text("title_link"), a.text("from_url")); link != "" {
			w.line()
			w.link(link, "")
		}
	}
	return w.String()
}

// blockWriter puts the text of blocks together, in Slack's notation.
type blockWriter struct{ text strings.Builder }

// String returns what was written.
func (w *blockWriter) String() string { return strings.TrimSpace(w.text.String()) }

// write adds what is in Slack's notation already.
func (w *blockWriter) write(s string) {
	w.text.WriteString(clip(s, max(maxBlockText-w.text.Len(), 0)))
}

// words adds a line that is in Slack's notation, if it says anything.
func (w *blockWriter) words(s string) {
	if strings.TrimSpace(s) != "" {
		w.line()
		w.write(s)
	}
}

// literal adds what is not.
func (w *blockWriter) literal(s string) { w.write(escape.Replace(s)) }

// line begins a new line, unless one has begun.
func (w *blockWriter) line() {
	if s := w.text.String(); s != "" && !strings.HasSuffix(s, "\n") {
		w.write("\n")
	}
}

// block adds a block. Of kinds that hold no text of people's nothing is added.
func (w *blockWriter) block(b object) {
	switch b.text("type") {
	case "rich_text":
		w.elements(b, 0)
	case "section", "header":
		w.line()
		w.write(b.object("text").text("text"))
	case "markdown":
		w.line()
		w.literal(b.text("text"))
	}
}

// elements adds what rich text is made of.
// Fields: https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
func (w *blockWriter) elements(parent object, depth int) {
	if depth > maxDepth {
		return
	}
	for _, e := range parent.objects("elements", maxElements) {
		switch e.text("type") {
		case "rich_text_section":
			if parent.text("type") != "rich_text_quote" {
				w.line()
			}
			w.bullet(parent)
			w.elements(e, depth+1)
		case "rich_text_preformatted":
			w.line()
			w.write("```")
			w.elements(e, depth+1)
			w.write("```\n")
		case "rich_text_quote":
			w.line()
			w.write("&gt; ")
			w.elements(e, depth+1)
			w.write("\n")
		case "rich_text_list":
			w.elements(e, depth+1)
		default:
			w.element(e)
		}
	}
}

func (w *blockWriter) bullet(parent object) {
	if parent.text("type") == "rich_text_list" {
		w.write("• ")
	}
}

// element adds one piece of a line.
func (w *blockWriter) element(e object) {
	switch e.text("type") {
	case "text":
		w.literal(e.text("text"))
	case "link":
		w.link(e.text("url"), e.text("text"))
	case "user":
		w.bracketed("@", e.id("user_id"))
	case "channel":
		w.bracketed("#", e.id("channel_id"))
	case "usergroup":
		w.bracketed("!subteam^", e.id("usergroup_id"))
	case "broadcast":
		w.bracketed("!", e.word("range"))
	case "emoji":
		if name := e.text("name"); name != "" {
			w.literal(":" + name + ":")
		}
	case "date":
		w.literal(e.text("fallback"))
	}
}

func (w *blockWriter) bracketed(sign, id string) {
	if id != "" {
		w.write("<" + sign + id + ">")
	}
}

func (w *blockWriter) link(url, label string) {
	url = strings.NewReplacer("<", "%3C", ">", "%3E", "|", "%7C").Replace(url)
	switch {
	case url == "":
		w.literal(label)
	case label == "":
		w.write("<" + url + ">")
	default:
		w.write("<" + url + "|" + escape.Replace(label) + ">")
	}
}

// clip cuts a text to a number of bytes, between two characters.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
