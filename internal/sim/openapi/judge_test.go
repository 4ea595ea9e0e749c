package openapi_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim/openapi"
)

func newJudge(t *testing.T) *openapi.Judge {
	t.Helper()
	path := os.Getenv("GITHUB_OPENAPI")
	if path == "" {
		t.Skip("GITHUB_OPENAPI names no description of GitHub's API; make contract fetches it and runs this test")
	}
	description, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	j, err := openapi.New(description)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestRequests(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	for _, test := range []struct {
		name, method, path, body string
		good                     bool
	}{
		{"check run", "POST", "/repos/o/r/check-runs", `{"name":"n","head_sha":"s","status":"in_progress"}`, true},
		{"check run by id", "POST", "/repositories/7/check-runs", `{"name":"n","head_sha":"s"}`, true},
		{"unknown status", "POST", "/repos/o/r/check-runs", `{"name":"n","head_sha":"s","status":"running"}`, false},
		{"no head", "POST", "/repos/o/r/check-runs", `{"name":"n"}`, false},
		{"51 annotations", "POST", "/repos/o/r/check-runs", `{"name":"n","head_sha":"s","output":{"title":"t","summary":"s","annotations":[` +
			strings.TrimSuffix(strings.Repeat(`{"path":"p","start_line":1,"end_line":1,"annotation_level":"notice","message":"m"},`, 51), ",") + `]}}`, false},
		{"comment", "POST", "/repos/o/r/issues/1/comments", `{"body":"b"}`, true},
		{"comment without a body", "POST", "/repos/o/r/issues/1/comments", `{}`, false},
		{"not JSON", "POST", "/repos/o/r/issues/1/comments", `body=b`, false},
		{"token without wishes", "POST", "/app/installations/1/access_tokens", "null", true},
		{"token with an unknown level", "POST", "/app/installations/1/access_tokens", `{"permissions":{"checks":"all"}}`, false},
		{"an unknown field", "POST", "/repos/o/r/issues/1/comments", `{"body":"b","bodi":"c"}`, false},
		{"an unknown field inside", "POST", "/repos/o/r/check-runs", `{"name":"n","head_sha":"s","output":{"title":"t","summary":"s","txt":"t"}}`, false},
		{"an unknown field in a list", "POST", "/repos/o/r/pulls/1/reviews", `{"event":"COMMENT","comments":[{"path":"p","body":"b","ligne":1}]}`, false},
		{"a read", "GET", "/repos/o/r/commits/feature/x/check-runs", "", true},
	} {
		if err := j.Request(test.method, test.path, []byte(test.body)); (err == nil) != test.good {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	for _, test := range []struct {
		name, path, query string
		good              bool
	}{
		{"nothing", "/repos/o/r/pulls", "", true},
		{"a page", "/repos/o/r/pulls", "state=open&per_page=100&page=2", true},
		{"a number that is none", "/repos/o/r/pulls", "per_page=many", false},
		{"an unknown value", "/repos/o/r/pulls", "state=opened", false},
		{"an unknown parameter", "/repos/o/r/pulls", "perpage=100", false},
		{"digits as text", "/repos/o/r/contents/a/b", "ref=1234567", true},
		{"not a query", "/repos/o/r/pulls", "%zz", false},
	} {
		if err := j.Query("GET", test.path, test.query); (err == nil) != test.good {
			t.Errorf("query with %s: %v", test.name, err)
		}
	}
	if err := j.Request("POST", "/repos/o/r/nothing", nil); !errors.Is(err, openapi.ErrNoOperation) {
		t.Errorf("unknown operation: %v, want ErrNoOperation", err)
	}
	if err := j.Webhook("pull_request", []byte(`{"action":"juggled"}`)); !errors.Is(err, openapi.ErrNoOperation) {
		t.Errorf("unknown webhook: %v, want ErrNoOperation", err)
	}
	if err := j.Webhook("pull_request", []byte(`{"action":"opened","number":1}`)); err == nil || errors.Is(err, openapi.ErrNoOperation) {
		t.Errorf("webhook without a pull request: %v, want a complaint", err)
	}
}

func TestTransportReportsBothSides(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":1}`)
	}))
	defer server.Close()
	var complaints []string
	base := &http.Transport{DisableKeepAlives: true}
	client := &http.Client{Transport: &openapi.Transport{
		Judge: newJudge(t), Base: base, Prefix: "/api/v3", Report: func(err error) { complaints = append(complaints, err.Error()) },
	}}
	resp, err := client.Post(server.URL+"/api/v3/repos/o/r/issues/1/comments", "application/json", strings.NewReader(`{"text":"b"}`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || string(body) != `{"id":1}` {
		t.Errorf("body = %q, %v; want it whole", body, err)
	}
	if len(complaints) != 2 || !strings.Contains(complaints[0], "request of") || !strings.Contains(complaints[1], "201 of") {
		t.Errorf("complaints = %q, want one of the request and one of the answer", complaints)
	}
}
