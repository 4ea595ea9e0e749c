package slack

import (
	"fmt"

	"github.com/liaison-bot/liaison/sessions"
)

// help says what can be asked: to who entered a command alone, and to who asked in
// a message where they asked it.
func (c *Channel) help(r request) []sessions.Effect {
	text := fmt.Sprintf(`I am %s, a coding agent. Mention me in a channel or write to me directly, and I answer in the thread.

- *a question*: just ask; files and images that you attach are read
- `+"`review <address of a pull request>`"+`: I review it on GitHub with your permissions there, and report back here
- `+"`status`"+`: what I am doing for you
- `+"`stop`"+`: ends what I do in this thread
- `+"`help`"+`: this

Everywhere, `+"`/liaison`"+` takes the same: `+"`/liaison ask …`, `/liaison review …`, `/liaison status`, `/liaison stop`"+`. To ask about a message, choose "Ask" in its menu.`,
		literalMarkdown(c.botName))
	if r.Trigger == byCommand {
		return aside(r, "help", text)
	}
	return []sessions.Effect{postIn(r, "help", text)}
}
