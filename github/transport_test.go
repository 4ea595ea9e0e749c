package github

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
)

// mustClient is the client of the world's repository.
func (w *world) mustRepository() *repository {
	w.t.Helper()
	r, err := w.channel.app.repository(installation, w.repo.ID)
	must(w.t, err)
	return r
}

func (w *world) getPull() error {
	_, _, err := w.mustRepository().client.PullRequests.Get(w.t.Context(), "octo", "shop", w.pull.Number)
	return err
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	key := appKey()
	for name, o := range map[string]Options{
		"no id":       {Key: key},
		"no key":      {AppID: 1},
		"no URL":      {AppID: 1, Key: key, APIURL: "github"},
		"credentials": {AppID: 1, Key: key, APIURL: "https://u:hunter2@x.example/"},
		"query":       {AppID: 1, Key: key, APIURL: "https://x.example/?a=b"},
	} {
		_, err := New(o)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The REST root is taken as it stands (https://github.com/palantir/bulldozer/issues/417).
func TestAPIURLIsTakenAsItStands(t *testing.T) {
	t.Parallel()
	for _, slash := range []string{"", "/"} {
		w := newWorld(t, func(so *sim.GitHubOptions, _ *Options) { so.PathPrefix = "/api/v3" })
		o := Options{AppID: appID, Key: appKey(), APIURL: strings.TrimSuffix(w.URL(), "/") + slash, Transport: inProcess{w.GitHub}}
		if !strings.HasSuffix(o.APIURL, "/api/v3"+slash) {
			t.Fatal(o.APIURL)
		}
		channel, err := New(o)
		must(t, err)
		w.channel = channel
		w.review("trn_1", "Fine.")
		if got := w.comments(); len(got) != 1 {
			t.Errorf("slash %q: %d comments", slash, len(got))
		}
	}
}

func TestTokenIsForOneRepositoryAndLeastPermissions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, w.getPull())
	var asked struct {
		RepositoryIDs []int64           `json:"repository_ids"`
		Permissions   map[string]string `json:"permissions"`
	}
	for _, r := range w.Requests() {
		if got := r.Header.Get("User-Agent"); got != "liaison/1.2.3" {
			t.Errorf("%s %s by %q", r.Method, r.Path, got)
		}
		if strings.HasSuffix(r.Path, "/access_tokens") {
			must(t, json.Unmarshal(r.Body, &asked))
		}
	}
	if len(asked.RepositoryIDs) != 1 || asked.RepositoryIDs[0] != w.repo.ID {
		t.Errorf("repositories: %v", asked.RepositoryIDs)
	}
	want := map[string]string{"checks": "write", "contents": "read", "issues": "write", "metadata": "read", "pull_requests": "write", "statuses": "read"}
	if len(asked.Permissions) != len(want) {
		t.Errorf("permissions: %v", asked.Permissions)
	}
	for k, v := range want {
		if asked.Permissions[k] != v {
			t.Errorf("permission %s: %q, want %q", k, asked.Permissions[k], v)
		}
	}
}

func TestInstallationZeroIsNeverAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []repoID{{0, 1}, {-1, 1}, {1, 0}} {
		if _, err := w.channel.app.repository(id.installation, id.repository); !errors.Is(err, errForeignHook) {
			t.Errorf("%+v: %v", id, err)
		}
	}
}

// A cached token outlives its revocation unless a 401 drops it.
func TestRevokedTokenIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, w.getPull())
	w.RevokeTokens()
	w.ForgetRequests()
	w.mustDeliver(w.items(w.turn("trn_1"), started)...)
	if n := w.count(http.MethodPost, "/access_tokens"); n != 1 {
		t.Errorf("%d tokens were made", n)
	}
	if got := w.checks(); len(got) != 1 {
		t.Errorf("checks: %+v", got)
	}
}

// A second 401, with a new token, is no loop (https://github.com/octokit/auth-app.js/issues/65).
func TestTokenThatIsNeverAcceptedIsTriedLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fail(sim.Fault{PathPattern: "/repos/**", Status: http.StatusUnauthorized, Times: -1})
	_, err := w.deliver(w.items(w.turn("trn_1"), started)[0])
	if retry := wantRetry(t, err); retry.After != lagWait || retry.Paused {
		t.Errorf("got %+v", retry)
	}
	if n := len(w.Requests()); n != 4 { // two tokens, each tried once
		t.Errorf("%d requests", n)
	}
}

// One AppsTransport shared by several transports is a data race; this test is
// one for the race detector.
func TestManyRepositoriesAndCallsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.CreateRepository("octo/other", map[string]string{"a": "a\n"})
	w.Install(installation, "octo", "octo/other")
	other := w.Repository("octo/other")
	var wg sync.WaitGroup
	for range 8 {
		for _, id := range []int64{w.repo.ID, other.ID} {
			wg.Go(func() {
				r, err := w.channel.app.repository(installation, id)
				if err == nil {
					_, _, err = r.client.Repositories.GetByID(t.Context(), id)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		w.RevokeTokens()
	}
	wg.Wait()
}

// hostile answers one path with a redirect and records who was called.
type hostile struct {
	next     http.RoundTripper
	location string
	status   int
	foreign  []string
}

func (h *hostile) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != "github.invalid" {
		h.foreign = append(h.foreign, req.URL.String()+" "+req.Header.Get("Authorization"))
	}
	if strings.Contains(req.URL.Path, "/pulls/") {
		return &http.Response{
			StatusCode: h.status, Status: http.StatusText(h.status), Request: req,
			Header: http.Header{"Location": {h.location}}, Body: http.NoBody,
		}, nil
	}
	return h.next.RoundTrip(req)
}

// The Authorization header must not follow a redirect to another host.
func TestTokenDoesNotTravelToAnotherHost(t *testing.T) {
	t.Parallel()
	for _, code := range []int{301, 302, 307, 308} {
		var h *hostile
		w := newWorld(t, func(*sim.GitHubOptions, *Options) {})
		h = &hostile{next: inProcess{w.GitHub}, location: "https://evil.example/x", status: code}
		w.channel.app.wire.base = h
		if err := w.getPull(); err == nil {
			t.Errorf("%d: a redirect elsewhere is no error", code)
		}
		if len(h.foreign) != 0 {
			t.Errorf("%d: called %v", code, h.foreign)
		}
	}
	// Nor by a URL that an answer or an argument brought in.
	w := newWorld(t)
	req, err := w.mustRepository().client.NewRequest(http.MethodGet, "https://evil.example/repos/octo/shop", nil)
	must(t, err)
	_, err = w.mustRepository().client.Do(t.Context(), req, nil)
	var foreign *ForeignHostError
	if !errors.As(err, &foreign) || foreign.Host != "evil.example" {
		t.Errorf("got %v", err)
	}
}

func TestSameHost(t *testing.T) {
	t.Parallel()
	root, err := parseRoot("https://api.github.com")
	must(t, err)
	for raw, want := range map[string]bool{
		"https://api.github.com/x":            true,
		"https://API.github.com:443/x":        true,
		"http://api.github.com/x":             false,
		"https://api.github.com:8443/x":       false,
		"https://api.github.com.evil.x/x":     false,
		"https://api.github.com@evil.x/x":     false,
		"https://evil.example/api.github.com": false,
	} {
		req, err := http.NewRequest(http.MethodGet, raw, nil)
		must(t, err)
		if got := sameHost(req.URL, root); got != want {
			t.Errorf("%s: %t", raw, got)
		}
	}
}

// https://github.com/palantir/policy-bot/issues/106
func TestClockThatIsOffIsWarnedOfOnce(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-4 * time.Minute, -21 * time.Second, 19 * time.Second, 21 * time.Second, 4 * time.Minute} {
		log := &logBuffer{}
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		watch := &clockWatch{now: func() time.Time { return now }, log: textLogger(log)}
		for range 5 {
			watch.observe(now.Add(-off).Format(http.TimeFormat))
		}
		watch.observe("yesterday")
		want := 1
		if off.Abs() <= MaxDrift {
			want = 0
		}
		if got := log.count("clock differs"); got != want {
			t.Errorf("%s off: %d warnings", off, got)
		}
	}
}

func TestAnswerThatNeverEndsIsAnError(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{maxResponse, maxResponse + 1} {
		body := &boundedBody{ReadCloser: endless{left: n}.body(), left: maxResponse}
		read, err := drain(body)
		if tooLarge := errors.Is(err, errTooLarge); tooLarge != (n > maxResponse) || read > maxResponse {
			t.Errorf("%d bytes: read %d, %v", n, read, err)
		}
	}
}

func TestNoSecretInErrorsOrLogs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, w.getPull())
	var token string
	for _, r := range w.Requests() {
		if _, value, ok := strings.Cut(r.Authorization, "token "); ok {
			token = value
		}
	}
	if token == "" {
		t.Fatal("no token was used")
	}
	w.Fail(sim.Fault{Status: 500, Times: -1})
	_, err := w.deliver(w.items(w.turn("trn_1"), started)[0])
	if err == nil || strings.Contains(err.Error(), token) || w.logs.count(token) != 0 {
		t.Errorf("got %v", err)
	}
}
