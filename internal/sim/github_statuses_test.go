package sim_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

func TestStatusIsRefusedAsGitHubDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.SetInstallationPermissions(installation, map[string]string{"statuses": "write", "contents": "read"})
	token := w.token("")
	path := "/repos/" + repoName + "/statuses/" + w.pull.HeadSHA
	for name, tt := range map[string]struct {
		path, body string
		status     int
	}{
		"as it should be":   {path, `{"state":"success","context":"Liaison","description":"fine"}`, http.StatusCreated},
		"140 characters":    {path, `{"state":"success","description":"` + strings.Repeat("é", 140) + `"}`, http.StatusCreated},
		"141 characters":    {path, `{"state":"success","description":"` + strings.Repeat("é", 141) + `"}`, http.StatusUnprocessableEntity},
		"no state":          {path, `{"context":"Liaison"}`, http.StatusUnprocessableEntity},
		"a check's state":   {path, `{"state":"neutral"}`, http.StatusUnprocessableEntity},
		"a script's URL":    {path, `{"state":"success","target_url":"javascript:alert(1)"}`, http.StatusUnprocessableEntity},
		"an unknown commit": {"/repos/" + repoName + "/statuses/" + strings.Repeat("0", 40), `{"state":"success"}`, http.StatusUnprocessableEntity},
	} {
		if a := w.call("POST", tt.path, token, tt.body); a.StatusCode != tt.status {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.body)
		}
	}
	for range 1000 {
		w.AddStatus(repoName, w.pull.HeadSHA, sim.Status{State: "pending", Context: "full"})
	}
	if a := w.call("POST", path, token, `{"state":"success","context":"full"}`); a.StatusCode != http.StatusUnprocessableEntity ||
		!strings.Contains(string(a.body), "maximum number of statuses") {
		t.Errorf("1001: %d %s", a.StatusCode, a.body)
	}
	w.SetInstallationPermissions(installation, map[string]string{"statuses": "read", "contents": "read"})
	if a := w.call("POST", path, w.token(""), `{"state":"success"}`); a.StatusCode != http.StatusForbidden {
		t.Errorf("without the permission: %d", a.StatusCode)
	}
}

func TestCombinedStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token("")
	state := func() string {
		a := w.call("GET", "/repos/"+repoName+"/commits/"+w.pull.HeadSHA+"/status", token, "")
		var o struct{ State string }
		if err := json.Unmarshal(a.body, &o); err != nil {
			t.Fatal(err)
		}
		return o.State
	}
	for _, tt := range []struct{ context, state, want string }{
		{"", "", "pending"}, {"a", "success", "success"}, {"b", "pending", "pending"}, {"a", "error", "failure"},
		{"a", "success", "pending"}, {"b", "success", "success"},
	} {
		if tt.context != "" {
			w.AddStatus(repoName, w.pull.HeadSHA, sim.Status{State: tt.state, Context: tt.context})
		}
		if got := state(); got != tt.want {
			t.Errorf("after %s %s: %s, want %s", tt.context, tt.state, got, tt.want)
		}
	}
}

func TestMergeGroupHasACommitOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sha := w.QueuePullRequest(repoName, w.pull.Number)
	var p struct {
		MergeGroup struct {
			HeadSHA string `json:"head_sha"`
			HeadRef string `json:"head_ref"`
		} `json:"merge_group"`
	}
	if err := json.Unmarshal(w.MergeGroupEvent(repoName, w.pull.Number, "checks_requested").Body, &p); err != nil {
		t.Fatal(err)
	}
	if p.MergeGroup.HeadSHA != sha || !strings.HasPrefix(p.MergeGroup.HeadRef, "refs/heads/gh-readonly-queue/main/pr-") {
		t.Errorf("%+v", p)
	}
	body := `{"name":"Liaison","head_sha":"` + sha + `","status":"completed","conclusion":"success"}`
	if a := w.call("POST", "/repos/"+repoName+"/check-runs", w.token(""), body); a.StatusCode != http.StatusCreated {
		t.Errorf("queued: %d %s", a.StatusCode, a.body)
	}
	w.DestroyMergeGroup(repoName, w.pull.Number)
	if a := w.call("POST", "/repos/"+repoName+"/check-runs", w.token(""), body); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("destroyed: %d %s", a.StatusCode, a.body)
	}
}
