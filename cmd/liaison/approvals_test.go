package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The approval that a fake service has.
const (
	fakeID       = "apr_00000000000000000000000000000001"
	fakeApproval = `{"id":"` + fakeID + `","version":1,"sessionId":"ses_1","turnId":"trn_1","callId":"c","toolName":"deploy","summary":"Deploys a service.","risk":"high",
		"subject":"octo/shop#12","input":{"service":"shop"},"inputText":"{\n  \"service\": \"shop\u001b[2J\"\n}","inputHash":"sha256:00","state":"%s","requestedBy":"github:user:1",
		"approvers":[{"slack":["U1"],"codeowners":true}],"minApprovals":2,"operatorMayDecide":true,"votes":[%s],"createdAt":"2026-01-02T03:04:05Z","expiresAt":"2026-01-03T03:04:05Z"%s}`
	fakeVote = `{"decision":"%s","by":"slack:user:T1:U1","place":"slack","reason":"go\u202e","at":"2026-01-02T03:05:05Z"}`
)

func TestApprovalsAreListedAndShown(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	waiting := fmt.Sprintf(fakeApproval, "approving", fmt.Sprintf(fakeVote, "approve"), "")
	f.answer("GET /v1/approvals", 200, `{"approvals":[`+waiting+`],"next":"`+fakeID+`"}`)
	f.answer("GET /v1/session/ses_1/approvals", 200, `{"approvals":[]}`)
	f.answer("GET /v1/approvals/"+fakeID, 200, `{"ok":true,"approval":`+waiting+`}`)
	got := f.liaison(t, "approvals", "list", "--limit", "1")
	if got.status != 0 || !strings.Contains(got.stdout, "APPROVAL") || !strings.Contains(got.stdout, fakeID+"  approving  deploy  octo/shop#12") || !strings.Contains(got.stdout, "github:user:1") {
		t.Errorf("listed as %s", got)
	}
	f.liaison(t, "approvals", "list", "--all", "--session", "ses_1")
	if asked := f.asked(); !strings.Contains(asked, "GET /v1/approvals?state=open&limit=1\n") || !strings.Contains(asked, "GET /v1/session/ses_1/approvals?state=all&limit=30") {
		t.Errorf("it asked\n%s", asked)
	}
	got = f.liaison(t, "approvals", "show", fakeID)
	for _, want := range []string{
		"state       approving\n", "who decides 2 of: Slack U1, code owners, the operator\n", "does        Deploys a service.\n", "about       octo/shop#12\n",
		"  \"service\": \"shop·[2J\"\n", "approved by slack:user:T1:U1 in slack, ", ": go·\n", "input hash  sha256:00\n",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is missing in\n%s", want, got.stdout)
		}
	}
	f = newFakeService(t)
	f.answer("GET /v1/approvals/"+fakeID, 200, `{"ok":true,"approval":`+fmt.Sprintf(fakeApproval, "failed", "",
		`,"outcome":{"text":"no\u001b route","isError":true,"durationMs":1500},"decision":`+fmt.Sprintf(fakeVote, "deny"))+`}`)
	got = f.liaison(t, "approvals", "show", fakeID)
	if !strings.Contains(got.stdout, "answer (1.5 s)\nno· route\n") || !strings.Contains(got.stdout, "denied by ") || strings.Contains(got.stdout, "expires ") {
		t.Errorf("shown as\n%s", got.stdout)
	}
}

func TestDecisionsAtTheCommandLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		verb, state, votes, decision string
		status                       int
		answer                       int
		says                         string
	}{
		"approved":         {verb: "approve", state: "approved", decision: "approve", answer: 200, says: fakeID + " is approved: deploy runs\n"},
		"the first of two": {verb: "approve", state: "approving", votes: fmt.Sprintf(fakeVote, "approve"), answer: 200, says: fakeID + " has 1 of 2 approvals\n"},
		"denied":           {verb: "deny", state: "denied", decision: "deny", answer: 200, says: fakeID + " is denied\n"},
		"decided already":  {verb: "deny", answer: 409, status: exitConflict},
		"not allowed":      {verb: "approve", answer: 403, status: exitNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeService(t)
			more := ""
			if c.decision != "" {
				more = `,"decision":` + fmt.Sprintf(fakeVote, c.decision)
			}
			f.answer("GET /v1/approvals/"+fakeID, 200, `{"ok":true,"approval":`+fmt.Sprintf(fakeApproval, "pending", "", "")+`}`)
			sent := make(chan string, 1)
			f.HandleFunc("POST /v1/session/ses_1/approvals/"+fakeID, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				sent <- strings.TrimSpace(string(body))
				w.WriteHeader(c.answer)
				if c.answer == 200 {
					fmt.Fprint(w, `{"ok":true,"approval":`+fmt.Sprintf(fakeApproval, c.state, c.votes, more)+`}`)
					return
				}
				fmt.Fprint(w, `{"ok":false,"error":"code","message":"why not"}`)
			})
			got := f.liaison(t, "approvals", c.verb, "--reason", "as agreed", fakeID)
			if got.status != c.status || got.stdout != c.says {
				t.Errorf("%s", got)
			}
			if c.status != 0 && !strings.Contains(got.stderr, fakeID+": why not") {
				t.Errorf("it says %s", got.stderr)
			}
			if body := <-sent; body != `{"decision":"`+c.verb+`","reason":"as agreed"}` {
				t.Errorf("it sent %s", body)
			}
		})
	}
}

func TestCallsAtTheCommandLine(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "input.json")
	if err := os.WriteFile(file, []byte(" {\"n\": 12345678901234567890}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args           []string
		in             string
		answer         int
		body           string
		sent           string
		status         int
		stdout, stderr string
	}{
		"a text":         {answer: 200, body: `{"ok":true,"result":"warm\u001b\n"}`, sent: `{"input":{}}`, stdout: "warm·\n"},
		"a value":        {args: []string{"--input", `{"a":"<b>"}`}, answer: 200, body: `{"ok":true,"result":{"n":12345678901234567890}}`, sent: `{"input":{"a":"\u003cb\u003e"}}`, stdout: "{\n  \"n\": 12345678901234567890\n}\n"},
		"from a file":    {args: []string{"--input", "@" + file, "--session", "ses_1"}, answer: 200, body: `{"ok":true,"result":""}`, sent: `{"input":{"n":12345678901234567890},"sessionId":"ses_1"}`, stdout: "\n"},
		"from a pipe":    {args: []string{"--input", "-", "--dry-run"}, in: `{"n":1}`, answer: 200, body: `{"ok":true,"result":"x"}`, sent: `{"dryRun":true,"input":{"n":1}}`, stdout: "x\n"},
		"as JSON":        {args: []string{"--json"}, answer: 200, body: `{"ok":true,"result":"x"}`, sent: `{"input":{}}`, stdout: "{\n  \"ok\": true,\n  \"result\": \"x\"\n}\n"},
		"one that fails": {answer: 200, body: `{"ok":true,"isError":true,"result":"no route"}`, sent: `{"input":{}}`, status: exitFailed, stdout: "no route\n"},
		"one that waits": {answer: 202, body: `{"ok":true,"approvalId":"` + fakeID + `"}`, sent: `{"input":{}}`, status: exitWaiting, stdout: fakeID + "\n", stderr: "liaison approvals show " + fakeID},
		"unknown":        {answer: 404, body: `{"ok":false,"error":"unknown_tool","message":"there is deploy"}`, sent: `{"input":{}}`, status: exitNotFound, stderr: "there is deploy"},
		"no JSON":        {args: []string{"--input", "{"}, status: exitUnusable, stderr: "--input: it is not JSON"},
		"no file":        {args: []string{"--input", "@" + file + ".none"}, status: exitUnusable, stderr: "--input: open"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeService(t)
			sent := make(chan string, 1)
			f.HandleFunc("POST /v1/tools/weather", func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				sent <- strings.TrimSpace(string(body))
				w.WriteHeader(c.answer)
				fmt.Fprint(w, c.body)
			})
			got := invocation{stdin: strings.NewReader(c.in)}.command(t, append([]string{"call", "weather", "--url", f.url}, c.args...)...)
			if got.status != c.status || got.stdout != c.stdout || !strings.Contains(got.stderr, c.stderr) {
				t.Errorf("%s", got)
			}
			if c.sent != "" {
				if body := <-sent; body != c.sent {
					t.Errorf("it sent %s, want %s", body, c.sent)
				}
			}
		})
	}
}

func TestMoments(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"": {}, "24h": now.Add(-24 * time.Hour), "90m": now.Add(-90 * time.Minute), "7d": now.AddDate(0, 0, -7), "0d": now,
		"2026-01-31":                time.Date(2026, 1, 31, 0, 0, 0, 0, time.Local),
		"2026-01-31T09:00:00Z":      time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC),
		"2026-01-31T09:00:00+02:00": time.Date(2026, 1, 31, 7, 0, 0, 0, time.UTC),
	} {
		if got, err := moment(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %s, want %s, %v", text, got, want, err)
		}
	}
	for _, text := range []string{"yesterday", "-1h", "-1d", "d", "31.1.2026", "24", "9999999d"} {
		if got, err := moment(text, now); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}

func TestTheAuditLogAtTheCommandLine(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	f.answer("GET /v1/audit", 200, `{"seq":4,"action":"asked"}`+"\n"+`{"seq":7,"action":"denied"}`+"\n")
	got := f.liaison(t, "audit", "--since", "2026-01-31T09:00:00Z", "--after", "3")
	if got.status != 0 || got.stdout != `{"seq":4,"action":"asked"}`+"\n"+`{"seq":7,"action":"denied"}`+"\n" {
		t.Errorf("%s", got)
	}
	if asked := f.asked(); asked != "GET /v1/audit?since=2026-01-31T09%3A00%3A00Z&after=3" {
		t.Errorf("it asked %s", asked)
	}
	for _, args := range [][]string{{"--since", "soon"}, {"--after", "-1"}} {
		if got := f.liaison(t, append([]string{"audit"}, args...)...); got.status != exitUnusable || !strings.Contains(got.stderr, args[0]) {
			t.Errorf("%v: %s", args, got)
		}
	}
}
