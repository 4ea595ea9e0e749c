package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/github"
	"github.com/liaison-bot/liaison/github/setup"
	"github.com/liaison-bot/liaison/manifests"
)

// The page about GitHub has every permission and event as the program has it,
// and shows what people see.
func TestGitHubIsDocumented(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "github.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	have := strings.ReplaceAll(string(data), "\r\n", "\n")

	var permissions strings.Builder
	permissions.WriteString("| permission | what for | without it |\n|---|---|---|\n")
	for _, p := range github.Permissions() {
		name := fmt.Sprintf("`%s: %s`", p.Name, p.Level)
		if p.Optional {
			name += " (not asked for)"
		}
		fmt.Fprintf(&permissions, "| %s | %s | %s |\n", name, p.Feature, p.Lost)
	}
	manifest, err := setup.Read(manifests.GitHubApp)
	if err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	for _, example := range []struct{ title, golden string }{
		{"The check and the comment", "seen/submitted.md"}, {"The comments on lines", "posted/review.md"}, {"An answer", "reply/conversation.md"},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "github", "testdata", filepath.FromSlash(example.golden)))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&seen, "<details><summary>%s, word for word</summary>\n\n~~~~~text\n%s\n~~~~~\n\n</details>\n", example.title,
			strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	want := between(t, have, "permissions", permissions.String())
	want = between(t, want, "seen", seen.String())
	want = between(t, want, "events", "`"+strings.Join(manifest.Events, "`, `")+"`\n")
	if have == want {
		return
	}
	if !*update {
		t.Fatalf("%s does not say what the program does: go test ./cmd/liaison -run TestGitHubIsDocumented -update", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
