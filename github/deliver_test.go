package github

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

func TestReviewLeavesOneCheckAndOneComment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	turn := w.turn("trn_1")
	w.mustDeliver(w.items(turn, started)...)
	if got := w.checks(); len(got) != 1 || got[0].Status != "in_progress" || got[0].Name != "Liaison" || got[0].ExternalID != "trn_1" {
		t.Fatalf("after the start: %+v", got)
	}
	w.mustDeliver(w.items(turn, completed("Looks good."))...)
	got := w.checks()
	if len(got) != 1 || got[0].Status != "completed" || got[0].Conclusion != "success" {
		t.Fatalf("after the end: %+v", got)
	}
	talk := w.comments()
	if len(talk) != 1 || !strings.Contains(talk[0].Body, "Looks good.") || !strings.Contains(talk[0].Body, w.pull.HeadSHA) {
		t.Fatalf("comments: %+v", talk)
	}
}

func TestConclusions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		report     sessions.Report
		conclusion string
		comments   int
	}{
		"clean":                        {completed("Fine.\n\n<!-- liaison:findings errors=0 warnings=0 -->"), "success", 1},
		"warnings are neutral":         {completed("Hm.\n\n<!-- liaison:findings errors=0 warnings=2 -->\n"), "neutral", 1},
		"errors are neutral":           {completed("### Errors\n- a: b"), "neutral", 1},
		"empty answer still posts":     {completed("  \n"), "success", 1},
		"failure is visible":           {failed("the bridge ended"), "failure", 1},
		"superseded is cancelled":      {sessions.Report{Moment: sessions.MomentInterrupted, Superseded: true}, "cancelled", 0},
		"stopped by hand is cancelled": {sessions.Report{Moment: sessions.MomentInterrupted, Reason: "stopped"}, "cancelled", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			turn := w.turn("trn_1")
			w.mustDeliver(w.items(turn, started)...)
			w.mustDeliver(w.items(turn, tt.report)...)
			if got := w.checks(); len(got) != 1 || got[0].Conclusion != tt.conclusion {
				t.Errorf("checks: %+v", got)
			}
			if got := w.comments(); len(got) != tt.comments {
				t.Errorf("comments: %+v", got)
			}
		})
	}
}

// One comment per pull request: the second review rewrites the first one's.
func TestCommentIsUpdatedInPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.review("trn_1", "First.")
	w.pull.HeadSHA = w.Push(repoName, w.pull.Number, map[string]sim.Change{"b.go": {Content: "package main\n"}})
	w.review("trn_2", "Second.")
	talk := w.comments()
	if len(talk) != 1 || !strings.Contains(talk[0].Body, "Second.") || strings.Contains(talk[0].Body, "First.") {
		t.Errorf("comments: %+v", talk)
	}
}

// A new volume remembers nothing; the mark in the comment does.
func TestCommentIsFoundByItsMarkWithoutMemory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 120 { // ours is on the second page
		w.AddComment(repoName, w.pull.Number, "mona", "chatter")
	}
	w.review("trn_1", "First.")
	clear(w.surface)
	w.review("trn_2", "Second.")
	own := slices.DeleteFunc(w.comments(), func(c sim.Comment) bool { return c.AppID != appID })
	if len(own) != 1 || !strings.Contains(own[0].Body, "Second.") {
		t.Errorf("own comments: %+v", own)
	}
}

// The mark counts only under our own App's id: anybody can paste it.
func TestForgedMarkIsNotOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	forged := w.AddComment(repoName, w.pull.Number, "liaison-bot", commentMark+"turn=trn_1 head="+w.pull.HeadSHA+" -->\nApproved!")
	w.review("trn_1", "Real.")
	talk := w.comments()
	if len(talk) != 2 || talk[0].ID != forged || talk[0].Edits != 0 || !strings.Contains(talk[1].Body, "Real.") {
		t.Errorf("comments: %+v", talk)
	}
}

func TestDeletedCommentIsWrittenAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.review("trn_1", "First.")
	w.DeleteComment(w.comments()[0].ID)
	w.review("trn_2", "Second.")
	if talk := w.comments(); len(talk) != 1 || !strings.Contains(talk[0].Body, "Second.") {
		t.Errorf("comments: %+v", talk)
	}
}

// A create whose answer is lost has happened all the same
// (https://github.com/palantir/bulldozer/issues/372).
func TestLostAnswerDoesNotRepeatTheEffect(t *testing.T) {
	t.Parallel()
	lost := map[string]sim.Fault{
		"502 after the effect": {Status: http.StatusBadGateway, AfterEffect: true},
		"connection dropped":   {AfterEffect: true, DropConnection: true},
	}
	for name, fault := range lost {
		for kind, path := range map[string]string{"check": "/repos/*/*/check-runs", "comment": "/repos/*/*/issues/*/comments"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				turn := w.turn("trn_1")
				items := slices.Concat(w.items(turn, started), w.items(turn, completed("Fine.")))
				fault := fault
				fault.Method, fault.PathPattern = http.MethodPost, path
				w.Fail(fault)
				for _, item := range items {
					if _, err := w.deliver(item); err != nil {
						wantRetry(t, err)
						item.Attempts++
						w.mustDeliver(item)
					}
				}
				if got := w.checks(); len(got) != 1 || got[0].Conclusion != "success" {
					t.Errorf("checks: %+v", got)
				}
				if got := w.comments(); len(got) != 1 {
					t.Errorf("comments: %+v", got)
				}
			})
		}
	}
}

// Every item delivered twice, as after a crash before it was settled.
func TestSecondAttemptChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	turn := w.turn("trn_1")
	for _, item := range slices.Concat(w.items(turn, started), w.items(turn, completed("Fine."))) {
		// The receipt is lost together with the process.
		_, err := w.channel.Deliver(t.Context(), item)
		must(t, err)
		item.Attempts = 2
		_, err = w.channel.Deliver(t.Context(), item)
		must(t, err)
	}
	if got := w.checks(); len(got) != 1 || got[0].Conclusion != "success" {
		t.Errorf("checks: %+v", got)
	}
	if got := w.comments(); len(got) != 1 {
		t.Errorf("comments: %+v", got)
	}
}

// A review that comes late says nothing about a head that it did not read
// (https://github.com/mergewatch/mergewatch.ai/issues/527).
func TestStaleReviewIsNotPosted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	turn := w.turn("trn_1")
	w.mustDeliver(w.items(turn, started)...)
	w.Push(repoName, w.pull.Number, map[string]sim.Change{"b.go": {Content: "package main\n"}})
	for _, item := range w.items(turn, completed("Old news.")) {
		receipt, err := w.deliver(item)
		must(t, err)
		if item.Kind == kindComment && !strings.Contains(receipt.Note, "not the head any more") {
			t.Errorf("note: %q", receipt.Note)
		}
	}
	if got := w.checks(); len(got) != 1 || got[0].Conclusion != "cancelled" || strings.Contains(got[0].Text, "Old news") {
		t.Errorf("checks of the old head: %+v", got)
	}
	if got := w.comments(); len(got) != 0 {
		t.Errorf("comments: %+v", got)
	}
}

// The push comes between our last look and what follows it; the next look sees it.
func TestPushDuringDeliveryIsSeenBeforeTheNextWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	turn := w.turn("trn_1")
	w.mustDeliver(w.items(turn, started)...)
	w.Fail(sim.Fault{Method: http.MethodPatch, PathPattern: "/repos/*/*/check-runs/*", Hook: func(sim.RecordedRequest) {
		w.Push(repoName, w.pull.Number, map[string]sim.Change{"b.go": {Content: "package main\n"}})
	}})
	w.mustDeliver(w.items(turn, completed("Fine."))...)
	if got := w.comments(); len(got) != 0 {
		t.Errorf("comments: %+v", got)
	}
}

func TestClosedPullRequestGetsItsConclusionButNoComment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	turn := w.turn("trn_1")
	w.mustDeliver(w.items(turn, started)...)
	w.ClosePullRequest(repoName, w.pull.Number)
	w.mustDeliver(w.items(turn, completed("Fine."))...)
	if got := w.checks(); len(got) != 1 || got[0].Conclusion != "success" {
		t.Errorf("checks: %+v", got)
	}
	if got := w.comments(); len(got) != 0 {
		t.Errorf("comments: %+v", got)
	}
}

func TestNothingStartsOnAClosedOrStaleHead(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*world){
		"closed": func(w *world) { w.ClosePullRequest(repoName, w.pull.Number) },
		"stale":  func(w *world) { w.Push(repoName, w.pull.Number, map[string]sim.Change{"b": {Content: "b\n"}}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			change(w)
			turn := w.turn("trn_1")
			w.mustDeliver(w.items(turn, started)...)
			w.mustDeliver(w.items(turn, sessions.Report{Moment: sessions.MomentInterrupted, Superseded: true})...)
			if got := w.checks(); len(got) != 0 {
				t.Errorf("checks: %+v", got)
			}
		})
	}
}

// GitHub's replicas can be behind its own events: an older state is no push.
func TestReplicaLagIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	turn := w.turn("trn_1")
	r := w.request()
	r.Head = strings.Repeat("ab", 20) // not to be seen at GitHub yet
	r.UpdatedAt = w.channel.app.now().Add(3600e9)
	turn.Request = r.encode()
	for _, item := range slices.Concat(w.items(turn, started), w.items(turn, completed("Fine."))[1:]) {
		if item.Kind == kindReviewed {
			continue // asks nobody
		}
		_, err := w.deliver(item)
		if retry := wantRetry(t, err); retry.After != lagWait || retry.Paused {
			t.Errorf("%s: %+v", item.Kind, retry)
		}
	}
	if n := w.count(http.MethodPost, "check-runs") + w.count(http.MethodPost, "comments"); n != 0 {
		t.Errorf("%d writes", n)
	}
}

// A completed check run stays completed (https://github.com/cirruslabs/cirrus-ci-docs/issues/701).
func TestLateStartDoesNotOpenAConcludedCheck(t *testing.T) {
	t.Parallel()
	for _, remembers := range []bool{true, false} {
		w := newWorld(t)
		turn := w.turn("trn_1")
		start := w.items(turn, started)[0]
		w.mustDeliver(start)
		w.mustDeliver(w.items(turn, completed("Fine."))...)
		if !remembers {
			clear(w.surface)
		}
		start.Attempts = 2
		w.mustDeliver(start)
		if got := w.checks(); len(got) != 1 || got[0].Status != "completed" || got[0].Conclusion != "success" {
			t.Errorf("remembers=%t: %+v", remembers, got)
		}
		// Concluding again, after the late start, is no second conclusion.
		again := w.items(turn, failed("late"))[0]
		again.Attempts = 2
		w.mustDeliver(again)
		if got := w.checks(); got[0].Conclusion != "success" {
			t.Errorf("remembers=%t: concluded anew: %+v", remembers, got)
		}
	}
}

// Another App's check run with our turn's id is not ours.
func TestForeignCheckRunIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.AddCheckRun(repoName, w.pull.HeadSHA, sim.CheckRun{Name: "Liaison", ExternalID: "trn_1", Status: "queued"})
	start := w.items(w.turn("trn_1"), started)[0]
	start.Attempts = 2
	w.mustDeliver(start)
	got := w.checks()
	if len(got) != 2 || got[0].ID != id || got[0].Updates != 0 || got[1].AppID != appID {
		t.Errorf("checks: %+v", got)
	}
}

// https://github.com/danger/danger/issues/424
func TestTextThatGitHubFindsTooLongIsCutAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tooLong := `{"message":"Validation Failed","errors":[{"resource":"IssueComment","code":"unprocessable","field":"data","message":"Body is too long (maximum is 65536 characters)"}]}`
	w.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/issues/*/comments", Status: 422, Body: tooLong, Times: 2})
	w.review("trn_1", strings.Repeat("A sentence of a review.\n\n", 5000))
	talk := w.comments()
	if len(talk) != 1 || runes(talk[0].Body) > maxComment/4 || !strings.Contains(talk[0].Body, "cut here") {
		t.Fatalf("%d comments", len(talk))
	}
	if got := w.checks(); got[0].Conclusion != "success" || runes(got[0].Text) > maxCheckText {
		t.Errorf("check: %s, %d characters", got[0].Conclusion, runes(got[0].Text))
	}
}

func TestRefusedWriteIsGivenUpWithItsReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/check-runs", Status: 422, Body: `{"message":"No commit found for SHA"}`})
	_, err := w.deliver(w.items(w.turn("trn_1"), started)[0])
	var retry *sessions.RetryError
	if err == nil || errors.As(err, &retry) || !strings.Contains(err.Error(), "No commit found") {
		t.Errorf("got %v", err)
	}
}

func TestUnreadableItemIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, item := range map[string]sessions.Item{
		"kind":    {Kind: "merge", Payload: []byte(`{}`)},
		"payload": {Kind: kindCheck, Payload: []byte(`[]`)},
		"no JSON": {Kind: kindCheck, Payload: []byte(`{`)},
		"request": {Kind: kindComment, Payload: []byte(`{"request":{"installation":0}}`)},
	} {
		var retry *sessions.RetryError
		if _, err := w.channel.Deliver(t.Context(), item); err == nil || errors.As(err, &retry) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if n := len(w.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}
