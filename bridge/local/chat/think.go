package chat

import "strings"

// The marks that some models put around their reasoning in the text itself.
const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
	// maxThinkIndent is how much white space may stand before the mark. Models get
	// stuck on line breaks; all of those are not to be held back and looked at again.
	maxThinkIndent = 64
)

// thinking tells reasoning at the beginning of an answer from the answer.
type thinking struct {
	state thinkState
	held  string
}

type thinkState int

const (
	thinkUndecided thinkState = iota
	thinkInside
	thinkAfter // no more than line breaks came since the end mark
	thinkOver
)

// split takes the next piece of an answer.
func (t *thinking) split(piece string) (text, thought string) {
	switch t.state {
	case thinkOver:
		return piece, ""
	case thinkAfter:
		return t.after(piece), ""
	}
	t.held += piece
	if t.state == thinkUndecided {
		begin := strings.TrimLeft(t.held, " \t\r\n")
		switch {
		case strings.HasPrefix(begin, thinkOpen):
			t.state, t.held = thinkInside, begin[len(thinkOpen):]
		case strings.HasPrefix(thinkOpen, begin) && len(t.held)-len(begin) <= maxThinkIndent:
			return "", "" // not enough to tell
		default:
			t.state = thinkOver
			return t.rest(), ""
		}
	}
	if before, after, ok := strings.Cut(t.held, thinkClose); ok {
		t.state, t.held = thinkAfter, ""
		return t.after(after), before
	}
	// The end mark may be split: what could be its beginning waits.
	keep := 0
	for n := min(len(thinkClose)-1, len(t.held)); n > 0; n-- {
		if strings.HasSuffix(t.held, thinkClose[:n]) {
			keep = n
			break
		}
	}
	thought = t.held[:len(t.held)-keep]
	t.held = t.held[len(t.held)-keep:]
	return "", thought
}

// after leaves out the line breaks between the reasoning and the answer.
func (t *thinking) after(piece string) string {
	if piece = strings.TrimLeft(piece, "\r\n"); piece != "" {
		t.state = thinkOver
	}
	return piece
}

// end gives what was held back when the answer is over.
func (t *thinking) end() (text, thought string) {
	if t.state == thinkInside {
		return "", t.rest()
	}
	return t.rest(), ""
}

func (t *thinking) rest() string {
	s := t.held
	t.held = ""
	return s
}
