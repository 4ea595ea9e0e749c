package slack

import (
	"context"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/limits"
	"github.com/liaison-bot/liaison/slack/markup"
	"github.com/liaison-bot/liaison/slack/web"
)

// suggestions are what is offered in an empty assistant thread, at most
// [limits.SuggestedPrompts].
var suggestions = [...]web.Prompt{
	{Title: "Explain a piece of code", Message: "Explain what this code does, and what is surprising about it:"},
	{Title: "Find the cause of an error", Message: "Help me find the cause of this error:"},
	{Title: "Review a pull request", Message: "review https://github.com/…"},
	{Title: "What can you do?", Message: "help"},
}

// prompts offers something to ask.
func (c *Channel) prompts(ctx context.Context, _ sessions.Item, p promptsPayload) (sessions.Receipt, error) {
	err := c.web.SetPrompts(ctx, p.To.place(), "What can I help with?", suggestions[:])
	return minor("offered something to ask", "prompts", err)
}

// title names an assistant thread.
func (c *Channel) title(ctx context.Context, _ sessions.Item, p titlePayload) (sessions.Receipt, error) {
	title := markup.Plain(c.redact(p.Title), limits.ThreadTitle)
	if title == "" {
		return sessions.Receipt{Note: "no title: it is empty"}, nil
	}
	return minor("named the thread", "title", c.web.SetTitle(ctx, p.To.place(), title))
}
