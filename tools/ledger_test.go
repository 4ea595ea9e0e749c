package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// diary is a ledger that outlives registries, as a turn on disk does.
type diary struct {
	notes
	answers map[string]*Result
}

func (d *diary) Acting(_ context.Context, c Call, tool string) error {
	if answer, begun := d.answers[c.Key(tool)]; begun && c.Key(tool) != "" {
		return &RepeatedError{Answer: answer}
	}
	d.answers[c.Key(tool)] = nil
	return nil
}

func (d *diary) Keep(_ context.Context, c Call, tool string, r Result) error {
	d.answers[c.Key(tool)] = &r
	return d.refuse
}

func TestAWriteIsNotMadeAgainByTheNextProcess(t *testing.T) {
	t.Parallel()
	made := 0
	push := Tool{Name: "push", Run: func(_ context.Context, c Call) (Result, error) {
		if made++; strings.Contains(string(c.Input), "fail") {
			return Result{}, errors.New("no such branch")
		}
		if strings.Contains(string(c.Input), "die") {
			panic("the process dies")
		}
		return Result{Text: fmt.Sprint("pushed ", made)}, nil
	}}
	turn := &diary{answers: map[string]*Result{}}
	ask := func(id, input string) (Result, error) {
		c := call(id)
		c.Input = json.RawMessage(input)
		return registry(t, push).Call(t.Context(), c, "push", turn) // a registry that remembers nothing
	}
	for _, want := range []string{"pushed 1", "pushed 1"} {
		if result, err := ask("1", `{}`); err != nil || result.IsError || result.Text != want {
			t.Errorf("got %+v, %v; want %s", result, err, want)
		}
	}
	for range 2 {
		if result, err := ask("2", `{"fail":1}`); err != nil || !result.IsError || result.Text != "no such branch" {
			t.Errorf("what failed: %+v, %v", result, err)
		}
	}
	if _, err := ask("3", `{"die":1}`); err == nil {
		t.Error("it did not die")
	}
	if result, err := ask("3", `{"die":1}`); err != nil || !result.IsError || !strings.Contains(result.Text, "not known what became of it") {
		t.Errorf("what was begun: %+v, %v", result, err)
	}
	for i := range 2 {
		if result, err := ask("", `{}`); err != nil || result.Text != fmt.Sprint("pushed ", 4+i) {
			t.Errorf("without an id: %+v, %v", result, err)
		}
	}
	turn.refuse = errors.New("the disk is full")
	if result, err := ask("4", `{}`); err != nil || result.Text != "pushed 6" {
		t.Errorf("an answer that is not kept: %+v, %v", result, err)
	}
}

func TestAnAgreedCallIsMadeByTheToolThatWasAgreedTo(t *testing.T) {
	t.Parallel()
	merge := Tool{Name: "merge", Fingerprint: "a", Run: func(_ context.Context, c Call) (Result, error) {
		return Result{Text: c.ApprovalID + string(c.Input)}, nil
	}, Gate: &Gate{Needs: func(Call) (bool, error) { return true, nil }}}
	r := registry(t, merge)
	agreed := call("1")
	agreed.ApprovalID = "apr_1"
	if result, err := r.Execute(t.Context(), agreed, "merge", "a", &notes{}); err != nil || result.IsError || result.Text != "apr_1{}" {
		t.Errorf("got %+v, %v", result, err)
	}
	for name, want := range map[string]string{"merge": "was changed since", "gone": "does not exist any more"} {
		if result, err := r.Execute(t.Context(), agreed, name, "b", &notes{}); err != nil || !result.IsError || !strings.Contains(result.Text, want) {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
	}
	// A tool of the host's has no fingerprint, and a new version of the service may
	// have other input for it.
	merge.InputSchema = json.RawMessage(`{"type":"object","required":["pull"]}`)
	newer := registry(t, merge)
	if result, err := newer.Execute(t.Context(), agreed, "merge", "a", &notes{}); err != nil || !result.IsError || !strings.Contains(result.Text, "takes other input") {
		t.Errorf("input that the tool does not take any more: %+v, %v", result, err)
	}
}

// asked is a ledger in which a person answers.
type asked struct {
	notes
	answer Result
	err    error
}

func (a *asked) Ask(_ context.Context, c Call, t Tool) (Result, error) {
	_ = a.note("ask " + t.Name + string(c.Input))
	return a.answer, a.err
}

func TestAGatedCallWaitsForPeople(t *testing.T) {
	t.Parallel()
	ran := 0
	gated := func(needs bool, err error) *Registry {
		return registry(t, Tool{
			Name: "deploy", Gate: &Gate{Needs: func(Call) (bool, error) { return needs, err }},
			Run: func(context.Context, Call) (Result, error) { ran++; return Result{Text: "deployed"}, nil },
		})
	}
	for name, r := range map[string]*Registry{"needed": gated(true, nil), "not to be told": gated(false, errors.New("no such key"))} {
		l := &asked{answer: Result{Text: "wait"}}
		for range 2 {
			if result, err := r.Call(t.Context(), call("1"), "deploy", l); err != nil || result.Text != "wait" || ran > 0 {
				t.Errorf("%s: %+v, %v; ran %d", name, result, err, ran)
			}
		}
		if len(l.told) != 1 || l.told[0] != "ask deploy{}" {
			t.Errorf("%s: %v", name, l.told)
		}
		// Who could not be asked can be asked again.
		l.err = errors.New("the disk is full")
		for range 2 {
			if _, err := r.Call(t.Context(), call("2"), "deploy", l); !errors.Is(err, l.err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if len(l.told) != 3 {
			t.Errorf("%s: %v", name, l.told)
		}
		// A dry run asks nobody.
		dry := call("3")
		dry.DryRun = true
		if result, err := r.Call(t.Context(), dry, "deploy", l); err != nil || !result.Stubbed || len(l.told) != 3 {
			t.Errorf("%s: a dry run: %+v, %v", name, result, err)
		}
	}
	if result, err := gated(false, nil).Call(t.Context(), call("1"), "deploy", &asked{}); err != nil || result.Text != "deployed" {
		t.Errorf("not needed: %+v, %v", result, err)
	}
}

func TestTheEffectIsThatOfTheCall(t *testing.T) {
	t.Parallel()
	l := &notes{}
	r := registry(t, Tool{
		Name: "plan", DryRun: json.RawMessage(`{"planned":true}`),
		Effect: func(input json.RawMessage) Effect {
			if strings.Contains(string(input), "read") {
				return Read
			}
			return Write
		},
		Run: func(context.Context, Call) (Result, error) { return Result{Text: "ran"}, nil },
	})
	for input, want := range map[string]string{`{"read":1}`: "ran", `{}`: `{"planned":true}`} {
		c := call(input)
		c.DryRun, c.Input = true, json.RawMessage(input)
		if result, err := r.Call(t.Context(), c, "plan", l); err != nil || result.Text != want || result.Stubbed == (want == "ran") {
			t.Errorf("%s: %+v, %v", input, result, err)
		}
	}
	if len(l.told) > 0 {
		t.Errorf("a dry run acted: %v", l.told)
	}
}

func TestACallHasTheTimeOfItsTool(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, effect := range map[string]Effect{"looks": Read, "writes": Write} {
			r := registry(t, Tool{
				Name: name, Timeout: time.Minute, Effect: func(json.RawMessage) Effect { return effect },
				Run: func(ctx context.Context, _ Call) (Result, error) { <-ctx.Done(); return Result{}, ctx.Err() },
			})
			begun := time.Now()
			result, err := r.Call(t.Context(), call("1"), name, &notes{})
			if err != nil || !result.IsError || !strings.Contains(result.Text, "within its time, 1m0s") || time.Since(begun) != time.Minute {
				t.Errorf("%s: %+v, %v after %s", name, result, err, time.Since(begun))
			}
			if strings.Contains(result.Text, "stays done") != (effect == Write) {
				t.Errorf("%s: %s", name, result.Text)
			}
		}
	})
}
