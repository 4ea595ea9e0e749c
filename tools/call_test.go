package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// notes is a ledger that remembers what it was told.
type notes struct {
	mu     sync.Mutex
	told   []string
	refuse error
}

func (n *notes) note(what string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = append(n.told, what)
	return n.refuse
}

func (n *notes) Acting(_ context.Context, _ Call, tool string) error { return n.note("acting " + tool) }

func (n *notes) Ask(context.Context, Call, Tool) (Result, error) {
	return Result{}, errors.New("nobody is asked here")
}

func (n *notes) Keep(_ context.Context, _ Call, tool string, r Result) error {
	if r.Output == nil {
		return n.note("keep the answer of " + tool)
	}
	return n.note("keep " + tool + " " + string(r.Output))
}

func registry(t *testing.T, all ...Tool) *Registry {
	t.Helper()
	r, err := New(all...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func call(id string) Call {
	return Call{Turn: Turn{TurnID: "t"}, AgentID: "a", CallID: id, Input: json.RawMessage(`{}`)}
}

func TestACallIsMadeOnce(t *testing.T) {
	t.Parallel()
	var made atomic.Int32
	r := registry(t, Tool{Name: "count", Effect: Reads, Run: func(context.Context, Call) (Result, error) {
		return Result{Text: fmt.Sprint(made.Add(1))}, nil
	}})
	ask := func(c Call) string {
		t.Helper()
		result, err := r.Call(t.Context(), c, "count", &notes{})
		if err != nil {
			t.Fatal(err)
		}
		return result.Text
	}
	if first, again := ask(call("1")), ask(call("1")); first != "1" || again != "1" {
		t.Errorf("a duplicate got %q, the call %q", again, first)
	}
	other := call("1")
	other.AgentID = "b"
	turn := call("1")
	turn.TurnID = "u"
	input := call("1")
	input.Input = json.RawMessage(`{"x":1}`)
	for i, c := range []Call{call("2"), other, turn, input, call(""), call("")} {
		if got, want := ask(c), fmt.Sprint(i+2); got != want {
			t.Errorf("call %d got %s, want %s: it is another call", i, got, want)
		}
	}
}

func TestDuplicatesAtTheSameTimeWaitForOneAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int32
		release := make(chan struct{})
		r := registry(t, Tool{Name: "slow", Effect: Reads, Run: func(context.Context, Call) (Result, error) {
			made.Add(1)
			<-release
			return Result{Text: "done"}, nil
		}})
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() {
				if result, err := r.Call(t.Context(), call("1"), "slow", &notes{}); err != nil || result.Text != "done" {
					t.Errorf("%+v, %v", result, err)
				}
			})
		}
		synctest.Wait()
		// Who does not want to wait any more does not.
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.Call(gone, call("1"), "slow", &notes{}); !errors.Is(err, context.Canceled) {
			t.Errorf("an impatient duplicate got %v", err)
		}
		close(release)
		group.Wait()
		if n := made.Load(); n != 1 {
			t.Errorf("it was made %d times", n)
		}
	})
}

func TestWhatWritesIsNotedFirstAndWhatIsKeptIsKeptBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	ledger := &notes{}
	r := registry(t,
		Tool{Name: "push", Run: func(context.Context, Call) (Result, error) {
			return Result{Text: "pushed"}, ledger.note("push")
		}},
		Tool{Name: "hand", Effect: Reads, Run: func(context.Context, Call) (Result, error) {
			return Result{Text: "taken", Output: json.RawMessage(`{"a":1}`)}, nil
		}},
	)
	for _, name := range []string{"push", "hand"} {
		if result, err := r.Call(t.Context(), call(name), name, ledger); err != nil || result.IsError {
			t.Fatalf("%s: %+v, %v", name, result, err)
		}
	}
	if got, want := strings.Join(ledger.told, ", "), `acting push, push, keep the answer of push, keep hand {"a":1}`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	ledger.told, ledger.refuse = nil, errors.New("the disk is full")
	for _, name := range []string{"push", "hand"} {
		if result, err := r.Call(t.Context(), call(name+"2"), name, ledger); !errors.Is(err, ledger.refuse) {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
	}
	if got := strings.Join(ledger.told, ", "); strings.Contains(got, ", push") {
		t.Errorf("it pushed without a note: %s", got)
	}
	ledger.refuse = nil
	if result, err := r.Call(t.Context(), call("hand2"), "hand", ledger); err != nil || result.Text != "taken" {
		t.Errorf("what could not be kept cannot be handed in again: %+v, %v", result, err)
	}
}

func TestADryRunAcknowledgesWhatWrites(t *testing.T) {
	t.Parallel()
	ledger := &notes{}
	r := registry(t,
		Tool{Name: "push", InputSchema: json.RawMessage(`{"type":"object","required":["a"]}`),
			Run: func(context.Context, Call) (Result, error) { panic("it ran") }},
		Tool{Name: "look", Effect: Reads, Run: func(context.Context, Call) (Result, error) { return Result{Text: "seen"}, nil }},
	)
	c := call("1")
	c.DryRun, c.Input = true, json.RawMessage(`{"a":1}`)
	if result, err := r.Call(t.Context(), c, "push", ledger); err != nil || result.IsError || result.Text != "Operation acknowledged." || len(ledger.told) > 0 {
		t.Errorf("push: %+v, %v, %v", result, err, ledger.told)
	}
	if result, err := r.Call(t.Context(), c, "look", ledger); err != nil || result.Text != "seen" {
		t.Errorf("look: %+v, %v", result, err)
	}
	c.Input = json.RawMessage(`{}`)
	if result, _ := r.Call(t.Context(), c, "push", ledger); !result.IsError {
		t.Errorf("a dry run took input that does not match: %+v", result)
	}
}

func TestFailuresOfTools(t *testing.T) {
	t.Parallel()
	r := registry(t,
		Tool{Name: "fails", Effect: Reads, Run: func(context.Context, Call) (Result, error) { return Result{Text: "x"}, errors.New("no such branch") }},
		Tool{Name: "panics", Effect: Reads, Run: func(context.Context, Call) (Result, error) { panic("secret") }},
		Tool{Name: "leaves", Effect: Reads, Run: func(context.Context, Call) (Result, error) { runtime.Goexit(); return Result{}, nil }},
		Tool{Name: "babbles", Effect: Reads, Run: func(context.Context, Call) (Result, error) { return Result{Output: json.RawMessage(`{`)}, nil }},
	)
	if result, err := r.Call(t.Context(), call("1"), "fails", &notes{}); err != nil || !result.IsError || result.Text != "no such branch" {
		t.Errorf("a failure: %+v, %v", result, err)
	}
	for range 2 {
		_, err := r.Call(t.Context(), call("1"), "panics", &notes{})
		var panicked *PanicError
		if !errors.As(err, &panicked) || panicked.Value != "secret" || len(panicked.Stack) == 0 || strings.Contains(err.Error(), "secret") {
			t.Errorf("a panic: %v", err)
		}
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = r.Call(context.Background(), call("1"), "leaves", &notes{})
	}()
	<-over
	if _, err := r.Call(t.Context(), call("1"), "leaves", &notes{}); err == nil {
		t.Error("a tool that ended its goroutine has succeeded")
	}
	if _, err := r.Call(t.Context(), call("1"), "babbles", &notes{}); err == nil {
		t.Error("an output that is not JSON was taken")
	}
}

func TestACallThatWasCutShortCanBeMadeAgainUnlessItWrites(t *testing.T) {
	t.Parallel()
	for _, effect := range []Effect{Read, Write} {
		made, writes := 0, effect == Write
		ctx, cancel := context.WithCancel(t.Context())
		r := registry(t, Tool{Name: "slow", Effect: func(json.RawMessage) Effect { return effect }, Run: func(ctx context.Context, _ Call) (Result, error) {
			if made++; made == 1 {
				cancel()
				return Result{}, ctx.Err()
			}
			return Result{Text: "done"}, nil
		}})
		if _, err := r.Call(ctx, call("1"), "slow", &notes{}); !errors.Is(err, context.Canceled) {
			t.Errorf("writes=%t: got %v", writes, err)
		}
		_, err := r.Call(t.Context(), call("1"), "slow", &notes{})
		if again := err == nil; again == writes {
			t.Errorf("writes=%t: made again: %t", writes, again)
		}
	}
}

func TestResultsAreBounded(t *testing.T) {
	t.Parallel()
	size := 0
	r := registry(t,
		Tool{Name: "text", Effect: Reads, Run: func(context.Context, Call) (Result, error) { return Result{Text: strings.Repeat("x", size)}, nil }},
		Tool{Name: "output", Effect: Reads, Run: func(context.Context, Call) (Result, error) {
			return Result{Output: json.RawMessage(`"` + strings.Repeat("x", size-2) + `"`)}, nil
		}},
	)
	for i, n := range []int{maxText - 1, maxText, maxText + 1} {
		size = n
		result, err := r.Call(t.Context(), call(""), "text", &notes{})
		if cut := strings.Contains(result.Text, "cut here"); err != nil || len(result.Text) > maxText || cut != (i == 2) {
			t.Errorf("%d bytes of text: %d, cut %t, %v", n, len(result.Text), cut, err)
		}
	}
	for i, n := range []int{maxOutput - 1, maxOutput, maxOutput + 1} {
		size = n
		result, err := r.Call(t.Context(), call(""), "output", &notes{})
		if err != nil || result.IsError != (i == 2) {
			t.Errorf("%d bytes of output: %t %q, %v", n, result.IsError, result.Text, err)
		}
	}
}

func TestTheMemoryOfCallsIsBounded(t *testing.T) {
	t.Parallel()
	made := map[string]int{}
	r := registry(t, Tool{Name: "count", Effect: Reads, Run: func(_ context.Context, c Call) (Result, error) {
		made[c.CallID]++
		return Result{Text: strings.Repeat("x", 100)}, nil
	}})
	ask := func(id string) {
		if _, err := r.Call(t.Context(), call(id), "count", &notes{}); err != nil {
			t.Fatal(err)
		}
	}
	ask("often")
	ask("rare")
	for i := range maxRemembered - 1 {
		ask(fmt.Sprint(i))
		ask("often")
	}
	ask("rare")
	if made["often"] != 1 || made["rare"] != 2 || len(r.memory.calls) != maxRemembered || r.memory.bytes != 100*maxRemembered {
		t.Errorf("made %d and %d times; %d calls, %d bytes", made["often"], made["rare"], len(r.memory.calls), r.memory.bytes)
	}

	large := registry(t, Tool{Name: "large", Effect: Reads, Run: func(context.Context, Call) (Result, error) {
		return Result{Text: strings.Repeat("x", maxText)}, nil
	}})
	for i := range 2 * maxRememberedBytes / maxText {
		if _, err := large.Call(t.Context(), call(fmt.Sprint(i)), "large", &notes{}); err != nil {
			t.Fatal(err)
		}
	}
	if large.memory.bytes > maxRememberedBytes || len(large.memory.calls) != len(large.memory.places) || large.memory.bytes != maxText*large.memory.answered.Len() {
		t.Errorf("%d bytes in %d calls", large.memory.bytes, len(large.memory.calls))
	}
}
