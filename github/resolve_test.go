package github

import (
	"net/http"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// elevate grants what resolving a thread needs.
func (w *world) elevate() {
	w.SetInstallationPermissions(installation, map[string]string{
		"contents": "write", "pull_requests": "write", "checks": "write", "issues": "write",
	})
}

// fixed posts findings, pushes a change of their file, and is then at the new head.
func (w *world) fixed(findings ...finding) {
	w.t.Helper()
	w.mustDeliver(w.item("trn_1", kindPosted, w.posting(findings...)))
	w.pull.HeadSHA = w.Push(repoName, 1, map[string]sim.Change{"main.go": {Content: "package main\n\nfunc main() { run() }\n"}})
}

func (w *world) settling(present ...finding) sessions.Item {
	p := resolvePayload{Request: w.request()}
	for _, f := range present {
		p.Present = append(p.Present, f.fingerprint())
	}
	return w.item("trn_2", kindResolve, p)
}

// states say of each thread whether it is resolved and how many answers it has.
func (w *world) threadStates() map[string]string {
	states := map[string]string{}
	answers := map[int64]int{}
	for _, c := range w.lineComments() {
		answers[c.ReplyTo]++
	}
	for _, c := range w.lineComments() {
		if c.ReplyTo != 0 {
			continue
		}
		_, text, _ := strings.Cut(c.Body, "Because of ")
		states[strings.TrimSuffix(strings.TrimSpace(text), ".")] = strings.Repeat("resolved ", map[bool]int{true: 1}[c.Resolved]) + strings.Repeat("answered ", answers[c.ID])
	}
	return states
}

func TestFixedThreadsAreResolvedWhereThatIsAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.elevate()
	w.fixed(found("fixed"), found("present"))
	w.mustDeliver(w.settling(found("present")), w.settling(found("present")))
	got := w.threadStates()
	if got["fixed"] != "resolved " || got["present"] != "" {
		t.Errorf("threads: %q", got)
	}
}

// The token that can write contents carries nothing but the resolving.
func TestOnlyResolvingHasTheWiderToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.elevate()
	w.fixed(found("one"), found("two"), found("three"))
	w.mustDeliver(w.settling())
	wide, other := map[string]int{}, map[string]bool{}
	for _, r := range w.Requests() {
		if strings.Contains(string(r.Body), "resolveReviewThread") {
			wide[r.Authorization]++
		} else {
			other[r.Authorization] = true
		}
	}
	if len(wide) != 1 {
		t.Errorf("%d tokens for one settling", len(wide))
	}
	for token, n := range wide {
		if other[token] || n != 3 {
			t.Errorf("the wider token resolved %d threads, and was used for more: %t", n, other[token])
		}
	}
}

// Without the permission, or where the repository does not want it, the thread
// is told once.
func TestFixedThreadsAreAnsweredOnceElse(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(*world, *resolvePayload){
		"not allowed": func(*world, *resolvePayload) {},
		"not wanted": func(w *world, p *resolvePayload) {
			w.elevate()
			s := defaultSettings()
			s.ResolveThreads = false
			p.Request.Settings = &s
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fixed(found("fixed"), found("present"))
			p := resolvePayload{Request: w.request(), Present: []string{found("present").fingerprint()}}
			arrange(w, &p)
			w.mustDeliver(w.item("trn_2", kindResolve, p), w.item("trn_3", kindResolve, p))
			got := w.threadStates()
			if got["fixed"] != "answered " || got["present"] != "" {
				t.Errorf("threads: %q", got)
			}
			all := w.lineComments()
			if last := all[len(all)-1].Body; !strings.HasSuffix(last, "\nNot found any more at `"+short(w.pull.HeadSHA)+"`.") {
				t.Errorf("answer: %s", last)
			}
		})
	}
}

// What did not change was not fixed; what a person asks is for a person to close.
func TestThreadsThatStayOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.elevate()
	w.mustDeliver(w.item("trn_1", kindPosted, w.posting(found("unchanged"))))
	w.pull.HeadSHA = w.Push(repoName, 1, map[string]sim.Change{"b.go": {Content: "package main\n"}})
	if note := w.note(w.settling()); note != "no thread is settled" {
		t.Errorf("unchanged: %q", note)
	}

	w = newWorld(t)
	w.elevate()
	w.fixed(found("asked"), found("told"))
	all := w.lineComments()
	w.ReplyToThread(all[0].ID, "mona", "Is this right now?")
	w.ReplyToThread(all[1].ID, "mona", "Done.")
	theirs := w.AddReviewComment(repoName, 1, sim.ReviewComment{
		Author: "mona", Path: "main.go", Line: 0, Body: mark("finding", found("theirs").fingerprint()) + "\nBecause of theirs.",
	})
	w.mustDeliver(w.settling())
	got := w.threadStates()
	if got["asked"] != "answered " || got["told"] != "resolved answered " || got["theirs"] != "" {
		t.Errorf("threads: %q (%d is a person's)", got, theirs)
	}
}

// A review of what is new says nothing of what it did not look at.
func TestIncrementalReviewSettlesWhatItLookedAt(t *testing.T) {
	t.Parallel()
	for _, touched := range []bool{false, true} {
		w := newWorld(t)
		w.elevate()
		w.fixed(found("old"))
		since := w.pull.HeadSHA
		file := map[bool]string{false: "b.go", true: "main.go"}[touched]
		w.pull.HeadSHA = w.Push(repoName, 1, map[string]sim.Change{file: {Content: "package main\n\n// new\n"}})
		w.mustDeliver(w.item("trn_3", kindResolve, resolvePayload{Request: w.request(), Since: since}))
		if got := w.threadStates()["old"] != ""; got != touched {
			t.Errorf("touched=%t: settled=%t", touched, got)
		}
	}
}

// After a force-push there is no change to see but in the lines themselves.
func TestForcePushSettlesOutdatedThreadsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.elevate()
	w.mustDeliver(w.item("trn_1", kindPosted, w.posting(found("same"))))
	w.pull.HeadSHA = w.ForcePush(repoName, 1, map[string]sim.Change{
		"main.go": {Content: "package main\n\nfunc main() {}\n"}, "b.go": {Content: "package main\n"},
	})
	w.mustDeliver(w.settling())
	if got := w.threadStates()["same"]; got != "" {
		t.Errorf("the same line: %q", got)
	}
	w.pull.HeadSHA = w.ForcePush(repoName, 1, map[string]sim.Change{"main.go": {Content: "package main\n\nfunc other() {}\n"}})
	w.mustDeliver(w.settling())
	if got := w.threadStates()["same"]; got != "resolved " {
		t.Errorf("another line: %q", got)
	}
}

func TestNothingIsSettledOnAnotherHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.elevate()
	w.fixed(found("fixed"))
	item := w.settling()
	w.Push(repoName, 1, map[string]sim.Change{"b.go": {Content: "package main\n"}})
	if note := w.note(item); !strings.Contains(note, "not the head any more") || w.threadStates()["fixed"] != "" {
		t.Errorf("note %q, threads %q", note, w.threadStates())
	}
}

func TestSettlingGoesOnAfterAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fixed(found("fixed"))
	item := w.settling()
	w.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/pulls/*/comments/*/replies", Status: http.StatusBadGateway, AfterEffect: true})
	_, err := w.deliver(item)
	wantRetry(t, err)
	item.Attempts++
	w.mustDeliver(item)
	if got := w.threadStates()["fixed"]; got != "answered " {
		t.Errorf("threads: %q", got)
	}
}

// A stale verdict of ours is dismissed, and nobody else's
// (https://github.com/fullsend-ai/fullsend/issues/827).
func TestStaleVerdictIsDismissed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	post := func(turn, event string) {
		p := w.posting()
		p.Event = event
		w.mustDeliver(w.item(turn, kindPosted, p))
	}
	post("trn_1", eventApprove)
	w.AddReview(repoName, 1, sim.Review{Author: "mona", State: "APPROVED", Body: "Fine."})
	w.AddReview(repoName, 1, sim.Review{Author: "other[bot]", State: "CHANGES_REQUESTED", Body: mark("posted", "trn_1")})
	w.pull.HeadSHA = w.Push(repoName, 1, map[string]sim.Change{"b.go": {Content: "package main\n"}})
	post("trn_2", eventRequestChanges)
	states := func() (s string) {
		for _, r := range w.reviews() {
			s += r.State + " "
		}
		return s
	}
	for _, keep := range []string{keepHead, eventRequestChanges} {
		w.mustDeliver(w.item("trn_2", kindDismiss, dismissPayload{Request: w.request(), Reason: "The head moved on.", Keep: keep}))
		if got := states(); got != "DISMISSED APPROVED CHANGES_REQUESTED CHANGES_REQUESTED " || w.surface[rememberVerdict] == "" {
			t.Errorf("keep %s: %s, remembered %q", keep, got, w.surface[rememberVerdict])
		}
	}
	w.mustDeliver(w.item("trn_3", kindDismiss, dismissPayload{Request: w.request(), Reason: "It is fixed.", Keep: eventApprove}))
	if got := states(); got != "DISMISSED APPROVED CHANGES_REQUESTED DISMISSED " || w.surface[rememberVerdict] != "" {
		t.Errorf("at last: %s, remembered %q", got, w.surface[rememberVerdict])
	}
	if got := w.reviews()[3].Dismissal; got != "It is fixed." {
		t.Errorf("message %q", got)
	}
}

// An approval goes with the head and the base that it was given for, also where
// nothing is reviewed: who spends a budget, or waits for a filter, gains nothing.
func TestAnApprovalEndsWithWhatItWasGivenFor(t *testing.T) {
	t.Parallel()
	push := func(w *world) {
		w.pull.HeadSHA = w.Push(repoName, 1, map[string]sim.Change{"b.go": sim.Write("package main\n")})
	}
	const verdicts = "review:\n  verdicts: [approve]\n"
	for name, c := range map[string]struct {
		config, trigger string
		change          func(*world)
		want            string
	}{
		"a push that is reviewed":        {verdicts, "pull_request.synchronize", push, "DISMISSED"},
		"a push that no review follows":  {verdicts + "  on: [opened]\n", "pull_request.synchronize", push, "DISMISSED"},
		"a push when all is turned off":  {"enabled: false\n" + verdicts, "pull_request.synchronize", push, "DISMISSED"},
		"a push to a draft":              {verdicts, "pull_request.synchronize", func(w *world) { push(w); w.draft() }, "DISMISSED"},
		"a push without a budget":        {verdicts + "budgets:\n  actorPerDay: 0\n", "pull_request.synchronize", push, "DISMISSED"},
		"another base without verdicts":  {"review:\n  on: [opened]\n", "pull_request.edited", nil, "DISMISSED"},
		"another base with them":         {verdicts, "pull_request.edited", nil, "DISMISSED"},
		"a label that says nothing":      {verdicts, "pull_request.labeled", nil, "APPROVED"},
		"reopened, and nothing changed":  {verdicts, "pull_request.reopened", nil, "APPROVED"},
		"reopened with a push meanwhile": {verdicts + "  on: [opened]\n", "pull_request.reopened", push, "DISMISSED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := policyWorld(t, c.config)
			p := w.posting()
			p.Event = eventApprove
			w.mustDeliver(w.item("trn_1", kindPosted, p))
			if c.change != nil {
				c.change(w)
			}
			for _, e := range w.weigh(w.did(c.trigger, "mona", nil)).Effects {
				w.mustDeliver(sessions.Item{ID: e.Name, SessionID: "ses_1", Kind: e.Kind, Payload: e.Payload, Attempts: 1})
			}
			if got := w.reviews()[0].State; got != c.want {
				t.Errorf("the approval is %s, want %s", got, c.want)
			}
		})
	}
}

// Where no verdict of ours stands, nobody is asked whether one does.
func TestNothingIsAskedWhereNothingWasDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mustDeliver(w.item("trn_1", kindDismiss, dismissPayload{Request: w.request(), Reason: "Old."}))
	if n := len(w.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// After a force-push GitHub shows an old review under the new head
// (https://github.com/max-sixty/tend/pull/884); its own words count.
func TestReviewTellsItsHeadItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.posting()
	p.Event = eventApprove
	w.mustDeliver(w.item("trn_1", kindPosted, p))
	old := w.reviews()[0]
	moved := postedReview{CommitID: strings.Repeat("b", 40)}
	moved.Body = old.Body
	if got := reviewedHead(moved); got != w.pull.HeadSHA {
		t.Errorf("head %s", got)
	}
}

func TestRefusedDismissalIsANote(t *testing.T) {
	t.Parallel()
	for _, status := range []int{403, 404, 422} {
		w := newWorld(t)
		p := w.posting()
		p.Event = eventApprove
		w.mustDeliver(w.item("trn_1", kindPosted, p))
		w.pull.HeadSHA = w.Push(repoName, 1, map[string]sim.Change{"b.go": {Content: "package main\n"}})
		item := w.item("trn_2", kindDismiss, dismissPayload{Request: w.request(), Reason: "Old."})
		w.Fail(sim.Fault{Method: http.MethodPut, PathPattern: "/repos/**", Status: status})
		receipt, err := w.deliver(item)
		if status == 403 { // not believed of a token that is seconds old
			wantRetry(t, err)
			continue
		}
		if err != nil || !strings.Contains(receipt.Note, "is not dismissed") || w.surface[rememberVerdict] == "" {
			t.Errorf("%d: %q, %v", status, receipt.Note, err)
		}
	}
}
