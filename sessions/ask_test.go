package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/bridge"
)

func TestACallWaitsUntilSomebodyApproves(t *testing.T) {
	inOffice(t, func(o *office) {
		asked := o.ask()
		o.wantState(asked.ID, approvals.Pending)
		o.wantMade()
		if asked.Requester.Principal != "mona" || asked.Subject != "octo/shop#1" || asked.Risk != approvals.RiskHigh ||
			asked.Summary != "Sets labels." || asked.Parked || asked.InputHash != approvals.HashInput([]byte(`{"label":"x"}`)) {
			t.Errorf("it is described as %+v", asked)
		}
		if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
			t.Error(err)
		}
		done := o.wantState(asked.ID, approvals.Done)
		o.wantMade(`{"label":"x"}`)
		o.wait(2 * time.Second)
		o.wantAnswers("labelled by " + asked.ID)
		o.wantTurns("k", "a:completed")
		if done.Outcome == nil || done.Outcome.Text != "labelled by "+asked.ID || done.Parked {
			t.Errorf("the outcome is %+v", done)
		}
		if turn := o.lastTurn("k"); turn.Acted != "set_labels" {
			t.Errorf("the turn has acted by %q", turn.Acted)
		}
		want := []string{"asked mona", "approved slack:user:T1:U1", "executing", "done"}
		if got := o.audit(); !slices.Equal(got, want) {
			t.Errorf("the audit log says %q, want %q", got, want)
		}
		o.wait(48 * time.Hour) // no timer is left that would do anything
		o.wantState(asked.ID, approvals.Done)
		o.wantEvents("k", EventSessionStarted, EventMessageReceived, EventTurnQueued, EventTurnStarted,
			EventApprovalRequested, EventApprovalResolved, EventTurnCompleted, EventSessionWaiting)
	})
}

func TestAnAgentIsLetGoAndHearsOfTheOutcomeInATurnOfItsOwn(t *testing.T) {
	inOffice(t, func(o *office) {
		asked := o.ask()
		o.wait(time.Minute)
		o.wantAnswers(`"status":"pending"`)
		o.wantTurns("k", "a:completed")
		if !o.wantState(asked.ID, approvals.Pending).Parked {
			t.Error("it is not parked")
		}
		o.wait(3 * time.Hour)
		id := o.click(approvals.Ballot{ApprovalID: asked.ID, Verdict: approvals.Approve, By: person("U2")})
		o.wantDelivery(id, "done", "of set_labels is approved")
		o.wait(time.Minute)
		o.wantState(asked.ID, approvals.Done)
		o.wantMade(`{"label":"x"}`)
		o.wantAnswers(`"status":"pending"`, "labelled by "+asked.ID)
		o.wantTurns("k", "a:completed", ":completed")
		if turn := o.lastTurn("k"); turn.Principal != "mona" || string(turn.Request) != `{"rev":"outcome"}` || turn.Preempts {
			t.Errorf("the outcome is told in %+v", turn)
		}
		said := o.world.said()
		for _, want := range []string{"test: set_labels parked", "test: set_labels settled", `{"by":"slack:user:T1:U2"} counted`} {
			if !slices.Contains(said, want) {
				t.Errorf("people were not told %q: %q", want, said)
			}
		}
		o.wait(48 * time.Hour)
		o.wantAnswers(`"status":"pending"`, "labelled by "+asked.ID)
		o.wantEvents("k", EventSessionStarted, EventMessageReceived, EventTurnQueued, EventTurnStarted,
			EventApprovalRequested, EventTurnCompleted, EventSessionWaiting,
			EventApprovalResolved, EventActionsRequested, EventActionResult, EventMessageReceived, EventTurnQueued,
			EventTurnStarted, EventTurnCompleted, EventSessionWaiting)
	})
}

// An agent that is told no must not wear people down by asking again and again.
func TestAnAgentIsNotHeldWhereItsAuthorSaysSo(t *testing.T) {
	inOffice(t, func(o *office) {
		o.policy.HoldFor = approvals.NoHold
		asked := o.ask()
		o.wantAnswers(`"status":"pending"`)
		if !o.wantState(asked.ID, approvals.Pending).Parked {
			t.Error("it is not parked")
		}
	})
}

func TestTheSameCallIsNotAskedForAgainAfterANo(t *testing.T) {
	inOffice(t, func(o *office) {
		o.runner.run = o.calls(`{"label":"x"}`, `{"label": "x"}`, `{"label":"y"}`)
		asked := o.ask()
		if _, err := o.decide(asked.ID, approvals.Deny, person("U1")); err != nil {
			t.Error(err)
		}
		o.wantState(asked.ID, approvals.Denied)
		o.wait(time.Minute)
		o.wantMade()
		o.wantAnswers("because", "refused before in this turn", "asked for the end of the turn")
		if n := len(o.approvals()); n != 1 {
			t.Errorf("people were asked %d times", n)
		}
		o.wantTurns("k", "a:completed")
	})
}

func TestATurnEndsAfterTwoDenials(t *testing.T) {
	inOffice(t, func(o *office) {
		o.runner.run = o.calls(`{"label":"x"}`, `{"label":"y"}`, `{"label":"z"}`)
		first := o.ask()
		if _, err := o.decide(first.ID, approvals.Deny, person("U1")); err != nil {
			t.Error(err)
		}
		second := o.approvals()[0]
		if _, err := o.decide(second.ID, approvals.Deny, person("U1")); err != nil || second.ID == first.ID {
			t.Error(second.ID, err)
		}
		o.wait(time.Minute)
		o.wantAnswers("because", "End your turn now", "asked for the end of the turn")
		if n := len(o.approvals()); n != 2 {
			t.Errorf("people were asked %d times", n)
		}
	})
}

// A decision about one of two calls that look alike says nothing about the other.
func TestTwoCallsWithOneInputAreTwoDecisions(t *testing.T) {
	inOffice(t, func(o *office) {
		o.runner.run = o.atOnce(`{"label":"x"}`, `{"label":"x"}`)
		o.ask()
		all := o.approvals()
		if len(all) != 2 || all[0].InputHash != all[1].InputHash {
			t.Fatalf("people were asked %+v", all)
		}
		if _, err := o.decide(all[1].ID, approvals.Approve, person("U1")); err != nil {
			t.Error(err)
		}
		o.wantState(all[0].ID, approvals.Pending)
		o.wantState(all[1].ID, approvals.Done)
		o.wantMade(`{"label":"x"}`)
		if _, err := o.decide(all[0].ID, approvals.Deny, person("U1")); err != nil {
			t.Error(err)
		}
		o.wantState(all[0].ID, approvals.Denied)
		o.wantState(all[1].ID, approvals.Done)
		o.wantMade(`{"label":"x"}`)
	})
}

func TestASessionWaitsForAFewCallsOnly(t *testing.T) {
	inOffice(t, func(o *office) {
		var inputs []string
		for i := range maxOpenApprovals + 1 {
			inputs = append(inputs, fmt.Sprintf(`{"label":"%d"}`, i))
		}
		o.runner.run = o.atOnce(inputs...)
		o.ask()
		if n := len(o.approvals()); n != maxOpenApprovals {
			t.Errorf("%d calls wait", n)
		}
		o.wantAnswers("20 calls of this session wait")
	})
}

// What runs is what people saw, byte for byte.
func TestTheStoredInputRuns(t *testing.T) {
	inOffice(t, func(o *office) {
		o.runner.run = o.calls("{ \"html\" : \"<b>&\u2028\",\n \"token\":\"" + secret + "\"}")
		asked := o.ask()
		if strings.Contains(asked.Input, secret) {
			t.Errorf("people see %s", asked.Input)
		}
		if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
			t.Error(err)
		}
		o.mu.Lock()
		made := strings.Join(o.made, "")
		o.mu.Unlock()
		var ran map[string]string
		sum := sha256.Sum256([]byte(made))
		if asked.InputHash != "sha256:"+hex.EncodeToString(sum[:]) {
			t.Error("the hash is of something else than what ran")
		}
		if err := json.Unmarshal([]byte(made), &ran); err != nil || ran["html"] != "<b>&\u2028" || ran["token"] != secret {
			t.Errorf("it ran with %s, %v", made, err)
		}
		lines, _ := o.store.AuditEntries(context.Background(), time.Time{}, 0, 10)
		for _, l := range lines {
			if strings.Contains(string(l.Entry), secret) {
				t.Errorf("the audit log has a secret: %s", l.Entry)
			}
		}
		if record := o.recordOf(asked.SessionID); strings.Contains(record, secret) {
			t.Errorf("the record has a secret: %s", record)
		}
	})
}

// What a card masks is masked on record too: what only its field's name tells to be
// a secret, and what characters divide that nobody sees.
func TestTheRecordShowsNoMoreThanACard(t *testing.T) {
	for name, hidden := range map[string]struct{ input, secret string }{
		"by its name":          {`{"password":"open-sesame"}`, "open-sesame"},
		"a number":             {`{"api_key":4929123456781234}`, "4929123456781234"},
		"below its name":       {`{"credentials":{"user":["open-sesame"]}}`, "open-sesame"},
		"divided":              {"{\"note\":\"" + secret[:4] + "\u200b" + secret[4:] + "\"}", secret},
		"divided by an escape": {`{"note":"` + secret[:4] + `\u200b` + secret[4:] + `"}`, secret},
	} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, func(o *office) {
				o.runner.run = o.calls(hidden.input)
				asked := o.ask()
				said := asked.Input + o.recordOf(asked.SessionID)
				lines, _ := o.store.AuditEntries(context.Background(), time.Time{}, 0, 10)
				for _, l := range lines {
					said += string(l.Entry)
				}
				if len(lines) == 0 || strings.Contains(strings.NewReplacer("\u200b", "", `\u200b`, "").Replace(said), hidden.secret) {
					t.Errorf("a secret is left: %s", said)
				}
				if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
					t.Error(err)
				}
				o.wantMade(hidden.input)
			})
		})
	}
}

func TestACallThatIsStoppedLeavesItsApprovalRight(t *testing.T) {
	t.Run("by the end of the run", func(t *testing.T) {
		inOffice(t, func(o *office) {
			o.runner.run = func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
				ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
				defer cancel()
				return o.calls(`{"label":"x"}`)(ctx, r, observe)
			}
			asked := o.ask()
			o.wait(time.Minute)
			if v := o.wantState(asked.ID, approvals.Pending); !v.Parked {
				t.Error("it is not parked")
			}
			if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
				t.Error(err)
			}
			o.wait(time.Minute)
			o.wantAnswers("labelled by")
		})
	})
	t.Run("by a follow-up", func(t *testing.T) {
		inOffice(t, func(o *office) {
			asked := o.ask()
			o.runner.run = nil
			o.send(request{Key: "k", Text: "never mind"})
			o.wait(time.Minute)
			o.wantTurns("k", "a:interrupted", ":completed")
			if v := o.wantState(asked.ID, approvals.Pending); !v.Parked {
				t.Error("it is not parked")
			}
		})
	})
}

// atOnce is an agent that makes these calls at the same time.
func (o *office) atOnce(inputs ...string) func(context.Context, RunRequest, func(bridge.Event)) (bridge.Result, error) {
	return func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
		if strings.Contains(r.Prompt, "set_labels") {
			o.answered("in a turn: " + r.Prompt)
			return think(ctx, r, time.Second)
		}
		var wg sync.WaitGroup
		for i, input := range inputs {
			time.Sleep(time.Millisecond) // so that their order is known
			wg.Go(func() {
				result, err := callHost(ctx, r, "set_labels", fmt.Sprint("call-", i), input)
				if err == nil {
					o.answered(result.Content[0].Text)
				}
			})
		}
		wg.Wait()
		return think(ctx, r, time.Second)
	}
}

// What is stored of an input is longer than what came where that has signs of HTML.
func TestAnInputThatIsTooLongOnceItIsStoredIsRefusedWithAdvice(t *testing.T) {
	inOffice(t, func(o *office) {
		o.runner.run = o.calls(`{"text":"` + strings.Repeat("<", 1<<20) + `"}`)
		o.send(push("a", "", 1))
		o.wait(time.Minute)
		o.wantAnswers("hand in less")
		o.wantMade()
		o.wantTurns("k", "a:completed")
		if all := o.approvals(); len(all) > 0 {
			t.Errorf("people are asked: %d", len(all))
		}
	})
}
