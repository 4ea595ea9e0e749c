package markup

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
	"github.com/liaison-bot/liaison/slack/limits"
)

// Message is one message as Slack takes it, within all of its limits.
type Message struct {
	// Mention is mrkdwn that calls people, to stand before the answer, or empty.
	Mention string
	// Markdown is the text of a markdown block. It is empty for a text that no
	// Markdown reader should be given; Text is the message then.
	Markdown string
	// Context is one small line of mrkdwn below the answer, or empty.
	Context string
	// Text is the message as mrkdwn, at most [limits.Text] bytes long: what
	// notifications and screen readers take, cut visibly where it has no room.
	Text string
}

// Blocks are the blocks of the message, or none when Text is all of it.
func (m Message) Blocks() []slack.Block {
	if m.Markdown == "" {
		return nil
	}
	var blocks []slack.Block
	if m.Mention != "" {
		blocks = append(blocks, slack.NewSectionBlock(slack.NewTextBlockObject(slack.MarkdownType, m.Mention, false, true), nil, nil))
	}
	blocks = append(blocks, slack.NewMarkdownBlock("", m.Markdown))
	if m.Context != "" {
		blocks = append(blocks, slack.NewContextBlock("", slack.NewTextBlockObject(slack.MarkdownType, m.Context, false, true)))
	}
	return blocks
}

// Texts is the whole message without blocks, as texts of at most [limits.Text]
// bytes each, for when Slack refuses the blocks. The first begins with the mention
// and the last ends with the context.
func (m Message) Texts() []string {
	if m.Markdown == "" {
		return []string{m.Text}
	}
	texts := chunks(m.Markdown, limits.Text-len(m.Mention)-len(m.Context)-2)
	for i, text := range texts {
		mention, context := "", ""
		if i == 0 {
			mention = m.Mention
		}
		if i == len(texts)-1 {
			context = m.Context
		}
		texts[i] = around(mention, context, func(int) string { return text })
	}
	return texts
}

// Rendered is an answer as Slack takes it.
type Rendered struct {
	// Messages are at most [limits.Messages], to be posted in order; none for an
	// empty answer.
	Messages []Message
	// Overflow is the whole answer in Markdown, at most [limits.Snippet] bytes, for
	// a file beside the messages when they do not hold it all; otherwise empty.
	Overflow string
}

// Options is what the host puts around an answer.
type Options struct {
	// Mention are ids of users who are called before the answer. What is no id of a
	// user is left out.
	Mention []string
	// Suffix is one small line below the answer, such as the model and how long it
	// took, in Markdown.
	Suffix string
}

// Render makes the messages of an answer in Markdown.
func Render(source string, o Options) Rendered {
	source = strings.Trim(Neutralise(tidy(source)), "\n")
	if strings.TrimSpace(source) == "" {
		return Rendered{}
	}
	mention := mentions(o.Mention)
	suffix := strings.ReplaceAll(Mrkdwn(o.Suffix, maxContext), "\n", " ")

	head := source[:limits.Prefix(source, (limits.Messages+1)*limits.Markdown)]
	markdown := true
	var bodies []string
	if costly(head) {
		markdown = false
		bodies = chunks(head, limits.Text-len(mention)-maxContext-len(goesOn)-10)
	} else {
		for _, p := range Split(clean(head), limits.Markdown) {
			if text := strings.Trim(p.Text(), "\n"); strings.TrimSpace(text) != "" {
				bodies = append(bodies, text)
			}
		}
	}
	var r Rendered
	if len(head) < len(source) || len(bodies) > limits.Messages {
		bodies = bodies[:min(len(bodies), limits.Messages)]
		r.Overflow = snippet(source)
		suffix = strings.TrimSuffix(goesOn+" · "+suffix, " · ")
	}
	for i, body := range bodies {
		var m Message
		if i == 0 {
			m.Mention = mention
		}
		if i == len(bodies)-1 {
			m.Context = suffix
		}
		if markdown {
			m.Markdown = body
		}
		m.Text = around(m.Mention, m.Context, func(limit int) string {
			if markdown {
				return fitted(body, limit)
			}
			return body
		})
		r.Messages = append(r.Messages, m)
	}
	return r
}

// goesOn is said below the last message of an answer that is too long.
const goesOn = "The whole answer is in the attached file"

const (
	// maxContext bounds the line below an answer, in bytes: more is not a line.
	maxContext = 300
	// maxMentions is how many people one answer calls.
	maxMentions = 10
)

// userID is what ids of users look like. https://docs.slack.dev/reference/objects/user-object
var userID = lazyregexp.New(`^[UW][A-Z0-9]{1,20}$`)

func mentions(ids []string) string {
	var all []string
	for _, id := range ids {
		if mention := "<@" + id + ">"; userID.MatchString(id) && !slices.Contains(all, mention) && len(all) < maxMentions {
			all = append(all, mention)
		}
	}
	return strings.Join(all, " ")
}

// around puts a mention and a context around a text, within a message's limit.
func around(mention, context string, text func(limit int) string) string {
	if context != "" {
		context = "\n" + context
	}
	return addressed(mention, text(limits.Text-len(mention)-len(" ")-len(context))) + context
}

// addressed puts a mention before a text: in the same line, unless that is no sentence.
func addressed(mention, text string) string {
	if mention == "" {
		return text
	}
	if r, _ := utf8.DecodeRuneInString(text); unicode.IsLetter(r) {
		return mention + " " + text
	}
	return mention + "\n" + text
}

// snippet is a text as a file, cut visibly.
func snippet(source string) string {
	if len(source) <= limits.Snippet {
		return source
	}
	const end = "\n\n[The answer was longer than a file may be.]\n"
	return shortened(source, limits.Snippet-len(end)) + end
}
