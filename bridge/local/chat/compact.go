package chat

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// weight estimates the size of messages in bytes as they are sent.
func weight(messages []Message) int {
	n := 0
	for _, m := range messages {
		n += m.weight()
	}
	return n
}

func (m Message) weight() int {
	n := 16 + len(m.Text) + len(m.Reasoning) + len(m.Images)*imageBytes
	for _, c := range m.Calls {
		n += 32 + len(c.Name) + len(c.Arguments) + len(c.Extra)
	}
	return n
}

const (
	// droppedBelow is the size of a result that is not worth dropping.
	droppedBelow = 200
	// cutResult is the least that is left of a result of the newest step.
	cutResult = 1 << 10
	// maxFirstText is what is left of the first message when a later one counts.
	maxFirstText = 4 << 10
)

// compact makes a conversation about as small as budget, in bytes, and reports
// whether it became smaller. The first and the last message of the user stay,
// and so does the newest step, with its results cut only when nothing else is
// left. The messages given are not changed; the result is valid if they were.
func compact(messages []Message, budget int) ([]Message, bool) {
	before := weight(messages)
	if before <= budget {
		return messages, false
	}
	out := slices.Clone(messages)
	newest := lastStep(out)
	// What was read can be read again.
	for i := 0; i < newest && weight(out) > budget; i++ {
		if m := &out[i]; m.Role == RoleTool && len(m.Text) > droppedBelow {
			m.Text = fmt.Sprintf("(This result of %d bytes was dropped to fit the model's context. Call the tool again if you need it.)", len(m.Text))
		}
	}
	out = dropSteps(out, budget)
	if weight(out) > budget && lastUser(out) > 0 {
		out[0].Text = cutMiddle(out[0].Text, maxFirstText)
	}
	newest = lastStep(out)
	for limit := maxResultBytes / 2; limit >= cutResult && weight(out) > budget; limit /= 2 {
		for i := newest; i < len(out); i++ {
			if out[i].Role == RoleTool {
				out[i].Text = cutMiddle(out[i].Text, limit)
			}
		}
	}
	return out, weight(out) < before
}

// lastStep is where the newest message of the assistant begins, with the results
// that follow it.
func lastStep(messages []Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == RoleAssistant {
			return i
		}
	}
	return len(messages)
}

// lastUser is where the newest message of the user is.
func lastUser(messages []Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == RoleUser {
			return i
		}
	}
	return -1
}

// dropSteps drops whole steps, the oldest first, and says so where they were: a
// message of the assistant goes with its results, one of the user alone.
func dropSteps(messages []Message, budget int) []Message {
	asked, newest := lastUser(messages), lastStep(messages)
	excess := weight(messages) - budget
	var out []Message
	for i, m := range messages {
		if excess <= 0 || i == 0 || i == asked || i >= newest {
			out = append(out, m)
			continue
		}
		// A call and its results are dropped together: once a step is begun, all of it goes.
		excess -= m.weight()
		if i+1 < len(messages) && messages[i+1].Role == RoleTool {
			excess = max(excess, 1)
		}
		if last := &out[len(out)-1]; last.Role == RoleUser && !strings.HasSuffix(last.Text, noteDropped) {
			last.Text = strings.TrimPrefix(last.Text+"\n\n"+noteDropped, "\n\n")
			excess += len(noteDropped)
		}
	}
	return out
}

// cutMiddle leaves the beginning and the end of a text, with a note between them.
func cutMiddle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, tail := limit*2/3, len(s)-limit/3
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n(%d bytes were cut here)\n%s", s[:head], tail-head, s[tail:])
}
