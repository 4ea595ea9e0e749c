package sim_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
	"github.com/google/go-github/v66/github"
	"go.yaml.in/yaml/v3"

	"github.com/liaison-bot/liaison/internal/sim"
)

func TestAppTokenIsVerified(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	with := func(claim string, value any) jwt.MapClaims {
		c := w.goodClaims()
		c[claim] = value
		if value == nil {
			delete(c, claim)
		}
		return c
	}
	now := w.clock.Now()
	hmacToken, err := jwt.NewWithClaims(jwt.SigningMethodHS256, w.goodClaims()).SignedString([]byte("guess"))
	if err != nil {
		t.Fatal(err)
	}
	unsigned, err := jwt.NewWithClaims(jwt.SigningMethodNone, w.goodClaims()).SignedString(jwt.UnsafeAllowNoneSignatureType)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, token string
		want        int
		message     string
	}{
		{"good", w.jwt(), 200, ""},
		{"numeric issuer", appToken(t, appKey(), with("iss", 4711)), 200, ""},
		{"ten minutes ahead", appToken(t, appKey(), with("exp", now.Add(10*time.Minute).Unix())), 200, ""},
		{"more than ten minutes ahead", appToken(t, appKey(), with("exp", now.Add(10*time.Minute+2*time.Second).Unix())), 401, "too far in the future"},
		{"expired", appToken(t, appKey(), with("exp", now.Add(-time.Second).Unix())), 401, "'exp'"},
		{"no expiry", appToken(t, appKey(), with("exp", nil)), 401, "'exp'"},
		{"expiry as text", appToken(t, appKey(), with("exp", "soon")), 401, "'exp'"},
		{"issued in the future: the host's clock is fast", appToken(t, appKey(), with("iat", now.Add(2*time.Minute).Unix())), 401, "'iat'"},
		{"no issue time", appToken(t, appKey(), with("iat", nil)), 401, "'iat'"},
		{"another App", appToken(t, appKey(), with("iss", "12")), 401, "'iss'"},
		{"another key", appToken(t, stranger, w.goodClaims()), 401, "could not be decoded"},
		{"HMAC", hmacToken, 401, "could not be decoded"},
		{"unsigned", unsigned, 401, "could not be decoded"},
		{"garbage", "a.b.c", 401, "could not be decoded"},
		{"installation token", w.token(""), 401, "could not be decoded"},
		{"nothing", "", 401, "Requires authentication"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := w.call("GET", "/app", test.token, "")
			if a.StatusCode != test.want || !strings.Contains(a.message(), test.message) {
				t.Errorf("answer = %d %q, want %d with %q", a.StatusCode, a.message(), test.want, test.message)
			}
		})
	}
}

func TestInstallationTokenIsBoundToScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.CreateRepository("acme/other", nil)
	w.CreateRepository("acme/outside", nil)
	w.Install(installation, "acme", "acme/other")

	all, narrow := w.token(""), w.token(`{"repositories":["widget"],"permissions":{"contents":"read"}}`)
	for _, test := range []struct {
		name, method, path, token, body string
		want                            int
		message                         string
	}{
		{"in scope", "GET", "/repos/acme/widget", narrow, "", 200, ""},
		{"name in another case", "GET", "/repos/Acme/Widget", narrow, "", 200, ""},
		{"repository of the installation but not of the token", "GET", "/repos/acme/other", narrow, "", 404, "Not Found"},
		{"repository of the whole installation", "GET", "/repos/acme/other", all, "", 200, ""},
		{"repository outside the installation", "GET", "/repos/acme/outside", all, "", 404, "Not Found"},
		{"the fork of a pull request", "GET", "/repos/mona/widget", all, "", 404, "Not Found"},
		{"no such repository", "GET", "/repos/acme/none", all, "", 404, "Not Found"},
		{"permission that was not asked for", "POST", "/repos/acme/widget/check-runs", narrow, `{}`, 403, "Resource not accessible by integration"},
		{"unknown token", "GET", "/repos/acme/widget", "ghs_unknown", "", 401, "Bad credentials"},
		{"no token", "GET", "/repos/acme/widget", "", "", 401, "Requires authentication"},
		{"App token on a repository", "GET", "/repos/acme/widget", w.jwt(), "", 403, "not accessible"},
		{"App token on an installation's list", "GET", "/installation/repositories", w.jwt(), "", 403, "installation access token"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := w.call(test.method, test.path, test.token, test.body)
			if a.StatusCode != test.want || !strings.Contains(a.message(), test.message) {
				t.Errorf("answer = %d %q, want %d with %q", a.StatusCode, a.message(), test.want, test.message)
			}
		})
	}
	if a := w.call("POST", "/repos/acme/widget/check-runs", narrow, "{}"); a.Header.Get("X-Accepted-GitHub-Permissions") != "checks=write" {
		t.Errorf("X-Accepted-GitHub-Permissions = %q, want checks=write", a.Header.Get("X-Accepted-GitHub-Permissions"))
	}
}

func TestNarrowingAToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.CreateRepository("acme/outside", nil)
	outside := w.Repository("acme/outside").ID
	ids := "[" + strings.Repeat("1,", 500) + "1]"
	for _, test := range []struct {
		name, body string
		want       int
	}{
		{"nothing", "", 201},
		{"null", "null", 201},
		{"a name", `{"repositories":["widget"]}`, 201},
		{"a name with its owner", `{"repositories":["acme/widget"]}`, 422},
		{"a repository outside", `{"repositories":["outside"]}`, 422},
		{"an id outside", `{"repository_ids":[` + itoa(outside) + `]}`, 422},
		{"more than 500", `{"repository_ids":` + ids + `}`, 422},
		{"a permission within", `{"permissions":{"checks":"read"}}`, 201},
		{"a permission beyond", `{"permissions":{"contents":"write"}}`, 422},
		{"a level that does not exist", `{"permissions":{"checks":"full"}}`, 422},
		{"not JSON", `{`, 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			if a := w.call("POST", "/app/installations/99/access_tokens", w.jwt(), test.body); a.StatusCode != test.want {
				t.Errorf("answer = %d %s, want %d", a.StatusCode, a.body, test.want)
			}
		})
	}
}

func TestInstallationTokenExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token("")
	w.clock.Add(59 * time.Minute)
	if a := w.call("GET", "/repos/acme/widget", token, ""); a.StatusCode != http.StatusOK {
		t.Errorf("after 59 minutes: %d, want 200", a.StatusCode)
	}
	w.clock.Add(2 * time.Minute)
	if a := w.call("GET", "/repos/acme/widget", token, ""); a.StatusCode != http.StatusUnauthorized || a.message() != "Bad credentials" {
		t.Errorf("after 61 minutes: %d %q, want 401 Bad credentials", a.StatusCode, a.message())
	}
}

func TestSuspendedAndRemovedInstallations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const mint = "/app/installations/99/access_tokens"
	token := w.token("")
	expect := func(step, method, path, tok string, want int, message string) {
		t.Helper()
		if a := w.call(method, path, tok, ""); a.StatusCode != want || !strings.Contains(a.message(), message) {
			t.Errorf("%s: %d %q, want %d with %q", step, a.StatusCode, a.message(), want, message)
		}
	}
	w.Suspend(installation)
	expect("mint while suspended", "POST", mint, w.jwt(), 403, "This installation has been suspended")
	expect("old token while suspended", "GET", "/repos/acme/widget", token, 403, "This installation has been suspended")
	// The lookup still works: only using the installation shows the suspension.
	expect("look up while suspended", "GET", "/app/installations/99", w.jwt(), 200, "")
	w.Unsuspend(installation)
	expect("old token afterwards", "GET", "/repos/acme/widget", token, 200, "")
	w.RevokeTokens()
	expect("revoked token", "GET", "/repos/acme/widget", token, 401, "Bad credentials")
	token = w.token("")
	w.Remove(installation)
	expect("mint after removal", "POST", mint, w.jwt(), 404, "Not Found")
	expect("token after removal", "GET", "/repos/acme/widget", token, 401, "Bad credentials")
	expect("look up after removal", "GET", "/app/installations/99", w.jwt(), 404, "Not Found")
	expect("installation 0", "POST", "/app/installations/0/access_tokens", w.jwt(), 404, "Not Found")
}

func TestNarrowedClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	transport := &http.Transport{DisableKeepAlives: true}
	_, reader := w.as(transport, &github.InstallationTokenOptions{
		RepositoryIDs: []int64{w.Repository(repoName).ID}, Permissions: &github.InstallationPermissions{PullRequests: github.String("read")},
	})
	if _, _, err := reader.PullRequests.Get(t.Context(), "acme", "widget", 1); err != nil {
		t.Errorf("read a pull request: %v", err)
	}
	_, _, err := reader.Checks.CreateCheckRun(t.Context(), "acme", "widget", w.checkOptions())
	if got := status(t, err); got != 403 {
		t.Errorf("create a check run without permission: %d, want 403", got)
	}
	repos, _, err := reader.Apps.ListRepos(t.Context(), nil)
	if err != nil || repos.GetTotalCount() != 1 {
		t.Errorf("repositories = %v, %v; want one", repos.GetTotalCount(), err)
	}
}

func TestRequestsThatNoEndpointTakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token("")
	for _, test := range []struct {
		name, method, path string
		header             []string
		want               int
	}{
		{"unknown path", "GET", "/repos/acme/widget/nothing", nil, 404},
		{"unknown root", "GET", "/nothing", nil, 404},
		{"unknown method", "PUT", "/repos/acme/widget/pulls/1", nil, 404},
		{"version that does not exist", "GET", "/repos/acme/widget", []string{"X-GitHub-Api-Version", "1999-01-01"}, 400},
		{"media type that does not exist", "GET", "/repos/acme/widget", []string{"Accept", "text/html"}, 415},
		{"no user agent", "GET", "/repos/acme/widget", []string{"User-Agent", ""}, 403},
		{"basic authentication", "GET", "/repos/acme/widget", []string{"Authorization", "Basic YTpi"}, 401},
	} {
		t.Run(test.name, func(t *testing.T) {
			if a := w.call(test.method, test.path, token, "", test.header...); a.StatusCode != test.want {
				t.Errorf("answer = %d %s, want %d", a.StatusCode, a.body, test.want)
			}
		})
	}
}

// A permission that only the simulator's App has would hide that the real one lacks it.
func TestAppHasThePermissionsOfTheManifest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.call("GET", "/app", w.jwt(), "")
	var app struct {
		Permissions map[string]string
		Events      []string
	}
	if err := json.Unmarshal(a.body, &app); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("../../manifests/github-app.yml")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Permissions map[string]string `yaml:"default_permissions"`
		Events      []string          `yaml:"default_events"`
	}
	if err := yaml.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(app.Permissions, manifest.Permissions) || !slices.Equal(app.Events, manifest.Events) {
		t.Errorf("the simulator's App has %v, the manifest %v", app, manifest)
	}
}

func TestEnterprisePrefix(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.GitHubOptions) { o.PathPrefix = "/api/v3" })
	if !strings.HasSuffix(w.URL(), "/api/v3/") {
		t.Fatalf("URL = %s, want the prefix at its end", w.URL())
	}
	if a := w.call("GET", "/app", w.jwt(), ""); a.StatusCode != http.StatusOK {
		t.Errorf("with the prefix: %d, want 200", a.StatusCode)
	}
	w2 := strings.TrimSuffix(w.URL(), "api/v3/")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w2+"app", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.jwt())
	resp, err := w.plain().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("without the prefix: %d, want 404", resp.StatusCode)
	}
}
