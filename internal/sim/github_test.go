package sim_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/internal/sim"
)

const (
	appID        = 4711
	slug         = "liaison-test"
	installation = 99
	repoName     = "acme/widget"
)

// appKey is made once: RSA keys are slow to make.
var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

// clock is a clock that tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// world is a started GitHub with one repository, one pull request, and a client
// of the installation.
type world struct {
	*sim.GitHub
	t      *testing.T
	clock  *clock
	prefix string
	pull   *sim.PullRequest
	http   *http.Client
	client *github.Client
}

func newWorld(t *testing.T, edit ...func(*sim.GitHubOptions)) *world {
	t.Helper()
	c := &clock{t: time.Now()}
	o := sim.GitHubOptions{AppID: appID, Slug: slug, PublicKey: &appKey().PublicKey, WebhookSecret: "s3cret", Now: c.Now}
	for _, e := range edit {
		e(&o)
	}
	w := &world{GitHub: sim.NewGitHub(o), t: t, clock: c, prefix: o.PathPrefix}
	if _, err := w.Start(); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	w.CreateRepository(repoName, map[string]string{
		"README.md": "# Widget\n", "main.go": "package main\n\nfunc main() {}\n", "CODEOWNERS": "* @acme/core\n",
	})
	w.Install(installation, "acme", repoName)
	w.pull = w.OpenPullRequest(repoName, sim.NewPullRequest{
		Title: "Say hello", Body: "It greets.", Author: "mona", HeadRepo: "mona/widget", Branch: "hello",
		Files: map[string]sim.Change{"main.go": sim.Write("package main\n\nfunc main() { println(\"hello\") }\n")},
	})
	w.http, w.client = w.as(transport, nil)
	return w
}

// as returns clients of the installation, with a token narrowed as given.
func (w *world) as(base http.RoundTripper, narrow *github.InstallationTokenOptions) (*http.Client, *github.Client) {
	w.t.Helper()
	key := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(appKey())})
	tr, err := ghinstallation.New(w.judged(base, false), appID, installation, key)
	if err != nil {
		w.t.Fatal(err)
	}
	tr.BaseURL = strings.TrimSuffix(w.URL(), "/")
	tr.InstallationTokenOptions = narrow
	h := &http.Client{Transport: tr}
	c, err := github.NewClient(h).WithEnterpriseURLs(w.URL(), w.URL())
	if err != nil {
		w.t.Fatal(err)
	}
	c.BaseURL.Path = strings.TrimSuffix(c.BaseURL.Path, "api/v3/") // added by go-github; the root is as it stands
	return h, c
}

// status is the HTTP status of a go-github error, 0 for none.
func status(t *testing.T, err error) int {
	t.Helper()
	var refused *github.ErrorResponse
	if errors.As(err, &refused) {
		return refused.Response.StatusCode
	}
	if err != nil {
		t.Fatalf("not an answer of GitHub: %v", err)
	}
	return 0
}

func TestReviewFlow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()

	pr, _, err := w.client.PullRequests.Get(ctx, "acme", "widget", w.pull.Number)
	if err != nil {
		t.Fatal(err)
	}
	if got := pr.GetHead().GetRepo().GetFullName(); got != "mona/widget" {
		t.Errorf("head repository = %q, want the fork", got)
	}
	if pr.GetAdditions() != 1 || pr.GetDeletions() != 1 || pr.GetChangedFiles() != 1 {
		t.Errorf("counts = +%d −%d in %d files, want +1 −1 in 1", pr.GetAdditions(), pr.GetDeletions(), pr.GetChangedFiles())
	}
	run, _, err := w.client.Checks.CreateCheckRun(ctx, "acme", "widget", github.CreateCheckRunOptions{
		Name: "Liaison", HeadSHA: pr.GetHead().GetSHA(), Status: github.String("in_progress"), ExternalID: github.String("turn-1"),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = w.client.Checks.UpdateCheckRun(ctx, "acme", "widget", run.GetID(), github.UpdateCheckRunOptions{
		Name: "Liaison", Conclusion: github.String("neutral"),
		Output: &github.CheckRunOutput{Title: github.String("Two remarks"), Summary: github.String("Look at main.go.")},
	})
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := w.client.Issues.CreateComment(ctx, "acme", "widget", w.pull.Number, &github.IssueComment{Body: github.String("Looks fine.")})
	if err != nil {
		t.Fatal(err)
	}
	if c.GetUser().GetLogin() != slug+"[bot]" || c.GetUser().GetType() != "Bot" {
		t.Errorf("comment is by %s (%s), want the App's bot", c.GetUser().GetLogin(), c.GetUser().GetType())
	}
	runs := w.CheckRuns(repoName, w.pull.HeadSHA)
	if len(runs) != 1 || runs[0].Status != "completed" || runs[0].Conclusion != "neutral" || runs[0].AppID != appID {
		t.Errorf("check runs = %+v, want one that is completed and neutral", runs)
	}
	if got := w.Comments(repoName, w.pull.Number); len(got) != 1 || got[0].Body != "Looks fine." {
		t.Errorf("comments = %+v, want the one posted", got)
	}
}
