package github

import (
	"net/http"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// answer is an answer to something on the world's pull request.
func (w *world) answer(to *remark) replyPayload {
	r := w.request()
	r.Kind, r.Comment = kindAsk, to
	return replyPayload{Request: r, To: to, Text: "It greets.", Model: "m", Key: "trn_1-conversation"}
}

// remarkInTalk writes a question in the conversation.
func (w *world) remarkInTalk(body string) *remark {
	id := w.AddComment(repoName, 1, "mona", body)
	url := w.comments()[len(w.comments())-1].HTMLURL
	return &remark{ID: id, On: onIssue, URL: url, Body: body}
}

// remarkOnLine writes a question on a line.
func (w *world) remarkOnLine(body string) *remark {
	id := w.AddReviewComment(repoName, 1, sim.ReviewComment{Author: "mona", Path: "main.go", Line: 3, Body: body})
	return &remark{ID: id, On: onThread, Thread: id, URL: w.URL() + "x", Body: body}
}

// An answer is a new comment, as an edit tells nobody, and links to its question.
func TestAnswerIsANewComment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.review("trn_0", "A review.")
	to := w.remarkInTalk("@liaison what does `main` do, @octo/team?\nAnd why?")
	to.URL = "https://github.example/octo/shop/pull/1#issuecomment-7"
	w.mustDeliver(w.item("trn_1", kindReply, w.answer(to)))
	got := w.comments()
	if len(got) != 3 || got[0].Edits != 0 || !strings.Contains(got[0].Body, "A review.") {
		t.Fatalf("comments: %+v", got)
	}
	golden(t, "reply/conversation.md", got[2].Body)
}

func TestAnswerInAThreadStandsInTheThread(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := w.remarkOnLine("@liaison why?")
	answer, _ := w.ReplyToThread(to.ID, "hubot", "I wonder, too.")
	reply := *to
	reply.ID = answer // what is answered is an answer itself; the thread is what counts
	w.mustDeliver(w.item("trn_1", kindReply, w.answer(&reply)))
	got := w.lineComments()
	if len(got) != 3 || got[2].ReplyTo != to.ID || len(w.comments()) != 0 {
		t.Fatalf("comments on lines %+v", got)
	}
	golden(t, "reply/thread.md", got[2].Body)
}

// A thread whose first comment is gone takes no answers.
func TestAnswerToADeletedThreadIsAComment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := w.remarkOnLine("why?")
	w.DeleteReviewComment(to.ID)
	w.mustDeliver(w.item("trn_1", kindReply, w.answer(to)))
	if got := w.comments(); len(got) != 1 || !strings.Contains(got[0].Body, "It greets.") || !strings.Contains(got[0].Body, "> `why?`") {
		t.Errorf("comments: %+v", got)
	}
}

// A create whose answer is lost has happened all the same
// (https://github.com/palantir/bulldozer/issues/372).
func TestAnswerIsPostedOnce(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"conversation": "/repos/*/*/issues/*/comments", "thread": "/repos/*/*/pulls/*/comments/*/replies"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			to := w.remarkInTalk("why?")
			if name == "thread" {
				to = w.remarkOnLine("why?")
			}
			item := w.item("trn_1", kindReply, w.answer(to))
			w.Fail(sim.Fault{Method: http.MethodPost, PathPattern: path, DropConnection: true, AfterEffect: true})
			_, err := w.deliver(item)
			wantRetry(t, err)
			// A copy of the mark by somebody else is no answer of ours.
			w.AddComment(repoName, 1, "liaison", mark("reply", "ses_1/trn_1-conversation")+"\nfake")
			item.Attempts++
			w.mustDeliver(item)
			ours := 0
			for _, c := range w.comments() {
				if c.AppID == appID {
					ours++
				}
			}
			for _, c := range w.lineComments() {
				if c.AppID == appID {
					ours++
				}
			}
			if ours != 1 {
				t.Errorf("%d answers", ours)
			}
			other := w.answer(to)
			other.Key = "trn_2-conversation"
			again := w.item("trn_2", kindReply, other)
			again.Attempts = 2
			if note := w.note(again); strings.Contains(note, "already") {
				t.Errorf("another answer passes for this one: %q", note)
			}
		})
	}
}

// A copied mark of ours under another account answers nothing.
func TestForgedAnswerDoesNotSilenceOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := w.remarkInTalk("why?")
	w.AddComment(repoName, 1, "other[bot]", mark("reply", "ses_1/trn_1-conversation")+"\nforged")
	item := w.item("trn_1", kindReply, w.answer(to))
	item.Attempts = 2
	w.mustDeliver(item)
	if got := w.comments(); len(got) != 3 || got[2].AppID != appID {
		t.Errorf("comments: %+v", got)
	}
}

// A person's question is answered although the head moved, and the answer says
// which one it is about.
func TestAnswerNamesTheHeadThatItIsAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.answer(w.remarkInTalk("why?"))
	head := w.Push(repoName, 1, map[string]sim.Change{"b.go": {Content: "package main\n"}})
	w.ClosePullRequest(repoName, 1)
	w.mustDeliver(w.item("trn_1", kindReply, p))
	got := w.comments()
	if len(got) != 2 || !strings.Contains(got[1].Body, "about `"+short(w.pull.HeadSHA)+"`; the pull request has moved on to `"+short(head)+"`") {
		t.Errorf("comments: %+v", got)
	}
}

func TestLongAnswerIsCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.answer(w.remarkInTalk(strings.Repeat("a long question ", 100)))
	p.Text = strings.Repeat("A paragraph.\n\n", 10_000)
	tooLong := `{"message":"Unprocessable Entity","errors":["Body is too long (maximum is 65536 characters)"]}`
	w.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/issues/*/comments", Status: 422, Body: tooLong})
	w.mustDeliver(w.item("trn_1", kindReply, p))
	body := w.comments()[1].Body
	if runes(body) > maxComment/2 || !strings.Contains(body, "record of session `ses_1`") || strings.Count(body, "a long question") > maxQuoted/10 {
		t.Errorf("%d characters: %.400s", runes(body), body)
	}
}

func TestAnswerWithoutAPlaceIsANote(t *testing.T) {
	t.Parallel()
	moved := sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/issues/*/comments", Status: http.StatusMovedPermanently,
		Headers: http.Header{"Location": {"http://github.invalid/repositories/1/issues/9/comments"}}}
	for want, fault := range map[string]sim.Fault{
		"gone":               {Method: http.MethodPost, PathPattern: "/repos/*/*/issues/*/comments", Status: http.StatusGone},
		"another repository": moved,
	} {
		w := newWorld(t)
		w.Fail(fault)
		p := w.answer(nil)
		p.Request.Issue = true
		if note := w.note(w.item("trn_1", kindReply, p)); !strings.Contains(note, want) {
			t.Errorf("note %q, want %q", note, want)
		}
	}
	w := newWorld(t)
	p := w.answer(nil)
	p.Request.Issue, p.Request.Number = true, 77
	if note := w.note(w.item("trn_1", kindReply, p)); !strings.Contains(note, "gone") {
		t.Errorf("note %q", note)
	}
}

// What is not about the place is an error that an operator sees.
func TestAnswerWithoutPermissionIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/issues/*/comments", Status: 422, Body: `{"message":"Validation Failed"}`})
	if _, err := w.deliver(w.item("trn_1", kindReply, w.answer(nil))); err == nil || !strings.Contains(err.Error(), "Validation Failed") {
		t.Errorf("got %v", err)
	}
}

// What is answered is repeated as code of one line, and a link that is none is left out.
func TestReferenceIsHarmless(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		to   remark
		want string
	}{
		{remark{Body: "`a`\nb", URL: "https://h.example/x#1"}, "In answer to [this comment](https://h.example/x#1):\n\n> `` `a` ``\n\n"},
		{remark{Body: "", URL: "javascript:alert(1)"}, "In answer to this comment:\n\n"},
		{remark{Body: "@mona \u202efixes #1", URL: "https://h.example/x) [y](z"}, "In answer to this comment:\n\n> `@mona [U+202E]fixes #1`\n\n"},
		{remark{Body: "<!-- liaison:review -->", URL: "https://u:p@h.example/"}, "In answer to this comment:\n\n> `<!-- liaison:review -->`\n\n"},
	} {
		if got := references(tt.to, nil); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// A key that could end the mark, or read as another one, is spelled out.
func TestMarksHoldWhatTheyAreGiven(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"a -->", "a b", "", strings.Repeat("x", 201), "a\n"} {
		if m := mark("reply", key); strings.Count(m, "-->") != 1 || strings.Count(m, " ") != 3 || strings.ContainsAny(m, "\n") {
			t.Errorf("%q: %q", key, m)
		}
	}
	if mark("reply", "ses_1/trn_1-x") != "<!-- liaison:reply ses_1/trn_1-x -->" {
		t.Error("a plain key is not kept")
	}
}

// Two comments of ours, as after a race, become none the more: the earliest is
// rewritten and the other left alone.
func TestEarliestOfTwoStickyCommentsWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.review("trn_1", "First.")
	first := w.comments()[0].ID
	other := w.item("trn_x", kindReply, replyPayload{Request: w.request(), Text: "x", Key: "k"})
	w.mustDeliver(other)
	second := w.comments()[1].ID
	w.EditComment(second, w.comments()[0].Body)
	clear(w.surface)
	w.review("trn_2", "Second.")
	got := w.comments()
	if len(got) != 2 || got[0].ID != first || !strings.Contains(got[0].Body, "Second.") || strings.Contains(got[1].Body, "Second.") {
		t.Errorf("comments: %+v", got)
	}
}

func TestReactionsTellHowFarItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	talk, line := w.remarkInTalk("why?"), w.remarkOnLine("why?")
	w.React(talk.ID, "mona", "eyes")
	react := func(to remark, content, instead string) sessions.Item {
		return w.item("trn_1", kindReaction, reactionPayload{Request: w.request(), To: to, Content: content, Instead: instead})
	}
	places := map[string]func() map[string]int{
		onIssue:  func() map[string]int { return w.comments()[0].Reactions },
		onThread: func() map[string]int { return w.lineComments()[0].Reactions },
		"":       func() map[string]int { return w.PullReactions(repoName, 1) },
	}
	for on, counts := range places {
		to := map[string]remark{onIssue: *talk, onThread: *line, "": {}}[on]
		others := counts()["eyes"]
		w.mustDeliver(react(to, "eyes", ""), react(to, "eyes", "")) // the second is answered with 200
		if got := counts(); got["eyes"] != others+1 {
			t.Errorf("%q: %v", on, got)
		}
		w.mustDeliver(react(to, "rocket", "eyes"), react(to, "rocket", "eyes"))
		if got := counts(); got["rocket"] != 1 || got["eyes"] != others {
			t.Errorf("%q at the end: %v", on, got)
		}
	}
}

// The body of a review takes no reactions (https://github.com/OpenHands/OpenHands/pull/13292),
// and a comment that is gone none any more; neither is worth an error.
func TestReactionWithoutAPlaceIsANote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := w.item("trn_1", kindReaction, reactionPayload{Request: w.request(), To: remark{ID: 5, On: onReview}, Content: "eyes"})
	if note := w.note(item); !strings.Contains(note, "takes none") || len(w.Requests()) != 0 {
		t.Errorf("note %q, %d requests", note, len(w.Requests()))
	}
	for _, on := range []string{onIssue, onThread} {
		item := w.item("trn_1", kindReaction, reactionPayload{Request: w.request(), To: remark{ID: 5, On: on}, Content: "rocket", Instead: "eyes"})
		if note := w.note(item); !strings.Contains(note, "gone") {
			t.Errorf("%s: note %q", on, note)
		}
	}
	w.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/issues/comments/*/reactions", Status: 422})
	item = w.item("trn_1", kindReaction, reactionPayload{Request: w.request(), To: *w.remarkInTalk("why?"), Content: "eyes"})
	if note := w.note(item); !strings.HasPrefix(note, "no reaction: ") {
		t.Errorf("note %q", note)
	}
	w.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/issues/comments/*/reactions", Status: http.StatusBadGateway})
	_, err := w.deliver(item)
	wantRetry(t, err)
	for _, p := range []reactionPayload{{Content: "wink"}, {Content: ""}, {Content: "eyes", Instead: "wink"}} {
		p.Request = w.request()
		if _, err := w.deliver(w.item("trn_1", kindReaction, p)); err == nil {
			t.Errorf("%+v is no error", p)
		}
	}
}
