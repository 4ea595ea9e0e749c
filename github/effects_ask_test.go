package github

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// asked is a question as mapping and weighing leave it.
func (w *world) asked(id int64, on string, body string) request {
	r := w.request()
	r.Kind, r.Trigger = kindAsk, "issue_comment"
	r.Command = command{Verb: "ask", Argument: body, Addressed: true}
	r.Actor = account{ID: 11, Login: "mona"}
	r.Comment = &remark{ID: id, On: on, Body: "@liaison " + body, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if on == onThread {
		r.Comment.Thread, r.Comment.Path, r.Comment.Line = 70, "main.go", 3
	}
	return r
}

// asking is a turn that answers these questions together.
func asking(all ...request) sessions.Turn {
	t := sessions.Turn{ID: "trn_1", SessionID: "ses_1", Key: all[0].key(), Attempt: 1, Request: all[0].encode(), Message: all[0].Command.Argument}
	for _, g := range all[1:] {
		t.Gathered = append(t.Gathered, state.Gathered{Request: g.encode(), Message: g.Command.Argument})
	}
	return t
}

// told sums up effects: replies by what they answer, reactions by content.
func told(t *testing.T, effects []sessions.Effect) []string {
	t.Helper()
	var out []string
	for _, e := range effects {
		switch e.Kind {
		case kindReply:
			var p replyPayload
			must(t, json.Unmarshal(e.Payload, &p))
			out = append(out, fmt.Sprintf("reply to %d failed=%t: %s", p.To.ID, p.Failed, strings.SplitN(p.Text, "\n", 2)[0]))
		case kindReaction:
			var p reactionPayload
			must(t, json.Unmarshal(e.Payload, &p))
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s to %d, not %s", p.Content, p.To.ID, p.Instead)))
		default:
			out = append(out, e.Kind)
		}
	}
	return out
}

func TestEffectsOfAQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.asked(7, onIssue, "why?")
	more := []request{one, w.asked(8, onIssue, "and when?"), w.asked(9, onThread, "here?"), w.asked(10, onThread, "and here?"), w.asked(11, onReview, "all of it?")}
	noReview := w.asked(12, onReview, "why?")
	for _, tt := range []struct {
		name   string
		turn   sessions.Turn
		report sessions.Report
		want   []string
	}{
		{"accepted", asking(one), sessions.Report{Moment: sessions.MomentAccepted, Request: one.encode()}, []string{"eyes to 7, not"}},
		{"accepted behind another turn", asking(one), sessions.Report{Moment: sessions.MomentAccepted, Request: more[2].encode(), Behind: true}, []string{"eyes to 9, not"}},
		{"a review's body takes no reactions", asking(noReview), sessions.Report{Moment: sessions.MomentAccepted, Request: noReview.encode()}, nil},
		{"started", asking(one), started, nil},
		{"waiting", asking(one), waiting, nil},
		{"resumed", asking(one), resumed, nil},
		{"answered", asking(one), completed("Because."), []string{"reply to 7 failed=false: Because.", "rocket to 7, not eyes"}},
		{"its own count of findings is no answer", asking(one), completed("Yes.\n\n<!-- liaison:findings errors=3 warnings=0 -->"),
			[]string{"reply to 7 failed=false: Yes.", "rocket to 7, not eyes"}},
		{"without a word", asking(one), completed(" \n"),
			[]string{"reply to 7 failed=false: The agent ended without a word. " + askAgain, "rocket to 7, not eyes"}},
		{"several places", asking(more...), completed("All."), []string{
			"reply to 7 failed=false: All.", "reply to 9 failed=false: All.",
			"rocket to 7, not eyes", "rocket to 8, not eyes", "rocket to 9, not eyes", "rocket to 10, not eyes",
		}},
		{"failed", asking(one), failed("out of memory"), []string{"reply to 7 failed=true: This could not be answered.", "confused to 7, not eyes"}},
		{"stopped by a person", asking(one), sessions.Report{Moment: sessions.MomentInterrupted, Reason: "stopped by mona", Stopped: true},
			[]string{"confused to 7, not eyes"}},
		{"dropped before it began", asking(one), sessions.Report{Moment: sessions.MomentDropped, Reason: "stopped by mona", Stopped: true},
			[]string{"confused to 7, not eyes"}},
		{"stopped, where no reaction can say so", asking(noReview), sessions.Report{Moment: sessions.MomentInterrupted, Reason: "stopped by mona", Stopped: true},
			[]string{"reply to 12 failed=true: This was not answered: `stopped by mona`. " + askAgain}},
		{"ended otherwise", asking(one), sessions.Report{Moment: sessions.MomentInterrupted, Reason: "octo/shop#7 was closed."},
			[]string{"reply to 7 failed=true: This was not answered: `octo/shop#7 was closed`. " + askAgain, "confused to 7, not eyes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			effects, err := w.channel.Effects(tt.turn, tt.report)
			must(t, err)
			if got := told(t, effects); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			names := map[string]bool{}
			for _, e := range effects {
				if names[e.Name] {
					t.Errorf("two effects are called %s, and one would be lost", e.Name)
				}
				names[e.Name] = true
			}
		})
	}
}

// Two answers in one session have two marks, or the second would pass for the first.
func TestAnswersHaveKeysOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	keys := map[string]bool{}
	for _, id := range []string{"trn_1", "trn_2"} {
		turn := asking(w.asked(7, onIssue, "why?"), w.asked(9, onThread, "here?"))
		turn.ID = id
		effects, err := w.channel.Effects(turn, completed("So."))
		must(t, err)
		for _, e := range effects {
			if e.Kind != kindReply {
				continue
			}
			var p replyPayload
			must(t, json.Unmarshal(e.Payload, &p))
			if keys[p.Key] {
				t.Errorf("two answers have the key %s", p.Key)
			}
			keys[p.Key] = true
		}
	}
	if len(keys) != 4 {
		t.Errorf("%d answers, not 4", len(keys))
	}
}

// A secret that an agent repeats does not get out in an answer.
func TestAnswersAreMasked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *sim.GitHubOptions, o *Options) {
		o.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }
	})
	for _, report := range []sessions.Report{completed("It is hunter2."), failed("no access with hunter2")} {
		effects, err := w.channel.Effects(asking(w.asked(7, onIssue, "the password?")), report)
		must(t, err)
		for _, e := range effects {
			if strings.Contains(string(e.Payload), "hunter2") {
				t.Errorf("the secret is in %s", e.Payload)
			}
		}
	}
}
