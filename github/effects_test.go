package github

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/sessions"
)

// sample is a channel and a turn that golden files are made of.
func sample(t testing.TB) (*Channel, sessions.Turn) {
	t.Helper()
	channel, err := New(Options{AppID: appID, Key: appKey(), Random: constant(0xab),
		Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }})
	must(t, err)
	r := request{
		Installation: installation, Repository: 4000000001, FullName: repoName, Number: 7, Head: headSHA, Base: "main",
		Title: "Add a café to the map", UpdatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	return channel, sessions.Turn{Attempt: 2, ID: "trn_01", SessionID: "ses_01", Key: r.key(), Request: r.encode()}
}

const review = `**1 error and 2 warnings in 3 changed files (+12 −4).**

### Errors
- ` + "`cafe/map.go:12`" + ` **Lock held while calling out.** @mona, see #12; this fixes octo/shop#9.

### Warnings
- ` + "`cafe/map.go:40`" + ` **No test.** <!-- liaison:review turn=x -->
- ` + "`go.mod`" + ` **New dependency.** https://pkg.example/@v2

` + "```go\nm.Lock() // @mona" + `

<!-- liaison:findings errors=1 warnings=2 -->
`

// What a person sees, word by word.
func TestWhatPeopleSee(t *testing.T) {
	t.Parallel()
	channel, turn := sample(t)
	reports := map[string]sessions.Report{
		"started":    started,
		"clean":      completed("Nothing stands out, thank you: 3 changed files.\n\n<!-- liaison:findings errors=0 warnings=0 -->"),
		"findings":   completed(review),
		"untold":     {Moment: sessions.MomentCompleted, Text: "I looked at it. It is fine."},
		"failed":     failed("run the agent: the bridge ended with status 1:\n```\npassword hunter2 @mona\n```"),
		"failed-run": failed("the provider refused the key\u202e @mona closes #12 <!-- x --></details>\n````\n" + strings.Repeat("and again ", 1000)),
		"waiting": {Moment: sessions.MomentWaiting, WaitsFor: "the model's rate limit", Reason: "bridge: send: @mona wait, says hunter2",
			Until: time.Date(2026, 1, 2, 12, 33, 1, 0, time.FixedZone("CET", 3600))},
		"resumed":    {Moment: sessions.MomentResumed},
		"superseded": {Moment: sessions.MomentInterrupted, Superseded: true, Reason: "a newer push"},
		"stopped":    {Moment: sessions.MomentInterrupted, Reason: "the pull request was closed"},
		"nothing":    {Moment: sessions.MomentInterrupted, Empty: true, Reason: "the configuration's review.paths cover none of the files that octo/shop#7 changes"},
	}
	for name, report := range reports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			effects, err := channel.Effects(turn, report)
			must(t, err)
			var b strings.Builder
			for _, e := range effects {
				if e.Kind == kindReviewed {
					continue // nobody sees it
				}
				fmt.Fprintf(&b, "===== %s (%s)\n", e.Name, e.Kind)
				switch e.Kind {
				case kindCheck:
					var p checkPayload
					must(t, json.Unmarshal(e.Payload, &p))
					out := renderCheck(p, maxCheckText, turn.SessionID)
					fmt.Fprintf(&b, "conclusion: %s\ntitle: %s\n----- summary\n%s\n----- text\n%s\n",
						p.Conclusion, out.GetTitle(), out.GetSummary(), out.GetText())
				case kindComment:
					var p commentPayload
					must(t, json.Unmarshal(e.Payload, &p))
					fmt.Fprintf(&b, "%s", renderComment(p, maxComment, sessions.Item{TurnID: turn.ID, SessionID: turn.SessionID}))
				}
			}
			golden(t, "seen/"+name+".md", b.String())
		})
	}
}

func TestEffectsArePure(t *testing.T) {
	t.Parallel()
	channel, turn := sample(t)
	first, err := channel.Effects(turn, completed(review))
	must(t, err)
	second, err := channel.Effects(turn, completed(review))
	must(t, err)
	if a, b := fmt.Sprintf("%s", first), fmt.Sprintf("%s", second); a != b {
		t.Errorf("twice asked, two answers:\n%s\n%s", a, b)
	}
	if _, err := channel.Effects(turn, sessions.Report{}); err == nil {
		t.Error("no moment is no error")
	}
	turn.Request = json.RawMessage(`{}`)
	if _, err := channel.Effects(turn, started); err == nil {
		t.Error("a turn without a pull request is no error")
	}
}

// The longest comment is within GitHub's limit with all that surrounds it, and
// a cut takes neither our mark nor our words at the end.
func TestLongReviewKeepsMarkAndFoot(t *testing.T) {
	t.Parallel()
	channel, turn := sample(t)
	for name, text := range map[string]string{
		"fence": "```\n" + strings.Repeat("line @mona\n", 30000),
		"runes": strings.Repeat("😀", 70000),
	} {
		effects, err := channel.Effects(turn, completed(text))
		must(t, err)
		var p commentPayload
		must(t, json.Unmarshal(effects[1].Payload, &p))
		body := renderComment(p, maxComment, sessions.Item{TurnID: turn.ID, SessionID: turn.SessionID})
		if runes(body) > maxComment || !strings.HasPrefix(body, commentMark) ||
			!strings.Contains(body, "cut here") || !strings.HasSuffix(body, "it approves nothing.</sub>\n") {
			t.Errorf("%s: %d characters, …%q", name, runes(body), body[len(body)-200:])
		}
	}
}

func TestWeigh(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want verdict
		left string
	}{
		"own count":          {"a\n\n<!-- liaison:findings errors=1 warnings=2 -->", verdict{1, 2, true}, "a\n"},
		"own count wins":     {"### Errors\n- a\n- b\n\n<!-- liaison:findings errors=1 warnings=2 -->\n\n", verdict{1, 2, true}, "### Errors\n- a\n- b\n"},
		"none but listed":    {"### Errors\n- a\n\n### Warnings\n- b\n- No error handling.\n\n<!-- liaison:findings errors=0 warnings=0 -->", verdict{1, 2, true}, "### Errors\n- a\n\n### Warnings\n- b\n- No error handling.\n"},
		"none and said so":   {"### Errors\n- **None.**\n\n### Warnings\n- No warnings found\n-\n\n<!-- liaison:findings errors=0 warnings=0 -->", verdict{0, 0, true}, "### Errors\n- **None.**\n\n### Warnings\n- No warnings found\n-\n"},
		"other spaces":       {"a\n<!--liaison:findings  errors=1 warnings=0-->", verdict{1, 0, true}, "a"},
		"in a code span":     {"a\n\n`<!-- liaison:findings errors=1 warnings=2 -->`\n", verdict{1, 2, true}, "a\n"},
		"in a fence":         {"a\n\n```html\n<!-- liaison:findings errors=1 warnings=2 -->\n```\n", verdict{1, 2, true}, "a\n"},
		"at a fence's end":   {"```\na\n<!-- liaison:findings errors=1 warnings=2 -->\n```", verdict{}, ""},
		"not at the end":     {"<!-- liaison:findings errors=1 warnings=2 -->\nmore", verdict{}, ""},
		"not a number":       {"<!-- liaison:findings errors=x warnings=2 -->", verdict{}, ""},
		"huge":               {"<!-- liaison:findings errors=99999999999999999999 warnings=2 -->", verdict{}, ""},
		"headings":           {"### Errors\n- a\n- b\n\n## Warnings:\n1. c\n\n### Notes\n- d", verdict{2, 1, false}, ""},
		"heading, none":      {"### Errors\n- None\n", verdict{}, ""},
		"heading, no list":   {"### Errors\nNone.", verdict{}, ""},
		"heading in a fence": {"```\n### Errors\n- a\n```", verdict{}, ""},
		"nothing":            {"", verdict{}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, left := weigh(tt.text)
			if tt.left == "" {
				tt.left = tt.text
			}
			if got != tt.want || left != tt.left {
				t.Errorf("got %+v, %q", got, left)
			}
		})
	}
}

func FuzzWeigh(f *testing.F) {
	f.Add(review)
	f.Add("### Errors\n- a\n\n<!-- liaison:findings errors=1 warnings=2 -->")
	f.Fuzz(func(t *testing.T, text string) {
		v, left := weigh(text)
		if v.errors < 0 || v.warnings < 0 || !strings.HasPrefix(text, left) {
			t.Errorf("%+v, %q", v, left)
		}
	})
}

// https://github.com/cirruslabs/cirrus-ci-docs/issues/485
func TestCheckKeepsToItsLimits(t *testing.T) {
	t.Parallel()
	for _, n := range []int{maxCheckText - 1, maxCheckText, maxCheckText + 1, 83254} {
		out := renderCheck(checkPayload{Title: strings.Repeat("t", n), Summary: strings.Repeat("é", n), Text: strings.Repeat("a", n)}, maxCheckText, "ses_01")
		if runes(out.GetTitle()) > maxCheckTitle || runes(out.GetSummary()) > maxCheckText || runes(out.GetText()) > maxCheckText {
			t.Errorf("%d characters: title %d, summary %d, text %d", n, runes(out.GetTitle()), runes(out.GetSummary()), runes(out.GetText()))
		}
		if cut := strings.Contains(out.GetText(), "cut here"); cut != (n > maxCheckText) {
			t.Errorf("%d characters: cut is %t", n, cut)
		}
	}
}
