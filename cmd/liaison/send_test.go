package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sentTurn = `{"ok":true,"sessionId":"ses_1","turnId":"trn_2","continuationToken":"http:next","position":0,"traceUrl":"/t","playgroundUrl":"/p"}`

// conversation is the record of a session whose second turn is the one that is followed.
func conversation(end func(*record)) *record {
	r := &record{}
	r.add("session.started", "", data{"channel": "http"})
	r.add("message.received", "trn_1", data{"text": "first"})
	r.add("message.completed", "trn_1", data{"text": "an old reply"})
	r.add("turn.completed", "trn_1", data{"result": "an old reply"})
	r.add("turn.queued", "trn_2", data{"position": 1})
	r.add("turn.started", "trn_2", data{"attempt": 1})
	r.add("actions.requested", "trn_2", data{"actions": []data{{"callId": "c", "name": "read_file", "args": data{"path": "x"}}}})
	r.add("message.appended", "trn_2", data{"text": "It is "})
	r.add("message.appended", "trn_2", data{"text": "MIT\x1b[2J."})
	r.add("message.completed", "trn_2", data{"text": "It is MIT\x1b[2J."})
	end(r)
	r.add("message.completed", "trn_3", data{"text": "a later reply"})
	return r
}

func completed(r *record) {
	r.add("turn.completed", "trn_2", data{"result": "It is MIT.", "usage": data{"totalTokens": 1234}})
}

// The reply is all that comes on standard output, without anything that a
// terminal would obey.
func TestSendShowsTheReply(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	f.answer("POST /v1/session", 200, sentTurn)
	f.answer("GET /v1/session/ses_1/stream", 200, conversation(completed).String())
	got := f.liaison(t, "send", "Which licence?")
	if got.status != 0 || got.stdout != "It is MIT·[2J.\n" || got.stderr != "" {
		t.Error(got)
	}
}

func TestSendSaysHowATurnEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end    func(*record)
		status int
		stdout string
		stderr string
	}{
		"failed": {
			func(r *record) {
				r.add("turn.failed", "trn_2", data{"error": "the model is gone", "reason": "HTTP 500"})
			},
			exitFailed, "It is MIT", "turn trn_2 failed: the model is gone: HTTP 500",
		},
		"interrupted": {
			func(r *record) {
				r.add("turn.failed", "trn_2", data{"error": "turn interrupted", "reason": "stopped by api:operator", "interrupted": true})
			},
			exitFailed, "It is MIT", "turn trn_2 was interrupted: turn interrupted: stopped by api:operator",
		},
		"two messages": {
			func(r *record) { r.add("message.completed", "trn_2", data{"text": "And more."}); completed(r) },
			0, ".\nAnd more.\n", "",
		},
		"a whole that is other than its pieces": {
			func(r *record) {
				r.add("message.appended", "trn_2", data{"text": "Wron"})
				r.add("message.completed", "trn_2", data{"text": "Right."})
				completed(r)
			},
			0, "Wron\nRight.\n", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeService(t)
			f.answer("POST /v1/session", 200, sentTurn)
			f.answer("GET /v1/session/ses_1/stream", 200, conversation(c.end).String())
			f.liaison(t, "send", "Which licence?").wants(t, c.status, c.stdout, c.stderr)
		})
	}
}

// An agent that streams nothing still has a result.
func TestSendShowsAResultWithoutMessages(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	f.answer("POST /v1/session", 200, sentTurn)
	r := &record{}
	completed(r)
	f.answer("GET /v1/session/ses_1/stream", 200, r.String())
	if got := f.liaison(t, "send", "x"); got.stdout != "It is MIT.\n" || got.status != 0 {
		t.Error(got)
	}
}

func TestSendAsJSON(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	f.answer("POST /v1/session", 200, sentTurn)
	f.answer("GET /v1/session/ses_1/stream", 200, conversation(completed).String())
	got := f.liaison(t, "send", "x", "--json")
	var types []string
	for line := range strings.Lines(got.stdout) {
		var v struct{ Type, SessionID, ContinuationToken string }
		if err := json.Unmarshal([]byte(line), &v); err != nil || v.SessionID != "ses_1" {
			t.Fatalf("%q: %v", line, err)
		}
		types = append(types, v.Type+v.ContinuationToken)
	}
	want := "http:next turn.queued turn.started actions.requested message.appended message.appended message.completed turn.completed"
	if strings.Join(types, " ") != want || got.status != 0 {
		t.Errorf("%v\n%s", types, got)
	}
	f.liaison(t, "send", "x", "--json", "--no-follow").wants(t, 0, `"continuationToken": "http:next"`, "")
	if got := f.liaison(t, "send", "x", "--no-follow"); got.stdout != "ses_1\n" {
		t.Error(got)
	}
}

// What is sent is what was asked for.
func TestSendRequests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	notes := filepath.Join(dir, "notes.md")
	if err := os.WriteFile(notes, []byte("a note"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"start": {
			[]string{"--title", "T", "--dry-run", "--task", "--file", "in/notes.md=" + notes, "hello"},
			`{"dryRun":true,"message":"hello","mode":"task","title":"T","workspaceFiles":{"in/notes.md":"a note"}}`,
		},
		"plain": {[]string{"hello"}, `{"message":"hello"}`},
		"stdin": {[]string{"-"}, `{"message":"from a pipe"}`},
		"follow-up": {
			[]string{"--session", "ses_1", "--coalesce", "and?"},
			`{"admission":"coalesce","continuationToken":"http:now","message":"and?"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeService(t)
			var got string
			take := func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = string(body)
				fmt.Fprint(w, sentTurn)
			}
			f.HandleFunc("POST /v1/session", take)
			f.HandleFunc("POST /v1/session/ses_1", take)
			f.answer("GET /v1/session/ses_1", 200, `{"ok":true,"continuationToken":"http:now","session":{"id":"ses_1"},"turns":[]}`)
			args := append([]string{"send", "--no-follow", "--url", f.url}, c.args...)
			o := invocation{stdin: strings.NewReader("from a pipe")}.command(t, args...)
			var sent, want any
			if json.Unmarshal([]byte(got), &sent) != nil || json.Unmarshal([]byte(c.want), &want) != nil || fmt.Sprint(sent) != fmt.Sprint(want) {
				t.Errorf("sent %s, want %s\n%s", got, c.want, o)
			}
		})
	}
}

func TestSendRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	binary, large := filepath.Join(dir, "binary"), filepath.Join(dir, "large")
	for name, text := range map[string]string{binary: "\xff\xfe", large: strings.Repeat("x", maxMessage+1)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := newFakeService(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{""}, "the message is empty"},
		{[]string{"-"}, "the message is empty"},
		{[]string{"a\xff"}, "not UTF-8"},
		{[]string{"--session", "ses_1", "--title", "T", "x"}, "describe a new session"},
		{[]string{"--coalesce", "x"}, "needs --session"},
		{[]string{"x", "y"}, "accepts 1 arg"},
		{[]string{"--file", "/etc/passwd", "x"}, "must be below it"},
		{[]string{"--file", "../up=" + binary, "x"}, "must be below it"},
		{[]string{"--file", "a=" + filepath.Join(dir, "none"), "x"}, "none"},
		{[]string{"--file", "a=" + binary, "x"}, "not UTF-8 text"},
		{[]string{"--file", "a=" + large, "x"}, "longer than"},
		{[]string{"--file", "a=send.go", "--file", "./a=send.go", "x"}, "two files a"},
	} {
		f.liaison(t, append([]string{"send"}, c.args...)...).wants(t, exitUnusable, "", c.says)
	}
	if asked := f.asked(); asked != "" {
		t.Errorf("nothing was to be sent, but: %s", asked)
	}
}

// Ctrl-C ends the following only, unless more is asked for.
func TestSendInterrupted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags []string
		says  string
		stops bool
	}{
		"by default":          {nil, `the turn goes on; "liaison sessions tail ses_1" follows it`, false},
		"--stop-on-interrupt": {[]string{"--stop-on-interrupt"}, "interrupted trn_2", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeService(t)
			f.answer("POST /v1/session", 200, sentTurn)
			f.answer("POST /v1/session/ses_1/stop", 200, `{"ok":true,"sessionId":"ses_1","interrupted":"trn_2","dropped":[]}`)
			f.HandleFunc("GET /v1/session/ses_1/stream", func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprint(w, (&record{}).add("message.appended", "trn_2", data{"text": "It"}).String())
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			})
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			i := invocation{ctx: ctx, stdout: writerFunc(func([]byte) { interrupt() })}
			got := i.command(t, append([]string{"send", "x", "--url", f.url}, c.flags...)...)
			got.wants(t, exitInterrupted, "It\n", c.says)
			if stopped := strings.Contains(f.asked(), "POST /v1/session/ses_1/stop"); stopped != c.stops {
				t.Errorf("stopped: %v\n%s", stopped, f.asked())
			}
		})
	}
}

type writerFunc func([]byte)

func (w writerFunc) Write(p []byte) (int, error) { w(p); return len(p), nil }

// A connection that is cut within the reply leaves no trace in it.
func TestSendGoesOnAfterACut(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	f.answer("POST /v1/session", 200, sentTurn)
	whole := conversation(completed).String()
	lines := strings.SplitAfter(whole, "\n")
	calls := 0
	f.HandleFunc("GET /v1/session/ses_1/stream", func(w http.ResponseWriter, r *http.Request) {
		from := 0
		_, _ = fmt.Sscan(r.URL.Query().Get("startIndex"), &from)
		if calls++; calls == 1 {
			fmt.Fprint(w, strings.Join(lines[:8], ""), lines[8][:10])
			return
		}
		fmt.Fprint(w, strings.Join(lines[from:], ""))
	})
	got := f.liaison(t, "send", "x")
	if got.status != 0 || got.stdout != "It is MIT·[2J.\n" || calls != 2 {
		t.Errorf("%d connections, %s", calls, got)
	}
}

// Who follows a session sees what waits for a person, and what became of that.
func TestTailTellsOfApprovals(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	r := &record{}
	r.add("action.approval_requested", "trn_1", data{"approvalId": "apr_1", "callId": "c", "name": "deploy", "args": data{"service": "shop"}})
	r.add("action.approval_resolved", "trn_1", data{"approvalId": "apr_1", "callId": "c", "name": "deploy", "state": "denied", "by": "github:user:7", "place": "github", "reason": "not today"})
	r.add("action.approval_resolved", "trn_1", data{"approvalId": "apr_2", "callId": "d", "name": "deploy", "state": "expired"})
	f.answer("GET /v1/session/ses_1/events", 200, r.String())
	got := f.liaison(t, "sessions", "tail", "--no-follow", "ses_1")
	for _, want := range []string{
		"action.approval_requested apr_1 waits for a person: deploy {\"service\":\"shop\"}\n",
		"action.approval_resolved apr_1 is denied: deploy, by github:user:7 in github: not today\n",
		"action.approval_resolved apr_2 is expired: deploy\n",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is not in\n%s", want, got.stdout)
		}
	}
}
