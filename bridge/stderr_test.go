package bridge

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestStderrTailIsBounded(t *testing.T) {
	t.Parallel()
	w := newStderrWriter(new(logBuffer).logger(), strings.ToUpper)
	for i := range maxTailLines + 10 {
		_, _ = fmt.Fprintf(w, "line %d\r\n", i)
	}
	lines := strings.Split(w.last(), "\n")
	if len(lines) != maxTailLines || lines[0] != "LINE 10" {
		t.Errorf("the tail has %d lines and begins with %q", len(lines), lines[0])
	}
	for range 3 {
		_, _ = fmt.Fprintln(w, strings.Repeat("y", maxTailBytes-100))
	}
	if n := len(w.last()); n > maxTailBytes {
		t.Errorf("the tail has %d bytes, want at most %d", n, maxTailBytes)
	}
}

func TestWarningsOfTheBridgeAreSeen(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]slog.Level{
		`time=2026-11-30T13:57:04Z level=WARN msg="the server docs cannot be reached"`: slog.LevelWarn,
		`time=2026-11-30T13:57:04Z level=ERROR msg="an agent's file is damaged"`:       slog.LevelWarn,
		`time=2026-11-30T13:57:04Z level=INFO msg="listening"`:                         slog.LevelDebug,
		`a tool said level=WARN of something`:                                          slog.LevelDebug,
	} {
		var seen bytes.Buffer
		w := newStderrWriter(slog.New(slog.NewTextHandler(&seen, &slog.HandlerOptions{Level: slog.LevelDebug})), func(s string) string { return s })
		_, _ = fmt.Fprintln(w, line)
		w.reveal()
		if !strings.Contains(seen.String(), "level="+want.String()+" msg=\"bridge stderr\"") {
			t.Errorf("%s is passed on as %s", line, seen.String())
		}
	}
}

// The writer sees whatever pieces the pipe gives it.
func TestStderrInPieces(t *testing.T) {
	t.Parallel()
	text := "noise\n" + readyPrefix + `{"a":1}` + "\nafter\n" + readyPrefix + `{"b":2}` + "\nlast"
	for size := 1; size <= len(text); size++ {
		w := newStderrWriter(new(logBuffer).logger(), func(s string) string { return s })
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		w.reveal()
		w.flush()
		if got := string(<-w.found); got != `{"a":1}` {
			t.Errorf("pieces of %d: ready line = %q", size, got)
		}
		if got := w.last(); got != "noise\nafter\nlast" {
			t.Errorf("pieces of %d: tail = %q", size, got)
		}
	}
}

// A dump without newlines must cost no memory and not end the reading.
func TestStderrLongLine(t *testing.T) {
	t.Parallel()
	w := newStderrWriter(new(logBuffer).logger(), func(s string) string { return s })
	chunk := []byte(strings.Repeat("x", 32<<10))
	for range 64 {
		_, _ = w.Write(chunk)
		if cap(w.partial) > 4*maxStderrLine {
			t.Fatalf("%d bytes are held", cap(w.partial))
		}
	}
	_, _ = fmt.Fprintf(w, "\n%s{}\n", readyPrefix)
	if got := w.last(); got != "(a line of 2097152 bytes was left out)" {
		t.Errorf("tail = %q", got)
	}
	if got := string(<-w.found); got != "{}" {
		t.Errorf("ready line after the long one = %q", got)
	}
}
