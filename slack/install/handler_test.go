package install_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/slack/install"
	"github.com/liaison-bot/liaison/slack/workspace"
	"github.com/liaison-bot/liaison/state"
)

// A person installs the app: sent to Slack with a state that is tied to the
// browser, and back with a code for which the token is stored, encrypted.
func TestInstallation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	rw := b.get("/slack/install")
	to, err := url.Parse(rw.Header().Get("Location"))
	if err != nil || rw.Code != http.StatusFound || to.Scheme+"://"+to.Host != slackURL || to.Path != "/oauth/v2/authorize" {
		t.Fatalf("%d, sent to %s", rw.Code, to)
	}
	q := to.Query()
	if q.Get("client_id") != clientID || q.Get("scope") != "chat:write,app_mentions:read" || len(q.Get("state")) < 40 ||
		q.Get("redirect_uri") != publicURL+"/slack/oauth" {
		t.Errorf("asked for %v", q)
	}
	cookie := rw.Result().Cookies()[0]
	if cookie.Name != "__Host-liaison-install" || !cookie.Secure || !cookie.HttpOnly || cookie.Path != "/" || cookie.Domain != "" ||
		cookie.SameSite != http.SameSiteLaxMode || cookie.MaxAge != 600 {
		t.Errorf("cookie %v", cookie)
	}

	rw = b.get("/slack/oauth?code=good-code&state=" + q.Get("state"))
	page := rw.Body.String()
	if rw.Code != http.StatusOK || !strings.Contains(page, "Acme &lt;b&gt;") || !strings.Contains(page, "/app_redirect?app=A1&amp;team=T1") {
		t.Errorf("%d %s", rw.Code, page)
	}
	if len(b.cookies) != 0 {
		t.Errorf("cookies left: %v", b.cookies)
	}
	got, err := w.store.Workspace(t.Context(), "T1", "")
	if err != nil || got.Token != "xoxe.xoxb-1" || got.Team != "T1" || got.BotUser != "UBOT" || got.BotID != "B1" || got.AppID != "A1" ||
		got.Name != "Acme <b>" || got.URL != "https://acme.slack.com/" || !slices.Equal(got.Scopes, []string{"chat:write", "app_mentions:read"}) {
		t.Errorf("got %#v %v, %v", got, got.Scopes, err)
	}
	all, err := w.store.Installations(t.Context())
	if err != nil || len(all) != 1 || all[0].Installer != "U1" || all[0].Whole || !all[0].InstalledAt.Equal(w.now()) || all[0].Workspace.Token != "" {
		t.Errorf("installations %+v, %v", all, err)
	}
	w.wantNoSecret(page + fmt.Sprint(rw.Header()) + w.logged() + w.stored() + asJSON(t, all) + fmt.Sprintf("%+v", all))
}

// Every page is closed to scripts and frames, and its address is told to nobody.
func TestPagesAreClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/slack/install", "/slack/oauth", "/slack/oauth?error=access_denied", "/slack/other"} {
		h := w.browser().get(path).Header()
		if !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none';") || h.Get("Referrer-Policy") != "no-referrer" ||
			h.Get("Cache-Control") != "no-store" || h.Get("X-Frame-Options") != "DENY" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

// Nobody comes back from Slack who was not sent there in this browser, within
// ten minutes, and once.
func TestStateIsTiedToOneBrowserAndOneUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wantStale := func(name string, rw *httptest.ResponseRecorder) {
		t.Helper()
		if rw.Code != http.StatusBadRequest || !strings.Contains(rw.Body.String(), "Start again") {
			t.Errorf("%s: %d %s", name, rw.Code, rw.Body)
		}
	}
	back := func(state string) string { return "/slack/oauth?code=good-code&state=" + url.QueryEscape(state) }

	wantStale("without anything", w.browser().get("/slack/oauth?code=good-code"))
	victim, attacker := w.browser(), w.browser()
	state := attacker.begin()
	wantStale("another's state, no cookie", victim.get(back(state)))
	victim.begin()
	wantStale("another's state, own cookie", victim.get(back(state)))
	b := w.browser()
	b.begin()
	wantStale("an empty state", b.get(back("")))

	b = w.browser()
	state = b.begin()
	text, _, _ := strings.Cut(b.cookies[0].Value, ".")
	for _, forged := range []string{"", ".", text, text + ".99999999999.", text + ".99999999999.AAAA", "..", "%%%.1.%%%", strings.Repeat(".", 5000)} {
		c := *b.cookies[0]
		c.Value = forged
		wantStale("forged "+forged[:min(len(forged), 20)], (&browser{t: t, handler: b.handler, cookies: []*http.Cookie{&c}}).get(back(state)))
	}

	b = w.browser()
	state = b.begin()
	w.pass(10 * time.Minute)
	wantStale("too late", b.get(back(state)))

	b = w.browser()
	state = b.begin()
	again := &browser{t: t, handler: b.handler, cookies: slices.Clone(b.cookies)}
	w.pass(10*time.Minute - time.Second)
	if rw := b.get(back(state)); rw.Code != http.StatusOK {
		t.Errorf("in time: %d %s", rw.Code, rw.Body)
	}
	wantStale("the same once more", again.get(back(state)))
	if n := w.asked("oauth.v2.access"); n != 1 {
		t.Errorf("Slack was asked %d times", n)
	}
}

// A ticket outlives a restart and the rotation of the key.
func TestTicketSurvivesRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	state := b.begin()
	w.keys = [][]byte{secondKey, firstKey}
	w.restart()
	b.handler = w.handler()
	if rw := b.get("/slack/oauth?code=good-code&state=" + state); rw.Code != http.StatusOK {
		t.Errorf("%d %s", rw.Code, rw.Body)
	}
}

// However often somebody goes around, what is remembered of it is bounded, and
// room comes back with time.
func TestTicketsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.handler()
	denied := func() int {
		b := &browser{t: t, handler: h}
		return b.get("/slack/oauth?error=access_denied&state=" + b.begin()).Code
	}
	for range 4096 {
		if code := denied(); code != http.StatusOK {
			t.Fatal(code)
		}
	}
	if code := denied(); code != http.StatusBadRequest {
		t.Errorf("one more: %d", code)
	}
	w.pass(10 * time.Minute)
	if code := denied(); code != http.StatusOK {
		t.Errorf("ten minutes later: %d", code)
	}
}

func TestInstallationsThatFail(t *testing.T) {
	t.Parallel()
	const token = `"ok":true,"access_token":"xoxb-1","token_type":"bot"`
	for name, tt := range map[string]struct {
		query  string
		answer string
		status int
		shows  string
	}{
		"denied":               {"error=access_denied", "", http.StatusOK, "did not allow"},
		"another error":        {"error=invalid_scope", "", http.StatusBadGateway, "invalid_scope"},
		"an error with markup": {"error=%3Cscript%3E", "", http.StatusBadGateway, "nothing more"},
		"no code":              {"", "", http.StatusBadGateway, "nothing more"},
		"an endless code":      {"code=" + strings.Repeat("x", 2000), "", http.StatusBadGateway, "nothing more"},
		"a code of another":    {"code=bad-code", "", http.StatusBadGateway, "invalid_code"},
		"an error, with markup": {"code=good-code", `{"ok":false,"error":"<script>"}`, http.StatusBadGateway,
			"<b></b>"},
		"no JSON":          {"code=good-code", "<html>", http.StatusServiceUnavailable, "log says why"},
		"a person's token": {"code=good-code", `{"ok":true,"authed_user":{"access_token":"xoxp-1","token_type":"user"},"team":{"id":"T1"}}`, http.StatusServiceUnavailable, "log"},
		"no bot":           {"code=good-code", `{` + token + `,"team":{"id":"T1"}}`, http.StatusServiceUnavailable, "log"},
		"nowhere":          {"code=good-code", `{` + token + `,"bot_user_id":"UBOT","team":null}`, http.StatusServiceUnavailable, "log"},
		"no organisation":  {"code=good-code", `{` + token + `,"bot_user_id":"UBOT","team":{"id":"T1"},"is_enterprise_install":true}`, http.StatusServiceUnavailable, "log"},
		"an odd id":        {"code=good-code", `{` + token + `,"bot_user_id":"UBOT","team":{"id":"T1 :x"}}`, http.StatusServiceUnavailable, "log"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tt.answer != "" {
				w.answer("oauth.v2.access", func(url.Values) string { return tt.answer })
			}
			b := w.browser()
			rw := b.get("/slack/oauth?" + tt.query + "&state=" + b.begin())
			if rw.Code != tt.status || tt.shows != "<b></b>" && !strings.Contains(rw.Body.String(), tt.shows) || strings.Contains(rw.Body.String(), "<script") {
				t.Errorf("%d %s", rw.Code, rw.Body)
			}
			if stored := w.stored(); stored != "" {
				t.Errorf("stored %s", stored)
			}
			w.wantNoSecret(rw.Body.String() + w.logged())
		})
	}
}

// What cannot be stored is not said to be installed.
func TestInstallationThatCannotBeStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.vault.fail(fmt.Errorf("no room: %w", state.ErrUnavailable))
	b := w.browser()
	if rw := b.get("/slack/oauth?code=good-code&state=" + b.begin()); rw.Code != http.StatusServiceUnavailable {
		t.Errorf("%d %s", rw.Code, rw.Body)
	}
	if _, err := w.store.Workspace(t.Context(), "T1", ""); !errors.Is(err, workspace.ErrNotInstalled) {
		t.Errorf("got %v", err)
	}
}

// A preview of a link, and anything else that is no visit, uses nothing up.
func TestOnlyAVisitCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	target := "/slack/oauth?code=good-code&state=" + b.begin()
	for _, method := range []string{http.MethodHead, http.MethodPost, http.MethodOptions} {
		r := httptest.NewRequest(method, target, nil)
		r.AddCookie(b.cookies[0])
		rw := httptest.NewRecorder()
		if b.handler.ServeHTTP(rw, r); rw.Code != http.StatusMethodNotAllowed || rw.Header().Get("Allow") != http.MethodGet {
			t.Errorf("%s: %d", method, rw.Code)
		}
	}
	if rw := b.get(target); rw.Code != http.StatusOK {
		t.Errorf("%d %s", rw.Code, rw.Body)
	}
}

// On the loopback interface there is no TLS, and no cookie that asks for it.
func TestLoopback(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h, err := install.NewHandler(install.HandlerOptions{Store: w.store, PublicURL: &url.URL{Scheme: "http", Host: "localhost:8080"}})
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, handler: h}
	if c := b.get("/slack/install").Result().Cookies()[0]; c.Secure || strings.HasPrefix(c.Name, "__Host-") {
		t.Errorf("cookie %v", c)
	}
}

// A workspace that the operator does not have on the list installs nothing, and
// the token that Slack made for it is given back.
func TestOnlyTheOperatorsWorkspaces(t *testing.T) {
	t.Parallel()
	for allowed, in := range map[string]bool{"T1": true, "E1": false, "T2": false} {
		t.Run(allowed, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.allowed = []string{"T9", allowed}
			w.answer("auth.revoke", func(url.Values) string { return `{"ok":true,"revoked":true}` })
			w.restart()
			b := w.browser()
			to, err := url.Parse(b.get("/slack/install").Header().Get("Location"))
			if err != nil {
				t.Fatal(err)
			}
			rw := b.get("/slack/oauth?code=good-code&state=" + to.Query().Get("state"))
			_, err = w.store.Workspace(t.Context(), "T1", "")
			switch {
			case in && (rw.Code != http.StatusOK || err != nil):
				t.Errorf("%d %s, %v", rw.Code, rw.Body, err)
			case !in && (rw.Code != http.StatusForbidden || !errors.Is(err, workspace.ErrNotInstalled)):
				t.Errorf("%d %s, %v", rw.Code, rw.Body, err)
			}
			if revoked := w.asked("auth.revoke") > 0; revoked == in {
				t.Errorf("the token was revoked: %v", revoked)
			}
			w.wantNoSecret(rw.Body.String() + w.logged())
		})
	}
}
