package github

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/sessions"
)

func wishOf(t *testing.T, in sessions.Intent) request {
	t.Helper()
	r, err := parseUnweighed(in.Request)
	must(t, err)
	return r
}

// A bot that answers itself never ends
// (https://github.com/anthropics/claude-code-action/issues/1445).
func TestOurOwnTextsAreNotForUs(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string][]any{
		"as the sender":          {"sender.id", 77},
		"as the author":          {"comment.user.id", 77},
		"through our App":        {"comment.performed_via_github_app", map[string]any{"id": appID}},
		"before we know our bot": {"comment.performed_via_github_app", map[string]any{"id": appID}, "comment.user.id", 99},
	} {
		// Our own remarks on lines come as a review, too
		// (https://github.com/The-PR-Agent/pr-agent/pull/3012).
		for event, text := range map[string]string{
			"issue_comment.created.question": "comment", "issue_comment.created.stop": "comment",
			"pull_request_review.submitted.question":       "review",
			"pull_request_review_comment.created.question": "comment", "pull_request_review_comment.created.reply": "comment",
		} {
			its := slices.Clone(changes)
			for i := 0; i < len(its); i += 2 {
				its[i] = strings.Replace(its[i].(string), "comment.", text+".", 1)
			}
			if in := mapped(t, event, its...); in.Action != sessions.ActionIgnore || in.Weigh {
				t.Errorf("%s, %s: %+v", event, name, in)
			}
		}
	}
}

// A signature has no time in it: a delivery that was caught can be sent again
// when nothing remembers it any more.
func TestWhatWasCaughtLongAgoIsNotTakenUp(t *testing.T) {
	t.Parallel()
	came := delivery("", nil).ReceivedAt
	for name, field := range map[string]string{
		"issue_comment.created.question": "comment.created_at", "issue_comment.created.stop": "comment.created_at",
		"pull_request_review.submitted.question":       "review.submitted_at",
		"pull_request_review_comment.created.question": "comment.created_at",
		"issues.opened.mention":                        "issue.updated_at", "issues.labeled": "issue.updated_at",
	} {
		for _, tt := range []struct {
			at  any
			old bool
		}{
			{came.Add(-maxAge - time.Second).Format(time.RFC3339), true},
			{came.Add(-maxAge).Format(time.RFC3339), false},
			{came.Add(time.Hour).Format(time.RFC3339), false},
			{"at some time", false}, {null, false},
		} {
			if in := mapped(t, name, field, tt.at); (in.Action == sessions.ActionIgnore) != tt.old {
				t.Errorf("%s of %v: %+v", name, tt.at, in)
			}
		}
	}
}

// Another bot is told by its kind, and in threads it has to name us.
func TestOtherBotsAreMarked(t *testing.T) {
	t.Parallel()
	in := mapped(t, "issue_comment.created.question", "sender.type", "Bot")
	if r := wishOf(t, in); !r.Actor.Bot {
		t.Errorf("actor %+v", r.Actor)
	}
	if in := mapped(t, "pull_request_review_comment.created.reply", "comment.user.type", "Bot"); in.Action != sessions.ActionIgnore {
		t.Errorf("a bot goes on talking: %+v", in)
	}
}

// Deleted accounts are null (https://github.com/anthropics/claude-code-action/issues/1489);
// nobody who cannot be told may stop anything.
func TestNobodyIsAnOutsider(t *testing.T) {
	t.Parallel()
	for _, changes := range [][]any{
		{"sender", null}, {"comment.user", null}, {"sender", nil}, {"sender.id", "501"}, {"comment.user.id", 502},
	} {
		in := mapped(t, "issue_comment.created.question", changes...)
		if r := wishOf(t, in); r.Actor != (account{}) || in.Principal != "github:user:unknown" {
			t.Errorf("%v: %+v, %s", changes, r.Actor, in.Principal)
		}
		if in := mapped(t, "issue_comment.created.stop", changes...); in.Action != sessions.ActionIgnore {
			t.Errorf("%v: somebody unknown stops: %+v", changes, in)
		}
	}
}

// One comment fires two events, and hooks of an organisation and a repository
// send each twice (https://github.com/max-sixty/tend/pull/225).
func TestATextIsOneFact(t *testing.T) {
	t.Parallel()
	one := mapped(t, "issue_comment.created.question")
	again := mapped(t, "issue_comment.created.question", "comment.updated_at", "2026-01-03T00:00:00Z", "organization", nil)
	if one.Fact != again.Fact {
		t.Errorf("one comment is two facts: %s, %s", one.Fact, again.Fact)
	}
	for name, other := range map[string]sessions.Intent{
		"another comment": mapped(t, "issue_comment.created.question", "comment.id", 81002),
		"another place":   mapped(t, "pull_request_review_comment.created.question", "comment.id", 81001),
		"a review":        mapped(t, "pull_request_review.submitted.question", "review.id", 81001),
	} {
		if other.Fact == one.Fact {
			t.Errorf("%s is the same fact", name)
		}
	}
}

// Edits and deletions never run again (https://github.com/rust-lang/homu/issues/79).
func TestOnlyNewTextsRun(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"issue_comment.edited", "issue_comment.deleted", "pull_request_review.edited", "pull_request_review_comment.deleted", "issues.edited",
	} {
		if in := mapped(t, name); in.Action != sessions.ActionIgnore || in.Weigh {
			t.Errorf("%s: %+v", name, in)
		}
	}
}

// Checks of forks name no pull request (https://github.com/palantir/bulldozer/pull/563).
func TestForksAreFoundByTheirHead(t *testing.T) {
	t.Parallel()
	opened := mapped(t, "pull_request.opened")
	for _, name := range []string{"check_run.rerequested.fork", "check_suite.rerequested.fork", "check_suite.completed", "status.success", "workflow_run.completed"} {
		in := mapped(t, name)
		found := false
		for _, alias := range opened.Aliases {
			found = found || alias == in.Key
		}
		if !found {
			t.Errorf("%s looks for %s, and the pull request has %q", name, in.Key, opened.Aliases)
		}
	}
}

// Another App's check is not ours to repeat.
func TestAnotherAppsCheckIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"check_run.rerequested", "check_suite.rerequested"} {
		event := eventOf(name)
		if in := mapped(t, name, event+".app.id", 15368); in.Action != sessions.ActionIgnore {
			t.Errorf("%s: %+v", name, in)
		}
	}
}

// Two labels that are set in one second are two facts.
func TestEachLabelIsAFact(t *testing.T) {
	t.Parallel()
	if one, two := mapped(t, "pull_request.labeled"), mapped(t, "pull_request.labeled", "label.id", 903); one.Fact == two.Fact {
		t.Errorf("two labels are one fact %s", one.Fact)
	}
}
