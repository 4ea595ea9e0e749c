package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	client "github.com/liaison-bot/liaison/gen/api"
	"github.com/liaison-bot/liaison/handlers/api"
	"github.com/liaison-bot/liaison/sessions"
)

// local is a request as curl on this machine sends it.
func local(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.RemoteAddr, r.Host = "127.0.0.1:5000", "127.0.0.1:8080"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

func (w *world) do(r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.api.ServeHTTP(rec, r)
	return rec
}

func noTokens(o *api.Options) { o.Token, o.Tokens = "", nil }

func TestWithoutTokensOnlyDirectLocalCallersAreAdmitted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*http.Request)
		status int
	}{
		{"as curl sends it", func(*http.Request) {}, 200},
		{"by name", func(r *http.Request) { r.Host = "localhost:8080" }, 200},
		{"by name, without a port", func(r *http.Request) { r.Host = "LocalHost" }, 200},
		{"IPv6", func(r *http.Request) { r.RemoteAddr, r.Host = "[::1]:5000", "[::1]:8080" }, 200},
		{"IPv4 in IPv6", func(r *http.Request) { r.RemoteAddr = "[::ffff:127.0.0.1]:5000" }, 200},
		{"another address of loopback", func(r *http.Request) { r.RemoteAddr, r.Host = "127.8.9.1:5000", "127.8.9.1" }, 200},
		{"own origin", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:8080") }, 200},
		{"own page", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }, 200},
		{"typed by a person", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, 200},
		{"with a token that nobody set", func(r *http.Request) { r.Header.Set("Authorization", "Bearer abc") }, 200},

		{"another machine", func(r *http.Request) { r.RemoteAddr = "192.0.2.1:5000" }, 401},
		{"another machine that says localhost", func(r *http.Request) { r.RemoteAddr, r.Host = "192.0.2.1:5000", "localhost" }, 401},
		{"no address", func(r *http.Request) { r.RemoteAddr = "@" }, 401},
		{"rebound name", func(r *http.Request) { r.Host = "evil.example:8080" }, 401},
		{"rebound name like localhost", func(r *http.Request) { r.Host = "localhost.evil.example" }, 401},
		{"rebound name like loopback", func(r *http.Request) { r.Host = "127.0.0.1.evil.example" }, 401},
		{"name with a dot at its end", func(r *http.Request) { r.Host = "localhost.:8080" }, 401},
		{"no host", func(r *http.Request) { r.Host = "" }, 401},
		{"wildcard address", func(r *http.Request) { r.Host = "0.0.0.0:8080" }, 401},
		{"foreign origin", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 401},
		{"no site's origin", func(r *http.Request) { r.Header.Set("Origin", "null") }, 401},
		{"empty origin", func(r *http.Request) { r.Header.Set("Origin", "") }, 401},
		{"two origins", func(r *http.Request) { r.Header["Origin"] = []string{"http://127.0.0.1:8080", "https://evil.example"} }, 401},
		{"a page of another port", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:3000") }, 401},
		{"an image of another site", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 401},
		{"an image of another port", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 401},
		{"through a proxy", func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.1") }, 401},
		{"through a proxy that hides it", func(r *http.Request) { r.Header.Set("X-Forwarded-For", "") }, 401},
		{"through a standard proxy", func(r *http.Request) { r.Header.Set("Forwarded", "for=192.0.2.1") }, 401},
		{"through a proxy that tells the scheme", func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") }, 401},
		{"through Fly", func(r *http.Request) { r.Header.Set("Fly-Client-IP", "192.0.2.1") }, 401},
		{"through a gateway", func(r *http.Request) { r.Header.Set("Via", "1.1 gateway") }, 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newQuietWorld(t, noTokens)
			r := local("GET", "/v1/logs", "")
			tt.change(r)
			if got := w.do(r); got.Code != tt.status {
				t.Errorf("got %d: %s", got.Code, got.Body)
			}
		})
	}
}

// A page of another site can send what a form can send, whoever runs the browser.
func TestPagesOfOtherSitesChangeNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*http.Request){
		"cross-site":      func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"same-site":       func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"foreign origin":  func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"no site":         func(r *http.Request) { r.Header.Set("Origin", "null") },
		"form":            func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") },
		"plain text":      func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"no content type": func(r *http.Request) { r.Header.Del("Content-Type") },
		"rebound name":    func(r *http.Request) { r.Host = "evil.example" },
	} {
		for _, token := range []string{"", operatorToken} {
			if token != "" && name == "rebound name" {
				continue // a page that has the token needs no other name
			}
			t.Run(name+" "+token, func(t *testing.T) {
				t.Parallel()
				w := newQuietWorld(t, func(o *api.Options) { o.Token, o.Tokens = token, nil })
				r := local("POST", "/v1/session", `{"message":"Hello"}`)
				if token != "" {
					r.Header.Set("Authorization", "Bearer "+token)
				}
				change(r)
				if got := w.do(r); got.Code < 400 || len(w.runtime.sent) != 0 {
					t.Errorf("got %d: %s", got.Code, got.Body)
				}
			})
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		authorization []string
		principal     string // empty for a refusal
	}{
		{"operator", []string{"Bearer " + operatorToken}, "api:operator"},
		{"named", []string{"Bearer " + aliceToken}, "api:alice"},
		{"last of the list", []string{"Bearer " + bobToken}, "api:bob"},
		{"other case of the scheme", []string{"bearer " + aliceToken}, "api:alice"},
		{"spaces", []string{"Bearer   " + aliceToken + " "}, "api:alice"},
		{"none", nil, ""},
		{"empty", []string{"Bearer "}, ""},
		{"nothing but the scheme", []string{"Bearer"}, ""},
		{"longer", []string{"Bearer " + operatorToken + "x"}, ""},
		{"shorter", []string{"Bearer " + operatorToken[1:]}, ""},
		{"other case of the token", []string{"Bearer " + strings.ToUpper(operatorToken)}, ""},
		{"without a scheme", []string{operatorToken}, ""},
		{"another scheme", []string{"Basic " + operatorToken}, ""},
		{"with its name", []string{"Bearer alice:" + aliceToken}, ""},
		{"two headers", []string{"Bearer " + aliceToken, "Bearer " + operatorToken}, ""},
		{"two in one", []string{"Bearer " + aliceToken + ", Bearer " + operatorToken}, ""},
		{"the whole list", []string{"Bearer alice:" + aliceToken + ",bob:" + bobToken}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newQuietWorld(t)
			r := local("POST", "/v1/session", `{"message":"Hello"}`) // also from this machine a token is needed
			r.Header["Authorization"] = tt.authorization
			got := w.do(r)
			if tt.principal == "" {
				if got.Code != http.StatusUnauthorized || len(w.runtime.sent) != 0 {
					t.Errorf("got %d: %s", got.Code, got.Body)
				}
				return
			}
			if got.Code != http.StatusOK || len(w.runtime.sent) != 1 {
				t.Fatalf("got %d: %s", got.Code, got.Body)
			}
			m := w.runtime.sent[0]
			if m.Principal != tt.principal || m.Operator != (tt.principal == "api:operator") {
				t.Errorf("sent as %q, operator %t", m.Principal, m.Operator)
			}
		})
	}
}

// Where only named tokens are set nobody is the operator, on this machine neither.
func TestNamedTokensAlone(t *testing.T) {
	t.Parallel()
	w := newQuietWorld(t, func(o *api.Options) { o.Token = "" })
	if got := w.do(local("GET", "/v1/sessions", "")); got.Code != http.StatusUnauthorized {
		t.Errorf("without a token: %d", got.Code)
	}
	r := local("GET", "/v1/sessions", "")
	r.Header.Set("Authorization", "Bearer ")
	if got := w.do(r); got.Code != http.StatusUnauthorized {
		t.Errorf("with the empty token: %d", got.Code)
	}
}

// A named principal sees what is its own, and the operator everything.
func TestOwnership(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, do := range calls {
		if op := name; !strings.Contains(op, "ession") && op != "getApproval" && op != "listTools" && op != "callTool" || op == "startSession" || op == "listSessions" {
			continue
		}
		for token, want := range map[string]int{operatorToken: 200, aliceToken: 200, bobToken: 403} {
			response, err := do(t.Context(), w.as(token))
			read(t, response, err, want)
		}
	}
	for _, m := range w.runtime.sent {
		if m.Operator != (m.Principal == "api:operator") {
			t.Errorf("sent as %q, operator %t", m.Principal, m.Operator)
		}
	}
	for _, s := range w.runtime.stopped {
		if s.SessionID != sessionID || s.Operator != (s.Principal == "api:operator") {
			t.Errorf("stopped %+v", s)
		}
	}
	for token, want := range map[string]int{operatorToken: 2, aliceToken: 2, bobToken: 0} {
		response, err := w.as(token).ListSessions(t.Context(), nil)
		if got := parse[client.SessionList](t, response, err, 200); len(got.Sessions) != want {
			t.Errorf("%s sees %d sessions, want %d", token, len(got.Sessions), want)
		}
	}
	// What the store says about ownership does not replace what the engine says.
	w.runtime.fail(sessions.ErrNotAllowed)
	response, err := calls["continueSession"](context.Background(), w.as(aliceToken))
	read(t, response, err, 403)
}
