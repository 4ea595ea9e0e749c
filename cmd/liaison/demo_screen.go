package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// screen writes the demo's story. What comes from the platforms is made safe
// for a terminal.
type screen struct {
	w io.Writer
	// lost is told when the story can no longer be written.
	lost  func(error)
	steps int
}

func (s *screen) step(format string, args ...any) {
	s.steps++
	s.print("\n%d. %s\n", s.steps, printable(fmt.Sprintf(format, args...)))
}

func (s *screen) line(format string, args ...any) {
	s.print("   %s\n", printable(fmt.Sprintf(format, args...)))
}

func (s *screen) quote(text string) {
	for line := range strings.Lines(text) {
		s.print("   │ %s\n", printable(strings.TrimRight(line, "\r\n")))
	}
}

func (s *screen) print(format string, args ...any) {
	if _, err := fmt.Fprintf(s.w, format, args...); err != nil {
		s.lost(fmt.Errorf("the demo could not be shown to the end: %w", err))
	}
}

// printable shows control characters instead of letting a terminal obey them.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '·'
		}
		return r
	}, s)
}

// follow prints what the records of all sessions say since the last look.
func (p *play) follow() {
	records, err := filepath.Glob(filepath.Join(p.events, "*", "events.ndjson"))
	if err != nil {
		return
	}
	for _, path := range records {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		whole := data[:bytes.LastIndexByte(data, '\n')+1]
		lines := bufio.NewScanner(bytes.NewReader(whole))
		lines.Buffer(nil, 16<<20)
		for n := 0; lines.Scan(); n++ {
			if n >= p.printed[path] {
				p.printed[path] = n + 1
				p.event(lines.Bytes())
			}
		}
	}
}

// event prints one line of a record, if it is part of the story.
func (p *play) event(line []byte) {
	var e struct {
		Type string
		Data struct {
			Step    string
			Note    string
			Text    string
			Error   string
			Reason  string
			Actions []struct {
				Name string
				Args json.RawMessage
			}
		}
	}
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch e.Type {
	case "session.started", "turn.started", "turn.completed":
		p.show.line("session: %s", e.Type)
	case "turn.failed":
		p.show.line("session: %s: %s %s", e.Type, e.Data.Error, e.Data.Reason)
	case "step.completed":
		p.show.line("%s: %s", e.Data.Step, e.Data.Note)
	case "reasoning.completed":
		p.show.line("agent thinks: %s", e.Data.Text)
	case "actions.requested":
		for _, a := range e.Data.Actions {
			p.show.line("agent calls %s %s", a.Name, a.Args)
		}
	}
}

// lastLines keeps the last lines of a log, for the case that something goes wrong.
type lastLines struct {
	mu    sync.Mutex
	lines [][]byte
}

// Write takes one entry, as log handlers write them.
func (l *lastLines) Write(entry []byte) (int, error) {
	const kept = 5
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == kept {
		l.lines = l.lines[1:]
	}
	l.lines = append(l.lines, bytes.Clone(entry))
	return len(entry), nil
}

func (l *lastLines) writeTo(w io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == 0 {
		return
	}
	fmt.Fprintln(w, "\nThe last lines of the service's log:")
	for _, line := range l.lines {
		// A terminal that went away is nobody to tell.
		_, _ = w.Write(line)
	}
}
