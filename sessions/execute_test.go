package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/tools"
)

// slow is a tool that takes its time, and is cut short by the end of its context.
func slow(d time.Duration) func(context.Context, tools.Call) (tools.Result, error) {
	return func(ctx context.Context, _ tools.Call) (tools.Result, error) {
		select {
		case <-time.After(d):
			return tools.Result{Text: "labelled at last"}, nil
		case <-ctx.Done():
			return tools.Result{}, ctx.Err()
		}
	}
}

// A tool that uses up the most time that one may have has failed, and everybody knows.
func TestALongCallEndsByItsToolsOwnTime(t *testing.T) {
	policy := approvals.Policy{Approvers: approvals.Approvers{Slack: []string{"U1"}}, MinApprovals: 1, ExpiresAfter: 24 * time.Hour}
	longest := tools.Tool{
		Name: "set_labels", Timeout: tools.MaxTimeout, Run: slow(48 * time.Hour),
		Gate: &tools.Gate{
			Needs:  func(tools.Call) (bool, error) { return true, nil },
			Policy: func(tools.Call) approvals.Policy { return policy },
		},
	}
	registry, err := tools.New(longest)
	if err != nil {
		t.Fatal(err)
	}
	inOfficeWith(t, func(o *Options) { o.Agent = func() Agent { return Agent{Tools: registry} } }, func(o *office) {
		asked := o.ask()
		o.wait(time.Minute)
		if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
			t.Fatal(err)
		}
		o.wait(time.Hour)
		if v, err := o.engine.Approval(t.Context(), asked.ID); err != nil || v.State != approvals.Failed {
			t.Errorf("it is %s, %v", v.State, err)
		}
	})
}

// A process that dies while a call runs asks what came of it, and does not repeat it.
func TestACallThatTheProcessDiedOverIsNotRepeated(t *testing.T) {
	for _, c := range []struct {
		name string
		look func(context.Context, tools.Call) (tools.Result, error)
		want approvals.State
		told string
	}{
		{"nobody can tell", nil, approvals.Unknown, "not"},
		{"it was done", func(_ context.Context, c tools.Call) (tools.Result, error) {
			return tools.Result{Text: "found " + c.ApprovalID}, nil
		}, approvals.Done, "found apr_"},
		{"it was not done", func(context.Context, tools.Call) (tools.Result, error) {
			return tools.Result{Text: "no label is there", IsError: true}, nil
		}, approvals.Failed, "no label is there"},
		{"the look fails", func(context.Context, tools.Call) (tools.Result, error) {
			return tools.Result{}, errors.New("503")
		}, approvals.Unknown, "not"},
		{"the look panics", func(context.Context, tools.Call) (tools.Result, error) { panic("503") }, approvals.Unknown, "not"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inOffice(t, func(o *office) {
				asked := o.ask()
				o.wait(time.Hour)
				o.run, o.look = slow(time.Hour), c.look
				if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
					t.Error(err)
				}
				o.wantState(asked.ID, approvals.Executing)
				o.crash()
				o.store = o.store.Reopen()
				o.start()
				o.wait(time.Minute)
				v := o.wantState(asked.ID, c.want)
				o.wantMade(`{"label":"x"}`)
				o.wantAnswers(`"status":"pending"`, c.told)
				if c.want == approvals.Unknown && v.Reason == "" {
					t.Error("nobody says why")
				}
				o.restart()
				o.wait(time.Hour)
				o.wantMade(`{"label":"x"}`)
				o.wantAnswers(`"status":"pending"`, c.told)
			})
		})
	}
}

func TestAnAgreedCallIsMadeByTheNextProcess(t *testing.T) {
	inOffice(t, func(o *office) {
		asked := o.ask()
		o.wait(time.Hour)
		o.stop()
		o.store = o.store.Reopen()
		// The decision was stored, and the process died before it did more.
		row, err := o.store.Approval(context.Background(), asked.ID)
		if err != nil {
			t.Fatal(err)
		}
		h, err := readHeld(row)
		if err != nil {
			t.Fatal(err)
		}
		step, err := h.rec.Cast(approvals.Ballot{ApprovalID: asked.ID, Verdict: approvals.Approve, By: person("U1"), Place: "slack"}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if row.Record, err = encodeRecord(step.Record); err != nil {
			t.Fatal(err)
		}
		o.put(row)
		o.start()
		o.wait(time.Minute)
		o.wantState(asked.ID, approvals.Done)
		o.wantMade(`{"label":"x"}`)
		o.wantAnswers(`"status":"pending"`, "labelled by")
	})
}

// What is not the tool any more that people agreed to is not run, and nobody is told
// that it ran.
func TestACallOfAToolThatHasChangedIsNotRun(t *testing.T) {
	changed := func(o *office) tools.Tool {
		tool := o.tool()
		tool.Fingerprint = "newer"
		return tool
	}
	for _, c := range []struct {
		name  string
		newer func(o *office) []tools.Tool
		waits time.Duration
		why   string
		told  []string
	}{
		{"while the agent waits", func(o *office) []tools.Tool { return []tools.Tool{changed(o)} }, time.Second,
			"was changed since", []string{"It was not run"}},
		{"after the agent went on", func(o *office) []tools.Tool { return []tools.Tool{changed(o)} }, time.Hour,
			"was changed since", []string{`"status":"pending"`, "It was not run"}},
		{"the tool is gone", func(*office) []tools.Tool { return nil }, time.Hour,
			"does not exist any more", []string{`"status":"pending"`, "It was not run"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var newer atomic.Pointer[tools.Registry]
			inOfficeWith(t, func(options *Options) {
				first := options.Agent
				options.Agent = func() Agent {
					if r := newer.Load(); r != nil {
						return Agent{Tools: r}
					}
					return first()
				}
			}, func(o *office) {
				asked := o.ask()
				o.wait(c.waits)
				registry, err := tools.New(c.newer(o)...)
				if err != nil {
					t.Fatal(err)
				}
				newer.Store(registry)
				if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
					t.Error(err)
				}
				o.wait(time.Minute)
				v := o.wantState(asked.ID, approvals.Failed)
				if said := v.Status(approvals.Words{}); !strings.Contains(said, "and not run: ") || !strings.Contains(said, c.why) {
					t.Errorf("people read %q", said)
				}
				o.wantMade()
				o.wantAnswers(c.told...)
				if got, want := o.audit(), []string{"asked mona", "approved slack:user:T1:U1", "failed"}; !slices.Equal(got, want) {
					t.Errorf("the audit log says %q, want %q", got, want)
				}
			})
		})
	}
}

func TestAStopLetsACallFinishForAWhile(t *testing.T) {
	for _, c := range []struct {
		takes time.Duration
		want  approvals.State
	}{{5 * time.Second, approvals.Done}, {time.Hour, approvals.Unknown}} {
		t.Run(c.takes.String(), func(t *testing.T) {
			inOffice(t, func(o *office) {
				asked := o.ask()
				o.wait(time.Hour)
				o.run = slow(c.takes)
				if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
					t.Error(err)
				}
				o.restart()
				o.wait(time.Minute)
				o.wantState(asked.ID, c.want)
				// Whoever reads the log at night learns that somebody has to look.
				for _, said := range []string{"cut short by the stop", "a person has to look"} {
					if got := strings.Contains(o.logs.String(), said); got != (c.want == approvals.Unknown) {
						t.Errorf("%s: the log says %q: %t", c.want, said, got)
					}
				}
				o.wantMade(`{"label":"x"}`)
			})
		})
	}
}

func TestAFewAgreedCallsRunAtOnce(t *testing.T) {
	inOffice(t, func(o *office) {
		var inputs []string
		for i := range maxExecuting + 3 {
			inputs = append(inputs, fmt.Sprintf(`{"label":"%d"}`, i))
		}
		o.runner.run, o.run = o.atOnce(inputs...), slow(time.Minute)
		o.ask()
		for _, v := range o.approvals() {
			if _, err := o.decide(v.ID, approvals.Approve, person("U1")); err != nil {
				t.Error(err)
			}
		}
		o.mu.Lock()
		if len(o.made) != maxExecuting {
			t.Errorf("%d run at once", len(o.made))
		}
		o.mu.Unlock()
		o.wait(5 * time.Minute)
		for _, v := range o.approvals() {
			o.wantState(v.ID, approvals.Done)
		}
	})
}

func TestWhatCanGoWrongWithAnAgreedCall(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(context.Context, tools.Call) (tools.Result, error)
		want approvals.State
		told string
	}{
		{"it fails", func(context.Context, tools.Call) (tools.Result, error) {
			return tools.Result{}, errors.New("no such label, " + secret)
		}, approvals.Failed, "no such label, [redacted]"},
		{"it says that it failed", func(context.Context, tools.Call) (tools.Result, error) {
			return tools.Result{Text: "422", IsError: true}, nil
		}, approvals.Failed, "422"},
		{"it panics", func(context.Context, tools.Call) (tools.Result, error) { panic("at " + secret) }, approvals.Unknown, "not"},
		{"it hangs", slow(48 * time.Hour), approvals.Unknown, "not"},
		{"it talks for long", func(context.Context, tools.Call) (tools.Result, error) {
			return tools.Result{Text: strings.Repeat("a word ", 20_000)}, nil
		}, approvals.Done, "a word a word"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inOffice(t, func(o *office) {
				asked := o.ask()
				o.wait(time.Minute)
				o.run = c.run
				if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
					t.Error(err)
				}
				o.wait(time.Hour)
				v := o.wantState(asked.ID, c.want)
				o.wantAnswers(`"status":"pending"`, c.told)
				if v.Outcome != nil && len(v.Outcome.Text) > maxOutcomeText+100 {
					t.Errorf("%d bytes are kept", len(v.Outcome.Text))
				}
				if record := o.recordOf(v.SessionID); strings.Contains(record, secret) || !strings.Contains(record, `"approvalId":"`+v.ID) {
					t.Errorf("the record says %s", record)
				}
			})
		})
	}
}

// The agent's run fails before it hears of the decision: what was decided stays, and
// the agent hears of it when it can.
func TestADecisionReachesAnAgentThatWasOutOfReach(t *testing.T) {
	inOffice(t, func(o *office) {
		asked := o.ask()
		o.wait(time.Hour)
		fails, works := 3, o.runner.run
		o.runner.run = func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
			if fails--; fails >= 0 {
				return bridge.Result{}, &RetryError{Err: errors.New("500")}
			}
			return works(ctx, r, observe)
		}
		if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
			t.Error(err)
		}
		o.wait(6 * time.Hour)
		o.wantState(asked.ID, approvals.Done)
		o.wantMade(`{"label":"x"}`)
		o.wantAnswers(`"status":"pending"`, "labelled by")
		o.wantTurns("k", "a:completed", ":completed")
	})
}

// After a restart the first click counts as any other does.
func TestAClickAfterARestartCounts(t *testing.T) {
	inOffice(t, func(o *office) {
		asked := o.ask()
		o.wait(time.Hour)
		o.crash()
		o.store = o.store.Reopen()
		o.start()
		click := o.click(approvals.Ballot{ApprovalID: asked.ID, Verdict: approvals.Approve, By: person("U1"), Channel: "test", Ref: "ref-thread/" + asked.ID})
		o.wantDelivery(click, "done", "is approved")
		o.wantState(asked.ID, approvals.Done)
	})
}

// A turn that is cut short while people decide asks for the same in its next
// attempt, and is answered by the same approval.
func TestTheNextAttemptOfATurnTakesItsApprovalUp(t *testing.T) {
	for _, c := range []struct {
		name   string
		decide bool // before the turn runs again
		crash  bool
	}{{"stop", false, false}, {"crash", false, true}, {"crash, decided before it asks again", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			inOffice(t, func(o *office) {
				asked := o.ask()
				works := o.runner.run
				o.runner.run = func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
					if _, err := think(ctx, r, 10*time.Second); err != nil || ctx.Err() != nil {
						return bridge.Result{}, ctx.Err()
					}
					return works(ctx, r, observe)
				}
				if c.crash {
					o.crash()
					o.store = o.store.Reopen()
					o.start()
				} else {
					o.restart()
				}
				if !c.decide {
					o.wait(15 * time.Second)
				}
				if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
					t.Error(err)
				}
				o.wait(time.Minute)
				if n := len(o.approvals()); n != 1 {
					t.Errorf("people were asked %d times", n)
				}
				o.wantState(asked.ID, approvals.Done)
				o.wantMade(`{"label":"x"}`)
				o.wantAnswers("labelled by")
				o.wantTurns("k", "a:completed")
			})
		})
	}
}

// Outcomes that come while the agent is at work are told together.
func TestOutcomesAreToldTogether(t *testing.T) {
	inOffice(t, func(o *office) {
		o.runner.run = o.atOnce(`{"label":"1"}`, `{"label":"2"}`, `{"label":"3"}`)
		o.ask()
		o.wait(time.Minute)
		works := o.runner.run
		o.runner.run = func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
			if !strings.Contains(r.Prompt, "set_labels") {
				return think(ctx, r, 20*time.Minute)
			}
			return works(ctx, r, observe)
		}
		o.send(request{Key: "k", Text: "something else", Coalesce: true})
		o.wait(time.Second)
		for i, v := range o.approvals() {
			if _, err := o.decide(v.ID, []approvals.Verdict{approvals.Approve, approvals.Deny, approvals.Approve}[i], person("U1")); err != nil {
				t.Error(err)
			}
		}
		o.wantTurns("k", "a:completed", ":running", ":queued")
		o.wait(2 * time.Hour)
		o.wantTurns("k", "a:completed", ":completed", ":completed")
		o.mu.Lock()
		defer o.mu.Unlock()
		told := o.answers[len(o.answers)-1]
		for _, v := range o.approvals() {
			if strings.Count(told, v.ID) == 0 {
				t.Errorf("%s is not told: %s", v.ID, told)
			}
		}
	})
}

// A message that takes the place of the turn in which an outcome is told tells it.
func TestAnOutcomeSurvivesAnInterruption(t *testing.T) {
	inOffice(t, func(o *office) {
		asked := o.ask()
		o.wait(time.Minute)
		o.runner.run = nil
		if _, err := o.decide(asked.ID, approvals.Deny, person("U1")); err != nil {
			t.Error(err)
		}
		o.send(request{Key: "k", Text: "and now?"})
		o.wait(time.Minute)
		o.wantTurns("k", "a:completed", ":interrupted", ":completed")
		prompts := o.runner.prompts()
		if last := prompts[len(prompts)-1]; !strings.Contains(last, "and now?") || !strings.Contains(last, "because") {
			t.Errorf("it is told %q", last)
		}
	})
}

func TestATaskIsOverOnceItsCallIsDecided(t *testing.T) {
	inOffice(t, func(o *office) {
		o.send(request{Key: "k", Rev: "a", At: 1, Text: "review", Mode: "task"})
		o.wait(time.Minute)
		asked := o.approvals()[0]
		if s := o.session("k"); s.Status != "active" {
			t.Errorf("it is %s", s.Status)
		}
		if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
			t.Error(err)
		}
		o.wait(time.Minute)
		o.wantState(asked.ID, approvals.Done)
		o.wantAnswers(`"status":"pending"`, "labelled by")
		if s := o.session("k"); s.Status != "archived" {
			t.Errorf("it is %s", s.Status)
		}
		if types := o.eventTypes("k"); types[len(types)-1] != EventSessionCompleted || slices.Index(types, EventSessionCompleted) != len(types)-1 {
			t.Errorf("the record is %v", types)
		}
	})
}
