package github

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/yuin/goldmark/ast"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// item is an owed effect of a turn, at its first attempt.
func (w *world) item(turn, kind string, payload any) sessions.Item {
	e := effect(kind, kind, payload)
	return sessions.Item{ID: turn + "/" + kind, SessionID: "ses_1", TurnID: turn, Kind: kind, Payload: e.Payload, Attempts: 1}
}

// note delivers an item and returns what became of it.
func (w *world) note(item sessions.Item) string {
	w.t.Helper()
	receipt, err := w.deliver(item)
	must(w.t, err)
	return receipt.Note
}

func (w *world) reviews() []sim.Review { return w.Reviews(repoName, w.pull.Number) }

func (w *world) lineComments() []sim.ReviewComment { return w.ReviewComments(repoName, w.pull.Number) }

// found is a finding on the line that the world's pull request adds.
func found(title string) finding {
	return finding{Path: "main.go", Line: 3, Side: "RIGHT", Severity: severityWarning, Title: title, Body: "Because of " + title + "."}
}

// offDiff is one that GitHub does not take.
func offDiff(title string) finding {
	f := found(title)
	f.Line = 99
	return f
}

func (w *world) posting(findings ...finding) reviewPayload {
	return reviewPayload{Request: w.request(), Event: eventComment, Body: "See below.", Findings: findings, Model: "m", Duration: time.Second}
}

func TestReviewIsPostedWithItsComments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := found("an empty main")
	f.StartLine, f.Suggestion = 1, "func main() { run() }"
	old := finding{Path: "main.go", Line: 1, Side: "LEFT", Severity: severityError, Body: "Was better."}
	w.mustDeliver(w.item("trn_1", kindPosted, w.posting(f, old)))
	reviews, comments := w.reviews(), w.lineComments()
	if len(reviews) != 1 || reviews[0].State != "COMMENTED" || reviews[0].CommitID != w.pull.HeadSHA || len(comments) != 2 {
		t.Fatalf("reviews %+v, comments %+v", reviews, comments)
	}
	if c := comments[0]; c.Line != 3 || c.StartLine != 1 || c.Side != "RIGHT" || c.Review != reviews[0].ID {
		t.Errorf("first comment: %+v", c)
	}
	if c := comments[1]; c.Line != 1 || c.Side != "LEFT" || c.StartLine != 0 {
		t.Errorf("second comment: %+v", c)
	}
	text := strings.ReplaceAll(reviews[0].Body+"\n=====\n"+comments[0].Body+"\n=====\n"+comments[1].Body, w.pull.HeadSHA, strings.Repeat("a", 40))
	golden(t, "posted/review.md", strings.ReplaceAll(text, short(w.pull.HeadSHA), "aaaaaaa")+"\n")
}

// What stands in a thread on the same line is not said again, whoever resolved
// it; what is on a line that was changed is.
func TestNothingIsSaidTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mustDeliver(w.item("trn_1", kindPosted, w.posting(found("one"), found("two"))))
	w.ResolveThread(w.lineComments()[1].ID)
	// Copied marks are other people's words.
	w.AddReviewComment(repoName, 1, sim.ReviewComment{Author: "mona", Path: "main.go", Line: 3, Body: mark("finding", found("three").fingerprint())})
	w.pull.HeadSHA = w.Push(repoName, 1, map[string]sim.Change{"b.go": {Content: "package main\n"}})
	w.mustDeliver(w.item("trn_2", kindPosted, w.posting(found("one"), found("two"), found("three"), found("three"))))
	got := w.lineComments()
	if len(got) != 4 || !strings.Contains(got[3].Body, "Because of three.") {
		t.Fatalf("comments: %+v", got)
	}
	if body := w.reviews()[1].Body; !strings.Contains(body, "3 findings are said before") {
		t.Errorf("body: %s", body)
	}
	if note := w.note(w.item("trn_3", kindPosted, w.posting(found("one")))); !strings.Contains(note, "nothing in it that is new") || len(w.reviews()) != 2 {
		t.Errorf("note %q, %d reviews", note, len(w.reviews()))
	}
	w.pull.HeadSHA = w.Push(repoName, 1, map[string]sim.Change{"main.go": {Content: "package main\n\nfunc main() { run() }\n"}})
	w.mustDeliver(w.item("trn_4", kindPosted, w.posting(found("one"))))
	if n := len(w.reviews()); n != 3 {
		t.Errorf("a finding on a changed line is not said: %d reviews", n)
	}
}

func TestEmptyReviewIsNotPosted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.posting()
	p.Body = " \n"
	w.note(w.item("trn_1", kindPosted, p))
	if got := w.reviews(); len(got) != 0 {
		t.Errorf("reviews: %+v", got)
	}
}

// One comment off the diff costs the review nothing but its place
// (https://github.com/The-PR-Agent/pr-agent/issues/592).
func TestBadLineIsDemotedAndTheReviewNotLost(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		findings []finding
		inline   int
	}{
		"one of one":    {[]finding{offDiff("x")}, 0},
		"first":         {[]finding{offDiff("x"), found("a"), found("b")}, 2},
		"last of many":  {append(many(19), offDiff("x")), 19},
		"two apart":     {append(append([]finding{offDiff("x")}, many(6)...), offDiff("y")), 6},
		"a foreign one": {[]finding{found("a"), {Path: "gone.go", Line: 1, Severity: severityError, Body: "b"}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mustDeliver(w.item("trn_1", kindPosted, w.posting(tt.findings...)))
			reviews := w.reviews()
			if len(reviews) != 1 || reviews[0].State != "COMMENTED" || len(w.lineComments()) != tt.inline {
				t.Fatalf("%d comments on lines, reviews %+v", len(w.lineComments()), reviews)
			}
			for _, f := range tt.findings {
				if demoted := strings.Contains(reviews[0].Body, f.Body); demoted != (f.Line == 99 || f.Path != "main.go") {
					t.Errorf("%s in the body: %t", f.Title, demoted)
				}
			}
		})
	}
}

func many(n int) []finding {
	var all []finding
	for i := range n {
		all = append(all, found(fmt.Sprintf("number %d", i)))
	}
	return all
}

// Where GitHub takes no comment at all, what was found is said in the body.
func TestAllLinesRefusedLeavesTheBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := many(14)
	for i := range all {
		all[i].Line = 99
	}
	w.mustDeliver(w.item("trn_1", kindPosted, w.posting(all...)))
	reviews := w.reviews()
	if len(reviews) != 1 || len(w.lineComments()) != 0 || strings.Count(reviews[0].Body, "Because of number") != len(all) {
		t.Errorf("reviews %+v", reviews)
	}
	if n := w.count(http.MethodPost, "/reviews"); n > maxProbes+2 {
		t.Errorf("%d reviews were tried", n)
	}
}

func TestCommentsOfOneReviewAreCounted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ findings, allowed, posted int }{
		{maxReviewComments - 1, 99, maxReviewComments - 1}, {maxReviewComments, 99, maxReviewComments},
		{maxReviewComments + 1, 99, maxReviewComments}, {5, 4, 4}, {4, 4, 4}, {3, 4, 3},
	} {
		w := newWorld(t)
		p := w.posting(many(tt.findings)...)
		s := defaultSettings()
		s.MaxInline = tt.allowed
		p.Request.Settings = &s
		w.mustDeliver(w.item("trn_1", kindPosted, p))
		if got := len(w.lineComments()); got != tt.posted {
			t.Errorf("%d findings, %d allowed: %d posted, want %d", tt.findings, tt.allowed, got, tt.posted)
		}
		if over := tt.findings - tt.posted; over > 0 && !strings.Contains(w.reviews()[0].Body, counted(over, "finding is", "findings are")+" left out") {
			t.Errorf("body: %s", w.reviews()[0].Body)
		}
	}
}

// A review whose answer is lost has been posted all the same
// (https://github.com/palantir/bulldozer/issues/372).
func TestReviewIsPostedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.posting(found("one"))
	p.Event = eventApprove
	item := w.item("trn_1", kindPosted, p)
	w.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/pulls/*/reviews", Status: http.StatusBadGateway, AfterEffect: true})
	_, err := w.deliver(item)
	wantRetry(t, err)
	item.Attempts++
	w.mustDeliver(item)
	if got := w.reviews(); len(got) != 1 || len(w.lineComments()) != 1 {
		t.Errorf("reviews: %+v", got)
	}
	if got := w.surface[rememberVerdict]; got != eventApprove+" "+w.pull.HeadSHA {
		t.Errorf("remembered %q", got)
	}
}

// Where GitHub shows accounts to nobody, our own comment tells whose ours is.
func TestOwnReviewIsKnownWithoutALookAtAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fail(sim.Fault{Method: http.MethodGet, PathPattern: "/users/*", Times: -1, Status: http.StatusNotFound})
	w.review("trn_1", "Fine.")
	item := w.item("trn_1", kindPosted, w.posting(found("one")))
	w.mustDeliver(item)
	w.channel.app.bot.Store(0) // as after a restart
	item.Attempts = 2
	w.mustDeliver(item)
	if got := w.reviews(); len(got) != 1 {
		t.Errorf("reviews: %+v", got)
	}
}

// What an earlier process began and did not submit is thrown away, also where it
// is found only by the refusal.
func TestPendingReviewOfOursIsThrownAway(t *testing.T) {
	t.Parallel()
	for _, attempts := range []int{1, 2} {
		w := newWorld(t)
		left := w.AddReview(repoName, 1, sim.Review{Author: "liaison[bot]", State: "PENDING", Body: "half"})
		theirs := w.AddReview(repoName, 1, sim.Review{Author: "mona", State: "PENDING", Body: "not ours"})
		item := w.item("trn_1", kindPosted, w.posting(found("one")))
		item.Attempts = attempts
		w.mustDeliver(item)
		got := w.reviews()
		if len(got) != 2 || got[0].ID != theirs || got[1].State != "COMMENTED" || slices.ContainsFunc(got, func(r sim.Review) bool { return r.ID == left }) {
			t.Errorf("attempt %d: %+v", attempts, got)
		}
	}
}

// A probe's pending review is thrown away by the next attempt.
func TestCrashWhileProbingLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := w.item("trn_1", kindPosted, w.posting(found("a"), offDiff("x")))
	w.Fail(sim.Fault{Method: http.MethodDelete, PathPattern: "/repos/*/*/pulls/*/reviews/*", Status: http.StatusBadGateway})
	_, err := w.deliver(item)
	wantRetry(t, err)
	item.Attempts++
	w.mustDeliver(item)
	if got := w.reviews(); len(got) != 1 || got[0].State != "COMMENTED" || len(w.lineComments()) != 1 {
		t.Errorf("reviews: %+v", got)
	}
}

func TestVerdictThatGitHubDoesNotTakeBecomesAComment(t *testing.T) {
	t.Parallel()
	for _, event := range []string{eventApprove, eventRequestChanges} {
		w := newWorld(t)
		w.pull = w.OpenPullRequest(repoName, sim.NewPullRequest{
			Title: "Ours", Author: "liaison[bot]", Branch: "own", Files: map[string]sim.Change{"own.go": {Content: "package own\n"}},
		})
		p := w.posting(finding{Path: "own.go", Line: 1, Severity: severityInfo, Body: "b"})
		p.Event = event
		w.mustDeliver(w.item("trn_1", kindPosted, p))
		got := w.reviews()
		if len(got) != 1 || got[0].State != "COMMENTED" || len(w.lineComments()) != 1 ||
			!strings.Contains(got[0].Body, "does not take the verdict `"+event+"`") || w.surface[rememberVerdict] != "" {
			t.Errorf("%s: %+v, remembered %q", event, got, w.surface[rememberVerdict])
		}
	}
}

func TestVerdictIsPassedOn(t *testing.T) {
	t.Parallel()
	for event, state := range map[string]string{eventApprove: "APPROVED", eventRequestChanges: "CHANGES_REQUESTED"} {
		w := newWorld(t)
		p := w.posting()
		p.Event = event
		w.mustDeliver(w.item("trn_1", kindPosted, p))
		if got := w.reviews(); len(got) != 1 || got[0].State != state || w.surface[rememberVerdict] != event+" "+w.pull.HeadSHA {
			t.Errorf("%+v, remembered %q", got, w.surface[rememberVerdict])
		}
	}
	w := newWorld(t)
	p := w.posting()
	p.Event = "MERGE"
	if _, err := w.deliver(w.item("trn_1", kindPosted, p)); err == nil || len(w.reviews()) != 0 {
		t.Errorf("an unknown event: %v", err)
	}
}

// An older review over a newer head (https://github.com/mergewatch/mergewatch.ai/issues/527),
// also where the push comes in the middle of ours.
func TestReviewOfAnotherHeadIsNotPosted(t *testing.T) {
	t.Parallel()
	push := func(w *world) { w.Push(repoName, 1, map[string]sim.Change{"b.go": {Content: "package main\n"}}) }
	for name, arrange := range map[string]func(*world){
		"pushed":       push,
		"force-pushed": func(w *world) { w.ForcePush(repoName, 1, map[string]sim.Change{"c.go": {Content: "package c\n"}}) },
		"closed":       func(w *world) { w.ClosePullRequest(repoName, 1) },
		"pushed while the comments are read": func(w *world) {
			w.Fail(sim.Fault{Method: http.MethodGet, PathPattern: "/repos/*/*/pulls/*/comments", Hook: func(sim.RecordedRequest) { push(w) }})
		},
		"pushed between two tries": func(w *world) {
			w.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/pulls/*/reviews", Status: 422, Hook: func(sim.RecordedRequest) { push(w) }})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			arrange(w)
			if note := w.note(w.item("trn_1", kindPosted, w.posting(found("one")))); !strings.HasPrefix(note, "no review: ") || len(w.reviews()) != 0 {
				t.Errorf("note %q, reviews %+v", note, w.reviews())
			}
		})
	}
}

func TestNothingIsWrittenInALockedConversation(t *testing.T) {
	t.Parallel()
	var later atomic.Int64 // a refusal of a token that is seconds old is not believed
	w := newWorld(t, func(so *sim.GitHubOptions, o *Options) {
		so.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
		o.Now = so.Now
	})
	first := w.AddReviewComment(repoName, 1, sim.ReviewComment{Author: "mona", Path: "main.go", Line: 3, Body: "Why?"})
	w.note(w.item("trn_1", kindReaction, reactionPayload{Request: w.request(), Content: "eyes"}))
	later.Store(int64(time.Minute))
	w.LockPullRequest(repoName, 1)
	ask := w.request()
	ask.Kind = kindAsk
	for kind, payload := range map[string]any{
		kindPosted: w.posting(found("one")),
		kindReply:  replyPayload{Request: ask, Text: "t", Key: "k"},
		"thread":   replyPayload{Request: ask, Text: "t", Key: "k", To: &remark{ID: first, On: onThread, Thread: first}},
	} {
		item := w.item("trn_1", kind, payload)
		if kind == "thread" {
			item.Kind = kindReply
		}
		if note := w.note(item); !strings.Contains(note, "locked") {
			t.Errorf("%s: %q", kind, note)
		}
	}
}

// The texts of a review reach nobody beyond it, and its suggestion stays in its block.
func TestHostileFindingsAreHarmless(t *testing.T) {
	t.Parallel()
	f := found("@octo/team <!-- liaison:finding x --> fixes #1")
	f.Body = "Fixes #12, @mona.\n\n```go\nunclosed @mona"
	f.Suggestion = "a := `x`\n````\n```suggestion\nrm -rf /\n```"
	body := renderFinding(f, true, maxComment, "ses_1")
	golden(t, "posted/hostile.md", body+"\n")
	if !strings.HasPrefix(body, mark("finding", f.fingerprint())+"\n") || strings.Count(body, "<!--") != 1 {
		t.Errorf("marks: %s", body)
	}
	f.Suggestion = "if a \u202e{"
	if body := renderFinding(f, true, maxComment, "ses_1"); strings.Contains(body, "suggestion\nif") {
		t.Errorf("a suggestion that reads otherwise than it is: %s", body)
	}
	f.Suggestion = "fine"
	if body := renderFinding(f, false, maxComment, "ses_1"); strings.Contains(body, "```suggestion") {
		t.Errorf("a suggestion where none is allowed: %s", body)
	}
	f.Side = "LEFT"
	if body := renderFinding(f, true, maxComment, "ses_1"); strings.Contains(body, "```suggestion") {
		t.Errorf("a suggestion for an old line: %s", body)
	}
}

// A suggestion stays in its block, whatever it holds: applied, it is the code
// that the agent wrote and nothing else.
func FuzzSuggestion(f *testing.F) {
	for _, s := range []string{"x", "```", "a\n````\n```suggestion\nb", "~~~\n", "\n\n", "\t`` `", "    indented"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code string) {
		if code == "" || spellOut(code) != code {
			return
		}
		src := []byte("Text." + suggestion(finding{Suggestion: code, Side: sideRight}))
		doc := parseMarkdown(src)
		if doc.FirstChild() == nil {
			return // too costly to parse
		}
		block, ok := doc.LastChild().(*ast.FencedCodeBlock)
		if !ok || doc.ChildCount() != 2 || string(block.Language(src)) != "suggestion" || string(block.Lines().Value(src)) != code+"\n" {
			t.Errorf("%q became %q", code, src)
		}
	})
}

// Every text of a review fits, whatever of it is long.
func TestReviewFitsItsLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	writer := &writer{target: target{request: w.request()}, item: sessions.Item{TurnID: "trn_1", SessionID: "ses_1"}}
	long := strings.Repeat("😀 and so on.\n\n", 6_000)
	for _, limit := range []int{maxComment, maxComment / 16} {
		d := &draft{reviewPayload: w.posting(), said: 3, over: 2, softened: eventApprove}
		d.Body = long
		for i := range maxReviewComments {
			f := found(fmt.Sprintf("%d %s", i, long))
			f.Path, f.Body, f.Suggestion = strings.Repeat("p/", 500), long, long
			d.demoted = append(d.demoted, f)
		}
		d.lines = d.demoted[:2]
		r := writer.renderReview(d, limit)
		if n := runes(r.Body); n > limit {
			t.Errorf("body of %d characters, at most %d", n, limit)
		}
		for _, c := range r.Comments {
			if n := runes(c.Body); n > limit {
				t.Fatalf("comment of %d characters, at most %d", n, limit)
			}
		}
	}
}
