package sessions

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

func snapshot(id string, status bridge.RunStatus, minute int) bridge.RunSnapshot {
	return bridge.RunSnapshot{
		ID: id, Status: status, Text: "from the list", Usage: bridge.Usage{TotalTokens: 9},
		Created: time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC),
	}
}

// sendOnce runs a turn of which an earlier attempt left an intention, and
// returns what was noted.
func sendOnce(t *testing.T, b *fakeBridge, sent *state.Sending, here bool) (bridge.Result, []state.Sending, error) {
	t.Helper()
	var noted []state.Sending
	result, err := newBridgeRunner(b, nil).Run(t.Context(), RunRequest{
		SessionID: "s", TurnID: "t", AgentID: "agt_1", Dir: "/w", Prompt: "p", Model: "m", Force: true,
		Sent: sent, SentHere: here,
		Note: func(_ context.Context, s state.Sending) error {
			if err := b.called(fmt.Sprintf("note %s %s", s.After, s.RunID)); err != nil {
				return err
			}
			noted = append(noted, s)
			return nil
		},
	}, func(bridge.Event) {})
	return result, noted, err
}

func adopted(id string, result bridge.Result, err error) func(string) (*fakeRun, error) {
	result.RunID = id
	return func(string) (*fakeRun, error) { return newFakeRun(result, err).ended(), nil }
}

func TestTheIntentionComesBeforeTheRun(t *testing.T) {
	t.Run("of an agent with runs", func(t *testing.T) {
		// Some bridges list the oldest first, and a run for an agent that was never sent anything.
		b := &fakeBridge{known: true, listed: []bridge.RunSnapshot{
			snapshot("old", bridge.RunFinished, 1), snapshot("newest", bridge.RunFinished, 2), snapshot("waiting", bridge.RunCreating, 3),
		}}
		b.run = b.runFinished
		if _, _, err := sendOnce(t, b, nil, false); err != nil {
			t.Fatal(err)
		}
		want := []string{"resume agt_1", "runs", "note newest ", "send p", "note newest run-1", "close"}
		if !slices.Equal(b.calls, want) {
			t.Errorf("calls %q, want %q", b.calls, want)
		}
	})
	t.Run("of a new agent", func(t *testing.T) {
		b := &fakeBridge{}
		b.run = b.runFinished
		if _, _, err := sendOnce(t, b, nil, false); err != nil {
			t.Fatal(err)
		}
		want := []string{"resume agt_1", "create", "runs", "note  ", "send p", "note  run-1", "close"}
		if !slices.Equal(b.calls, want) {
			t.Errorf("calls %q, want %q", b.calls, want)
		}
	})
	t.Run("that cannot be stored", func(t *testing.T) {
		b := &fakeBridge{known: true, fail: func(call string, _ int) error {
			if strings.HasPrefix(call, "note") {
				return state.ErrUnavailable
			}
			return nil
		}}
		if _, _, err := sendOnce(t, b, nil, false); !errors.Is(err, state.ErrUnavailable) || len(b.sent) != 0 {
			t.Errorf("%v after %d sends", err, len(b.sent))
		}
	})
	t.Run("whose run cannot be named", func(t *testing.T) {
		b := &fakeBridge{known: true, fail: func(call string, _ int) error {
			if strings.HasSuffix(call, "run-1") {
				return state.ErrUnavailable
			}
			return nil
		}}
		b.run = b.runFinished
		if result, _, err := sendOnce(t, b, nil, false); err != nil || result.Text != "fine" {
			t.Errorf("%+v, %v", result, err)
		}
	})
	t.Run("at a bridge that lists no runs", func(t *testing.T) {
		b := &fakeBridge{known: true, listErr: &bridge.Error{Code: "unimplemented"}}
		b.run = b.runFinished
		if _, noted, err := sendOnce(t, b, nil, false); err != nil || len(noted) != 0 {
			t.Errorf("%v, noted %v", err, noted)
		}
	})
	t.Run("at a bridge that cannot list runs now", func(t *testing.T) {
		b := &fakeBridge{known: true, listErr: &bridge.Error{Code: "unavailable"}}
		var retry *RetryError
		if _, _, err := sendOnce(t, b, nil, false); !errors.As(err, &retry) || len(b.sent) != 0 {
			t.Errorf("%v after %d sends", err, len(b.sent))
		}
	})
}

// A run that an earlier attempt sent is this turn's: it is followed, or its
// result taken, and nothing is sent a second time.
func TestRunnerLooksBeforeItSendsAgain(t *testing.T) {
	old, failedRun := snapshot("old", bridge.RunFinished, 1), bridge.Result{Status: bridge.RunError, Reason: "out of tokens"}
	good := bridge.Result{Status: bridge.RunFinished, Text: "adopted"}
	fromList := "from the list"
	for name, c := range map[string]struct {
		sent     state.Sending
		listed   []bridge.RunSnapshot
		attached bool
		here     bool
		attach   func(string) (*fakeRun, error)
		text     string
		sends    int
		after    string // of the new intention
	}{
		"nothing was sent": {
			sent: state.Sending{After: "old"}, listed: []bridge.RunSnapshot{old}, attached: true, text: "fine", sends: 1, after: "old",
		},
		"live, and the bridge outlived us": {
			sent: state.Sending{After: "old"}, listed: []bridge.RunSnapshot{snapshot("new", bridge.RunRunning, 2), old}, attached: true,
			attach: adopted("new", good, nil), text: "adopted",
		},
		"live, and nobody died": {
			sent: state.Sending{After: "old"}, listed: []bridge.RunSnapshot{old, snapshot("new", bridge.RunRunning, 2)}, here: true,
			attach: adopted("new", good, nil), text: "adopted",
		},
		"running for ever, since the bridge died with us": {
			sent: state.Sending{After: "old"}, listed: []bridge.RunSnapshot{snapshot("new", bridge.RunRunning, 2), old}, text: "fine", sends: 1, after: "new",
		},
		"listed as running but not live": {
			sent: state.Sending{After: "old"}, listed: []bridge.RunSnapshot{snapshot("new", bridge.RunRunning, 2), old}, attached: true,
			attach: adopted("new", bridge.Result{}, &bridge.Error{SDKCode: "RUN_NOT_FOUND"}), text: "fine", sends: 1, after: "new",
		},
		"listed as running but left behind": {
			sent: state.Sending{After: "old"}, listed: []bridge.RunSnapshot{snapshot("new", bridge.RunRunning, 2), old}, attached: true,
			attach: adopted("new", bridge.Result{}, &bridge.Error{Code: "failed_precondition"}), text: "fine", sends: 1, after: "new",
		},
		"ended meanwhile": {
			sent: state.Sending{After: "old"}, listed: []bridge.RunSnapshot{snapshot("new", bridge.RunFinished, 2), old},
			attach: adopted("new", good, nil), text: "adopted",
		},
		"the first of a new agent": {
			listed: []bridge.RunSnapshot{snapshot("new", bridge.RunFinished, 2)}, attach: adopted("new", good, nil), text: "adopted",
		},
		"ended, and only the list knows": {
			sent: state.Sending{After: "old"}, listed: []bridge.RunSnapshot{snapshot("new", bridge.RunFinished, 2), old},
			attach: adopted("new", bridge.Result{}, &bridge.Error{Code: "unimplemented"}), text: fromList,
		},
		"failed meanwhile": {
			sent: state.Sending{After: "old"}, listed: []bridge.RunSnapshot{snapshot("new", bridge.RunError, 2), old},
			attach: adopted("new", failedRun, nil),
		},
		"cancelled with its host": {
			sent: state.Sending{After: "old"}, listed: []bridge.RunSnapshot{snapshot("new", bridge.RunCancelled, 2), old}, attached: true,
			text: "fine", sends: 1, after: "new",
		},
		"expired": {
			sent: state.Sending{After: "old"}, listed: []bridge.RunSnapshot{snapshot("new", bridge.RunExpired, 2), old}, text: "fine", sends: 1, after: "new",
		},
		"named, among others": {
			sent: state.Sending{After: "old", RunID: "mine"}, attach: adopted("mine", good, nil), text: "adopted",
			listed: []bridge.RunSnapshot{snapshot("later", bridge.RunFinished, 3), snapshot("mine", bridge.RunFinished, 2), old},
		},
		"named, and waiting when it was intended": {
			sent: state.Sending{After: "first", RunID: "first"}, attach: adopted("first", good, nil), text: "adopted",
			listed: []bridge.RunSnapshot{snapshot("first", bridge.RunFinished, 2)},
		},
		"waiting for the first message": {
			sent: state.Sending{After: "first"}, listed: []bridge.RunSnapshot{snapshot("first", bridge.RunRunning, 2)}, attached: true,
			text: "fine", sends: 1, after: "first",
		},
		"named, and gone": {
			sent: state.Sending{After: "old", RunID: "mine"}, listed: []bridge.RunSnapshot{old}, text: "fine", sends: 1, after: "old",
		},
		"still being created, and named": {
			sent: state.Sending{After: "old", RunID: "mine"}, listed: []bridge.RunSnapshot{snapshot("mine", bridge.RunCreating, 2), old}, attached: true,
			attach: adopted("mine", good, nil), text: "adopted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := &fakeBridge{known: true, attached: c.attached, listed: c.listed, attach: c.attach}
			b.run = b.runFinished
			result, noted, err := sendOnce(t, b, &c.sent, c.here)
			if err != nil || result.Text != c.text || len(b.sent) != c.sends {
				t.Fatalf("%+v, %v after %d sends; want %q after %d", result, err, len(b.sent), c.text, c.sends)
			}
			if c.sends > 0 && (len(noted) < 2 || noted[len(noted)-1] != state.Sending{After: c.after, RunID: "run-1"}) {
				t.Errorf("noted %+v", noted)
			}
			if c.text == fromList && (result.RunID != "new" || result.Usage.TotalTokens != 9) {
				t.Errorf("%+v", result)
			}
			if c.sends > 0 && b.sent[0].Force {
				t.Error("the first send is forced")
			}
		})
	}
}

// A Send whose answer is lost is looked for, and never repeated blindly.
func TestRunnerLooksAfterALostAnswer(t *testing.T) {
	lost := fmt.Errorf("bridge: send: connection reset: %w", bridge.ErrUnknownOutcome)
	for name, c := range map[string]struct {
		err   error
		began bool // whether the bridge has the run all the same
		sends int
		force bool
		text  string
		doubt bool
	}{
		"it ran":                        {err: lost, began: true, sends: 1, text: "adopted"},
		"it may run":                    {err: lost, sends: 1, doubt: true},
		"an internal error, but it ran": {err: &bridge.Error{Code: "internal"}, began: true, sends: 1, text: "adopted"},
		"busy with what was sent":       {err: &bridge.Error{SDKCode: "AGENT_BUSY"}, began: true, sends: 1, text: "adopted"},
		"busy with another's":           {err: &bridge.Error{SDKCode: "AGENT_BUSY"}, sends: 2, force: true, text: "fine"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &fakeBridge{known: true, listed: []bridge.RunSnapshot{snapshot("stuck", bridge.RunRunning, 1)}}
			b.run = b.runFinished
			b.attach = adopted("new", bridge.Result{Status: bridge.RunFinished, Text: "adopted"}, nil)
			b.fail = func(call string, n int) error {
				if call != "send p" || n > 1 {
					return nil
				}
				if c.began {
					b.listed = append(b.listed, snapshot("new", bridge.RunRunning, 2))
				}
				return c.err
			}
			result, noted, err := sendOnce(t, b, nil, false)
			if result.Text != c.text || len(b.sent) != c.sends || b.sent[c.sends-1].Force != c.force {
				t.Errorf("%+v, %v after sends %+v", result, err, b.sent)
			}
			var retry *RetryError
			if c.doubt != errors.Is(err, bridge.ErrUnknownOutcome) || c.doubt != errors.As(err, &retry) {
				t.Errorf("error %v", err)
			}
			if c.doubt && (len(noted) != 1 || noted[0].After != "stuck") {
				t.Errorf("noted %+v", noted)
			}
		})
	}
}

// After a bridge's death its last run may have ended all the same.
func TestRunnerAdoptsWhatADeadBridgeFinished(t *testing.T) {
	died := &bridge.ProcessError{Op: "exit", State: "signal: killed"}
	for status, sends := range map[bridge.RunStatus]int{bridge.RunFinished: 1, bridge.RunRunning: 2} {
		t.Run(string(status), func(t *testing.T) {
			b := &fakeBridge{known: true}
			b.attach = adopted("run-1", bridge.Result{Status: bridge.RunFinished, Text: "adopted"}, nil)
			b.run = func(ctx context.Context) *fakeRun {
				if len(b.sent) > 1 {
					return b.runFinished(ctx)
				}
				b.listed = append(b.listed, snapshot("run-1", status, 1))
				return newFakeRun(bridge.Result{}, died).ended()
			}
			result, _, err := sendOnce(t, b, nil, false)
			if err != nil || len(b.sent) != sends || (result.Text == "adopted") != (sends == 1) {
				t.Errorf("%+v, %v after %d sends", result, err, len(b.sent))
			}
		})
	}
}

// Agents that a bridge has lost, with its files or its machine, are made anew
// under the same id, and nothing is looked for among runs that are lost too.
func TestRunnerMakesALostAgentAnew(t *testing.T) {
	b := &fakeBridge{attached: true}
	b.run = b.runFinished
	b.attach = adopted("gone", bridge.Result{}, errors.New("not to be asked"))
	result, noted, err := sendOnce(t, b, &state.Sending{After: "old", RunID: "gone"}, true)
	if err != nil || result.Text != "fine" || !slices.Contains(b.calls, "create") || len(noted) != 2 || noted[0] != (state.Sending{}) {
		t.Errorf("%+v, %v after %q, noted %v", result, err, b.calls, noted)
	}
}

func TestAListOfRunsIsReadNoFurtherThanNeeded(t *testing.T) {
	const runs = 500
	created := func(minute int) bridge.RunSnapshot { return snapshot(fmt.Sprint(minute), bridge.RunFinished, minute) }
	for _, tt := range []struct {
		name   string
		at     func(i int) int // the minute of the run that is listed at i
		named  string
		want   string
		atMost int
	}{
		{"the newest is first", func(i int) int { return runs - i }, "", fmt.Sprint(runs), 1 + olderInARow},
		{"the newest is last", func(i int) int { return i }, "", fmt.Sprint(runs - 1), runs},
		{"one that is named", func(i int) int { return runs - i }, fmt.Sprint(runs - 2), fmt.Sprint(runs - 2), 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &fakeBridge{}
			for i := range runs {
				b.listed = append(b.listed, created(tt.at(i)))
			}
			counted := &countedRuns{fakeBridge: b}
			got, err := newBridgeRunner(counted, nil).newest(t.Context(), "agt_1", tt.named)
			if err != nil || got.ID != tt.want || counted.read > tt.atMost {
				t.Errorf("found %q after %d runs, %v; want %q after at most %d", got.ID, counted.read, err, tt.want, tt.atMost)
			}
		})
	}
}

// countedRuns counts the runs that are read of a list.
type countedRuns struct {
	*fakeBridge
	read int
}

func (c *countedRuns) Runs(ctx context.Context, agentID string) iter.Seq2[bridge.RunSnapshot, error] {
	return func(yield func(bridge.RunSnapshot, error) bool) {
		for s, err := range c.fakeBridge.Runs(ctx, agentID) {
			c.read++
			if !yield(s, err) {
				return
			}
		}
	}
}
