package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/bridge"
)

// fakeBridge answers as a bridge does, and remembers what it was asked.
type fakeBridge struct {
	calls   []string
	options []bridge.AgentOptions
	sent    []bridge.SendOptions
	known   bool // whether the agent exists
	models  []bridge.Model
	// attached, listed and listErr are what the bridge is and says of its runs.
	attached bool
	listed   []bridge.RunSnapshot
	listErr  error
	// attach returns the run that is attached to.
	attach func(runID string) (*fakeRun, error)
	// fail returns the error of a call, by its name and number from 1.
	fail func(call string, n int) error
	run  func(ctx context.Context) *fakeRun
}

func (b *fakeBridge) called(name string) error {
	b.calls = append(b.calls, name)
	n := 0
	for _, c := range b.calls {
		if c == name {
			n++
		}
	}
	if b.fail == nil {
		return nil
	}
	return b.fail(name, n)
}

func (b *fakeBridge) Models(context.Context) ([]bridge.Model, error) {
	return b.models, b.called("models")
}

func (b *fakeBridge) Create(_ context.Context, o bridge.AgentOptions) (agent, error) {
	b.options = append(b.options, o)
	return b, b.called("create")
}

func (b *fakeBridge) Resume(_ context.Context, id string, o bridge.AgentOptions) (agent, error) {
	b.options = append(b.options, o)
	if err := b.called("resume " + id); err != nil {
		return nil, err
	}
	if !b.known {
		return nil, &bridge.Error{Code: "not_found", Op: "resume agent"}
	}
	return b, nil
}

func (b *fakeBridge) ID() string { return "bc-given" }

func (b *fakeBridge) Attached() bool { return b.attached }

func (b *fakeBridge) Runs(context.Context, string) iter.Seq2[bridge.RunSnapshot, error] {
	return func(yield func(bridge.RunSnapshot, error) bool) {
		err := b.called("runs")
		for _, s := range b.listed {
			if err == nil && !yield(s, nil) {
				return
			}
		}
		if err = cmp.Or(err, b.listErr); err != nil {
			yield(bridge.RunSnapshot{}, err)
		}
	}
}

func (b *fakeBridge) Attach(_ context.Context, _, runID string) (run, error) {
	if err := b.called("attach " + runID); err != nil {
		return nil, err
	}
	attached, err := b.attach(runID)
	if err != nil {
		return nil, err
	}
	return attached, nil
}

func (b *fakeBridge) Send(ctx context.Context, m bridge.Message, o bridge.SendOptions) (run, error) {
	b.sent = append(b.sent, o)
	if err := b.called("send " + m.Text); err != nil {
		return nil, err
	}
	return b.run(ctx), nil
}

func (b *fakeBridge) Close(context.Context) error { return b.called("close") }

// fakeRun brings its events and ends when done is closed.
type fakeRun struct {
	events    []bridge.Event
	result    bridge.Result
	err       error
	done      chan struct{}
	cancelled chan struct{}
	onCancel  func(context.Context) error
}

func newFakeRun(result bridge.Result, err error) *fakeRun {
	return &fakeRun{result: result, err: err, done: make(chan struct{}), cancelled: make(chan struct{})}
}

func (r *fakeRun) ended() *fakeRun { close(r.done); return r }

func (r *fakeRun) ID() string { return "run-1" }

func (r *fakeRun) Events(ctx context.Context) iter.Seq2[bridge.Event, error] {
	return func(yield func(bridge.Event, error) bool) {
		for _, ev := range r.events {
			if !yield(ev, nil) {
				return
			}
		}
		select {
		case <-r.done:
			if r.err != nil {
				yield(bridge.Event{}, r.err)
			}
		case <-ctx.Done():
			yield(bridge.Event{}, ctx.Err())
		}
	}
}

func (r *fakeRun) Wait(ctx context.Context) (bridge.Result, error) {
	select {
	case <-r.done:
		return r.result, r.err
	case <-ctx.Done():
		return bridge.Result{}, ctx.Err()
	}
}

func (r *fakeRun) Cancel(ctx context.Context) error {
	close(r.cancelled)
	if r.onCancel != nil {
		return r.onCancel(ctx)
	}
	return nil
}

var finished = bridge.Result{Status: bridge.RunFinished, Text: "fine", RunID: "run-1"}

func (b *fakeBridge) runFinished(context.Context) *fakeRun { return newFakeRun(finished, nil).ended() }

func runOnce(ctx context.Context, b *fakeBridge, model string) (bridge.Result, []bridge.Event, error) {
	var events []bridge.Event
	request := RunRequest{SessionID: "s", TurnID: "t", AgentID: "agt_1", Dir: "/w", Prompt: "p", Model: model, Force: true}
	result, err := newBridgeRunner(b, nil).Run(ctx, request, func(ev bridge.Event) { events = append(events, ev) })
	return result, events, err
}

func TestRunnerFindsItsAgentOrMakesIt(t *testing.T) {
	for name, c := range map[string]struct {
		known bool
		calls []string
	}{
		"known":   {true, []string{"resume agt_1", "runs", "send p", "close"}},
		"unknown": {false, []string{"resume agt_1", "create", "runs", "send p", "close"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := &fakeBridge{known: c.known}
			b.run = b.runFinished
			result, _, err := runOnce(t.Context(), b, "m")
			if err != nil || result != finished || !slices.Equal(b.calls, c.calls) {
				t.Errorf("%+v, %v after %v, want %v", result, err, b.calls, c.calls)
			}
			for _, o := range b.options {
				if o.ID != "agt_1" || o.Model != "m" || o.Local.Dir != "/w" ||
					!slices.Equal(o.Tools, []string{"read", "grep", "glob", "ls"}) {
					t.Errorf("options are %+v", o)
				}
				for _, tool := range []string{"shell", "edit", "write", "task", "web_fetch"} {
					if !slices.Contains(o.DisallowedTools, tool) {
						t.Errorf("%s is not disallowed", tool)
					}
				}
			}
		})
	}
}

func TestRunnerChoosesTheFirstModel(t *testing.T) {
	b := &fakeBridge{known: true, models: []bridge.Model{{ID: "first"}, {ID: "second"}}}
	b.run = b.runFinished
	if _, _, err := runOnce(t.Context(), b, ""); err != nil || b.options[0].Model != "first" {
		t.Errorf("%v, %+v", err, b.options)
	}
	b = &fakeBridge{known: true}
	if _, _, err := runOnce(t.Context(), b, ""); err == nil {
		t.Error("no model at all went unnoticed")
	}
}

func TestRunnerHandsEventsOn(t *testing.T) {
	b := &fakeBridge{known: true}
	b.run = func(ctx context.Context) *fakeRun {
		r := b.runFinished(ctx)
		r.events = []bridge.Event{{Payload: bridge.Assistant{Text: "a"}}, {Payload: bridge.Assistant{Text: "b"}}}
		return r
	}
	if _, events, err := runOnce(t.Context(), b, "m"); err != nil || len(events) != 2 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

func TestRunnerExpiresAStuckRunOnce(t *testing.T) {
	busy := &bridge.Error{SDKCode: "AGENT_BUSY", Op: "send"}
	internal := &bridge.Error{Code: "internal", Message: "already has active run", Op: "send"}
	for name, c := range map[string]struct {
		errs  []error
		sends int
		retry bool
		ok    bool
	}{
		"free":             {nil, 1, false, true},
		"busy once":        {[]error{busy}, 2, false, true},
		"internal once":    {[]error{internal}, 2, false, true},
		"busy for good":    {[]error{busy, busy}, 2, true, false},
		"refused outright": {[]error{&bridge.Error{SDKCode: "INVALID_MODEL"}}, 1, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := &fakeBridge{known: true}
			b.run = b.runFinished
			b.fail = func(call string, n int) error {
				if call == "send p" && n <= len(c.errs) {
					return c.errs[n-1]
				}
				return nil
			}
			_, _, err := runOnce(t.Context(), b, "m")
			var retry *RetryError
			if (err == nil) != c.ok || errors.As(err, &retry) != c.retry || len(b.sent) != c.sends {
				t.Errorf("%v after %d sends", err, len(b.sent))
			}
			for i, o := range b.sent {
				if o.Force != (i == 1) {
					t.Errorf("send %d has force %v", i, o.Force)
				}
			}
		})
	}
}

func TestRunnerStartsADeadBridgeOnceMore(t *testing.T) {
	died := &bridge.ProcessError{Op: "exit", State: "signal: killed"}
	for deaths, wantRuns := range map[int]int{1: 2, 2: 2} {
		t.Run(fmt.Sprint("deaths=", deaths), func(t *testing.T) {
			b := &fakeBridge{known: true}
			runs := 0
			b.run = func(ctx context.Context) *fakeRun {
				if runs++; runs <= deaths {
					return newFakeRun(bridge.Result{}, died).ended()
				}
				return b.runFinished(ctx)
			}
			_, _, err := runOnce(t.Context(), b, "m")
			var retry *RetryError
			if errors.Is(err, died) != (deaths == 2) || errors.As(err, &retry) || runs != wantRuns {
				t.Errorf("%v after %d runs", err, runs)
			}
		})
	}
}

func TestRunnerTellsWhatPassesByItself(t *testing.T) {
	limited := func(l *bridge.RateLimit, after time.Duration) error {
		return &bridge.Error{SDKCode: codeLimited, RateLimit: l, RetryAfter: after}
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		err      error
		retry    bool
		after    time.Duration
		waitsFor string
	}{
		"rate limit":              {limited(nil, time.Minute), true, time.Minute, rateLimit},
		"rate limit by its end":   {limited(&bridge.RateLimit{Reset: now.Add(time.Hour)}, 0), true, time.Hour, rateLimit},
		"rate limit said twice":   {limited(&bridge.RateLimit{Reset: now.Add(time.Hour)}, time.Minute), true, time.Minute, rateLimit},
		"rate limit that is over": {limited(&bridge.RateLimit{Reset: now.Add(-time.Hour)}, 0), true, 0, rateLimit},
		"rate limit without end":  {limited(&bridge.RateLimit{}, 0), true, 0, rateLimit},
		"upstream":                {&bridge.Error{SDKCode: "UPSTREAM_ERROR"}, true, 0, "the model"},
		"nobody answers":          {&bridge.Error{Code: "unavailable"}, true, 0, "the model"},
		"usage limit":             {&bridge.Error{SDKCode: "USAGE_LIMIT_EXCEEDED"}, false, 0, ""},
		"bad key":                 {&bridge.Error{SDKCode: "UNAUTHORIZED"}, false, 0, ""},
		"cannot start":            {&bridge.ProcessError{Op: "start"}, false, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := &fakeBridge{fail: func(string, int) error { return c.err }}
			r := newBridgeRunner(b, nil)
			r.now = func() time.Time { return now }
			_, err := r.Run(t.Context(), RunRequest{AgentID: "agt_1", Model: "m"}, func(bridge.Event) {})
			var retry *RetryError
			if errors.As(err, &retry) != c.retry || !errors.Is(err, c.err) {
				t.Fatalf("got %v", err)
			}
			if c.retry && (retry.After != c.after || retry.WaitsFor != c.waitsFor) {
				t.Errorf("again after %s for %q, want %s for %q", retry.After, retry.WaitsFor, c.after, c.waitsFor)
			}
		})
	}
}

// A run that began and was then held off is no failure of the turn.
func TestRunnerWaitsForTheRateLimitOfARun(t *testing.T) {
	for code, retries := range map[string]bool{
		"RATE_LIMIT_EXCEEDED": true, "SDK_ERROR_CODE_RATE_LIMIT_EXCEEDED": true, "rate_limit_exceeded": true,
		"": false, "USAGE_LIMIT_EXCEEDED": false,
	} {
		t.Run(code, func(t *testing.T) {
			b := &fakeBridge{known: true}
			b.run = func(context.Context) *fakeRun {
				return newFakeRun(bridge.Result{Status: bridge.RunError, RunID: "run-1", ErrorCode: code, Reason: "429 from the model"}, nil).ended()
			}
			result, _, err := runOnce(t.Context(), b, "m")
			var retry *RetryError
			if errors.As(err, &retry) != retries || result.RunID != "run-1" {
				t.Fatalf("%+v, %v", result, err)
			}
			if retries && (retry.WaitsFor != rateLimit || !strings.Contains(err.Error(), "429 from the model") || errorCode(err) != codeLimited) {
				t.Errorf("%+v", retry)
			}
		})
	}
}

func TestRunnerCancelsWithItsContext(t *testing.T) {
	cancelled := bridge.Result{Status: bridge.RunCancelled, RunID: "run-1"}
	for name, c := range map[string]struct {
		onCancel func(r *fakeRun) func(context.Context) error
		most     time.Duration
		status   bridge.RunStatus
		ok       bool
	}{
		"and the run ends": {
			func(r *fakeRun) func(context.Context) error {
				return func(context.Context) error {
					time.AfterFunc(2*time.Second, func() { close(r.done) })
					return nil
				}
			}, 3 * time.Second, bridge.RunCancelled, true,
		},
		"and the run does not react": {
			func(*fakeRun) func(context.Context) error { return nil },
			cancelWait + time.Second, bridge.RunUnknown, false,
		},
		"and the bridge does not answer": {
			func(*fakeRun) func(context.Context) error {
				return func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
			}, cancelTimeout + cancelWait + time.Second, bridge.RunUnknown, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &fakeBridge{known: true}
				r := newFakeRun(cancelled, nil)
				r.onCancel = c.onCancel(r)
				b.run = func(context.Context) *fakeRun { return r }
				ctx, cancel := context.WithCancel(context.Background())
				began := time.Now()
				time.AfterFunc(time.Minute, cancel)
				result, _, err := runOnce(ctx, b, "m")
				took := time.Since(began)
				if result.Status != c.status || (err == nil) != c.ok || result.RunID != "run-1" {
					t.Errorf("%+v, %v", result, err)
				}
				if took > time.Minute+c.most {
					t.Errorf("took %s", took)
				}
				select {
				case <-r.cancelled:
				default:
					t.Error("the run was not cancelled")
				}
				if most := stopTurns; c.most-time.Second > most {
					t.Errorf("a cancelled run may take %s, a stop waits %s", c.most, most)
				}
			})
		})
	}
}
