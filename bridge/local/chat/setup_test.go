package chat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds everything a test waits for.
const patience = 5 * time.Minute

// testNow is the time of every test.
var testNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// waits are the times that an endpoint under test has slept.
type waits struct {
	mu   sync.Mutex
	list []time.Duration
}

func (w *waits) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, d)
	return ctx.Err()
}

// connect makes an endpoint that does not really wait, over one of a script.
func connect(t testing.TB, server *chattest.Endpoint, tune ...func(*Options)) (*Endpoint, *waits) {
	t.Helper()
	slept := new(waits)
	o := Options{
		BaseURL: server.URL, APIKey: chattest.Key,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Now:    func() time.Time { return testNow }, Sleep: slept.sleep, Random: func() float64 { return 0 },
	}
	for _, f := range tune {
		f(&o)
	}
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e, slept
}

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// echo is a tool that says its arguments.
func echo(name string) Tool {
	return Tool{Name: name, Description: "Says its arguments.", Call: func(_ context.Context, c Invocation) Output {
		return Output{Text: fmt.Sprintf("%s %v", name, c.Args)}
	}}
}

// record gathers what a run shows.
type record struct {
	text, thought  strings.Builder
	said, thoughts []string
	waiting        []string
	kept           Conversation
}

func (r *record) watch(q Request) Request {
	q.Watch = Observer{
		Text:     func(s string) { r.text.WriteString(s) },
		Thought:  func(s string) { r.thought.WriteString(s) },
		Said:     func(s string) { r.said = append(r.said, s) },
		Thoughts: func(s string) { r.thoughts = append(r.thoughts, s) },
		Waiting:  func(reason string, d time.Duration) { r.waiting = append(r.waiting, fmt.Sprint(d, " ", reason)) },
	}
	q.Keep = func(c Conversation) { r.kept = c }
	return q
}

func ask(prompt string, tools ...Tool) Request {
	return Request{Model: "test-model", System: "Be brief.", Prompt: prompt, Tools: tools}
}

// wantError checks the code of a run's error and that its reason holds the words.
func wantError(t *testing.T, err error, code string, words ...string) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got %v, want an error with the code %s", err, code)
	}
	for _, w := range words {
		if !strings.Contains(e.Reason, w) {
			t.Errorf("the reason is %q, want %q in it", e.Reason, w)
		}
	}
	if strings.Contains(e.Reason, chattest.Key) {
		t.Errorf("the reason holds the key: %q", e.Reason)
	}
	return e
}
