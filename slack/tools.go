package slack

import (
	"encoding/json"

	"github.com/liaison-bot/liaison/tools"
)

// The tools that an agent may call on the host.
const (
	toolPostToSlack = "post_to_slack"
	toolAskPerson   = "ask_person"
)

const postToSlackSchema = `{
  "type": "object",
  "required": ["text"],
  "additionalProperties": false,
  "properties": {
    "text": {"type": "string", "minLength": 1, "maxLength": 12000, "description": "The message, in Markdown. It mentions nobody: mentions are taken away."},
    "channel": {"type": "string", "description": "The id of a channel that the app is in, such as C0123456789. Leave it out to post in the thread in which you are asked."}
  }
}`

const askPersonSchema = `{
  "type": "object",
  "required": ["question"],
  "additionalProperties": false,
  "properties": {
    "question": {"type": "string", "minLength": 1, "maxLength": 3000, "description": "What you want to know, in Markdown."},
    "choices": {"type": "array", "minItems": 2, "maxItems": 5, "description": "What the person can choose from. Leave it out to be answered in words.",
      "items": {"type": "string", "minLength": 1, "maxLength": 75}},
    "person": {"type": "string", "description": "The user id of who is asked, such as U0123456789. Leave it out to ask whoever asked you."}
  }
}`

// Tools are what an agent may call on the host where the agent's author says so.
func (c *Channel) Tools() []tools.Tool {
	return []tools.Tool{
		{
			Name: toolPostToSlack, Description: "Post a message in Slack, in a channel or in the thread in which you are asked.",
			InputSchema: json.RawMessage(postToSlackSchema), Run: c.postToSlack, Look: c.lookForPost,
		},
		{
			Name: toolAskPerson, InputSchema: json.RawMessage(askPersonSchema), Run: c.askPerson, Look: c.lookForQuestion,
			Description: "Ask a person something in the thread, with up to five choices. It returns at once: end your turn then. The answer comes as a message.",
			Offered:     func(t tools.Turn) bool { return t.Channel == Name },
		},
	}
}
