package slack

import (
	"strings"
	"sync"
)

// maxScript bounds the text of one turn that is shown while it grows, in bytes. It
// is far more than anybody reads as it comes; the answer itself has no such bound.
const maxScript = 256 << 10

// script is what the agent has said so far in a turn: one message after the other.
type script struct {
	// changed has an element when there is something new.
	changed chan struct{}

	mu      sync.Mutex
	earlier string // the messages before, with a paragraph's end behind each
	current string
	ended   bool
}

func newScript() *script { return &script{changed: make(chan struct{}, 1)} }

// add goes on with the message under way, or begins the next one.
func (s *script) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		s.earlier, s.current, s.ended = joined(s.earlier, s.current), "", false
	}
	if len(s.earlier)+len(s.current)+len(text) > maxScript {
		return
	}
	if s.current += text; strings.TrimSpace(s.current) == "" {
		s.current = ""
	}
	s.touch()
}

// complete ends the message under way with its whole text.
func (s *script) complete(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended && len(s.earlier)+len(text) <= maxScript {
		s.current = text
	}
	s.ended = true
	s.touch()
}

func joined(earlier, message string) string {
	if strings.TrimSpace(message) == "" {
		return earlier
	}
	return earlier + strings.TrimSpace(message) + "\n\n"
}

// whole is everything that was said.
func (s *script) whole() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.earlier + strings.TrimLeft(s.current, " \t\r\n")
}

// latest is the message under way, or the last one.
func (s *script) latest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(s.current)
}

// touch has the writer look again.
func (s *script) touch() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// unsettledWithin is how far from its end a text can still become something else.
const unsettledWithin = 400

// settled is how many bytes of a growing text can be shown. What begins like a
// mention or an entity waits until its word is over: neutralising the whole of it
// may change what would have been shown of it.
func settled(text string) int {
	shown := strings.TrimRight(text, " \t\n")
	tail := max(0, len(shown)-unsettledWithin)
	if len(shown) == len(text) {
		word := tail + strings.LastIndexAny(text[tail:], " \t\n") + 1
		if at := strings.IndexAny(text[word:], "<&@\\]*_~`＜﹤＠﹫］"); at >= 0 {
			return word + at
		}
	}
	if open := strings.LastIndexByte(shown[tail:], '<'); open >= 0 && !strings.ContainsAny(text[tail+open:], ">\n") {
		return tail + open
	}
	return len(shown)
}
