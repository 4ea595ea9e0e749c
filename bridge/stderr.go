package bridge

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

const (
	// maxStderrLine is the longest line that is looked at. What is longer is
	// left out, so that a dump without newlines costs no memory.
	maxStderrLine = 64 << 10
	// The tail goes into errors that people read.
	maxTailLines = 64
	maxTailBytes = 16 << 10
)

// stderrWriter takes the bridge's stderr for the life of the process: a pipe
// that nobody reads fills and blocks the bridge. It finds the ready line amid
// whatever else is printed and keeps the last lines, masked, for the report of
// a crash. It never fails and never blocks on anything but the logger.
type stderrWriter struct {
	logger *slog.Logger
	mask   func(string) string
	// found gets the JSON of the first ready line; it has room for it.
	found chan []byte

	mu        sync.Mutex
	partial   []byte
	skipped   int // bytes of an over-long line left out so far
	announced bool
	// held are lines printed after the ready line while the token, which they
	// may quote, is not known yet.
	held      []string
	visible   visibility
	tail      []string
	tailBytes int
}

// visibility says what becomes of lines.
type visibility int

const (
	shown visibility = iota
	kept             // until reveal or hide
	hidden
)

func newStderrWriter(logger *slog.Logger, mask func(string) string) *stderrWriter {
	return &stderrWriter{logger: logger, mask: mask, found: make(chan []byte, 1)}
}

// Write implements [io.Writer].
func (w *stderrWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(p)
	for {
		line, rest, whole := bytes.Cut(p, []byte{'\n'})
		room := min(len(line), maxStderrLine-len(w.partial))
		w.partial = append(w.partial, line[:room]...)
		w.skipped += len(line) - room
		if !whole {
			return n, nil
		}
		w.endLine()
		p = rest
	}
}

// flush ends a last line that has no newline.
func (w *stderrWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.partial) > 0 {
		w.endLine()
	}
}

func (w *stderrWriter) endLine() {
	line, skipped := bytes.TrimRight(w.partial, "\r"), w.skipped
	w.partial, w.skipped = w.partial[:0], 0
	// No ready line is logged or kept, not even a second one: it may hold a token.
	if payload, ok := bytes.CutPrefix(line, []byte(readyPrefix)); ok {
		if !w.announced {
			w.announced, w.visible = true, kept
			w.found <- bytes.Clone(payload)
		}
		return
	}
	text := string(line)
	if skipped > 0 {
		text = fmt.Sprintf("(a line of %d bytes was left out)", len(line)+skipped)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	switch w.visible {
	case shown:
		w.show(text)
	case kept:
		if len(w.held) < maxTailLines {
			w.held = append(w.held, text)
		}
	case hidden:
	}
}

// reveal shows what was held back, now that mask knows the token.
func (w *stderrWriter) reveal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.held {
		w.show(text)
	}
	w.held, w.visible = nil, shown
}

// hide drops what was held back and all that follows: no token could be made out
// of the ready line, so it cannot be masked either.
func (w *stderrWriter) hide() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held, w.visible = nil, hidden
}

func (w *stderrWriter) show(text string) {
	text = strings.ToValidUTF8(w.mask(text), "\uFFFD")
	w.logger.Log(context.Background(), levelOf(text), "bridge stderr", "line", text)
	if len(text) > maxTailBytes {
		text = strings.ToValidUTF8(text[:maxTailBytes], "")
	}
	w.tail = append(w.tail, text)
	w.tailBytes += len(text)
	for len(w.tail) > maxTailLines || w.tailBytes > maxTailBytes {
		w.tailBytes -= len(w.tail[0])
		w.tail = w.tail[1:]
	}
}

// levelOf is at what level a line is passed on: Liaison's own bridge says what an
// operator should know, such as a server of tools that cannot be reached.
func levelOf(line string) slog.Level {
	if strings.HasPrefix(line, "time=") && (strings.Contains(line, " level=WARN ") || strings.Contains(line, " level=ERROR ")) {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// last returns the last lines that were shown.
func (w *stderrWriter) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.tail, "\n")
}
