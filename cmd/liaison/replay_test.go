package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func signedBy(secret, text string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

// A saved delivery arrives as the platform would send it, in whichever form it was saved.
func TestReplayOfSavedDeliveries(t *testing.T) {
	t.Parallel()
	const body = `{"action":"opened"}`
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	object := `{"event":"pull_request","id":"d-1","headers":{"X-GitHub-Hook-ID":"7","X-Hub-Signature-256":"sha256=old"},"body":` + body + `}`
	shown := `{"ok":true,"delivery":{"source":"github","event":"pull_request","id":"d-1"},"body":"` + base64.StdEncoding.EncodeToString([]byte(body)) + `"}`
	slack := `{"source":"slack","id":"Ev1","headers":{"Content-Type":"application/json"},"body":` + body + `}`
	settings := write("settings.yaml", "github:\n  webhookSecret: not used\n")
	for name, c := range map[string]struct {
		args   []string
		source string
		id     string // empty: a fresh one
		says   string
	}{
		"an object":           {[]string{"--file", write("object", object)}, "github", "", "accepted as github:replay-"},
		"what show printed":   {[]string{"--file", write("shown", shown), "--same-id"}, "github", "d-1", "accepted as github:d-1"},
		"from standard input": {[]string{"--file", "-", "--json"}, "github", "", `"id": "replay-`},
		"headers and body":    {[]string{"--headers", write("headers", "X-GitHub-Event: pull_request\nX-GitHub-Delivery: d-1\n"), "--body", write("body", body), "--same-id"}, "github", "d-1", "github:d-1"},
		"Slack's":             {[]string{"--file", write("slack", slack)}, "slack", "", "accepted as slack:Ev1"},
		"with other settings": {[]string{"--file", write("object2", object), "--config", settings}, "github", "", "accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeService(t)
			seen := 0
			f.HandleFunc("POST /webhooks/github", func(w http.ResponseWriter, r *http.Request) {
				seen++
				got, _ := io.ReadAll(r.Body)
				id := r.Header.Get("X-GitHub-Delivery")
				if c.source != "github" || string(got) != body || r.Header.Get("X-Hub-Signature-256") != "sha256="+signedBy("first", body) ||
					r.Header.Get("X-GitHub-Event") != "pull_request" || r.Header.Get("Content-Type") != "application/json" {
					t.Errorf("%v %s", r.Header, got)
				}
				if c.id != "" && id != c.id || c.id == "" && (len(id) < 20 || id == "d-1") {
					t.Errorf("the id is %q", id)
				}
				if r.Header.Get("Authorization") != "" {
					t.Error("a webhook carries the API's token")
				}
				w.WriteHeader(http.StatusAccepted)
				fmt.Fprintf(w, `{"ok":true,"delivery":%q}`, id)
			})
			f.HandleFunc("POST /webhooks/slack", func(_ http.ResponseWriter, r *http.Request) {
				seen++
				got, _ := io.ReadAll(r.Body)
				at := r.Header.Get("X-Slack-Request-Timestamp")
				if c.source != "slack" || string(got) != body || r.Header.Get("X-Slack-Signature") != "v0="+signedBy("slacks", "v0:"+at+":"+body) {
					t.Errorf("%v %s", r.Header, got)
				}
			})
			i := invocation{
				environ: []string{"GITHUB_WEBHOOK_SECRET=first,second", "SLACK_SIGNING_SECRET=slacks", "LIAISON_API_TOKEN=the-token-of-the-api"},
				stdin:   strings.NewReader(object),
			}
			got := i.command(t, append([]string{"deliveries", "replay", "--url", f.url}, c.args...)...)
			got.wants(t, 0, c.says, "")
			if seen != 1 {
				t.Errorf("%d deliveries arrived", seen)
			}
		})
	}
}

func TestReplaySaysThatAnIdWasThere(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	f.answer("POST /webhooks/github", 202, `{"ok":true,"delivery":"d-1","duplicate":true}`)
	f.answer("POST /v1/deliveries/github/d-1/replay", 202, `{"ok":true,"id":"d-1"}`)
	f.answer("POST /v1/deliveries/slack/Ev1/replay", 202, `{"ok":true,"id":"Ev1"}`)
	i := func() invocation {
		return invocation{environ: []string{"GITHUB_WEBHOOK_SECRET=s"}, stdin: strings.NewReader(`{"event":"push","id":"d-1","body":{}}`)}
	}
	i().command(t, "deliveries", "replay", "--file", "-", "--same-id", "--url", f.url).wants(t, 0, "was there already", "")
	i().command(t, "deliveries", "replay", "--file", "-", "--same-id", "--json", "--url", f.url).wants(t, 0, `"duplicate": true`, "")
	f.liaison(t, "deliveries", "replay", "d-1").wants(t, 0, "github:d-1 is pending again", "")
	f.liaison(t, "deliveries", "replay", "slack:Ev1").wants(t, 0, "slack:Ev1 is pending again", "")
}

func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty, headers := filepath.Join(dir, "empty.yaml"), filepath.Join(dir, "headers")
	for name, text := range map[string]string{empty: "", headers: "X-GitHub-Event: push\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args  []string
		stdin string
		says  string
	}{
		{nil, "", "name a stored delivery"},
		{[]string{"--headers", headers}, "", "--headers with --body"},
		{[]string{"d-1", "--file", "-"}, "", "one thing to replay"},
		{[]string{"--file", "-", "--body", headers}, "", "one thing to replay"},
		{[]string{"d-1", "--same-id"}, "", "a stored delivery keeps its id"},
		{[]string{"a", "b"}, "", "at most 1 arg"},
		{[]string{"--file", filepath.Join(dir, "none")}, "", "none"},
		{[]string{"--file", "-"}, "[]", "no saved delivery"},
		{[]string{"--file", "-", "--config", empty}, `{"event":"push","body":{}}`, "set GITHUB_WEBHOOK_SECRET"},
		{[]string{"--file", "-", "--config", empty}, `{"source":"slack","body":{}}`, "set SLACK_SIGNING_SECRET"},
	} {
		i := invocation{stdin: strings.NewReader(c.stdin)}
		i.command(t, append([]string{"deliveries", "replay"}, c.args...)...).wants(t, exitUnusable, "", c.says)
	}
}
