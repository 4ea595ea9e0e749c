package bridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// testLimit is far above what any test needs; only a hang reaches it.
const testLimit = 3 * time.Minute

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	t.Cleanup(cancel)
	return ctx
}

// fakeOptions starts the fake bridge with a script.
func fakeOptions(t *testing.T, s fakeScript) Options {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Executable: exe,
		StateRoot:  t.TempDir(),
		Env:        []string{fakeVariable + "=" + string(script)},
		APIKey:     "api-key-0123456789",
	}
}

func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testLimit)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

func newAgent(t *testing.T, c *Client) *Agent {
	t.Helper()
	a, err := c.Agents().Create(testContext(t), testAgent(t))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func testAgent(t *testing.T) AgentOptions {
	return AgentOptions{Model: "m-1", Local: &LocalOptions{Dir: t.TempDir()}}
}

// recorded reads what the fake has written down: one line per request.
func recorded(t *testing.T, path, kind string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), kind+" "); ok {
			var b bytes.Buffer
			if err := json.Compact(&b, []byte(rest)); err != nil {
				t.Fatal(err)
			}
			all = append(all, b.String())
		}
	}
	return all
}

func recordFile(t *testing.T) string { return filepath.Join(t.TempDir(), "record") }

// logBuffer is a log that a test reads while it is written.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBuffer) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// message is an sdk_message step.
func message(kind string, pairs ...any) fakeStep {
	m := map[string]any{"type": kind}
	for i := 0; i < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return fakeStep{Message: m}
}

func assistantText(text string) fakeStep {
	return message("assistant", "message", map[string]any{
		"role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}},
	})
}

// finished is the end of a run that went well.
func finished(text string) []fakeStep {
	return []fakeStep{{Result: "FINISHED", Text: text}, {Done: true}}
}
