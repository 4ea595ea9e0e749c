package api

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/handlers/answer"
)

const (
	// maxLogLines and maxLogBytes bound what is kept of the log.
	maxLogLines = 2000
	maxLogBytes = 1 << 20
	// maxLogText bounds one text of a line.
	maxLogText = 4 << 10
)

// Logs keeps the process's recent log lines. It is a [slog.Handler]; put the
// redactor before it. Its methods may be called by many goroutines.
type Logs struct {
	kept *keptLines
	// level is the least severity that is kept.
	level slog.Leveler
	// prefix is the open groups, attrs what every line has.
	prefix string
	attrs  []slog.Attr
}

// keptLines is shared by a handler and those derived from it.
type keptLines struct {
	mu    sync.Mutex
	lines []logLine
	bytes int
	seq   int64
}

type logLine struct {
	Seq        int64             `json:"seq"`
	At         time.Time         `json:"at"`
	Level      string            `json:"level"`
	Message    string            `json:"message"`
	Attributes map[string]string `json:"attributes,omitempty"`

	size int
}

// NewLogs returns an empty log that keeps lines of at least that level.
func NewLogs(level slog.Leveler) *Logs { return &Logs{kept: &keptLines{}, level: level} }

// Enabled implements [slog.Handler].
func (l *Logs) Enabled(_ context.Context, level slog.Level) bool { return level >= l.level.Level() }

// Handle implements [slog.Handler].
func (l *Logs) Handle(_ context.Context, r slog.Record) error {
	line := logLine{At: r.Time, Level: r.Level.String(), Message: short(r.Message), Attributes: map[string]string{}}
	for _, attr := range l.attrs {
		line.add("", attr)
	}
	r.Attrs(func(attr slog.Attr) bool {
		line.add(l.prefix, attr)
		return true
	})
	l.kept.add(line)
	return nil
}

// WithAttrs implements [slog.Handler].
func (l *Logs) WithAttrs(attrs []slog.Attr) slog.Handler {
	derived := *l
	derived.attrs = append([]slog.Attr(nil), l.attrs...)
	for _, attr := range attrs {
		attr.Key = l.prefix + attr.Key
		derived.attrs = append(derived.attrs, attr)
	}
	return &derived
}

// WithGroup implements [slog.Handler].
func (l *Logs) WithGroup(name string) slog.Handler {
	if name == "" {
		return l
	}
	derived := *l
	derived.prefix += name + "."
	return &derived
}

// add keeps an attribute under its key, a group's under theirs.
func (l *logLine) add(prefix string, attr slog.Attr) {
	value := attr.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		if attr.Key != "" {
			prefix += attr.Key + "."
		}
		for _, inner := range value.Group() {
			l.add(prefix, inner)
		}
		return
	}
	if attr.Key != "" {
		l.Attributes[prefix+attr.Key] = short(value.String())
	}
}

// short cuts a text between two characters.
func short(s string) string {
	if len(s) <= maxLogText {
		return s
	}
	cut := maxLogText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

func (k *keptLines) add(line logLine) {
	line.size = len(line.Message)
	for key, value := range line.Attributes {
		line.size += len(key) + len(value)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seq++
	line.Seq = k.seq
	k.lines = append(k.lines, line)
	k.bytes += line.size
	drop := 0
	for len(k.lines)-drop > maxLogLines || k.bytes > maxLogBytes && len(k.lines)-drop > 1 {
		k.bytes -= k.lines[drop].size
		k.lines[drop] = logLine{}
		drop++
	}
	k.lines = k.lines[drop:]
}

// after returns up to most lines with a greater seq, oldest first, and the seq
// to go on from.
func (k *keptLines) after(seq int64, most int) ([]logLine, int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found := []logLine{}
	for _, line := range k.lines {
		if len(found) == most {
			break
		}
		if line.Seq > seq {
			found = append(found, line)
		}
	}
	switch {
	case len(found) > 0:
		return found, found[len(found)-1].Seq
	case seq > k.seq:
		return found, k.seq // of an earlier process, whose count was another
	}
	return found, seq
}

// showLogs shows the recent lines of the log.
func (a *API) showLogs(w http.ResponseWriter, r *http.Request, _ Principal) error {
	after, err := number(r, "after", 0, 0, math.MaxInt64)
	if err != nil {
		return err
	}
	most, err := limit(r)
	if err != nil {
		return err
	}
	lines, next := a.logs.kept.after(after, most)
	answer.JSON(w, http.StatusOK, struct {
		OK    bool      `json:"ok"`
		Lines []logLine `json:"lines"`
		Next  int64     `json:"next"`
	}{true, lines, next})
	return nil
}
