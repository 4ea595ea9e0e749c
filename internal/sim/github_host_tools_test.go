package sim_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

// What an App can do to a pull request besides reviewing it, and what GitHub refuses.
func TestLabelsReviewersAndMerges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.SetInstallationPermissions(installation, map[string]string{"contents": "write", "pull_requests": "write", "members": "read"})
	w.SetPermission(repoName, "ann", "write")
	w.SetTeamMember("acme/security", "ann", "active")
	w.CreateLabels(repoName, "Bug")
	token := w.token("")
	pull := fmt.Sprintf("/repos/%s/pulls/%d", repoName, w.pull.Number)
	issue := fmt.Sprintf("/repos/%s/issues/%d", repoName, w.pull.Number)
	for _, test := range []struct {
		name, method, path, body string
		want                     int
		message                  string
	}{
		{"a label", "GET", "/repos/" + repoName + "/labels/bug", "", 200, ""},
		{"a label that is none", "GET", "/repos/" + repoName + "/labels/none", "", 404, "Not Found"},
		{"set labels", "POST", issue + "/labels", `{"labels":["bug","new"]}`, 200, ""},
		{"a label that is too long", "POST", issue + "/labels", `{"labels":["` + fmt.Sprintf("%051d", 0) + `"]}`, 422, "too long"},
		{"take a label", "DELETE", issue + "/labels/new", "", 200, ""},
		{"take it again", "DELETE", issue + "/labels/new", "", 404, "Label does not exist"},
		{"a reviewer", "POST", pull + "/requested_reviewers", `{"reviewers":["ann"],"team_reviewers":["security"]}`, 201, ""},
		{"the author", "POST", pull + "/requested_reviewers", `{"reviewers":["mona"]}`, 422, "from pull request author"},
		{"a stranger", "POST", pull + "/requested_reviewers", `{"reviewers":["nobody"]}`, 422, "not a collaborator"},
		{"reviewers", "GET", pull + "/requested_reviewers", "", 200, ""},
		{"a team's member", "GET", "/orgs/acme/teams/security/memberships/ann", "", 200, ""},
		{"no member", "GET", "/orgs/acme/teams/security/memberships/mona", "", 404, "Not Found"},
		{"a foreign team", "GET", "/orgs/other/teams/security/memberships/ann", "", 404, "Not Found"},
		{"a collaborator", "GET", "/repos/" + repoName + "/collaborators/ann", "", 204, ""},
		{"who reads as everybody may", "GET", "/repos/" + repoName + "/collaborators/mona", "", 404, "Not Found"},
		{"another head", "PUT", pull + "/merge", `{"sha":"` + fmt.Sprintf("%040d", 0) + `"}`, 409, "Head branch was modified"},
		{"a merge", "PUT", pull + "/merge", `{"sha":"` + w.pull.HeadSHA + `","merge_method":"squash"}`, 200, ""},
		{"a second merge", "PUT", pull + "/merge", `{}`, 405, "not mergeable"},
	} {
		got := w.call(test.method, test.path, token, test.body)
		if got.StatusCode != test.want || !strings.Contains(got.message(), test.message) {
			t.Errorf("%s: got %d %s", test.name, got.StatusCode, got.message())
		}
	}
	if got := w.Labels(repoName, w.pull.Number); !slices.Equal(got, []string{"Bug"}) {
		t.Errorf("labels are %q", got)
	}
	if people, teams := w.RequestedReviewers(repoName, w.pull.Number); !slices.Equal(people, []string{"ann"}) || !slices.Equal(teams, []string{"security"}) {
		t.Errorf("reviewers are %q and %q", people, teams)
	}
	if !w.PullRequest(repoName, w.pull.Number).Merged {
		t.Error("it is not merged")
	}
}

// A button is pressed only where it is shown.
func TestButtonsThatAreNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.SetPermission(repoName, "ann", "write")
	id := w.AddCheckRun(repoName, w.pull.HeadSHA, sim.CheckRun{AppID: appID, Name: "x", Conclusion: "action_required",
		Actions: []sim.CheckAction{{Label: "Yes", Description: "Do it", Identifier: "yes"}}})
	if _, err := w.PressButton(id, "ann", "yes"); err != nil {
		t.Error(err)
	}
	if _, err := w.PressButton(id, "ann", "no"); err == nil {
		t.Error("a button that is not there was pressed")
	}
	if _, err := w.PressButton(id, "rob", "yes"); err == nil {
		t.Error("a reader pressed a button")
	}
	w.DeleteUser("ann")
	if got := w.call("GET", "/users/ann", w.token(""), ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("a deleted account answers %d", got.StatusCode)
	}
}
