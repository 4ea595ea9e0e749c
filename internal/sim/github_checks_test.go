package sim_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/internal/sim"
)

// annotations is a JSON list of n good annotations.
func annotations(n int) string {
	one := `{"path":"main.go","start_line":1,"end_line":1,"annotation_level":"warning","message":"Look."}`
	return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]"
}

func TestCheckRunsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, sha := w.token(""), w.pull.HeadSHA
	foreign := w.CreateRepository("acme/foreign", nil).HeadSHA
	run := func(more string) string {
		return fmt.Sprintf(`{"name":"Liaison","head_sha":%q%s}`, sha, more)
	}
	output := func(more string) string { return run(`,"output":{"title":"t","summary":"s"` + more + `}`) }
	done := func(more string) string { return run(`,"conclusion":"success"` + more) }
	annotation := func(change string) string {
		return output(`,"annotations":[{"path":"main.go","start_line":1,"end_line":1,"annotation_level":"notice","message":"m"` + change + `}]`)
	}
	button := func(label, description, identifier string) string {
		return fmt.Sprintf(`{"label":%q,"description":%q,"identifier":%q}`, label, description, identifier)
	}
	x := strings.Repeat
	for _, test := range []struct {
		name, body string
		want       int
		message    string
	}{
		{"good", run(``), 201, ""},
		{"no name", fmt.Sprintf(`{"head_sha":%q}`, sha), 422, `"name" wasn't supplied`},
		{"empty name", fmt.Sprintf(`{"name":"","head_sha":%q}`, sha), 422, "Validation Failed"},
		{"no head_sha", `{"name":"Liaison"}`, 422, `"head_sha" wasn't supplied`},
		{"head_sha that does not exist", `{"name":"Liaison","head_sha":"` + x("0", 40) + `"}`, 422, "No commit found for SHA"},
		{"head_sha of another repository", fmt.Sprintf(`{"name":"Liaison","head_sha":%q}`, foreign), 422, "No commit found for SHA"},
		{"a branch as head_sha", `{"name":"Liaison","head_sha":"main"}`, 422, "No commit found for SHA"},
		{"unknown status", run(`,"status":"running"`), 422, "not a member"},
		{"GitHub's own status", run(`,"status":"waiting"`), 422, "not a member"},
		{"unknown conclusion", run(`,"conclusion":"great"`), 422, "not a member"},
		{"GitHub's own conclusion", run(`,"conclusion":"stale"`), 422, "not a member"},
		{"completed without a conclusion", run(`,"status":"completed"`), 422, `"conclusion" wasn't supplied`},
		{"status as a number", run(`,"status":1`), 422, "not a string"},
		{"unreadable time", run(`,"started_at":"yesterday"`), 422, "date-time"},
		{"details_url with another scheme", run(`,"details_url":"javascript:alert(1)"`), 422, "http or https"},

		{"output", output(``), 201, ""},
		{"output without a title", run(`,"output":{"summary":"s"}`), 422, `wasn't supplied`},
		{"output without a summary", run(`,"output":{"title":"t"}`), 422, `wasn't supplied`},
		{"output with an empty summary", run(`,"output":{"title":"t","summary":""}`), 422, "Validation Failed"},
		{"output as text", run(`,"output":"s"`), 422, "not an object"},
		{"longest summary", run(`,"output":{"title":"t","summary":"` + x("é", 65_535) + `"}`), 201, ""},
		{"summary one over", run(`,"output":{"title":"t","summary":"` + x("é", 65_536) + `"}`), 422, "Only 65535 characters"},
		{"longest text", output(`,"text":"` + x("a", 65_535) + `"`), 201, ""},
		{"text one over", output(`,"text":"` + x("a", 65_536) + `"`), 422, "Only 65535 characters"},

		{"50 annotations", output(`,"annotations":` + annotations(50)), 201, ""},
		{"51 annotations", output(`,"annotations":` + annotations(51)), 422, "No more than 50"},
		{"annotation", annotation(``), 201, ""},
		{"annotation without a message", annotation(`,"message":null`), 422, "message"},
		{"annotation without a path", annotation(`,"path":null`), 422, "path"},
		{"annotation with an absolute path", annotation(`,"path":"/etc/passwd"`), 422, "path"},
		{"annotation with an unknown level", annotation(`,"annotation_level":"error"`), 422, "not a member"},
		{"annotation on line 0", annotation(`,"start_line":0`), 422, "start_line"},
		{"annotation that ends before it starts", annotation(`,"start_line":5,"end_line":4`), 422, "end_line"},
		{"annotation with a fraction", annotation(`,"end_line":1.5`), 422, "not an integer"},
		{"annotation with a line as text", annotation(`,"end_line":"2"`), 422, "not an integer"},
		{"columns on one line", annotation(`,"start_column":1,"end_column":4`), 201, ""},
		{"columns over two lines", annotation(`,"end_line":2,"start_column":1`), 422, "columns"},
		{"annotation title too long", annotation(`,"title":"` + x("t", 256) + `"`), 422, "title"},
		{"annotation message over 64 KB", annotation(`,"message":"` + x("m", 65_537) + `"`), 422, "message"},

		{"three buttons", done(`,"actions":[` + button("a", "b", "c") + "," + button(x("l", 20), x("d", 40), x("i", 20)) + "," + button("a", "b", "e") + `]`), 201, ""},
		{"four buttons", done(`,"actions":[` + strings.TrimSuffix(x(button("a", "b", "c")+",", 4), ",") + `]`), 422, "No more than 3"},
		{"label of 21", done(`,"actions":[` + button(x("l", 21), "d", "i") + `]`), 422, "label"},
		{"description of 41", done(`,"actions":[` + button("l", x("d", 41), "i") + `]`), 422, "description"},
		{"identifier of 21", done(`,"actions":[` + button("l", "d", x("i", 21)) + `]`), 422, "identifier"},
		{"button without identifier", done(`,"actions":[{"label":"l","description":"d"}]`), 422, "identifier"},
		{"button on a run in progress", run(`,"status":"in_progress","actions":[` + button("a", "b", "c") + `]`), 422, "completed"},
		{"button on a queued run", run(`,"actions":[` + button("a", "b", "c") + `]`), 422, "completed"},
		{"not JSON", `{`, 400, "Problems parsing JSON"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := len(w.CheckRuns(repoName, sha))
			a := w.call("POST", "/repos/acme/widget/check-runs", token, test.body)
			if a.StatusCode != test.want || !strings.Contains(a.message(), test.message) {
				t.Errorf("answer = %d %.300q, want %d with %q", a.StatusCode, a.message(), test.want, test.message)
			}
			if made := len(w.CheckRuns(repoName, sha)) - before; made != 0 && a.StatusCode != http.StatusCreated {
				t.Errorf("a refused request made %d check runs", made)
			}
		})
	}
}

func TestCheckRunUpdates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token("")
	ctx := t.Context()
	o := w.checkOptions()
	o.Status = github.String("in_progress")
	run, _, err := w.client.Checks.CreateCheckRun(ctx, "acme", "widget", o)
	if err != nil {
		t.Fatal(err)
	}
	path := "/repos/acme/widget/check-runs/" + itoa(run.GetID())
	// A refused update changes nothing, not even the parts that were fine.
	a := w.call("PATCH", path, token, `{"name":"Other","output":{"title":"t","summary":"s","annotations":`+annotations(51)+`}}`)
	if got := w.CheckRuns(repoName, w.pull.HeadSHA)[0]; a.StatusCode != http.StatusUnprocessableEntity || got.Name != "Liaison" || got.Title != "" || got.Updates != 0 {
		t.Errorf("after a refused update (%d): %+v", a.StatusCode, got)
	}
	for range 2 { // annotations of a second update are added to those of the first
		if a := w.call("PATCH", path, token, `{"output":{"title":"t","summary":"s","annotations":`+annotations(50)+`}}`); a.StatusCode != http.StatusOK {
			t.Fatalf("update = %d %s", a.StatusCode, a.body)
		}
	}
	if a := w.call("PATCH", path, token, `{"conclusion":"failure"}`); a.StatusCode != http.StatusOK {
		t.Fatalf("conclude = %d %s", a.StatusCode, a.body)
	}
	got := w.CheckRuns(repoName, w.pull.HeadSHA)[0]
	if got.Status != "completed" || got.Conclusion != "failure" || got.Completed.IsZero() || len(got.Annotations) != 100 {
		t.Errorf("run = %s/%s with %d annotations, want completed/failure with 100", got.Status, got.Conclusion, len(got.Annotations))
	}
	if list, _, err := w.client.Checks.ListCheckRunAnnotations(ctx, "acme", "widget", run.GetID(), &github.ListOptions{PerPage: 100}); err != nil || len(list) != 100 {
		t.Errorf("annotations = %d, %v; want 100", len(list), err)
	}
	if a := w.call("PATCH", path, token, `{"status":"in_progress"}`); a.StatusCode != http.StatusOK || w.CheckRuns(repoName, w.pull.HeadSHA)[0].Conclusion != "" {
		t.Errorf("a run that starts again keeps its conclusion (%d)", a.StatusCode)
	}
	other := w.AddCheckRun(repoName, w.pull.HeadSHA, sim.CheckRun{Name: "build", Conclusion: "success"})
	a = w.call("PATCH", "/repos/acme/widget/check-runs/"+itoa(other), token, `{"conclusion":"failure"}`)
	if a.StatusCode != http.StatusForbidden || !strings.Contains(a.message(), "Invalid app_id") {
		t.Errorf("update another App's run = %d %q, want 403", a.StatusCode, a.message())
	}
	if a := w.call("PATCH", "/repos/acme/widget/check-runs/1", token, `{}`); a.StatusCode != http.StatusNotFound {
		t.Errorf("update a run that does not exist = %d, want 404", a.StatusCode)
	}
}

func TestListCheckRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	for i, id := range []string{"first", "second"} {
		o := w.checkOptions()
		o.ExternalID = github.String(id)
		if _, _, err := w.client.Checks.CreateCheckRun(ctx, "acme", "widget", o); err != nil {
			t.Fatal(i, err)
		}
	}
	w.AddCheckRun(repoName, w.pull.HeadSHA, sim.CheckRun{Name: "Liaison", Conclusion: "success", ExternalID: "a stranger's"})
	list := func(o *github.ListCheckRunsOptions) map[string]bool {
		t.Helper()
		got, _, err := w.client.Checks.ListCheckRunsForRef(ctx, "acme", "widget", w.pull.HeadSHA, o)
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for _, r := range got.CheckRuns {
			ids[r.GetExternalID()] = true
		}
		return ids
	}
	for _, test := range []struct {
		name string
		o    *github.ListCheckRunsOptions
		want []string
	}{
		{"latest of each App", nil, []string{"second", "a stranger's"}},
		{"all", &github.ListCheckRunsOptions{Filter: github.String("all")}, []string{"first", "second", "a stranger's"}},
		{"of the App", &github.ListCheckRunsOptions{Filter: github.String("all"), AppID: github.Int64(appID)}, []string{"first", "second"}},
		{"completed", &github.ListCheckRunsOptions{Status: github.String("completed")}, []string{"a stranger's"}},
		{"by another name", &github.ListCheckRunsOptions{CheckName: github.String("build")}, nil},
	} {
		want := map[string]bool{}
		for _, id := range test.want {
			want[id] = true
		}
		if got := list(test.o); !maps.Equal(got, want) {
			t.Errorf("%s = %v, want %v", test.name, got, want)
		}
	}
	run, _, err := w.client.Checks.ListCheckRunsForRef(ctx, "acme", "widget", w.pull.HeadSHA, nil)
	if err != nil || len(run.CheckRuns[0].PullRequests) != 0 {
		t.Errorf("pull_requests of a fork's commit = %v, %v; want none", run.CheckRuns[0].PullRequests, err)
	}
	own := w.OpenPullRequest(repoName, sim.NewPullRequest{Title: "Own branch", Author: "acme", Files: map[string]sim.Change{"o": sim.Write("o")}})
	got, _, err := w.client.Checks.CreateCheckRun(ctx, "acme", "widget", github.CreateCheckRunOptions{Name: "Liaison", HeadSHA: own.HeadSHA})
	if err != nil || len(got.PullRequests) != 1 || got.PullRequests[0].GetNumber() != own.Number {
		t.Errorf("pull_requests of an own branch = %v, %v; want %d", got.PullRequests, err, own.Number)
	}
	suites, _, err := w.client.Checks.ListCheckSuitesForRef(ctx, "acme", "widget", w.pull.HeadSHA, nil)
	if err != nil || suites.GetTotal() != 2 || suites.CheckSuites[0].HeadBranch != nil {
		t.Errorf("suites = %v, %v; want two without a branch", suites, err)
	}
}
