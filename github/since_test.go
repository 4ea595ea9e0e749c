package github

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// prepared prepares a turn and returns what the agent is told and what was
// compared with the last review, if anything was.
func (w *world) prepared(turn sessions.Turn) (prompt string, since *evidence.Since) {
	w.t.Helper()
	dir := w.t.TempDir()
	brief, err := w.channel.Prepare(w.t.Context(), turn, dir)
	must(w.t, err)
	raw, err := os.ReadFile(filepath.Join(dir, "pr", "since.json"))
	if os.IsNotExist(err) {
		return brief.Prompt, nil
	}
	must(w.t, err)
	must(w.t, json.Unmarshal(raw, &since))
	return brief.Prompt, since
}

// After a review, the next one begins where it ended.
func TestAReviewAfterAPushIsAboutWhatIsNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, since := w.prepared(w.turn("trn_1")); since != nil {
		t.Errorf("the first review begins after %+v", since)
	}
	w.review("trn_1", "Fine.")
	first := w.pull.HeadSHA
	w.pull.HeadSHA = w.Push(repoName, w.pull.Number, map[string]sim.Change{"b.go": {Content: "package main\n"}})
	prompt, since := w.prepared(w.turn("trn_2"))
	if since == nil || !since.Incremental || since.From != first || since.To != w.pull.HeadSHA || since.Commits != 1 ||
		len(since.Files) != 1 || since.Files[0].Path != "b.go" {
		t.Errorf("what is new: %+v", since)
	}
	for _, sha := range []string{first, w.pull.HeadSHA} {
		if !strings.Contains(prompt, sha) {
			t.Errorf("the prompt does not name %s", sha)
		}
	}
	golden(t, "prompts/incremental.md", steady(prompt, first, "FIRST", w.pull.HeadSHA, "SECOND", w.pull.HeadSHA[:7], "SECOND", w.pull.BaseSHA, "BASE"))
}

// steady replaces what differs from run to run.
func steady(prompt string, pairs ...string) string {
	_, rest, _ := strings.Cut(prompt, "the lines `untrusted ")
	marker, _, _ := strings.Cut(rest, "`")
	return strings.NewReplacer(append([]string{marker, "MARKER"}, pairs...)...).Replace(prompt)
}

// The pointer is our own: GitHub was seen to move its reviews to the new head
// after a forced push, so that what it says of them would skip the review.
func TestAForcedPushIsReviewedAsAWhole(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*world, *request)
		why    string
	}{
		"rewritten": {func(w *world, _ *request) {
			w.pull.HeadSHA = w.ForcePush(repoName, w.pull.Number, map[string]sim.Change{"c.go": {Content: "package main\n"}})
		}, "the branch was rewritten"},
		"gone": {func(w *world, _ *request) {
			w.surface[rememberReviewed] = strings.Repeat("ab", 20) + " main"
		}, "is gone"},
		"the same head": {func(*world, *request) {}, "this head was reviewed before"},
		"into another branch": {func(w *world, _ *request) {
			w.surface[rememberReviewed] = w.pull.HeadSHA + " release"
		}, ""},
		"asked for all of it": {func(w *world, r *request) {
			w.pull.HeadSHA = w.Push(repoName, w.pull.Number, map[string]sim.Change{"b.go": {Content: "package main\n"}})
			r.Full = true
		}, ""},
		"turned off": {func(_ *world, r *request) {
			set := defaultSettings()
			set.Incremental, r.Settings = false, &set
		}, ""},
		"damaged": {func(w *world, _ *request) { w.surface[rememberReviewed] = "../../x main" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.review("trn_1", "Fine.")
			r := w.request()
			tt.change(w, &r)
			r.Head = w.pull.HeadSHA
			turn := w.turn("trn_2")
			turn.Request = r.encode()
			prompt, since := w.prepared(turn)
			switch {
			case tt.why == "" && since != nil:
				t.Errorf("compared: %+v", since)
			case tt.why != "" && (since == nil || since.Incremental || !strings.Contains(since.Reason, tt.why)):
				t.Errorf("compared: %+v", since)
			case tt.why != "" && !strings.Contains(prompt, tt.why):
				t.Errorf("the prompt does not say that it is a whole review because %s", tt.why)
			case strings.Contains(prompt, "pr/since.diff"):
				t.Error("the prompt speaks of what is new")
			}
		})
	}
}

// A review that failed or was stopped is none to go on from.
func TestOnlyAReviewThatEndedIsRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	turn := w.turn("trn_1")
	for _, report := range []sessions.Report{started, failed("x"), {Moment: sessions.MomentInterrupted, Reason: "stopped", Stopped: true}} {
		w.mustDeliver(w.items(turn, report)...)
	}
	if w.surface[rememberReviewed] != "" {
		t.Errorf("remembered %q", w.surface[rememberReviewed])
	}
}
