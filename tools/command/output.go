package command

import (
	"fmt"
	"strings"
	"sync"

	"github.com/liaison-bot/liaison/internal/unseen"
	"github.com/liaison-bot/liaison/redact"
)

// answer takes what a tool prints, up to a limit.
type answer struct {
	// full is closed when the tool printed more.
	full  chan struct{}
	limit int

	mu   sync.Mutex
	data []byte // guarded by mu
	over bool   // guarded by mu
}

func newAnswer(limit int) *answer { return &answer{full: make(chan struct{}), limit: limit} }

// Write implements [io.Writer]. It never fails, so that the tool is not stopped by
// a broken pipe before it is told why.
func (a *answer) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.data = append(a.data, p[:min(len(p), a.limit-len(a.data))]...)
	if len(p) > 0 && len(a.data) == a.limit && !a.over {
		a.over = true
		close(a.full)
	}
	return len(p), nil
}

func (a *answer) bytes() (data []byte, over bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.data, a.over
}

// tail keeps the end of what is written to it.
type tail struct {
	limit int

	mu   sync.Mutex
	data []byte // guarded by mu
	cut  bool   // guarded by mu
}

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if n > t.limit {
		p, t.cut = p[n-t.limit:], true
	}
	if over := len(t.data) + len(p) - t.limit; over > 0 {
		t.data, t.cut = append(t.data[:0], t.data[over:]...), true
	}
	t.data = append(t.data, p...)
	return n, nil
}

// String returns the end, from the beginning of a line where some was cut.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.ToValidUTF8(string(t.data), "\uFFFD")
	if !t.cut {
		return text
	}
	if _, rest, found := strings.Cut(text, "\n"); found && rest != "" {
		return rest
	}
	return text
}

// shown is the end of a text as people and agents may see it: without secrets, and
// with each character that has no shape made visible.
func (c *Command) shown(masker *redact.Redactor, text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text, _ = unseen.Reveal(c.options.Redact(masker.String(text)))
	text = strings.TrimSpace(text)
	if len(text) <= maxQuoted {
		return text
	}
	return "… " + strings.ToValidUTF8(text[len(text)-maxQuoted:], "")
}

// quoted is a tool's stderr at the end of a sentence about it.
func quoted(stderr string) string {
	if stderr == "" {
		return "; it printed nothing to stderr"
	}
	return fmt.Sprintf("; the end of its stderr:\n%s", stderr)
}
