package api_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	client "github.com/liaison-bot/liaison/gen/api"
	"github.com/liaison-bot/liaison/handlers/api"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

func TestStartAndFollowUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *api.Options) { o.PublicURL = "https://liaison.example.com/" })
	c := w.as(aliceToken)
	response, err := c.StartSession(t.Context(), client.StartRequest{
		Message: "What can you do?", Title: new("Questions"), Mode: new(client.ModeTask), DryRun: new(true),
		WorkspaceFiles: &client.WorkspaceFiles{"notes/a.txt": "hello"},
	})
	got := parse[client.Sent](t, response, err, 200)
	want := client.Sent{
		Ok: true, SessionId: "ses_new", TurnId: "trn_new", ContinuationToken: "http:next", Position: 2,
		PlaygroundUrl: "https://liaison.example.com/?sessionId=ses_new",
		TraceUrl:      "https://liaison.example.com/v1/session/ses_new/events",
	}
	if got != want {
		t.Errorf("answered %+v", got)
	}
	response, err = c.ContinueSession(t.Context(), sessionID, client.ContinueRequest{
		ContinuationToken: "http:now", Message: " Shorter.", Admission: new(client.ContinueRequestAdmissionCoalesce),
	})
	read(t, response, err, 200)
	response, err = c.ContinueSession(t.Context(), sessionID, client.ContinueRequest{ContinuationToken: "http:now", Message: "Now."})
	read(t, response, err, 200)

	sent := []sessions.Message{
		{Channel: "http", Principal: "api:alice", Text: "What can you do?", Title: "Questions", Mode: state.ModeTask, DryRun: true,
			Request: json.RawMessage(`{"files":{"notes/a.txt":"hello"}}`)},
		{Channel: "http", SessionID: sessionID, Token: "http:now", Principal: "api:alice", Text: " Shorter.", Admission: sessions.AdmitCoalesce},
		{Channel: "http", SessionID: sessionID, Token: "http:now", Principal: "api:alice", Text: "Now.", Admission: sessions.AdmitPreempt},
	}
	if !reflect.DeepEqual(w.runtime.sent, sent) {
		t.Errorf("sent\n%+v, want\n%+v", w.runtime.sent, sent)
	}
}

// Without a public address links lead to where the caller is.
func TestLinksWithoutAPublicURL(t *testing.T) {
	t.Parallel()
	w := newQuietWorld(t)
	for proto, want := range map[string]string{"": "http", "https": "https", "javascript": "http"} {
		r := local("POST", "/v1/session", `{"message":"Hello"}`)
		r.Host = "bot.example.com"
		r.Header.Set("Authorization", "Bearer "+operatorToken)
		r.Header.Set("X-Forwarded-Proto", proto)
		var got client.Sent
		if err := json.Unmarshal(w.do(r).Body.Bytes(), &got); err != nil || got.TraceUrl != want+"://bot.example.com/v1/session/ses_new/events" {
			t.Errorf("%q leads to %q, %v", proto, got.TraceUrl, err)
		}
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	response, err := w.as(aliceToken).StopSession(t.Context(), sessionID, client.StopRequest{Reason: new("enough")})
	got := parse[client.Stopped](t, response, err, 200)
	if got.SessionId != sessionID || got.Interrupted == nil || *got.Interrupted != turnID || len(got.Dropped) != 1 {
		t.Errorf("answered %+v", got)
	}
	response, err = w.as(operatorToken).StopSessionWithBody(t.Context(), sessionID, "", nil) // nothing is said
	read(t, response, err, 200)
	want := []sessions.StopRequest{
		{SessionID: sessionID, Principal: "api:alice", Reason: "enough"},
		{SessionID: sessionID, Principal: "api:operator", Operator: true},
	}
	if !reflect.DeepEqual(w.runtime.stopped, want) {
		t.Errorf("stopped %+v", w.runtime.stopped)
	}
}

func TestBodiesAreRead(t *testing.T) {
	t.Parallel()
	files := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"f%d":""`, i))
		}
		return `{"message":"m","workspaceFiles":{` + strings.Join(all, ",") + `}}`
	}
	for _, tt := range []struct {
		name, body string
		status     int
		says       string
	}{
		{"least", `{"message":"m"}`, 200, ""},
		{"spaces", " {\n\t\"message\" : \"m\" } \r\n", 200, ""},
		{"escapes", `{"message":"\u00e4\ud83d\ude00\n"}`, 200, ""},
		{"100 files", files(100), 200, ""},
		{"101 files", files(101), 400, "at most 100"},
		{"title of 200", `{"message":"m","title":"` + strings.Repeat("ä", 200) + `"}`, 200, ""},
		{"title of 201", `{"message":"m","title":"` + strings.Repeat("ä", 201) + `"}`, 400, `"title"`},
		{"title of two lines", `{"message":"m","title":"a\nb"}`, 400, `"title"`},
		{"1 MiB", `{"message":"` + strings.Repeat("m", 1<<20-len(`{"message":""}`)) + `"}`, 200, ""},
		{"1 MiB and a byte", `{"message":"` + strings.Repeat("m", 1<<20-len(`{"message":""}`)+1) + `"}`, 413, ""},
		{"nothing", "", 400, "object"},
		{"no message", `{"title":"t"}`, 400, `"message" is missing`},
		{"empty message", `{"message":""}`, 400, `"message"`},
		{"blank message", `{"message":" \n\u00a0"}`, 400, `"message"`},
		{"null", `{"message":null}`, 400, `"message" has the wrong type`},
		{"a number", `{"message":1}`, 400, `"message" has the wrong type`},
		{"unknown field", `{"message":"m","mesage":"m"}`, 400, `"mesage"`},
		{"a token to start", `{"message":"m","continuationToken":"t"}`, 400, `"continuationToken"`},
		{"other case", `{"Message":"m"}`, 400, `"Message"`},
		{"twice", `{"message":"m","message":"n"}`, 400, `"message" twice`},
		{"twice, escaped", `{"message":"m","\u006dessage":"n"}`, 400, `"message" twice`},
		{"unknown mode", `{"message":"m","mode":"other"}`, 400, `"mode"`},
		{"files that are no texts", `{"message":"m","workspaceFiles":{"a":1}}`, 400, `"workspaceFiles"`},
		{"a file that is null", `{"message":"m","workspaceFiles":{"a":null}}`, 400, `"workspaceFiles"`},
		{"a file that is there twice", `{"message":"m","workspaceFiles":{"a":"1","a":"2"}}`, 400, `"a" twice`},
		{"a list of files", `{"message":"m","workspaceFiles":["a"]}`, 400, `"workspaceFiles"`},
		{"dryRun in words", `{"message":"m","dryRun":"true"}`, 400, `"dryRun"`},
		{"a list", `[{"message":"m"}]`, 400, "object"},
		{"two objects", `{"message":"m"}{"message":"n"}`, 400, "follows"},
		{"cut", `{"message":"m"`, 400, "well-formed"},
		{"cut in a value", `{"message":"m`, 400, "well-formed"},
		{"no value", `{"message":}`, 400, "well-formed"},
		{"comment", `{"message":"m"/**/}`, 400, "well-formed"},
		{"comma at the end", `{"message":"m",}`, 400, "well-formed"},
		{"UTF-16", "\xff\xfe{\x00", 400, "UTF-8"},
		{"byte order mark", "\ufeff{\"message\":\"m\"}", 400, "object"},
		{"not UTF-8", "{\"message\":\"\xc3\x28\"}", 400, "UTF-8"},
		{"deep", `{"message":` + strings.Repeat("[", 100_000) + `}`, 400, "well-formed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newQuietWorld(t)
			r := local("POST", "/v1/session", tt.body)
			r.Header.Set("Content-Type", "application/json; charset=UTF-8")
			r.Header.Set("Authorization", "Bearer "+operatorToken)
			got := w.do(r)
			if got.Code != tt.status || (len(w.runtime.sent) == 1) != (tt.status == 200) {
				t.Fatalf("got %d: %s", got.Code, got.Body)
			}
			var e client.Error
			if err := json.Unmarshal(got.Body.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
			if tt.says != "" && (e.Message == nil || !strings.Contains(*e.Message, tt.says)) {
				t.Errorf("it says %s, and not %q", got.Body, tt.says)
			}
		})
	}
}

// A body of unknown length is bounded too, and so is what is read of it.
func TestBodiesWithoutALength(t *testing.T) {
	t.Parallel()
	w := newQuietWorld(t)
	r := local("POST", "/v1/session", strings.Repeat(" ", 1<<20+1))
	r.ContentLength = -1
	r.Header.Set("Authorization", "Bearer "+operatorToken)
	if got := w.do(r); got.Code != 413 {
		t.Errorf("got %d", got.Code)
	}
	r = local("POST", "/v1/session", `{}`)
	r.Header.Set("Authorization", "Bearer "+operatorToken)
	r.Header.Set("Content-Encoding", "gzip")
	if got := w.do(r); got.Code != 415 {
		t.Errorf("an encoded body got %d", got.Code)
	}
}

func TestFollowUpsAreRead(t *testing.T) {
	t.Parallel()
	for body, status := range map[string]int{
		`{"continuationToken":"t","message":"m"}`:                                          200,
		`{"continuationToken":"t","message":"m","admission":"preempt"}`:                    200,
		`{"continuationToken":"` + strings.Repeat("t", state.MaxID) + `","message":"m"}`:   200,
		`{"continuationToken":"` + strings.Repeat("t", state.MaxID+1) + `","message":"m"}`: 400,
		`{"continuationToken":"","message":"m"}`:                                           400,
		`{"message":"m"}`:                                                                  400,
		`{"continuationToken":"t"}`:                                                        400,
		`{"continuationToken":"t","message":"m","admission":"queue"}`:                      400,
		`{"continuationToken":"t","message":"m","title":"t"}`:                              400,
		`{"continuationToken":"t","message":"m","workspaceFiles":{"../x":"y"}}`:            400,
	} {
		w := newQuietWorld(t)
		r := local("POST", "/v1/session/"+sessionID, body)
		r.Header.Set("Authorization", "Bearer "+aliceToken)
		if got := w.do(r); got.Code != status || (len(w.runtime.sent) == 1) != (status == 200) {
			t.Errorf("%.60s: got %d: %s", body, got.Code, got.Body)
		}
	}
}

func TestRefusalsOfTheEngine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err    error
		status int
		code   client.Error
	}{
		{sessions.ErrStaleToken, 409, client.Error{Error: "stale_token"}},
		{sessions.ErrTask, 409, client.Error{Error: "task_session"}},
		{sessions.ErrNotAllowed, 403, client.Error{Error: "not_owner"}},
		{state.ErrNotFound, 404, client.Error{Error: "not_found"}},
		{state.ErrConflict, 409, client.Error{Error: "conflict"}},
		{state.ErrInvalid, 400, client.Error{Error: "bad_request"}},
		{state.ErrUnavailable, 503, client.Error{Error: "unavailable"}},
	} {
		w := newWorld(t)
		w.runtime.fail(tt.err)
		response, err := calls["continueSession"](t.Context(), w.as(aliceToken))
		if got := parse[client.Error](t, response, err, tt.status); got.Error != tt.code.Error || got.Ok || got.Message == nil {
			t.Errorf("%v becomes %+v", tt.err, got)
		}
	}
	// What nobody expects is not told.
	w := newQuietWorld(t)
	w.runtime.fail(fmt.Errorf("inner workings"))
	r := local("POST", "/v1/session", `{"message":"m"}`)
	r.Header.Set("Authorization", "Bearer "+aliceToken)
	if got := w.do(r); got.Code != 500 || strings.Contains(got.Body.String(), "workings") {
		t.Errorf("got %d: %s", got.Code, got.Body)
	}
}
