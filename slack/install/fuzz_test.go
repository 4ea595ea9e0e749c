package install_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// No cookie and no state but those of one ticket are good.
func FuzzState(f *testing.F) {
	f.Add("", "")
	f.Add("nonce.1800000600.AAAA", "nonce")
	f.Add("..", ".")
	f.Fuzz(func(t *testing.T, cookie, state string) {
		w := newWorld(t)
		r := httptest.NewRequest(http.MethodGet, "/slack/oauth?code=good-code&state="+url.QueryEscape(state), nil)
		r.AddCookie(&http.Cookie{Name: "__Host-liaison-install", Value: cookie})
		rw := httptest.NewRecorder()
		if w.handler().ServeHTTP(rw, r); rw.Code != http.StatusBadRequest || w.asked("oauth.v2.access") != 0 {
			t.Errorf("%q %q: %d", cookie, state, rw.Code)
		}
	})
}

// Whatever Slack answers ends as a page that shows no token and runs nothing.
func FuzzGrant(f *testing.F) {
	f.Add(`{"ok":true,"access_token":"xoxb-1","token_type":"bot","bot_user_id":"U1","team":{"id":"T1","name":"<script>"}}`)
	f.Add(`{"ok":true,"access_token":"xoxb-1","token_type":"bot","bot_user_id":7,"team":[],"is_enterprise_install":"false","expires_in":"x"}`)
	f.Add(`{"ok":false,"error":{"xoxb-1":"<script>"}}`)
	f.Fuzz(func(t *testing.T, answer string) {
		w := newWorld(t)
		w.answer("oauth.v2.access", func(url.Values) string { return answer })
		b := w.browser()
		rw := b.get("/slack/oauth?code=good-code&state=" + b.begin())
		page := rw.Body.String()
		if rw.Code == http.StatusInternalServerError || strings.Contains(page, "<script") || strings.Contains(page, "xoxb-1<") {
			t.Errorf("%d %s", rw.Code, page)
		}
		if installed := w.stored() != ""; installed != (rw.Code == http.StatusOK) {
			t.Errorf("installed: %v, %d", installed, rw.Code)
		}
	})
}
