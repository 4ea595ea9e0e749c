package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/slack/setup"
)

// The page about Slack has every scope, event and setting as the program has it.
func TestSlackIsDocumented(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "slack.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	have := strings.ReplaceAll(string(data), "\r\n", "\n")

	var scopes, events, settings strings.Builder
	scopes.WriteString("| scope | what for | without it |\n|---|---|---|\n")
	for _, s := range setup.Scopes() {
		fmt.Fprintf(&scopes, "| `%s` | %s | %s |\n", s.Name, s.Feature, s.Lost)
	}
	events.WriteString("| event | what for |\n|---|---|\n")
	for _, e := range setup.Events() {
		fmt.Fprintf(&events, "| `%s` | %s |\n", e.Name, e.Feature)
	}
	settings.WriteString("| liaison.yaml | environment | default | |\n|---|---|---|---|\n")
	for _, s := range config.Settings() {
		if !strings.HasPrefix(s.Key, "slack.") && s.Env != config.EnvPeople && s.Env != config.EnvEncryptionKey {
			continue
		}
		fallback := ""
		if s.Default != "" {
			fallback = "`" + s.Default + "`"
		}
		fmt.Fprintf(&settings, "| `%s` | `%s` | %s | %s |\n", s.Key, s.Env, fallback, strings.ReplaceAll(s.Doc, "|", `\|`))
	}
	want := between(t, have, "scopes", scopes.String())
	want = between(t, want, "events", events.String())
	want = between(t, want, "settings", settings.String())
	if have == want {
		return
	}
	if !*update {
		t.Fatalf("%s does not say what the program does: go test ./cmd/liaison -run TestSlackIsDocumented -update", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
