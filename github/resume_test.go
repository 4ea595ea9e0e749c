package github

import (
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// hearing is a turn that hears of outcomes of what a request asked for.
func (c *court) hearing(r request, became ...string) sessions.Turn {
	c.t.Helper()
	raw, err := c.channel.Resume(r.encode(), approvals.View{})
	must(c.t, err)
	t := sessions.Turn{ID: "trn_2", SessionID: "ses_1", Key: r.key(), Attempt: 1, Request: raw, Message: became[0], Surface: c.surface}
	for _, more := range became[1:] {
		t.Gathered = append(t.Gathered, state.Gathered{Request: raw, Message: more})
	}
	return t
}

// A turn that hears of an outcome answers where the call was asked for, and reviews
// nothing.
func TestATurnThatHearsOfAnOutcome(t *testing.T) {
	t.Parallel()
	c := newCourt(t, func(_ *sim.GitHubOptions, o *Options) { o.Random = constant(0xab) })
	asked := c.request()
	asked.Kind, asked.Trigger, asked.Actor = kindReview, "command:review", c.somebody("mona")
	asked.Command = command{Verb: verbReview, Addressed: true}
	asked.Comment = &remark{ID: c.AddComment(repoName, c.pull.Number, "mona", "/liaison review"), On: onIssue, Body: "/liaison review"}
	asked.Caller = &sessions.Caller{Channel: "slack"}
	turn := c.hearing(asked, "Your call of set_labels was denied.\n> not now", "Another was approved.")
	dir := t.TempDir()
	brief, err := c.channel.Prepare(t.Context(), turn, dir)
	must(t, err)
	golden(t, "prompts/outcome.md", brief.Prompt)
	if brief.Note != "the outcome of 2 calls" {
		t.Errorf("the note is %q", brief.Note)
	}
	for _, moment := range []sessions.Report{{Moment: sessions.MomentAccepted, Request: turn.Request}, started, failed("no model"), {Moment: sessions.MomentDropped}} {
		if owed := c.items(turn, moment); len(owed) != 0 {
			t.Errorf("moment %d owes %+v", moment.Moment, owed)
		}
	}
	c.ForgetRequests()
	c.mustDeliver(c.items(turn, completed("It was denied, so that the label is not set."))...)
	all := c.comments()
	if last := all[len(all)-1]; len(all) != 2 || !strings.Contains(last.Body, "so that the label is not set") || !strings.Contains(last.Body, "In answer to") {
		t.Errorf("the comments are %+v", all)
	}
	if len(c.checks()) != 0 {
		t.Errorf("it has checks: %+v", c.checks())
	}
}

// A question that comes with an outcome is answered with it, from new evidence.
func TestAQuestionThatComesWithAnOutcome(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	turn := c.hearing(c.request(), "It was approved.")
	question := c.asked(7, onIssue, "why?")
	turn.Gathered = append(turn.Gathered, state.Gathered{Request: question.encode(), Message: "why?"})
	brief, err := c.channel.Prepare(t.Context(), turn, t.TempDir())
	must(t, err)
	for _, part := range []string{becameHeading, "It was approved.", "@liaison why?", "pr/README.md"} {
		if !strings.Contains(brief.Prompt, part) {
			t.Errorf("the prompt lacks %q", part)
		}
	}
	effects, err := c.channel.Effects(turn, completed("Because."))
	must(t, err)
	reactions := 0
	for _, e := range effects {
		if e.Kind == kindReaction {
			reactions++
		}
	}
	if reactions != 1 || len(effects) != 2 {
		t.Errorf("the effects are %+v", effects)
	}
}

// An issue has no head and no check; the outcome is heard there all the same.
func TestAnOutcomeOnAnIssue(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	issue, _ := c.OpenIssue(repoName, sim.NewIssue{Title: "Broken", Author: "mona"})
	r := c.request()
	r.Issue, r.Kind, r.Number, r.Head = true, kindAsk, issue.Number, ""
	brief, err := c.channel.Prepare(t.Context(), c.hearing(r, "It was approved."), t.TempDir())
	must(t, err)
	if !strings.Contains(brief.Prompt, "issue "+strings.TrimPrefix(r.name(), repoName+"#")) {
		t.Errorf("the prompt is %s", brief.Prompt)
	}
	group := c.request()
	group.Kind = kindMergeGroup
	if _, err := c.channel.Resume(group.encode(), approvals.View{}); err == nil {
		t.Error("a merge group is answered")
	}
	if _, err := c.channel.Resume([]byte(`{`), approvals.View{}); err == nil {
		t.Error("no request is resumed")
	}
}

// A reminder calls the group that may decide from now on, once; the requester is
// called when it settles after a while.
func TestPeopleAreCalled(t *testing.T) {
	t.Parallel()
	late := &shifted{}
	c := newCourt(t, func(_ *sim.GitHubOptions, o *Options) { o.Now = late.now })
	id := c.open(1, func(r *approvals.Record) {
		r.CreatedAt = late.now()
		r.Policy.Escalation = []approvals.Approvers{{GitHub: []string{"bob", "not a name"}, GitHubTeams: []string{"octo/leads"}}}
	})
	view := func() approvals.View { return shown(c.records[id]) }
	owe := func(m sessions.ApprovalMoment, attempts int) {
		for _, e := range c.channel.ApprovalEffects(view(), m) {
			_, err := c.deliver(sessions.Item{ID: e.Name, Kind: e.Kind, Payload: e.Payload, Attempts: attempts})
			must(t, err)
		}
	}
	if owed := c.channel.ApprovalEffects(view(), sessions.ApprovalSettled); len(owed) != 0 {
		t.Errorf("who looks is called: %+v", owed)
	}
	owe(sessions.ApprovalParked, 1)
	record := c.records[id]
	record.Level = 1
	c.records[id] = record
	owe(sessions.ApprovalReminded, 1)
	owe(sessions.ApprovalReminded, 2)
	late.advance(time.Hour)
	must(t, c.judge(c.press(id, "ann", "deny")))
	owe(sessions.ApprovalSettled, 1)
	all := c.comments()
	if len(all) != 2 {
		t.Fatalf("%d comments: %+v", len(all), all)
	}
	if body := all[0].Body; !strings.Contains(body, "@bob @octo/leads: `set_labels` waits") || strings.Contains(body, "@ann") || strings.Contains(body, "not a name") {
		t.Errorf("the reminder is %s", body)
	}
	if body := all[1].Body; !strings.Contains(body, "@mona: `set_labels`: denied by `ann`") {
		t.Errorf("the requester is told %s", body)
	}
}
