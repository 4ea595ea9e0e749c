package github

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// steps are an approval in each of its states.
func steps(t *testing.T) map[string]approvals.Record {
	t.Helper()
	r := request{Installation: 1, Repository: 2, FullName: "octo/shop", Number: 7, Head: headSHA}
	open := sampleRecord(aprID(1), r, `{"add":["deployment"],"reason":"It changes the Dockerfile"}`)
	open.Risk = approvals.RiskHigh
	two := open
	two.Policy.MinApprovals = 2
	vote := func(r approvals.Record, who string, v approvals.Verdict, reason string, after time.Duration) approvals.Record {
		s, err := r.Cast(approvals.Ballot{ApprovalID: r.ID, Verdict: v, Reason: reason, Place: "github", By: approvals.Person{
			Identity: approvals.Identity{Principal: "github:user:" + who, GitHub: who}, Standing: approvals.Member}}, askedAt.Add(after))
		must(t, err)
		return s.Record
	}
	end := func(s approvals.Step, ok bool) approvals.Record {
		if !ok {
			t.Fatal("no such step")
		}
		return s.Record
	}
	approving := vote(two, "ann", approvals.Approve, "", time.Minute)
	approved := vote(approving, "bob", approvals.Approve, "Looks right.\n```\n@octo/security", 3*time.Minute)
	executing := end(approved.Begin(1, askedAt.Add(3*time.Minute)))
	done := end(executing.Finish(approvals.Outcome{Text: "The labels are set.\n```\n</details>", DurationMS: 1200}, askedAt.Add(4*time.Minute)))
	return map[string]approvals.Record{
		"pending": open, "approving": approving, "approved": approved, "executing": executing, "done": done,
		"failed":     end(executing.Finish(approvals.Outcome{Text: "the repository has no label", IsError: true}, askedAt.Add(4*time.Minute))),
		"unknown":    end(executing.Lose("the service stopped", askedAt.Add(4*time.Minute))),
		"denied":     vote(open, "ann", approvals.Deny, "Not on a Friday.", time.Hour),
		"expired":    end(open.Expire(askedAt.Add(25 * time.Hour))),
		"cancelled":  end(open.Cancel("the pull request was closed", "", askedAt.Add(time.Hour))),
		"superseded": end(open.Supersede("a newer head", askedAt.Add(time.Hour))),
	}
}

func TestTheCardInEachState(t *testing.T) {
	t.Parallel()
	for name, r := range steps(t) {
		text := renderApproval(shown(r), maxCheckText, maxCheckText)
		golden(t, "cards/"+name+".md", fmt.Sprintf("%s\n%s\n\n%s", cardConclusion(r.State), text.title, text.markdown()))
		if open := r.State.Open(); strings.Contains(text.summary, "Press a button") != open {
			t.Errorf("%s: buttons are spoken of in %s", name, text.summary)
		}
		if live := neutralise(text.markdown()); live != text.markdown() {
			t.Errorf("%s: the card reaches beyond itself:\n%s", name, live)
		}
	}
}

func TestACardIsACheckRunOfItsOwn(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	id, other := c.open(1, nil), c.open(2, nil)
	got := c.check(id)
	if got.Name != "Liaison approval: set_labels" || got.HeadSHA != c.pull.HeadSHA || got.Status != "completed" || got.Conclusion != "action_required" {
		t.Errorf("the card is %+v", got)
	}
	var buttons []string
	for _, a := range got.Actions {
		buttons = append(buttons, a.Identifier)
	}
	if strings.Join(buttons, " ") != "approve deny" || !strings.Contains(got.Summary, `"deployment"`) {
		t.Errorf("buttons %q in\n%s", buttons, got.Summary)
	}
	must(t, c.judge(c.press(id, "ann", "approve")))
	if got := c.check(id); len(got.Actions) != 0 || got.Updates != 1 || got.Conclusion != "neutral" {
		t.Errorf("the settled card is %+v", got)
	}
	if got := c.check(other); len(got.Actions) != 2 || got.Updates != 0 {
		t.Errorf("the other card is %+v", got)
	}
}

// Whoever decides, and wherever: no card keeps a button that does nothing
// (https://github.com/curie-eng/curie/issues/1084).
func TestNoLiveButtonIsLeftBehind(t *testing.T) {
	t.Parallel()
	for name, step := range steps(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCourt(t)
			id := c.open(1, nil)
			at := c.records[id]
			at.State, at.Votes, at.Decision, at.Outcome, at.Reason, at.Version = step.State, step.Votes, step.Decision, step.Outcome, step.Reason, at.Version+1
			c.records[id] = at
			_, err := c.draw(id, 1)
			must(t, err)
			if got := c.check(id); (len(got.Actions) > 0) != step.State.Open() || got.Status != "completed" || got.Conclusion != cardConclusion(step.State) {
				t.Errorf("the card is %+v", got)
			}
			if drawn := c.records[id].Cards[0].Drawn; drawn != at.Version {
				t.Errorf("drawn is %d of %d", drawn, at.Version)
			}
		})
	}
}

// A card whose posting was cut off is found by its external id, and posted once.
func TestACardIsPostedOnce(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	undo := c.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/check-runs", AfterEffect: true, DropConnection: true})
	id := aprID(1)
	record := sampleRecord(id, c.request(), `{"add":["x"]}`)
	card := c.channel.ApprovalCards(shown(record))[0]
	record.Cards = []approvals.Card{{Channel: Name, Place: card.Place, Address: card.Address}}
	c.records[id] = record
	_, err := c.draw(id, 1)
	wantRetry(t, err)
	undo()
	_, err = c.draw(id, 2)
	must(t, err)
	if got := c.check(id); got.Updates != 1 {
		t.Errorf("the card is %+v", got)
	}
}

// The reference is kept until the edit worked, and let go only where the check run
// is gone (https://github.com/curie-eng/curie/issues/1199).
func TestTheReferenceIsKeptUntilTheEditWorked(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault sim.Fault
		gone  bool
	}{
		"429": {sim.Fault{Status: 429, Headers: http.Header{"Retry-After": {"7"}}, Body: `{"message":"You have exceeded a secondary rate limit."}`}, false},
		"500": {sim.Fault{Status: 500, Body: `{}`}, false},
		"cut": {sim.Fault{DropConnection: true}, false},
		"404": {sim.Fault{Status: 404, Body: `{"message":"Not Found"}`}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := &shifted{}
			c := newCourt(t, func(so *sim.GitHubOptions, o *Options) { so.Now, o.Now = clock.now, clock.now })
			id := c.open(1, nil)
			ref := c.records[id].Cards[0].Ref
			s, ok := c.records[id].Expire(askedAt.Add(25 * time.Hour))
			if !ok {
				t.Fatal("it does not expire")
			}
			c.records[id] = s.Record
			tt.fault.Method, tt.fault.PathPattern = http.MethodPatch, "/repos/*/*/check-runs/*"
			undo := c.Fail(tt.fault)
			_, err := c.draw(id, 1)
			undo()
			if tt.gone {
				must(t, err)
				if !c.records[id].Cards[0].Gone {
					t.Error("the card is not gone")
				}
				return
			}
			wantRetry(t, err)
			if got := c.records[id].Cards[0].Ref; got != ref {
				t.Errorf("the reference is %q, was %q", got, ref)
			}
			clock.advance(time.Minute)
			_, err = c.draw(id, 2)
			must(t, err)
			if got := c.check(id); len(got.Actions) != 0 || got.Conclusion != "timed_out" {
				t.Errorf("the card is %+v", got)
			}
		})
	}
}

// Where the App may not write checks, or has no commit to put one on, a comment is
// the card, and people decide by commands.
func TestACommentIsTheCardWhereThereCanBeNoCheck(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*court){
		"not granted": func(c *court) {
			c.SetInstallationPermissions(installation, map[string]string{"contents": "read", "pull_requests": "write", "issues": "write", "checks": "read"})
		},
		"no commit": func(c *court) {
			c.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/check-runs", Status: 422, Body: `{"message":"No commit found for SHA"}`})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCourt(t)
			prepare(c)
			id := c.open(1, nil)
			posted := c.comments()
			if len(posted) != 1 || !strings.Contains(posted[0].Body, "/approve "+id) || strings.Contains(posted[0].Body, "button") {
				t.Fatalf("the comments are %+v", posted)
			}
			must(t, c.judge(c.say("ann", "/approve "+id)))
			if got := c.comments()[0].Body; strings.Contains(got, "/approve") || !strings.Contains(got, "Approved by `ann`") {
				t.Errorf("the card is %s", got)
			}
		})
	}
}

// Nobody agrees to what cannot be seen: all of the arguments are in the check, or
// there is no button to approve.
func TestArgumentsOfAllSizes(t *testing.T) {
	t.Parallel()
	hostile := "```\n~~~\n</details>\n@octo/security closes #1\n/approve\n![x](https://evil.example)"
	for _, size := range []int{0, 2_990, 60_000, 100_000, 200_000} {
		c := newCourt(t)
		var input strings.Builder
		for i := range size / 50 {
			fmt.Fprintf(&input, `"key%06d":%q,`, i, strings.Repeat("x", 30))
		}
		raw := fmt.Sprintf(`{%s"end":%q}`, input.String(), hostile)
		id := c.open(1, func(r *approvals.Record) { r.Input, r.InputHash = []byte(raw), approvals.HashInput([]byte(raw)) })
		got := c.check(id)
		shownAll := got.Summary + got.Text
		for i := range size / 50 {
			if key := fmt.Sprintf("key%06d", i); size < 200_000 && !strings.Contains(shownAll, key) {
				t.Fatalf("%d: %s cannot be seen", size, key)
			}
		}
		approve := 0
		for _, a := range got.Actions {
			if a.Identifier == "approve" {
				approve++
			}
		}
		if fits := size < 200_000; (approve == 1) != fits || fits == strings.Contains(got.Text, "liaison approvals show "+id) {
			t.Errorf("%d: %d buttons to approve in %d and %d characters", size, approve, runes(got.Summary), runes(got.Text))
		}
		for _, text := range []string{got.Summary, got.Text} {
			if live := neutralise(text); live != text {
				t.Errorf("%d: it reaches beyond itself", size)
			}
		}
		must(t, c.judge(c.press(id, "ann", "deny")))
	}
}

func TestApprovalsOfOtherPlacesHaveNoCardHere(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	r := c.request()
	issue := r
	issue.Issue, issue.Head = true, ""
	group := r
	group.Kind = kindMergeGroup
	for name, tt := range map[string]struct {
		channel string
		r       request
		want    string
	}{
		"a pull request": {Name, r, placePull}, "an issue": {Name, issue, placeIssue}, "a merge group": {Name, group, ""},
		"Slack": {"slack", r, ""}, "HTTP": {sessions.ChannelHTTP, r, ""},
	} {
		record := sampleRecord(aprID(1), tt.r, `{}`)
		record.Channel = tt.channel
		got := ""
		for _, card := range c.channel.ApprovalCards(shown(record)) {
			got += card.Place
		}
		if got != tt.want {
			t.Errorf("%s: cards at %q, want %q", name, got, tt.want)
		}
	}
	receipt, err := c.channel.Deliver(t.Context(), sessions.Item{Kind: sessions.KindApprovalCard, Payload: []byte(`{}`), Attempts: 1})
	if err != nil || receipt.Card != nil {
		t.Errorf("a card without an approval: %+v, %v", receipt, err)
	}
}
