package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
)

func TestExitStatuses(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int{
		400: exitUnusable, 413: exitUnusable, 415: exitUnusable,
		401: exitNotAllowed, 403: exitNotAllowed,
		404: exitNotFound, 409: exitConflict, 429: exitBusy, 503: exitBusy, 500: exitFailed,
	} {
		f := newFakeService(t)
		f.answer("/", status, `{"ok":false,"error":"code","message":"what to do"}`)
		for _, args := range [][]string{
			{"sessions", "list"}, {"sessions", "show", "ses_1"}, {"sessions", "tail", "ses_1"}, {"sessions", "tail", "--no-follow", "ses_1"},
			{"sessions", "stop", "ses_1"}, {"send", "x"}, {"send", "--session", "ses_1", "x"}, {"trajectory", "ses_1"}, {"cost"}, {"cost", "ses_1"},
			{"deliveries", "list"}, {"deliveries", "show", "d"}, {"deliveries", "replay", "d"},
			{"dead", "list"}, {"dead", "retry", "l"}, {"dead", "drop", "l"},
			{"approvals", "list"}, {"approvals", "list", "--session", "ses_1"}, {"approvals", "show", "a"}, {"approvals", "approve", "a"}, {"approvals", "deny", "a"},
			{"call", "tool"}, {"tools"}, {"audit"},
			{"compact"}, {"backup", filepath.Join(t.TempDir(), "b")}, {"backup", "-"},
		} {
			got := f.liaison(t, args...)
			if got.status != want || !strings.Contains(got.stderr, "what to do") || got.stdout != "" {
				t.Errorf("%d answered to %v: %s", status, args, got)
			}
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	url := "http://" + gone.Addr().String()
	for _, args := range [][]string{{"sessions", "list"}, {"sessions", "tail", "ses_1"}, {"send", "x"}, {"compact"}, {"backup", filepath.Join(t.TempDir(), "b")}} {
		invocation{}.command(t, append(args, "--url", url)...).wants(t, exitUnreachable, "", "no service answers at "+url+`: is "liaison serve" running there?`)
	}
}

// The meaning of every status is in the help, and every constant in the table.
func TestExitHelp(t *testing.T) {
	t.Parallel()
	help := invocation{}.command(t, "--help")
	for _, status := range []int{0, exitFailed, exitUnusable, exitUnreachable, exitNotFound, exitConflict, exitNotAllowed, exitBusy, exitWaiting, exitInterrupted} {
		if !strings.Contains(help.stdout, fmt.Sprintf("\n  %3d  ", status)) {
			t.Errorf("%d is not explained", status)
		}
	}
	if n := len(exitMeanings()); n != 10 {
		t.Errorf("%d statuses are explained", n)
	}
}

// Where the service is and which token it gets.
func TestWhereAndWho(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	f.HandleFunc("GET /v1/sessions", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"ok":true,"sessions":[{"id":%q,"updatedAt":"2031-03-04T12:00:00Z","createdAt":"2031-03-04T12:00:00Z"}]}`, r.Header.Get("Authorization"))
	})
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	addr := strings.TrimPrefix(f.url, "http://")
	_, port, _ := net.SplitHostPort(addr)
	settings := write("settings.yaml", "addr: "+addr+"\napiToken: token-of-the-settings\n")
	empty := write("empty.yaml", "")
	tokenFile := write("token", "token-of-the-file\n")
	for name, c := range map[string]struct {
		environ []string
		args    []string
		want    string
	}{
		"the settings":           {nil, []string{"--config", settings}, "Bearer token-of-the-settings"},
		"the environment":        {[]string{"LIAISON_ADDR=" + addr, "LIAISON_API_TOKEN=token-of-the-environment"}, []string{"--config", empty}, "Bearer token-of-the-environment"},
		"no token":               {[]string{"LIAISON_ADDR=" + addr}, []string{"--config", empty}, `""`},
		"every interface":        {[]string{"LIAISON_ADDR=0.0.0.0:1", "PORT=" + port}, []string{"--config", empty}, `""`},
		"--url":                  {[]string{"LIAISON_API_TOKEN=token-of-the-environment"}, []string{"--url", f.url}, "Bearer token-of-the-environment"},
		"--url without settings": {nil, []string{"--url", f.url, "--config", settings}, `""`},
		"--token-file":           {[]string{"LIAISON_API_TOKEN=token-of-the-environment"}, []string{"--url", f.url, "--token-file", tokenFile}, "Bearer token-of-the-file"},
	} {
		got := invocation{environ: c.environ}.command(t, append([]string{"sessions", "list", "--json"}, c.args...)...)
		if got.status != 0 || !strings.Contains(got.stdout, c.want) {
			t.Errorf("%s: want %q, but got %s", name, c.want, got)
		}
	}
	for _, c := range []struct {
		environ []string
		args    []string
		says    string
	}{
		{[]string{"LIAISON_ADDR=127.0.0.1:0"}, []string{"--config", empty}, "--url"},
		{[]string{"LIAISON_ADDR=nowhere"}, []string{"--config", empty}, "LIAISON_ADDR"},
		{nil, []string{"--config", filepath.Join(dir, "none.yaml")}, "none.yaml"},
		{nil, []string{"--url", "http://liaison.example.com"}, "use https"},
		{nil, []string{"--url", "nonsense"}, "not the address of a service"},
		{nil, []string{"--url", f.url, "--token-file", filepath.Join(dir, "none")}, "--token-file"},
		{nil, []string{"--url", f.url, "--token-file", write("blank", "\n")}, "is empty"},
		{nil, []string{"--url", f.url, "--token-file", write("long", strings.Repeat("x", maxTokenFile+1))}, "longer than"},
	} {
		invocation{environ: c.environ}.command(t, append([]string{"sessions", "list"}, c.args...)...).wants(t, exitUnusable, "", c.says)
	}
}

func TestListenerURL(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080", ":8080": "http://127.0.0.1:8080", "0.0.0.0:80": "http://127.0.0.1:80",
		"[::]:8080": "http://[::1]:8080", "localhost:1": "http://localhost:1",
	} {
		if got, err := listenerURL(addr); got != want || err != nil {
			t.Errorf("%s: %s, %v", addr, got, err)
		}
	}
}

const hostile = "a title\x1b]0;owned\x07\u202etxt.exe"

// What strangers wrote never reaches a terminal as more than text; programs get it as it is.
func TestStrangersTextIsOnlyShown(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	quoted, _ := json.Marshal(hostile)
	h := string(quoted)
	when := `"2031-03-04T12:00:00Z"`
	session := `{"id":` + h + `,"channel":` + h + `,"mode":"chat","status":"active","title":` + h + `,"principal":` + h + `,"paused":` + h + `,"createdAt":` + when + `,"updatedAt":` + when + `}`
	usage := `{"inputTokens":1,"outputTokens":1,"cacheReadTokens":0,"cacheWriteTokens":0,"totalTokens":2}`
	f.answer("GET /v1/sessions", 200, `{"ok":true,"sessions":[`+session+`]}`)
	f.answer("GET /v1/session/s", 200, `{"ok":true,"session":`+session+`,"turns":[{"id":`+h+`,"status":"failed","message":`+h+`,"reason":`+h+`,"queuedAt":`+when+`,"usage":`+usage+`}]}`)
	f.answer("GET /v1/session/s/cost", 200, `{"ok":true,"sessionId":"s","total":{"usage":`+usage+`},"turns":[{"turnId":`+h+`,"model":`+h+`,"status":"completed","usage":`+usage+`}]}`)
	f.answer("POST /v1/session/s/stop", 200, `{"ok":true,"sessionId":`+h+`,"interrupted":`+h+`,"dropped":[`+h+`]}`)
	delivery := `{"source":"github","id":` + h + `,"seq":1,"status":"ignored","event":` + h + `,"decision":` + h + `,"receivedAt":` + when + `}`
	f.answer("GET /v1/deliveries", 200, `{"ok":true,"deliveries":[`+delivery+`]}`)
	f.answer("GET /v1/deliveries/github/d", 200, `{"ok":true,"delivery":`+delivery+`,"headers":{"User-Agent":`+h+`},"bodyBytes":3,"body":"G1tKCg=="}`)
	f.answer("GET /v1/dead", 200, `{"ok":true,"dead":[{"id":`+h+`,"kind":"outbox","reason":`+h+`,"at":`+when+`}]}`)
	r := &record{}
	for _, typ := range []string{"session.started", "message.received", "turn.queued", "turn.started", "step.completed", "reasoning.completed", "actions.requested",
		"action.approval_requested", "action.approval_resolved", "action.result", "message.completed", "turn.failed", "turn.completed", "of.tomorrow"} {
		r.add(typ, hostile, data{"channel": hostile, "title": hostile, "text": hostile, "reason": hostile, "waitsFor": hostile, "step": hostile, "note": hostile,
			"error": hostile, "name": hostile, "callId": hostile, "isError": true, "result": hostile, "principal": hostile,
			"approvalId": hostile, "args": data{hostile: hostile}, "state": hostile, "by": hostile, "place": hostile,
			"actions": []data{{"callId": "c", "name": hostile, "args": data{hostile: hostile}}}})
	}
	f.answer("GET /v1/session/s/events", 200, r.String())
	for _, args := range [][]string{
		{"sessions", "list"}, {"sessions", "show", "s"}, {"sessions", "stop", "s"}, {"sessions", "tail", "--no-follow", "s"}, {"cost", "s"}, {"trajectory", "s"},
		{"deliveries", "list"}, {"deliveries", "show", "--body", "d"}, {"dead", "list"},
	} {
		got := f.liaison(t, args...)
		if got.status != 0 || strings.ContainsAny(got.stdout+got.stderr, "\x1b\x07\u202e") {
			t.Errorf("%v: %q", args, got)
		}
		if !strings.Contains(got.stdout, "·]0;owned··txt.exe") && args[len(args)-1] != "d" {
			t.Errorf("%v shows nothing of it: %s", args, got)
		}
	}
	got := f.liaison(t, "sessions", "list", "--json")
	var list struct{ Sessions []struct{ Title string } }
	if err := json.Unmarshal([]byte(got.stdout), &list); err != nil || list.Sessions[0].Title != hostile {
		t.Errorf("a program gets %q, %v", list, err)
	}
	f.answer("GET /v1/session/refused", 404, `{"ok":false,"error":"not_found","message":`+h+`}`)
	if got := f.liaison(t, "sessions", "show", "refused"); strings.Contains(got.stderr, "\x1b") {
		t.Errorf("a refusal: %q", got)
	}
}

// A list goes over as many pages as it needs and no further.
func TestListsGoOverPages(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	ago := time.Now().Add(-3 * time.Hour).Format(time.RFC3339)
	f.HandleFunc("GET /v1/sessions", func(w http.ResponseWriter, r *http.Request) {
		page := map[string]string{"": "ses_3", "ses_3": "ses_2", "ses_2": "ses_1"}[r.URL.Query().Get("before")]
		next := `,"next":"` + page + `"`
		if page == "ses_1" {
			next = ""
		}
		fmt.Fprintf(w, `{"ok":true,"sessions":[{"id":%q,"channel":"github","status":"active","title":"Ünïcödé 日本","createdAt":%q,"updatedAt":%[2]q}]%s}`, page, ago, next)
	})
	want := "SESSION  STATUS  CHANNEL  CHANGED  TITLE\n" +
		"ses_3    active  github   3 h ago  Ünïcödé 日本\n" +
		"ses_2    active  github   3 h ago  Ünïcödé 日本\n"
	if got := f.liaison(t, "sessions", "list", "--limit", "2"); got.stdout != want || got.stderr != "" {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	if asked := f.asked(); asked != "GET /v1/sessions?limit=2\nGET /v1/sessions?before=ses_3&limit=1" {
		t.Errorf("asked %s", asked)
	}
	f.liaison(t, "sessions", "list", "--json", "--limit", "2").wants(t, 0, `"next": "ses_2"`, "")
	if got := f.liaison(t, "sessions", "list"); strings.Count(got.stdout, "ses_") != 3 {
		t.Error(got)
	}
	for _, command := range [][]string{{"sessions", "list"}, {"deliveries", "list"}, {"dead", "list"}, {"cost"}} {
		f.liaison(t, append(command, "--limit", "0")...).wants(t, exitUnusable, "", "--limit")
	}
}

// A filter may leave pages empty; that is not the end.
func TestDeliveriesGoOnAfterAnEmptyPage(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	f.HandleFunc("GET /v1/deliveries", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("before") == "" {
			fmt.Fprint(w, `{"ok":true,"deliveries":[],"next":77}`)
			return
		}
		fmt.Fprint(w, `{"ok":true,"deliveries":[{"source":"slack","id":"Ev1","seq":5,"status":"dead","receivedAt":"2031-03-04T12:00:00Z"}]}`)
	})
	f.liaison(t, "deliveries", "list", "--status", "dead", "--source", "slack", "--session", "ses_1").wants(t, 0, "slack:Ev1", "")
	if asked := f.asked(); !strings.Contains(asked, "before=77") || !strings.Contains(asked, "status=dead") || !strings.Contains(asked, "session=ses_1") {
		t.Errorf("asked %s", asked)
	}
	f.liaison(t, "deliveries", "list", "--status", "lost").wants(t, exitUnusable, "", `"lost" is not one of pending, done, ignored, dead`)
}

// Of several letters those before a refused one are decided about.
func TestDeadLetters(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	f.HandleFunc("POST /v1/dead/drop", func(w http.ResponseWriter, r *http.Request) {
		var letter struct{ ID string }
		_ = json.NewDecoder(r.Body).Decode(&letter)
		if letter.ID == "outbox:gone" {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"ok":false,"error":"not_found","message":"there is no such letter"}`)
			return
		}
		fmt.Fprintf(w, `{"ok":true,"id":%q}`, letter.ID)
	})
	f.liaison(t, "dead", "drop", "delivery:github:a/b", "outbox:gone", "outbox:c").
		wants(t, exitNotFound, "delivery:github:a/b is dropped\n", "outbox:gone: there is no such letter")
	if got := f.liaison(t, "dead", "drop", "--json", "x", "y"); got.stdout != "{\"id\":\"x\",\"ok\":true}\n{\"id\":\"y\",\"ok\":true}\n" {
		t.Error(got)
	}
}

func TestCompletionOffersSessions(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	f.answer("GET /v1/sessions", 200, `{"ok":true,"sessions":[{"id":"ses_9","title":"A title","createdAt":"2031-03-04T12:00:00Z","updatedAt":"2031-03-04T12:00:00Z"}]}`)
	invocation{}.command(t, "__complete", "sessions", "show", "--url", f.url, "").wants(t, 0, "ses_9\tA title\n:", "")
	invocation{}.command(t, "__complete", "sessions", "show", "--url", "http://127.0.0.1:1", "").wants(t, 0, ":", "")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		invocation{}.command(t, "completion", shell).wants(t, 0, "__complete", "")
	}
}

func TestEveryErrorOfACallHasAStatus(t *testing.T) {
	t.Parallel()
	cut := fmt.Errorf("wrapped: %w", &remote.CutError{Doing: "x", Cause: errors.New("y")})
	if got := statusOf(t.Context(), cut); got != exitUnreachable {
		t.Errorf("a cut connection: %d", got)
	}
	if got := statusOf(t.Context(), errors.New("other")); got != exitFailed {
		t.Errorf("another error: %d", got)
	}
}
