package state_test

import (
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/state"
)

func TestKeepHeader(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"X-GitHub-Event": true, "x-github-delivery": true, "Content-Type": true, "User-Agent": true,
		"X-Slack-Retry-Num": true, "X-Slack-Request-Timestamp": true,
		"X-Hub-Signature": false, "X-Hub-Signature-256": false, "X-Slack-Signature": false,
		"Authorization": false, "Cookie": false, "X-Github-Token": false, "X-Forwarded-For": false, "": false,
	} {
		if got := state.KeepHeader(name); got != want {
			t.Errorf("KeepHeader(%q) = %t, want %t", name, got, want)
		}
	}
}

func TestValidID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"a": true, "github:repo:1:pull:2": true, "pr:ö/r#1": true, strings.Repeat("x", state.MaxID): true,
		"": false, "a\x00b": false, "\xff": false, strings.Repeat("x", state.MaxID+1): false,
	} {
		if got := state.ValidID(id); got != want {
			t.Errorf("ValidID(%.20q) = %t, want %t", id, got, want)
		}
	}
}

func TestValidSessionID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"ses_01JABCDEF": true, "a-b_C9": true, strings.Repeat("x", 128): true,
		"": false, "-a": false, ".": false, "..": false, "a/b": false, `a\b`: false, "a.b": false,
		"a b": false, "é": false, "a\n": false, strings.Repeat("x", 129): false,
	} {
		if got := state.ValidSessionID(id); got != want {
			t.Errorf("ValidSessionID(%.20q) = %t, want %t", id, got, want)
		}
	}
}
