package slack

import (
	"strings"

	slackgo "github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/slack/limits"
)

// Cards are rich text: nothing in its runs of text is markup, so that no text of a
// tool, an agent or a stranger becomes a mention, a link or a format.

var (
	bold = &slackgo.RichTextSectionTextStyle{Bold: true}
	mono = &slackgo.RichTextSectionTextStyle{Code: true}
)

// run is a text of one style; see [runs].
type run struct {
	text  string
	style *slackgo.RichTextSectionTextStyle
}

// runs are texts side by side, without what is empty.
func runs(all ...run) []slackgo.RichTextSectionElement {
	var out []slackgo.RichTextSectionElement
	for _, r := range all {
		for _, text := range inert(r.text) {
			out = append(out, slackgo.NewRichTextSectionTextElement(text, r.style))
		}
	}
	return out
}

// inert splits a text where it looks like a mention, so that it is none for whoever
// reads the runs as mrkdwn either. People see the same text.
func inert(text string) []string {
	var all []string
	from := 0
	for i := 1; i < len(text); i++ {
		if text[i-1] == '<' && strings.IndexByte("@!#", text[i]) >= 0 {
			all = append(all, text[from:i])
			from = i
		}
	}
	if from < len(text) {
		all = append(all, text[from:])
	}
	return all
}

// paragraph is a line of rich text.
func paragraph(all ...run) slackgo.RichTextElement {
	return slackgo.NewRichTextSection(runs(all...)...)
}

// bullets is a list, a line for each.
func bullets(lines [][]run) slackgo.RichTextElement {
	items := make([]slackgo.RichTextElement, 0, len(lines))
	for _, line := range lines {
		items = append(items, paragraph(line...))
	}
	return slackgo.NewRichTextList(slackgo.RTEListBullet, 0, items...)
}

// codeBlock shows a text as it is, without a format.
func codeBlock(text string) slackgo.Block {
	return slackgo.NewRichTextBlock("", &slackgo.RichTextPreformatted{Type: slackgo.RTEPreformatted, Elements: runs(run{text: text})})
}

// codeBlocks shows a long text in several blocks, which end at ends of lines where
// there are some.
func codeBlocks(text string) []slackgo.Block {
	var all []slackgo.Block
	for text != "" {
		n := limits.Prefix(text, limits.Code)
		if line := strings.LastIndexByte(text[:n], '\n'); n < len(text) && line > n/2 {
			n = line + 1
		}
		part := strings.TrimSuffix(text[:n], "\n")
		if part == "" {
			part = " " // no run of text is empty
		}
		all = append(all, codeBlock(part))
		text = text[n:]
	}
	return all
}

// clipped is a text of at most limit characters, with "…" where it was cut.
func clipped(text string, limit int) string {
	if limits.Length(text) <= limit {
		return text
	}
	return text[:limits.Prefix(text, limit-1)] + "…"
}

// inLine is a text of at most limit characters without line breaks.
func inLine(text string, limit int) string {
	return clipped(strings.Join(strings.Fields(text), " "), limit)
}
