package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/handlers/api"
	"github.com/liaison-bot/liaison/state/memstore"
)

// Whatever is sent to start a session is answered in shape, and what is taken
// is what the body says, within the description.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{"message":"m"}`, `{"message":"m","title":"t","mode":"task","dryRun":true,"workspaceFiles":{"a/b":"c"}}`, `{"message":"m","message":"n"}`, `{"\u006dessage":"m"}`, `[`, "\xff", `{"message":"\ud800"}`, `{"message":"m","workspaceFiles":{"..\\x":""}}`} {
		f.Add([]byte(seed))
	}
	j, err := theJudge()
	if err != nil {
		f.Fatal(err)
	}
	runtime := newRuntime()
	a := api.New(api.Options{Runtime: runtime, Info: func() any { return nil }})
	f.Fuzz(func(t *testing.T, body []byte) {
		runtime.sent = nil
		w := world{t: t, api: a}
		r := local("POST", "/v1/session", string(body))
		r.Header.Set("Content-Type", "application/json")
		got := w.do(r)
		if err := j.response("POST", "/v1/session", got.Result(), got.Body.Bytes()); err != nil {
			t.Fatal(err)
		}
		if (got.Code == http.StatusOK) != (len(runtime.sent) == 1) {
			t.Fatalf("answered %d with %d sent", got.Code, len(runtime.sent))
		}
		if got.Code != http.StatusOK {
			return
		}
		if err := j.check(body, "components", "schemas", "StartRequest"); err != nil {
			t.Fatalf("taken, but not described: %v", err)
		}
		var said struct{ Message, Title string }
		if err := json.Unmarshal(body, &said); err != nil || runtime.sent[0].Text != said.Message || runtime.sent[0].Title != said.Title {
			t.Fatalf("sent %+v", runtime.sent[0])
		}
		if !utf8.ValidString(runtime.sent[0].Text) || strings.TrimSpace(runtime.sent[0].Text) == "" {
			t.Fatalf("sent the text %q", runtime.sent[0].Text)
		}
	})
}

// Whatever a query says, the answer is in shape.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"limit=1", "before=ses_1&channel=http&limit=500", "limit=1&limit=2", "%zz", "a;b", "limit=99999999999999999999", "before=%00"} {
		f.Add(seed)
	}
	j, err := theJudge()
	if err != nil {
		f.Fatal(err)
	}
	a := api.New(api.Options{Runtime: newRuntime(), Store: memstore.New(memstore.Options{}), Info: func() any { return nil }})
	f.Fuzz(func(t *testing.T, text string) {
		for _, path := range []string{"/v1/sessions", "/v1/deliveries", "/v1/dead", "/v1/logs"} {
			w := world{t: t, api: a}
			r := local("GET", path, "")
			r.URL = &url.URL{Path: path, RawQuery: text}
			got := w.do(r)
			if got.Code != http.StatusOK && got.Code != http.StatusBadRequest {
				t.Fatalf("%s?%s: %d %s", path, text, got.Code, got.Body)
			}
			if err := j.response("GET", path, got.Result(), got.Body.Bytes()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
