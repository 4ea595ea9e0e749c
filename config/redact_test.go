package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/config"
)

func TestRedactPatterns(t *testing.T) {
	t.Parallel()
	c := load(t, "LIAISON_REDACT_PATTERNS=corp-[0-9]{4,8}\n\n  acme_[a-z]+(?:,x)?  \n", "LIAISON_API_TOKEN=registered-token")
	if want := []string{"corp-[0-9]{4,8}", "acme_[a-z]+(?:,x)?"}; !slices.Equal(c.RedactPatterns, want) {
		t.Errorf("patterns %q, want %q", c.RedactPatterns, want)
	}
	if got := c.Redactor().String("corp-123456 acme_x,x registered-token and corp-1"); got != "[redacted] [redacted] [redacted] and corp-1" {
		t.Errorf("masked as %q", got)
	}

	file := filepath.Join(t.TempDir(), "liaison.yaml")
	if err := os.WriteFile(file, []byte("redact: {patterns: ['a{2,3}', \"b, c\"]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fromFile, err := config.Load(nil, file)
	if err != nil || !slices.Equal(fromFile.RedactPatterns, []string{"a{2,3}", "b, c"}) {
		t.Errorf("of the file: %+v, %v", fromFile, err)
	}
}

func TestRedactPatternsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ patterns, want string }{
		"no expression":        {"a(", "no RE2 expression"},
		"matching nothing":     {"x*", "matches nothing at all"},
		"matching a border":    {`\b`, "matches nothing at all"},
		"longer than is taken": {strings.Repeat("a", 501), "at most 500"},
		"more than are taken":  {strings.Repeat("abc\n", 51), "at most 50"},
	} {
		_, err := config.Load([]string{"LIAISON_REDACT_PATTERNS=" + c.patterns}, "")
		problem, ok := errors.AsType[*config.Error](err)
		if !ok || problem.Setting != config.EnvRedactPatterns || !strings.Contains(problem.Problem, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
