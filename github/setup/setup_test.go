package setup_test

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/liaison-bot/liaison/github/setup"
	"github.com/liaison-bot/liaison/manifests"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ours(t *testing.T) setup.Manifest {
	t.Helper()
	m, err := setup.Read(manifests.GitHubApp)
	must(t, err)
	return m
}

func TestTheWebhookIsActiveOnlyWhereItCanBeReached(t *testing.T) {
	t.Parallel()
	public, err := url.Parse("https://bots.example.com/liaison/")
	must(t, err)
	m, err := ours(t).For(public, "")
	must(t, err)
	if !m.Hook.Active || m.Hook.URL != "https://bots.example.com/liaison/webhooks/github" {
		t.Errorf("webhook %+v", m.Hook)
	}
	if m, err = ours(t).For(nil, ""); err != nil || m.Hook.Active || m.Hook.URL == "" {
		t.Errorf("webhook %+v, %v without a public URL", m.Hook, err)
	}
}

func TestNamesAsLongAsGitHubTakesThem(t *testing.T) {
	t.Parallel()
	for n, wanted := range map[int]bool{1: true, 33: true, 34: true, 35: false} {
		if _, err := ours(t).For(nil, strings.Repeat("é", n)); (err == nil) != wanted {
			t.Errorf("%d characters: %v", n, err)
		}
	}
}

func TestUnknownKeysAreErrors(t *testing.T) {
	t.Parallel()
	if _, err := setup.Read([]byte("name: Liaison\ndefault_permission: {}\n")); err == nil {
		t.Error("a key that GitHub ignores was taken")
	}
}

func TestParseSite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ web, api, want string }{
		{"https://github.com", "", "https://api.github.com/"},
		{"https://github.com/", "", "https://api.github.com/"},
		{"https://octo.ghe.com", "", "https://api.octo.ghe.com/"},
		{"https://git.example.com", "", "https://git.example.com/api/v3/"},
		{"https://git.example.com:8443", "", "https://git.example.com:8443/api/v3/"},
		{"http://127.0.0.1:9", "http://127.0.0.1:9/rest", "http://127.0.0.1:9/rest/"},
		{"http://git.example.com", "", ""}, // the secrets would travel unencrypted
		{"https://git.example.com", "http://api.example.com", ""},
		{"git.example.com", "", ""},
		{"https://user:pw@github.com", "", ""},
		{"https://github.com/?x=1", "", ""},
		{"javascript:alert(1)", "", ""},
	} {
		site, err := setup.ParseSite(c.web, c.api)
		got := ""
		if err == nil {
			got = site.API.String()
		}
		if got != c.want {
			t.Errorf("%s with %q: %q, %v; want %q", c.web, c.api, got, err, c.want)
		}
	}
}

// newPage serves the page for a person's App at github.com.
func newPage(t *testing.T, organization string, done func(string) (string, error)) *setup.Page {
	t.Helper()
	site, err := setup.ParseSite("https://github.com", "")
	must(t, err)
	m, err := ours(t).For(nil, `Li<ai>"son`)
	must(t, err)
	page, err := setup.NewPage(site, organization, m, "127.0.0.1:8899", "the-state", done)
	must(t, err)
	return page
}

func ask(page http.Handler, method, host, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, target, nil)
	r.Host = host
	page.ServeHTTP(w, r)
	return w
}

var hidden = regexp.MustCompile(`action="([^"]*)" method="post"><input type="hidden" name="manifest" value="([^"]*)"`)

func TestTheFormCarriesTheManifest(t *testing.T) {
	t.Parallel()
	for organization, action := range map[string]string{
		"":     "https://github.com/settings/apps/new?state=the-state",
		"octo": "https://github.com/organizations/octo/settings/apps/new?state=the-state",
	} {
		w := ask(newPage(t, organization, nil), http.MethodGet, "127.0.0.1:8899", "/")
		found := hidden.FindStringSubmatch(w.Body.String())
		if w.Code != http.StatusOK || found == nil {
			t.Fatalf("%d: %s", w.Code, w.Body)
		}
		if got := html.UnescapeString(found[1]); got != action {
			t.Errorf("action %q, want %q", got, action)
		}
		manifest := html.UnescapeString(found[2])
		for _, want := range []string{`"redirect_url": "http://127.0.0.1:8899/created"`, `"name": "Li<ai>\"son"`, `"active": false`} {
			if !strings.Contains(manifest, want) {
				t.Errorf("the manifest lacks %s:\n%s", want, manifest)
			}
		}
	}
	site, err := setup.ParseSite("https://github.com", "")
	must(t, err)
	for _, bad := range []string{"a/b", "../x", "-a", "a b", strings.Repeat("a", 40), "é"} {
		if _, err := setup.NewPage(site, bad, ours(t), "127.0.0.1:1", "s", nil); err == nil {
			t.Errorf("organisation %q was taken", bad)
		}
	}
}

func TestOnlyTheOwnBrowserIsAnswered(t *testing.T) {
	t.Parallel()
	page := newPage(t, "", func(string) (string, error) {
		t.Error("a code was taken")
		return "", nil
	})
	for _, c := range []struct {
		method, host, target string
		want                 int
	}{
		{"GET", "127.0.0.1:8899", "/", 200},
		{"GET", "localhost:8899", "/", 200},
		{"GET", "[::1]:8899", "/", 200},
		{"GET", "evil.example:8899", "/", 403},
		{"GET", "127.0.0.1:8080", "/", 403},
		{"GET", "127.0.0.1", "/", 403},
		{"GET", "evil.example:8899", "/created?code=c&state=the-state", 403},
		{"GET", "127.0.0.1:8899", "/created?code=c&state=guessed", 403},
		{"GET", "127.0.0.1:8899", "/created?code=c", 403},
		{"POST", "127.0.0.1:8899", "/created?code=c&state=the-state", 405},
		{"GET", "127.0.0.1:8899", "/favicon.ico", 404},
	} {
		if w := ask(page, c.method, c.host, c.target); w.Code != c.want {
			t.Errorf("%s %s%s: %d, want %d", c.method, c.host, c.target, w.Code, c.want)
		}
	}
}

func TestACodeIsTakenOnce(t *testing.T) {
	t.Parallel()
	var codes []string
	page := newPage(t, "", func(code string) (string, error) {
		codes = append(codes, code)
		return `https://github.com/apps/x/installations/new?"><script>`, nil
	})
	first := ask(page, "GET", "127.0.0.1:8899", "/created?code=abc&state=the-state")
	second := ask(page, "GET", "127.0.0.1:8899", "/created?code=def&state=the-state")
	if first.Code != 200 || second.Code != 409 || len(codes) != 1 || codes[0] != "abc" {
		t.Errorf("answers %d and %d, codes %v", first.Code, second.Code, codes)
	}
	if strings.Contains(first.Body.String(), "<script>") {
		t.Errorf("markup got through:\n%s", first.Body)
	}
	if first.Header().Get("Referrer-Policy") != "no-referrer" || first.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("the code may be told on: %v", first.Header())
	}
}

func TestExchangeRefusals(t *testing.T) {
	t.Parallel()
	answer := func(w http.ResponseWriter, status int, body string) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "POST /app-manifests/used/conversions":
			answer(w, 404, `{"message":"Not Found"}`)
		case "POST /app-manifests/odd/conversions":
			answer(w, 422, `{}`)
		case "POST /app-manifests/down/conversions":
			answer(w, 502, "<html>")
		case "POST /app-manifests/cut/conversions":
			answer(w, 201, `{"id":1,"pem":"-----BEGIN RSA PRIVATE KEY-----THE-SECRET`)
		case "POST /app-manifests/less/conversions":
			answer(w, 201, `{"id":1,"pem":"THE-SECRET"}`)
		default:
			t.Errorf("unexpected %s %s", r.Method, r.URL)
		}
	}))
	defer server.Close()
	site, err := setup.ParseSite(server.URL, server.URL)
	must(t, err)
	for code, refused := range map[string]bool{
		"used": true, "odd": true, "": true, "../../app": true, "a b": true, "down": false, "cut": false, "less": false,
	} {
		_, err := setup.Exchange(context.Background(), server.Client(), site, code, "test")
		if err == nil || errors.Is(err, setup.ErrCodeRefused) != refused {
			t.Errorf("code %q: %v", code, err)
		}
		if err != nil && strings.Contains(err.Error(), "THE-SECRET") {
			t.Errorf("code %q: the error shows the key: %v", code, err)
		}
	}
}
