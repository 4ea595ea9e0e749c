package api_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/handlers/api"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// Files that are named so never get as far as the engine.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	for path, good := range map[string]bool{
		"a.txt": true, "a/b/c.txt": true, ".env.example": true, "src/pr/x": true, "docs/AGENTS.md": true, "..a": true, "a b.txt": true,
		"ünï/日本.md": true, "gitignore": true, ".gitignore": true, "comet": true, strings.Repeat("a/", 255) + "b": true,

		"": false, ".": false, "..": false, "../x": false, "a/../x": false, "a/../../x": false, "./a": false, "a//b": false, "a/": false,
		"/etc/passwd": false, "//host/share": false, `C:\x`: false, "C:/x": false, "c:x": false, `a\b`: false, `..\x`: false,
		"a\x00b": false, "a\nb": false, "a\x1b[31m": false, "file:stream": false, "a?": false,
		".git/config": false, ".GIT/config": false, "sub/.git/hooks/post-checkout": false, ".git": false, ".git./config": false, ".git /config": false,
		"AGENTS.md": false, "agents.MD": false, "CLAUDE.md": false, ".cursor/mcp.json": false, ".Cursor/rules": false, ".liaison/tools/echo/run": false,
		"pr/manifest.json": false, "PR/x": false, "thread/x": false,
		"NUL": false, "con.txt": false, "a/COM1": false, "lpt9.log": false, "com¹": false, "trail.": false, "trail ": false, " lead": false,
		strings.Repeat("a", 256): false, strings.Repeat("a/", 256) + "b": false,
	} {
		body, err := json.Marshal(map[string]any{"message": "m", "workspaceFiles": map[string]string{path: "text"}})
		if err != nil {
			t.Fatal(err)
		}
		w := newQuietWorld(t, noTokens)
		if got := w.do(local("POST", "/v1/session", string(body))); (got.Code == 200) != good {
			t.Errorf("%q: got %d: %s", path, got.Code, got.Body)
		}
	}
	for _, pair := range []string{`{"a":"","A":""}`, `{"a":"","a/b":""}`, `{"a/b/c":"","A/B":""}`} {
		w := newQuietWorld(t, noTokens)
		if got := w.do(local("POST", "/v1/session", `{"message":"m","workspaceFiles":`+pair+`}`)); got.Code != 400 {
			t.Errorf("%s: got %d", pair, got.Code)
		}
	}
}

func request(files string) json.RawMessage { return json.RawMessage(`{"files":` + files + `}`) }

func TestPrepareWritesWhatCameWithTheMessages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	brief, err := api.Channel{}.Prepare(t.Context(), sessions.Turn{
		SessionChannel: sessions.ChannelHTTP, Message: "Read a.", Request: request(`{"a.txt":"old","b/c.txt":"c"}`),
		Gathered: []state.Gathered{{Message: "I meant this one."}, {Message: "And d.", Request: request(`{"a.txt":"new","d":""}`)}},
	}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := "Read a.\n\nI meant this one.\n\nAnd d."; brief.Prompt != want {
		t.Errorf("the agent is told %q", brief.Prompt)
	}
	if brief.Note != "wrote 4 workspace files" {
		t.Errorf("the record says %q", brief.Note)
	}
	for name, want := range map[string]string{"a.txt": "new", "b/c.txt": "c", "d": ""} {
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	// A second attempt finds what the first one left.
	if _, err := (api.Channel{}).Prepare(t.Context(), sessions.Turn{Message: "m", Request: request(`{"a.txt":"newer","b/c.txt":"c"}`)}, dir); err != nil {
		t.Error(err)
	}
}

// In a session of another surface the agent is told what it finds there.
func TestPrepareNamesTheEvidence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	turn := sessions.Turn{SessionChannel: "github", Message: "Why?"}
	brief, err := api.Channel{}.Prepare(t.Context(), turn, dir)
	if err != nil || brief.Prompt != "Why?" {
		t.Errorf("an empty workspace is told as %q, %v", brief.Prompt, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "pr"), 0o700); err != nil {
		t.Fatal(err)
	}
	brief, err = api.Channel{}.Prepare(t.Context(), turn, dir)
	if err != nil || !strings.HasPrefix(brief.Prompt, "Why?\n\n") || !strings.Contains(brief.Prompt, "pr/") || !strings.Contains(brief.Prompt, "out of date") {
		t.Errorf("told %q, %v", brief.Prompt, err)
	}
}

// Links that an agent left in its workspace lead a later message's files nowhere else.
func TestPrepareFollowsNoLinks(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("untouched"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, target := range map[string]string{"file": secret, "folder": outside, "relative": filepath.Join("..", filepath.Base(outside), "secret")} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("this system makes no links:", err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "pr"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pr", filepath.Join(dir, "evidence")); err != nil {
		t.Fatal(err)
	}
	for _, files := range []string{`{"file":"x"}`, `{"relative":"x"}`, `{"folder/secret":"x"}`, `{"evidence/manifest.json":"x"}`} {
		if _, err := (api.Channel{}).Prepare(t.Context(), sessions.Turn{Message: "m", Request: request(files)}, dir); err != nil {
			t.Errorf("%s: %v", files, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, "pr")); err != nil || len(left) > 0 {
		t.Errorf("the host's own folder holds %v, %v", left, err)
	}
	for _, files := range []string{`{"pr":"x"}`, `{"file/below":"x"}`} {
		_, err := (api.Channel{}).Prepare(t.Context(), sessions.Turn{Message: "m", Request: request(files)}, dir)
		if err == nil || !strings.Contains(err.Error(), "in the session's workspace") {
			t.Errorf("%s: %v", files, err)
		}
	}
	if got, err := os.ReadFile(secret); err != nil || string(got) != "untouched" {
		t.Errorf("outside there is %q, %v", got, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(got) != "x" {
		t.Errorf("inside there is %q, %v", got, err)
	}
}

func TestTheChannelTellsTheWorldNothing(t *testing.T) {
	t.Parallel()
	c := api.Channel{}
	if _, err := c.Map(sessions.Delivery{}); err == nil {
		t.Error("it maps deliveries")
	}
	if effects, err := c.Effects(sessions.Turn{}, sessions.Report{Moment: sessions.MomentCompleted}); len(effects) > 0 || err != nil {
		t.Errorf("it wants %v, %v", effects, err)
	}
	if _, err := c.Deliver(t.Context(), sessions.Item{}); err == nil {
		t.Error("it delivers")
	}
}
