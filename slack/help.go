package slack

import (
	"fmt"

	"github.com/liaison-bot/liaison/sessions"
)

// help says what can be asked: to who entered a command alone, and to who asked in
// a message where they asked it.
func (c *Channel) help(r request) []sessions.Effect {
	review := ""
	if c.review != nil {
		review = "- `review <address of a pull request>`: I review it on GitHub with your permissions there, and report back here\n"
	}
	text := fmt.Sprintf(`I am %s, a coding agent. %s

- *a question*: just ask; files and images that you attach are read
%s- `+"`status`"+`: what I am doing for you
- `+"`stop`"+`: ends what I do in this thread
- `+"`help`"+`: this
- `+"`/liaison approvals`"+`: what waits for a decision of yours

Everywhere, `+"`/liaison`"+` takes the same, such as `+"`/liaison ask …` or `/liaison status`"+`. To ask about a message, choose "Ask Liaison" in its menu.`,
		literalMarkdown(c.botName), c.howToSpeak(), review)
	if r.Trigger == byCommand {
		return aside(r, "help", text)
	}
	return []sessions.Effect{postIn(r, "help", text)}
}

// howToSpeak says how we are spoken to: who waits for an answer to a reply that
// does not mention us waits for ever.
func (c *Channel) howToSpeak() string {
	if c.settings.MentionInThreads {
		return "Mention me in a channel, or write to me directly, and I answer in the thread. When you reply in a channel's thread, mention me again."
	}
	return "Mention me in a channel, or write to me directly, and I answer in the thread. When you reply there, you need not mention me again."
}
