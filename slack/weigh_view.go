package slack

import (
	"context"
	"strings"

	slackgo "github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
	"github.com/liaison-bot/liaison/slack/limits"
	"github.com/liaison-bot/liaison/slack/markup"
	"github.com/liaison-bot/liaison/slack/web"
)

// lateClick is said where no window could be opened for who clicked.
const lateClick = "I could not open a window for your question in time. Please try again, or mention me in the thread."

// openAsk opens a window for a question.
func (c *Channel) openAsk(ctx context.Context, in sessions.Intent, r request) sessions.Intent {
	return c.openWindow(ctx, in, r, c.askView(r), lateClick)
}

// openWindow opens a window for whoever clicked, who sees it within three seconds or
// not at all, so that it is not tried twice; they are told then what late says.
func (c *Channel) openWindow(ctx context.Context, in sessions.Intent, r request, v slackgo.ModalViewRequest, late string) sessions.Intent {
	ctx, cancel := context.WithTimeout(ctx, limits.Acknowledge)
	defer cancel()
	err := c.web.OpenView(ctx, r.place(), r.TriggerID, v)
	in = owing(in)
	switch code := web.Code(err); {
	case err == nil:
		in.Reason += ": a window is open"
	case code == "exchanged_trigger_id" || code == "trigger_exchanged":
		in.Reason += ": the window was opened before"
	default:
		c.refused.note(r.install(), err)
		in.Reason += ": no window: " + err.Error()
		in.Effects = aside(r, "late", late)
	}
	return in
}

// maxQuoted bounds what is shown of a message that a question is about, in bytes.
const maxQuoted = 500

// askView is the window for a question.
func (c *Channel) askView(r request) slackgo.ModalViewRequest {
	var blocks []slackgo.Block
	if quoted := strings.TrimSpace(event.Plain(r.Text)); quoted != "" && r.MessageTS != "" {
		text := markup.Mrkdwn("> "+strings.ReplaceAll(c.redact(quoted), "\n", "\n> "), maxQuoted)
		blocks = append(blocks, slackgo.NewSectionBlock(slackgo.NewTextBlockObject(slackgo.MarkdownType, text, false, true), nil, nil))
	}
	question := slackgo.NewPlainTextInputBlockElement(nil, inputQuestion)
	question.Multiline, question.MaxLength = true, limits.InputText
	blocks = append(blocks, slackgo.NewInputBlock(inputQuestion, plainText("Your question"), nil, question))
	if r.Channel == "" {
		where := &slackgo.SelectBlockElement{
			Type: slackgo.OptTypeConversations, ActionID: inputChannel, DefaultToCurrentConversation: true,
			Filter: &slackgo.SelectBlockElementFilter{Include: []string{"public", "private", "mpim", "im"}},
		}
		blocks = append(blocks, slackgo.NewInputBlock(inputChannel, plainText("Where I answer"),
			plainText("A conversation that I am in"), where))
	}
	return slackgo.ModalViewRequest{
		Type: slackgo.VTModal, CallbackID: viewAsk,
		Title: plainText(markup.Plain("Ask "+c.botName, limits.ViewTitle)), Submit: plainText("Ask"), Close: plainText("Cancel"),
		Blocks: slackgo.Blocks{BlockSet: blocks}, PrivateMetadata: string(encode(viewPlace{address: r.address, MessageTS: r.MessageTS})),
	}
}
