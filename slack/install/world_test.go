package install_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/liaison-bot/liaison/slack/install"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	clientID     = "1.2"
	clientSecret = "client-secret-of-the-tests"
	publicURL    = "https://liaison.example.com"
	slackURL     = "https://slack.test"
)

var (
	firstKey  = bytes.Repeat([]byte{1}, 32)
	secondKey = bytes.Repeat([]byte{2}, 32)
)

// world is Slack as an installation sees it, a vault, and a clock.
type world struct {
	t     *testing.T
	vault *vault

	mu      sync.Mutex
	time    time.Time
	calls   []string
	answers map[string]func(form url.Values) string // by method
	dead    map[string]bool                         // tokens that auth.test refuses
	serial  int
	valid   string // the one refresh token that is good
	log     bytes.Buffer
	keys    [][]byte
	allowed []string
	store   *install.Store
}

// vault can fail, and remembers nothing itself.
type vault struct {
	state.Vault
	mu  sync.Mutex
	err error
}

func (v *vault) PutSecret(ctx context.Context, s state.Secret) error {
	v.mu.Lock()
	err := v.err
	v.mu.Unlock()
	if err != nil {
		return err
	}
	return v.Vault.PutSecret(ctx, s)
}

func (v *vault) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.err = err
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, time: time.Unix(1_800_000_000, 0), answers: map[string]func(url.Values) string{}, dead: map[string]bool{},
		vault: &vault{Vault: memstore.New(memstore.Options{})}, keys: [][]byte{firstKey},
	}
	w.restart()
	return w
}

// restart is a new process over what was stored.
func (w *world) restart() {
	w.t.Helper()
	var err error
	w.store, err = install.NewStore(install.Options{
		Vault: w.vault, Keys: w.keys, ClientID: clientID, ClientSecret: clientSecret, APIURL: slackURL + "/api/",
		Allowed: w.allowed, HTTPClient: w.client(), Now: w.now, Rand: rand.Reader, Logger: slog.New(slog.NewTextHandler(w, nil)),
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.time
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.time = w.time.Add(d)
}

// Write takes the log.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

func (w *world) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// asked returns the calls of a method.
func (w *world) asked(method string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, call := range w.calls {
		if call == method {
			n++
		}
	}
	return n
}

// answer sets what a method answers.
func (w *world) answer(method string, fn func(url.Values) string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[method] = fn
}

// client asks this Slack, without a network.
func (w *world) client() *http.Client { return &http.Client{Transport: w} }

// RoundTrip implements [http.RoundTripper].
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme+"://"+r.URL.Host != slackURL {
		return nil, fmt.Errorf("asked %s", r.URL)
	}
	rw := httptest.NewRecorder()
	w.ServeHTTP(rw, r)
	return rw.Result(), nil
}

func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	method := strings.TrimPrefix(r.URL.Path, "/api/")
	body, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	if r.Method != http.MethodPost || r.URL.RawQuery != "" {
		w.t.Errorf("%s was asked by %s %s", method, r.Method, r.URL)
	}
	w.mu.Lock()
	w.calls = append(w.calls, method)
	fn := w.answers[method]
	w.mu.Unlock()
	switch {
	case method == "oauth.v2.access":
		if id, secret, ok := r.BasicAuth(); !ok || id != clientID || secret != clientSecret {
			fmt.Fprint(rw, `{"ok":false,"error":"bad_client_secret"}`)
			return
		}
	case strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") == "":
		fmt.Fprint(rw, `{"ok":false,"error":"not_authed"}`)
		return
	}
	if fn == nil {
		fn = map[string]func(url.Values) string{"oauth.v2.access": w.access, "auth.test": func(url.Values) string {
			return w.test(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		}}[method]
	}
	rw.Header().Set("X-OAuth-Scopes", "chat:write,im:history")
	fmt.Fprint(rw, fn(form))
}

// access gives tokens that last for 12 h, and takes each refresh token once.
func (w *world) access(form url.Values) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case form.Get("grant_type") == "refresh_token":
		if form.Get("refresh_token") != w.valid {
			return `{"ok":false,"error":"invalid_refresh_token"}`
		}
	case form.Get("code") != "good-code" || form.Get("redirect_uri") != publicURL+"/slack/oauth":
		return `{"ok":false,"error":"invalid_code"}`
	}
	w.serial++
	w.valid = fmt.Sprint("xoxe-1-refresh-", w.serial)
	return fmt.Sprintf(`{"ok":true,"access_token":"xoxe.xoxb-%d","token_type":"bot","scope":"chat:write,app_mentions:read","bot_user_id":"UBOT",`+
		`"app_id":"A1","team":{"id":"T1","name":"Acme <b>"},"enterprise":null,"is_enterprise_install":false,"authed_user":{"id":"U1"},`+
		`"refresh_token":%q,"expires_in":43200}`, w.serial, w.valid)
}

func (w *world) test(token string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead[token] {
		return `{"ok":false,"error":"token_revoked"}`
	}
	return `{"ok":true,"url":"https://acme.slack.com/","team":"Acme","user":"liaison","team_id":"T1","user_id":"UBOT","bot_id":"B1"}`
}

// browser installs the app as a person does.
type browser struct {
	t       *testing.T
	handler http.Handler
	cookies []*http.Cookie
}

func (w *world) browser() *browser {
	w.t.Helper()
	return &browser{t: w.t, handler: w.handler()}
}

func (w *world) handler() http.Handler {
	w.t.Helper()
	public, err := url.Parse(publicURL)
	if err != nil {
		w.t.Fatal(err)
	}
	h, err := install.NewHandler(install.HandlerOptions{Store: w.store, PublicURL: public, Scopes: []string{"chat:write", "app_mentions:read"}})
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

func (b *browser) get(target string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	rw := httptest.NewRecorder()
	b.handler.ServeHTTP(rw, r)
	for _, c := range rw.Result().Cookies() {
		b.cookies = slices.DeleteFunc(b.cookies, func(old *http.Cookie) bool { return old.Name == c.Name })
		if c.MaxAge >= 0 {
			b.cookies = append(b.cookies, c)
		}
	}
	return rw
}

// begin goes to Slack and returns the state.
func (b *browser) begin() string {
	b.t.Helper()
	rw := b.get("/slack/install")
	to, err := url.Parse(rw.Header().Get("Location"))
	if err != nil || rw.Code != http.StatusFound {
		b.t.Fatalf("%d, sent to %q", rw.Code, rw.Header().Get("Location"))
	}
	return to.Query().Get("state")
}

// install installs the app where the answer of oauth.v2.access says.
func (w *world) install() {
	w.t.Helper()
	b := w.browser()
	if rw := b.get("/slack/oauth?code=good-code&state=" + b.begin()); rw.Code != http.StatusOK {
		w.t.Fatalf("%d %s\n%s", rw.Code, rw.Body, w.logged())
	}
}

// token is what the source has for a workspace.
func (w *world) token(team, enterprise string) string {
	w.t.Helper()
	got, err := w.store.Workspace(w.t.Context(), team, enterprise)
	if err != nil {
		w.t.Fatal(err)
	}
	return got.Token
}

// stored is everything in the vault, as text.
func (w *world) stored() string {
	w.t.Helper()
	all, err := w.vault.Secrets(w.t.Context(), "", 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "%s %s %s\n", s.ID, s.Data, base64.StdEncoding.EncodeToString(s.Data))
	}
	return b.String()
}

// wantNoSecret fails when a text shows what nobody may see.
func (w *world) wantNoSecret(text string) {
	w.t.Helper()
	for _, secret := range []string{clientSecret, "xoxe", "xoxb", "good-code"} {
		if strings.Contains(text, secret) {
			w.t.Errorf("%s is shown:\n%s", secret, text)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
