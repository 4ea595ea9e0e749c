package sim_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"github.com/liaison-bot/liaison/internal/sim"
)

// Whatever a client sends, the answer is well-formed and the simulator stays up:
// a panic here would look like a dropped connection to the code under test.
func FuzzRequests(f *testing.F) {
	g := sim.NewGitHub(sim.GitHubOptions{AppID: appID, Slug: slug, PublicKey: &appKey().PublicKey})
	g.CreateRepository(repoName, map[string]string{"dir/a.txt": "a\n", "b.txt": "b\n"})
	g.Install(installation, "acme", repoName)
	pr := g.OpenPullRequest(repoName, sim.NewPullRequest{Title: "T", Files: map[string]sim.Change{"b.txt": sim.Write("c\n")}})
	comment := itoa(g.AddComment(repoName, 1, "", "hi"))
	check := itoa(g.AddCheckRun(repoName, pr.HeadSHA, sim.CheckRun{Name: "x", AppID: appID, Conclusion: "success"}))

	serve := func(method, path, query, accept, token, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(body))
		r.Method, r.URL = method, &url.URL{Path: path, RawQuery: query}
		r.Header.Set("User-Agent", "fuzz")
		r.Header.Set("Authorization", "Bearer "+token)
		if accept != "" {
			r.Header.Set("Accept", accept)
		}
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		return w
	}
	now := time.Now()
	app, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{"iss": appID, "iat": now.Unix() - 1, "exp": now.Unix() + 500}).SignedString(appKey())
	if err != nil {
		f.Fatal(err)
	}
	var minted struct{ Token string }
	if err := json.NewDecoder(serve("POST", "/app/installations/99/access_tokens", "", "", app, "").Body).Decode(&minted); err != nil || minted.Token == "" {
		f.Fatalf("no token: %v", err)
	}

	const repo = "/repos/acme/widget"
	for _, seed := range [][5]string{
		{"GET", repo + "/pulls/1", "", "application/vnd.github.diff", ""},
		{"GET", repo + "/pulls/1/files", "per_page=-1&page=99999999999999999999", "", ""},
		{"GET", repo + "/pulls/1/commits", "page=9223372036854775807&per_page=100", "", ""},
		{"GET", repo + "/contents/dir/../b.txt", "ref=main", "application/vnd.github.raw", ""},
		{"GET", repo + "/git/trees/main", "recursive=1", "", ""},
		{"GET", repo + "/compare/main...pull/1/head", "", "", ""},
		{"GET", repo + "/commits/refs/pull/x/head", "", "", ""},
		{"POST", repo + "/issues/1/comments", "", "", `{"body":"a"}`},
		{"PATCH", repo + "/issues/comments/" + comment, "", "", `{"body":[]}`},
		{"POST", repo + "/issues/comments/" + comment + "/reactions", "", "", `{"content":"eyes"}`},
		{"POST", repo + "/check-runs", "", "", `{"name":"n","head_sha":"` + pr.HeadSHA + `","output":{"title":"t","summary":"s","annotations":[null,{"path":1}]}}`},
		{"PATCH", repo + "/check-runs/" + check, "", "", `{"conclusion":"neutral","actions":[{"label":1},null]}`},
		{"POST", "/app/installations/99/access_tokens", "", "", `{"repositories":[null],"permissions":{"a":1}}`},
		{"GET", "/repositories/x/pulls", "", "", ""},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	f.Fuzz(func(t *testing.T, method, path, query, accept, body string) {
		if method == http.MethodDelete {
			return // the world of the seeds stays as it is
		}
		token := minted.Token
		if strings.HasPrefix(path, "/app") {
			token = app
		}
		w := serve(method, path, query, accept, token, body)
		g.ForgetRequests()
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
			b, _ := io.ReadAll(w.Body)
			if method != http.MethodHead && !json.Valid(b) {
				t.Errorf("%s %s: the answer is not JSON: %q", method, path, b)
			}
		}
		if w.Code >= 500 || w.Header().Get("X-RateLimit-Remaining") == "" {
			t.Errorf("%s %s: %d, %v", method, path, w.Code, w.Header())
		}
	})
}
