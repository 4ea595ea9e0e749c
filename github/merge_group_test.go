package github

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/sessions"
)

func TestQueueRefNamesThePullRequest(t *testing.T) {
	t.Parallel()
	const sha = "0123456789012345678901234567890123456789"
	for ref, want := range map[string]struct {
		base   string
		number int
	}{
		"refs/heads/gh-readonly-queue/main/pr-12-" + sha:             {"main", 12},
		"gh-readonly-queue/main/pr-12-" + sha:                        {"main", 12},
		"refs/heads/gh-readonly-queue/release/v1/pr-3-x/pr-7-" + sha: {"release/v1/pr-3-x", 7},
		"refs/heads/gh-readonly-queue/main/pr-0-" + sha:              {},
		"refs/heads/gh-readonly-queue/main/pr-" + sha:                {},
		"refs/heads/main": {},
		"":                {},
		"refs/heads/gh-readonly-queue/main/pr-99999999999999-" + sha:  {},
		"refs/heads/gh-readonly-queue/main/pr-12-" + sha + "\nsecond": {},
	} {
		base, number, ok := parseQueueRef(ref)
		if ok != (want.number > 0) || ok && (base != want.base || number != want.number) {
			t.Errorf("%q: %q %d %v", ref, base, number, ok)
		}
	}
}

func TestMergeGroupIsToldAtOnce(t *testing.T) {
	t.Parallel()
	r := request{Installation: 1, Repository: 2, FullName: "octo/shop", Kind: kindMergeGroup, Number: 12, Base: "main",
		Head: strings.Repeat("a", 40)}
	effects := mergeGroupEffects(r)
	if len(effects) != 1 || effects[0].Kind != kindCheck {
		t.Fatalf("%+v", effects)
	}
	var p checkPayload
	must(t, json.Unmarshal(effects[0].Payload, &p))
	golden(t, "merge_group.golden", p.Title+"\n\n"+p.Summary+"\n")
	if p.Conclusion != "success" || p.Request.Head != r.Head {
		t.Errorf("%+v", p)
	}
	r.Number, r.Base = 0, ""
	must(t, json.Unmarshal(mergeGroupEffects(r)[0].Payload, &p))
	if strings.Contains(p.Summary, "#0") || p.Title == "" {
		t.Errorf("without a number: %q %q", p.Title, p.Summary)
	}
}

// A merge group that waits for us keeps the queue from merging
// (https://github.com/palantir/policy-bot/issues/548, https://github.com/Ezard/semantic-prs/issues/406).
func TestMergeGroupNeverHangs(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T, ...worldOption) *world{"checks": newWorld, "statuses": withoutChecks} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			sha := w.QueuePullRequest(repoName, w.pull.Number)
			r := w.request()
			r.Kind, r.Head = kindMergeGroup, sha
			e := mergeGroupEffects(r)[0]
			item := sessions.Item{ID: "delivery/" + e.Name, Key: r.key(), Kind: e.Kind, Payload: e.Payload, Attempts: 1}
			for range 2 { // a second try changes nothing
				w.mustDeliver(item)
				item.Attempts++
			}
			checks, statuses := w.CheckRuns(repoName, sha), w.Statuses(repoName, sha)
			switch {
			case name == "checks" && (len(checks) != 1 || checks[0].Conclusion != "success" || checks[0].Name != checkName):
				t.Errorf("checks: %+v", checks)
			case name == "statuses" && (len(statuses) != 1 || statuses[0].State != "success" || !strings.Contains(statuses[0].Description, "#1")):
				t.Errorf("statuses: %+v", statuses)
			}
			w.DestroyMergeGroup(repoName, w.pull.Number)
			clear(w.surface)
			item.Attempts = 1
			item.ID = "another"
			if receipt, err := w.deliver(item); err != nil || !strings.Contains(receipt.Note, "the merge group is gone") {
				t.Errorf("destroyed: %+v, %v", receipt, err)
			}
		})
	}
}
