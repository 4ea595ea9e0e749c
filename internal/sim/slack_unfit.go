package sim

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// splitText is the length, in bytes, beyond which Slack may make several messages
// of one text, and names only one of them.
// https://docs.slack.dev/reference/methods/chat.postMessage#truncating
const splitText = 4000

// unfit are Slack's words for what is wrong with a message or a view itself, and not
// with its place, its time or who sends it.
var unfit = []string{
	"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "no_text", "markdown_text_conflict", "invalid_chunks",
	"invalid_attachments", "too_many_attachments", "metadata_too_large", "invalid_metadata_format", "invalid_metadata_schema",
	"view_too_large", "invalid_arguments", "invalid_name",
}

// Unfit lists what the app said that Slack would have refused, split or cut off, or
// by which it would have called everybody or a group. A fault that a test asked for
// is not among it: the call is judged as if it had gone well.
func (s *Slack) Unfit() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.misfits)
}

// judge notes what is wrong with what a call says. Callers hold the lock.
func (s *Slack) judge(method string, args map[string]string, answer object) {
	note := func(format string, values ...any) {
		s.misfits = append(s.misfits, method+": "+fmt.Sprintf(format, values...))
	}
	if code, _ := refused(answer); slices.Contains(unfit, code) {
		note("%s %v", code, answer["response_metadata"])
	}
	if n := len(args["text"]); n > splitText {
		note("a text of %d bytes becomes several messages", n)
	}
	if n := utf8.RuneCountInString(args["title"]); n > sessionTitle {
		note("a title of %d characters", n)
	}
	for _, name := range []string{"text", "markdown_text", "blocks", "chunks", "view", "title", "status", "prompts", "initial_comment"} {
		for _, match := range mentions.FindAllString(unescapedJSON.Replace(args[name]), -1) {
			if strings.HasPrefix(match, "<!") {
				note("%s calls %s", name, match)
			}
		}
	}
}

// unescapedJSON takes back the escapes that Go's encoder writes for brackets.
var unescapedJSON = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">")
