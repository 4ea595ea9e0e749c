package github

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// manyFindings are n different findings in main.go.
func manyFindings(n int) []finding {
	var all []finding
	for i := range n {
		all = append(all, finding{Path: "main.go", Line: i + 1, Severity: severityWarning, Title: fmt.Sprintf("Finding %d", i+1), Body: "Look here."})
	}
	return all
}

// ended is the item of a check that ends with findings.
func (w *world) ended(turn string, findings []finding) sessions.Item {
	r := w.request()
	e := effect("check-ended", kindCheck, checkPayload{
		Request: r, Conclusion: concludedNeutral, Title: "Found some", Summary: "Reviewed.", Text: "All of it.", Findings: findings,
	})
	return sessions.Item{ID: turn + "/" + e.Name, SessionID: "ses_1", TurnID: turn, Key: r.key(), Kind: e.Kind, Payload: e.Payload, Attempts: 1}
}

// More than fifty in one request are refused
// (https://github.com/reviewdog/reviewdog/issues/147).
func TestAnnotationsComeInChunks(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, annotationChunk - 1, annotationChunk, annotationChunk + 1, 143, maxAnnotations, maxAnnotations + 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mustDeliver(w.items(w.turn("trn_1"), started)...)
			w.ForgetRequests()
			w.mustDeliver(w.ended("trn_1", manyFindings(n)))
			got := w.checks()
			if len(got) != 1 || got[0].Conclusion != "neutral" || len(got[0].Annotations) != min(n, maxAnnotations) {
				t.Fatalf("%d checks, %d annotations, %q", len(got), len(got[0].Annotations), got[0].Conclusion)
			}
			writes := max(1, (min(n, maxAnnotations)+annotationChunk-1)/annotationChunk)
			if calls := w.count(http.MethodPatch, "/check-runs/"); calls != writes {
				t.Errorf("%d writes, want %d", calls, writes)
			}
			if over := strings.Contains(got[0].Text, "1 finding has no annotation"); over != (n > maxAnnotations) {
				t.Errorf("text: %q", got[0].Text)
			}
		})
	}
}

func TestAnnotationsAreValidated(t *testing.T) {
	t.Parallel()
	good := finding{Path: "a.go", Line: 3, Severity: severityError, Title: "Bad", Body: "Worse."}
	with := func(change func(*finding)) finding { f := good; change(&f); return f }
	for name, tt := range map[string]struct {
		finding finding
		taken   bool
	}{
		"as it should be":         {good, true},
		"several lines":           {with(func(f *finding) { f.StartLine = 1 }), true},
		"title instead of a body": {with(func(f *finding) { f.Body = " " }), true},
		"long title":              {with(func(f *finding) { f.Title = strings.Repeat("é", maxAnnotationTitle+1) }), true},
		"message of 64 KiB":       {with(func(f *finding) { f.Body = strings.Repeat("x", maxAnnotationMessage) }), true},
		"message beyond":          {with(func(f *finding) { f.Body = strings.Repeat("é", maxAnnotationMessage) }), true},
		"unknown severity":        {with(func(f *finding) { f.Severity = "catastrophe" }), true},
		"long suggestion":         {with(func(f *finding) { f.Suggestion = strings.Repeat("x", maxAnnotationMessage+1) }), true},
		"no path":                 {with(func(f *finding) { f.Path = "" }), false},
		"absolute path":           {with(func(f *finding) { f.Path = "/etc/passwd" }), false},
		"path of bytes":           {with(func(f *finding) { f.Path = "a\xff.go" }), false},
		"path beyond the limit":   {with(func(f *finding) { f.Path = strings.Repeat("a", maxPath+1) }), false},
		"no line":                 {with(func(f *finding) { f.Line = 0 }), false},
		"negative line":           {with(func(f *finding) { f.Line, f.StartLine = 2, -1 }), false},
		"end before the start":    {with(func(f *finding) { f.StartLine = 4 }), false},
		"the old side":            {with(func(f *finding) { f.Side = sideLeft }), false},
		"nothing said":            {with(func(f *finding) { f.Title, f.Body = "", "" }), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mustDeliver(w.ended("trn_1", []finding{tt.finding, tt.finding}))
			got := w.checks()
			want := 0
			if tt.taken {
				want = 1 // the second one is a double
			}
			if len(got) != 1 || got[0].Conclusion != "neutral" || len(got[0].Annotations) != want {
				t.Fatalf("checks: %+v", got)
			}
			if told := strings.Contains(got[0].Text, "no annotation"); told == tt.taken {
				t.Errorf("text: %q", got[0].Text)
			}
			if n := w.count(http.MethodPost, "/check-runs"); n != 1 {
				t.Errorf("%d requests were made", n)
			}
		})
	}
}

// One bad annotation has the whole request refused; the conclusion comes all
// the same (https://github.com/cirruslabs/cirrus-ci-docs/issues/485).
func TestRefusedAnnotationsLeaveTheConclusion(t *testing.T) {
	t.Parallel()
	refuse := func(part string) worldOption {
		return func(so *sim.GitHubOptions, _ *Options) { so.RefuseAnnotation = part }
	}
	for name, tt := range map[string]struct {
		part string
		want int
	}{
		"none":                    {"no such thing", 60},
		"one":                     {"Finding 13.", 59},
		"one of the second chunk": {"Finding 57.", 59},
		"a third":                 {"Finding 1", 0}, // 1, 10 to 19: too many to find each
		"all":                     {"Finding", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, refuse(tt.part))
			list := manyFindings(60)
			for i := range list {
				list[i].Title += "."
			}
			w.mustDeliver(w.items(w.turn("trn_1"), started)...)
			w.ForgetRequests()
			w.mustDeliver(w.ended("trn_1", list))
			got := w.checks()
			if len(got) != 1 || got[0].Conclusion != "neutral" || tt.want > 0 && len(got[0].Annotations) != tt.want {
				t.Fatalf("%d annotations of %+v", len(got[0].Annotations), got[0].Conclusion)
			}
			if missing := 60 - len(got[0].Annotations); missing > 0 && !strings.Contains(got[0].Text, fmt.Sprintf("%d finding", missing)) {
				t.Errorf("%d are missing; text %q", missing, got[0].Text)
			}
			if n := w.count(http.MethodPatch, "/check-runs/"); n > 2*maxRefusals+8 {
				t.Errorf("%d writes", n)
			}
		})
	}
}

// An update adds to what is there: what was sent is not sent again
// (https://github.com/cirruslabs/cirrus-ci-docs/issues/570).
func TestRetriedAnnotationsAreNotDoubled(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sim.Fault{
		"502 before the effect": {Status: http.StatusBadGateway},
		"502 after the effect":  {Status: http.StatusBadGateway, AfterEffect: true},
		"connection dropped":    {DropConnection: true, AfterEffect: true},
	} {
		for skip := range 3 {
			for _, opened := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, write %d, opened %v", name, skip+1, opened), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					if opened {
						w.mustDeliver(w.items(w.turn("trn_1"), started)...)
					}
					fault := fault
					fault.Method, fault.PathPattern, fault.Skip = http.MethodPatch, "/repos/*/*/check-runs/*", skip
					switch {
					case opened:
					case skip == 0:
						fault.Method, fault.PathPattern = http.MethodPost, "/repos/*/*/check-runs"
					default:
						fault.Skip--
					}
					w.Fail(fault)
					item := w.ended("trn_1", manyFindings(143))
					_, err := w.deliver(item)
					wantRetry(t, err)
					item.Attempts++
					w.mustDeliver(item)
					got := w.checks()
					if len(got) != 1 || got[0].Conclusion != "neutral" || len(got[0].Annotations) != 143 {
						t.Fatalf("%d checks, %d annotations, %q", len(got), len(got[0].Annotations), got[0].Conclusion)
					}
					seen := map[string]bool{}
					for _, a := range got[0].Annotations {
						if seen[a.Title] {
							t.Errorf("%s is there twice", a.Title)
						}
						seen[a.Title] = true
					}
					item.Attempts++
					w.mustDeliver(item) // the receipt was lost
					if got := w.checks(); len(got[0].Annotations) != 143 {
						t.Errorf("%d annotations after another try", len(got[0].Annotations))
					}
				})
			}
		}
	}
}

// Annotations stand at lines of the head that was reviewed; another one has its own.
func TestStaleReviewLeavesNoAnnotations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mustDeliver(w.items(w.turn("trn_1"), started)...)
	w.Push(repoName, w.pull.Number, map[string]sim.Change{"b.go": {Content: "package main\n"}})
	w.mustDeliver(w.ended("trn_1", manyFindings(3)))
	if got := w.checks(); len(got) != 1 || got[0].Conclusion != "cancelled" || len(got[0].Annotations) != 0 {
		t.Errorf("%+v", got)
	}
}

// GitHub's "Re-run" wants a new run of the same name; the old one stays as it
// was (https://github.com/cirruslabs/cirrus-ci-docs/issues/701).
func TestRerunIsANewCheckRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.review("trn_1", "First.")
	w.mustDeliver(w.items(w.turn("trn_2"), started)...)
	got := w.checks()
	if len(got) != 2 || got[0].Conclusion != "success" || got[0].Updates != 1 || got[1].Status != "in_progress" || got[0].Name != got[1].Name {
		t.Fatalf("checks: %+v", got)
	}
	w.mustDeliver(w.items(w.turn("trn_2"), completed("Second."))...)
	if got := w.checks(); len(got) != 2 || got[0].Updates != 1 || got[1].Conclusion != "success" {
		t.Errorf("checks: %+v", got)
	}
}

// A run that another one of the same head took the place of says so.
func TestCancelledRunNamesTheNewerOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	turn := w.turn("trn_1")
	w.mustDeliver(w.items(turn, started)...)
	w.mustDeliver(w.items(turn, sessions.Report{Moment: sessions.MomentInterrupted, Superseded: true})...)
	if got := w.checks(); len(got) != 1 || got[0].Title != "Superseded by a newer run" || !strings.Contains(got[0].Summary, "newest check run") {
		t.Errorf("checks: %+v", got)
	}
}

func TestCheckLeadsToTheSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *sim.GitHubOptions, o *Options) { o.PublicURL = mustURL("https://liaison.example.com/bot") })
	w.mustDeliver(w.items(w.turn("trn_1"), started)...)
	if got := w.checks(); got[0].DetailsURL != "https://liaison.example.com/bot/?sessionId=ses_1" {
		t.Errorf("details: %q", got[0].DetailsURL)
	}
}
