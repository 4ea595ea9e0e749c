package bridge

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// countingTool answers with how often it was called, once release is closed.
func countingTool(calls *atomic.Int32, release <-chan struct{}) Tool {
	return Tool{Name: "count", Call: func(ctx context.Context, _ ToolInvocation) (ToolResult, error) {
		n := calls.Add(1)
		select {
		case <-release:
			return ToolResult{Value: n}, nil
		case <-ctx.Done():
			return ToolResult{}, ctx.Err()
		}
	}}
}

func released() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func TestDuplicateCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		release := make(chan struct{})
		box := startedBox(t, countingTool(&calls, release))
		answers := make(chan string, 3)
		for range 3 {
			go func() { answers <- box.callAs(t, "a", "call-1", "count", `{"x":1}`) }()
		}
		synctest.Wait()
		if calls.Load() != 1 {
			t.Errorf("the tool was called %d times", calls.Load())
		}
		close(release)
		for range 3 {
			if got := <-answers; got != `{"value":1}` {
				t.Errorf("answer = %s", got)
			}
		}
		if got := box.callAs(t, "a", "call-1", "count", `{"x":1}`); got != `{"value":1}` {
			t.Errorf("a later duplicate was answered with %s", got)
		}
		for _, other := range []struct{ id, args, want string }{
			{"call-2", `{"x":1}`, `{"value":2}`},
			{"call-1", `{"x":2}`, `{"value":3}`}, // an engine that counts its calls anew in each turn
			{"", `{"x":1}`, `{"value":4}`},
			{"", `{"x":1}`, `{"value":5}`}, // nothing tells whether these are one call
		} {
			if got := box.callAs(t, "a", other.id, "count", other.args); got != other.want {
				t.Errorf("call %q with %s was answered with %s, want %s", other.id, other.args, got, other.want)
			}
		}
	})
}

// A bridge whose connection broke asks again, so the tool has to go on.
func TestCallOutlivesItsConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		release := make(chan struct{})
		box := startedBox(t, countingTool(&calls, release))
		connection, broken := context.WithCancel(context.Background())
		failed := make(chan error, 1)
		go func() {
			_, err := box.toolbox.call(connection, toolRequest(t, "a", "call-1", "count", `{}`))
			failed <- err
		}()
		synctest.Wait()
		broken()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
		close(release)
		if got := box.callAs(t, "a", "call-1", "count", `{}`); got != `{"value":1}` {
			t.Errorf("the second request was answered with %s", got)
		}
	})
}

func TestCallsEndWithTheirRun(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(box *testBox, cancel func()){
		"the run ends":             func(box *testBox, _ func()) { box.end() },
		"the run's context ends":   func(_ *testBox, cancel func()) { cancel() },
		"the agent is closed":      func(box *testBox, _ func()) { box.forget("a") },
		"the client closes":        func(box *testBox, _ func()) { box.toolbox.end() },
		"another run is under way": func(box *testBox, _ func()) { box.begin(context.Background(), "a") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				stubborn := make(chan struct{})
				box := newTestBox(t, Tool{Name: "slow", Call: func(ctx context.Context, _ ToolInvocation) (ToolResult, error) {
					<-ctx.Done()
					ended <- ctx.Err()
					<-stubborn // the answer does not wait for a tool that does not listen
					return ToolResult{}, nil
				}})
				run, cancel := context.WithCancel(context.Background())
				defer cancel()
				_, box.end = box.begin(run, "a")
				answer := make(chan string, 1)
				go func() { answer <- box.callAs(t, "a", "call-1", "slow", `{}`) }()
				synctest.Wait()
				stop(box, cancel)
				if got := <-answer; !strings.Contains(got, "is over") || !strings.Contains(got, `"isError":true`) {
					t.Errorf("answer = %s", got)
				}
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("the tool's context ended with %v", err)
				}
				if got := box.callAs(t, "a", "call-1", "slow", `{}`); !strings.Contains(got, `"isError":true`) {
					t.Errorf("the same call after the run was answered with %s", got)
				}
				close(stubborn)
			})
		})
	}
}

func TestLateCalls(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	box := startedBox(t, countingTool(&calls, released()))
	first := box.callAs(t, "a", "call-1", "count", `{}`)
	box.end()
	for _, id := range []string{"call-1", "call-2", ""} {
		if got := box.callAs(t, "a", id, "count", `{}`); !strings.Contains(got, "no run under way") {
			t.Errorf("call %q after the run was answered with %s", id, got)
		}
	}
	_, end := box.begin(context.Background(), "a")
	defer end()
	if got := box.callAs(t, "a", "call-1", "count", `{}`); !strings.Contains(got, "made before") {
		t.Errorf("a call of an earlier run was answered with %s, first with %s", got, first)
	}
	if got := box.callAs(t, "a", "call-3", "count", `{}`); got != `{"value":2}` {
		t.Errorf("a call of the new run was answered with %s", got)
	}
	box.end() // of the first run, again: it must not end the second
	if got := box.callAs(t, "a", "call-4", "count", `{}`); got != `{"value":3}` {
		t.Errorf("a call after the first run's second end was answered with %s", got)
	}
}

func TestToolsOfAClosedAgent(t *testing.T) {
	t.Parallel()
	box := startedBox(t, echoTool())
	box.leave("a")
	if got := box.call(t, "echo", `{"x":1}`); got != `{"x":1}` {
		t.Errorf("the run under way was answered with %s", got)
	}
	box.end()
	if len(box.agents) != 0 {
		t.Error("the tools are kept after the run")
	}
	offered, err := checkTools([]Tool{echoTool()})
	if err != nil {
		t.Fatal(err)
	}
	box.offer("a", offered)
	_, end := box.begin(context.Background(), "a")
	box.leave("a")
	box.offer("a", offered) // it was resumed
	end()
	if len(box.agents) != 1 {
		t.Error("the tools of a resumed agent are gone")
	}
	box.leave("a")
	box.leave("nobody")
	if len(box.agents) != 0 {
		t.Error("the tools are kept without a run")
	}
}

func TestCallsWithoutATool(t *testing.T) {
	t.Parallel()
	box := startedBox(t, countingTool(new(atomic.Int32), released()))
	for _, tt := range []struct{ agent, tool, want string }{
		{"stranger", "count", "has no tools here"},
		{"", "count", "has no tools here"},
		{"a", "cuont", "there is count"},
		{"a", strings.Repeat("x", 1<<20), "there is no tool"},
	} {
		got := box.callAs(t, tt.agent, "call-1", tt.tool, `{}`)
		if !strings.Contains(got, tt.want) || !strings.Contains(got, `"isError":true`) || len(got) > 2*maxRefusal {
			t.Errorf("agent %q, tool %.20q: %.300s", tt.agent, tt.tool, got)
		}
	}
	box.offer("a", nil)
	if got := box.call(t, "count", `{}`); !strings.Contains(got, "there is no tool") {
		t.Errorf("a tool that was taken away was answered with %s", got)
	}
	named, end := box.begin(context.Background(), "stranger")
	named("run")
	end()
}

func TestInvocation(t *testing.T) {
	t.Parallel()
	var got []ToolInvocation
	box := newTestBox(t, Tool{Name: "look", Call: func(_ context.Context, c ToolInvocation) (ToolResult, error) {
		got = append(got, c)
		return ToolResult{}, nil
	}})
	named, end := box.begin(context.Background(), "a")
	defer end()
	box.callAs(t, "a", "call-1", "look", `{"b":[1,null],"a":2.5}`)
	named("run-9")
	box.callAs(t, "a", "", "look", `{}`)
	want := []string{`{a  call-1 look {"a":2.5,"b":[1,null]}}`, `{a run-9  look {}}`}
	for i, c := range got {
		if s := fmt.Sprintf("{%s %s %s %s %s}", c.AgentID, c.RunID, c.CallID, c.Tool, c.Args); s != want[i] {
			t.Errorf("call %d = %s, want %s", i, s, want[i])
		}
	}
}

func TestFailingTools(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		call   func() (ToolResult, error)
		want   string
		logged string
	}{
		"an error":        {func() (ToolResult, error) { return ToolResult{}, errors.New("no such city: hush-hush") }, "no such city: [redacted]", ""},
		"a long error":    {func() (ToolResult, error) { return ToolResult{}, errors.New(strings.Repeat("ä", maxRefusal)) }, "ää …", ""},
		"both":            {func() (ToolResult, error) { return ToolResult{Value: 1}, errors.New("too bad") }, "too bad", ""},
		"a panic":         {func() (ToolResult, error) { panic("hush-hush") }, "tool fail failed unexpectedly", "TestFailingTools"},
		"a slip":          {func() (ToolResult, error) { var s []int; return ToolResult{Value: s[len(s)]}, nil }, "failed unexpectedly", "out of range"},
		"a goexit":        {func() (ToolResult, error) { runtime.Goexit(); return ToolResult{}, nil }, "failed unexpectedly", "a tool panicked"},
		"no JSON":         {func() (ToolResult, error) { return ToolResult{Value: func() {}}, nil }, "cannot be sent", "cannot be sent"},
		"its own IsError": {func() (ToolResult, error) { return ToolResult{Value: "shop is closed", IsError: true}, nil }, "shop is closed", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := startedBox(t, Tool{Name: "fail", Call: func(context.Context, ToolInvocation) (ToolResult, error) { return tt.call() }})
			got := box.callAs(t, "a", "call-1", "fail", `{}`)
			if !strings.Contains(got, tt.want) || !strings.Contains(got, `"isError":true`) {
				t.Errorf("answer = %s, want %s", got, tt.want)
			}
			if again := box.callAs(t, "a", "call-1", "fail", `{}`); again != got {
				t.Errorf("a duplicate was answered with %s", again)
			}
			if strings.Contains(got, "goroutine") || strings.Contains(got+box.log.String(), "hush-hush") {
				t.Errorf("answer %s or log %s tells too much", got, box.log.String())
			}
			if !strings.Contains(box.log.String(), tt.logged) {
				t.Errorf("log = %s, want %s in it", box.log.String(), tt.logged)
			}
		})
	}
}

func TestRememberedAnswersAreBounded(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	large := Tool{Name: "large", Call: func(context.Context, ToolInvocation) (ToolResult, error) {
		calls.Add(1)
		return ToolResult{Value: strings.Repeat("x", maxToolResult-2)}, nil
	}}
	for name, tt := range map[string]struct {
		tool  Tool
		count int
	}{
		"count": {countingTool(&calls, released()), maxRememberedCalls + 1},
		"bytes": {large, maxRememberedBytes/maxToolResult + 1},
	} {
		t.Run(name, func(t *testing.T) {
			box := startedBox(t, tt.tool)
			calls.Store(0)
			id := func(i int) string { return fmt.Sprintf("call-%d", i) }
			for i := range tt.count {
				box.callAs(t, "a", id(i), tt.tool.Name, `{}`)
			}
			made := calls.Load()
			if got := box.callAs(t, "a", id(0), tt.tool.Name, `{}`); !strings.Contains(got, "made before") {
				t.Errorf("the oldest call was answered with %.100s", got)
			}
			if got := box.callAs(t, "a", id(tt.count-1), tt.tool.Name, `{}`); strings.Contains(got, "isError") {
				t.Errorf("the newest call was answered with %.100s", got)
			}
			if calls.Load() != made || int(made) != tt.count {
				t.Errorf("the tool was called %d times for %d calls", calls.Load(), tt.count)
			}
		})
	}
}

func TestKeyRing(t *testing.T) {
	t.Parallel()
	var r keyRing
	key := func(i int) callKey { return newCallKey(fmt.Sprint(i), "t", nil) }
	for i := range maxPastCalls + 10 {
		r.add(key(i))
		r.add(key(i))
	}
	if r.has(key(9)) || !r.has(key(10)) || !r.has(key(maxPastCalls+9)) || len(r.keys) != maxPastCalls {
		t.Errorf("%d keys; has the 9th %v, the 10th %v, the last %v", len(r.keys), r.has(key(9)), r.has(key(10)), r.has(key(maxPastCalls+9)))
	}
}

func TestCloseWaitsForTools(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		box := startedBox(t, Tool{Name: "slow", Call: func(context.Context, ToolInvocation) (ToolResult, error) {
			<-release
			return ToolResult{}, nil
		}})
		go func() { box.callAs(t, "a", "", "slow", `{}`) }()
		synctest.Wait()
		box.toolbox.end()
		impatient, cancel := context.WithCancel(context.Background())
		cancel()
		if left := box.under.close(impatient); left != 1 {
			t.Errorf("%d calls are left, want 1", left)
		}
		if box.under.enter() {
			t.Error("a closed gate lets calls in")
		}
		close(release)
	})
}
