package evidence_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
	"github.com/google/go-github/v66/github"
	"go.uber.org/goleak"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/internal/sim/openapi"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	repoName = "octo/shop"
	marker   = "MARKER-OF-THE-TEST"
)

// testTime is the only time in these tests.
var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// appKey is made once: RSA keys are slow to make.
var appKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// world is a simulated GitHub, a workspace and a client.
type world struct {
	*sim.GitHub
	t      *testing.T
	client *github.Client
	dir    string
	repo   *sim.Repository
	// tamper sees each answer before the client does, when it is set.
	tamper func(*http.Request, *http.Response)
	// around makes each request, when it is set.
	around func(http.RoundTripper, *http.Request) (*http.Response, error)
	mu     sync.Mutex
}

// newWorld serves a repository with files on its main branch.
func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	key, err := appKey()
	must(t, err)
	g := sim.NewGitHub(sim.GitHubOptions{AppID: 1, Slug: "liaison", PublicKey: &key.PublicKey, Now: func() time.Time { return testTime }, Watch: openapi.Watch(t)})
	repo := g.CreateRepository(repoName, files)
	g.Install(1, "octo", repoName)
	server := httptest.NewServer(g)
	t.Cleanup(func() {
		server.Close()
		must(t, g.Close())
	})
	// What GitHub says of itself does not depend on the port of this run.
	g.SetURL("https://github.com")
	w := &world{GitHub: g, t: t, dir: t.TempDir(), repo: repo}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	w.client = github.NewClient(&http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if w.around != nil {
			return w.around(transport, r)
		}
		resp, err := transport.RoundTrip(r)
		if err == nil && w.tamper != nil {
			w.tamper(r, resp)
		}
		return resp, err
	})}).WithAuthToken(w.token(server.URL, key))
	base, err := url.Parse(server.URL + "/")
	must(t, err)
	w.client.BaseURL = base
	return w
}

// roundTrip is a transport made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// rewrite replaces the body of an answer by what change makes of it.
func rewrite(t *testing.T, resp *http.Response, change func([]byte) []byte) {
	body, err := io.ReadAll(resp.Body)
	if cerr := resp.Body.Close(); err != nil || cerr != nil {
		t.Error(err, cerr)
	}
	body = change(body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	resp.Header.Del("Content-Length")
}

// isPull tells whether r reads the pull request itself, as JSON.
func isPull(r *http.Request) bool {
	return pullPath.MatchString(r.URL.Path) && !strings.Contains(r.Header.Get("Accept"), "diff")
}

var pullPath = regexp.MustCompile(`/pulls/\d+$`)

// token mints an installation token.
func (w *world) token(base string, key *rsa.PrivateKey) string {
	w.t.Helper()
	signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer:    "1",
		IssuedAt:  jwt.NewNumericDate(testTime.Add(-30 * time.Second)),
		ExpiresAt: jwt.NewNumericDate(testTime.Add(time.Minute)),
	}).SignedString(key)
	must(w.t, err)
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, base+"/app/installations/1/access_tokens", nil)
	must(w.t, err)
	req.Header.Set("Authorization", "Bearer "+signed)
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	must(w.t, err)
	defer resp.Body.Close()
	var answer struct{ Token string }
	must(w.t, json.NewDecoder(resp.Body).Decode(&answer))
	if answer.Token == "" {
		w.t.Fatalf("no installation token: %s", resp.Status)
	}
	w.ForgetRequests()
	return answer.Token
}

// request is a usual request for pull request number.
func (w *world) request(number int) evidence.Request {
	return evidence.Request{
		Client: w.client, Owner: "octo", Repo: "shop", RepoID: w.repo.ID, Number: number, Dir: w.dir,
		Now: func() time.Time { return testTime }, Marker: func() string { return marker },
	}
}

// open opens a pull request with these changes.
func (w *world) open(files map[string]sim.Change) *sim.PullRequest {
	return w.OpenPullRequest(repoName, sim.NewPullRequest{Title: "A change", Body: "Why", Author: "mona", Files: files})
}

// build builds the evidence and reads it back.
func (w *world) build(r evidence.Request) (evidence.Summary, *read) {
	w.t.Helper()
	s, err := evidence.Build(w.t.Context(), r)
	must(w.t, err)
	return s, w.read()
}

// read is evidence as a reader finds it.
type read struct {
	t        *testing.T
	dir      string
	pull     evidence.PullRequest
	manifest evidence.Manifest
	readme   string
	talk     string
}

func (w *world) read() *read {
	w.t.Helper()
	r := &read{t: w.t, dir: filepath.Join(w.dir, "pr")}
	r.json("pull_request.json", &r.pull)
	r.json("files.json", &r.manifest)
	r.readme = r.text("README.md")
	r.talk = r.text("conversation.md")
	return r
}

func (r *read) text(name string) string {
	r.t.Helper()
	content, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(name)))
	must(r.t, err)
	return string(content)
}

func (r *read) json(name string, v any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.text(name)), v); err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
}

func (r *read) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(r.dir, filepath.FromSlash(name)))
	return err == nil
}

// file finds a file of the manifest by its path.
func (r *read) file(path string) evidence.File {
	r.t.Helper()
	for _, f := range r.manifest.Files {
		if f.Path == path {
			return f
		}
	}
	r.t.Fatalf("the manifest has no %q", path)
	return evidence.File{}
}

// names lists every file and folder below dir.
func names(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != dir {
			rel, rerr := filepath.Rel(dir, path)
			if rerr != nil {
				return rerr
			}
			if !d.Type().IsRegular() && !d.IsDir() {
				return fmt.Errorf("%s is neither a file nor a folder", rel)
			}
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	}))
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantContains fails unless text holds each of parts.
func wantContains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("missing %q in:\n%s", p, text)
		}
	}
}

func wantAbsent(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Errorf("unexpected %q in:\n%s", p, text)
		}
	}
}

// paths of the requests that were made, without queries.
func (w *world) paths() []string {
	var out []string
	for _, r := range w.Requests() {
		out = append(out, r.Path)
	}
	return out
}

// requested counts requests whose path begins so.
func (w *world) requested(prefix string) int {
	n := 0
	for _, p := range w.paths() {
		if strings.HasPrefix(p, prefix) {
			n++
		}
	}
	return n
}
