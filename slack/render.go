package slack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/limits"
	"github.com/liaison-bot/liaison/slack/markup"
	"github.com/liaison-bot/liaison/slack/web"
)

// rendered is a payload as Slack takes it.
type rendered struct {
	parts []part
	// file holds the whole of a text that the parts have no room for; its name is
	// one of its own, by which it is found.
	file web.Snippet
}

// part is one message of several.
type part struct {
	web.Message
	// texts are its content without blocks, for when Slack refuses those, and source
	// is where both come from.
	texts  []string
	source string
}

// messages are the parts as they are posted.
func (r rendered) messages() []web.Message {
	all := make([]web.Message, 0, len(r.parts))
	for _, p := range r.parts {
		all = append(all, p.Message)
	}
	return all
}

// after is what is still to be posted once the first messages are there.
func (r rendered) after(done finished) rendered {
	r.parts = r.parts[done.Parts:]
	if done.Whole {
		r.file = web.Snippet{}
	}
	return r
}

// noText stands for an answer without a word.
const noText = "_There is no text in this answer._"

// render makes the messages of a payload. The same payload gives the same messages,
// so that an interrupted one is taken up where it stopped.
func (c *Channel) render(item sessions.Item, p postPayload) rendered {
	source := c.redact(p.Markdown)
	if strings.TrimSpace(source) == "" {
		source = noText
	}
	o := markup.Options{Suffix: suffix(p.Model, p.Duration)}
	if p.Mention != "" {
		o.Mention = append([]string{p.Mention}, p.Call...)
	}
	text := markup.Render(source, o)
	if len(text.Messages) == 0 {
		text = markup.Render(noText, o) // it held nothing that can be seen
	}
	key := item.SessionID + "/" + p.Key
	r := rendered{file: web.Snippet{Name: fileName(key, "answer"), Title: "The whole answer", Content: text.Overflow}}
	for i, m := range text.Messages {
		one := part{
			Message: web.Message{Text: m.Text, Blocks: m.Blocks(), Key: fmt.Sprintf("%s/%d", key, i)},
			texts:   m.Texts(), source: m.Markdown,
		}
		if one.source == "" {
			one.source = m.Text
		}
		if i == len(text.Messages)-1 {
			one.end(p)
		}
		r.parts = append(r.parts, one)
	}
	return r
}

// end puts below the last message what belongs to all of them.
func (m *part) end(p postPayload) {
	link := linkButton(p.Link, p.LinkText)
	if len(m.Blocks) == 0 {
		if link != nil && len(m.Text)+len(link.URL)+len("\n<>") <= limits.Text {
			m.Text += "\n<" + link.URL + ">"
			m.texts = []string{m.Text}
		}
		return
	}
	if link != nil {
		m.Blocks = append(m.Blocks, slackgo.NewActionBlock("", link))
	}
	if p.Feedback && p.Turn != "" {
		m.Blocks = append(m.Blocks, feedbackButtons(p.Turn))
	}
}

// linkButton leads to a page, or is nothing where there is none. What is no web
// address of a page is none.
func linkButton(address, name string) *slackgo.ButtonBlockElement {
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") ||
		limits.Length(address) > limits.ButtonURL || strings.ContainsAny(address, "<>|\" \n\t") {
		return nil
	}
	if name = markup.Plain(name, limits.ButtonText); name == "" {
		name = "Open"
	}
	return slackgo.NewButtonBlockElement(actionOpen, "", plainText(name)).WithURL(address)
}

// feedbackButtons ask what people think of a turn's answer.
func feedbackButtons(turn string) slackgo.Block {
	return slackgo.NewContextActionsBlock("", slackgo.NewFeedbackButtonsBlockElement(actionFeedback,
		slackgo.NewFeedbackButton(plainText("Good answer"), feedbackValue(verdictGood, turn)),
		slackgo.NewFeedbackButton(plainText("Bad answer"), feedbackValue(verdictBad, turn))))
}

func plainText(text string) *slackgo.TextBlockObject {
	return slackgo.NewTextBlockObject(slackgo.PlainTextType, text, false, false)
}

// suffix says who answered, and how long it took.
func suffix(model string, took time.Duration) string {
	var all []string
	if model != "" {
		all = append(all, model)
	}
	if took >= time.Second {
		all = append(all, strings.TrimSuffix(took.Round(time.Second).String(), "m0s")+unit(took))
	}
	return strings.Join(all, " · ")
}

// unit is what a duration that ends in whole minutes lost.
func unit(took time.Duration) string {
	if took.Round(time.Second)%time.Minute == 0 {
		return "m"
	}
	return ""
}

// fileName is the name of a file that belongs to one message of ours.
func fileName(key, what string) string {
	sum := sha256.Sum256([]byte(key))
	return what + "-" + hex.EncodeToString(sum[:6]) + ".md"
}
