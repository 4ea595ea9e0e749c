package web

import (
	"context"

	"github.com/slack-go/slack"
)

// SetStatus shows what the agent does below a thread, with texts that take turns
// meanwhile and hold no comma. An empty text clears it.
func (c *Client) SetStatus(ctx context.Context, at Place, text string, loading []string) error {
	return c.do(ctx, call{method: "assistant.threads.setStatus", at: at, write: &write{priority: Status}},
		func(ctx context.Context, api *slack.Client) error {
			return api.SetAssistantThreadsStatusContext(ctx, slack.AssistantThreadsSetStatusParameters{
				ChannelID: at.Channel, ThreadTS: at.Thread, Status: text, LoadingMessages: loading,
			})
		})
}

// SetTitle names an assistant thread.
func (c *Client) SetTitle(ctx context.Context, at Place, title string) error {
	return c.do(ctx, call{method: "assistant.threads.setTitle", at: at, write: &write{priority: Status}},
		func(ctx context.Context, api *slack.Client) error {
			return api.SetAssistantThreadsTitleContext(ctx, slack.AssistantThreadsSetTitleParameters{
				ChannelID: at.Channel, ThreadTS: at.Thread, Title: title,
			})
		})
}

// Prompt is something to ask, under a title.
type Prompt struct{ Title, Message string }

// SetPrompts offers prompts in an assistant thread, or in a direct message where
// the place has no thread.
func (c *Client) SetPrompts(ctx context.Context, at Place, title string, prompts []Prompt) error {
	p := slack.AssistantThreadsSetSuggestedPromptsParameters{ChannelID: at.Channel, ThreadTS: at.Thread, Title: title}
	for _, prompt := range prompts {
		p.AddPrompt(prompt.Title, prompt.Message)
	}
	return c.do(ctx, call{method: "assistant.threads.setSuggestedPrompts", at: at, write: &write{priority: Status}},
		func(ctx context.Context, api *slack.Client) error {
			return api.SetAssistantThreadsSuggestedPromptsContext(ctx, p)
		})
}
