package evidence

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestConfiguresAgent(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"AGENTS.md": true, "agents.md": true, "pkg/deep/AGENTS.md": true, "CLAUDE.md": true, "CLAUDE.local.md": true, "GEMINI.md": true,
		".cursor/rules/a.mdc": true, ".cursor/mcp.json": true, ".cursorrules": true, "web/.Cursor/hooks.json": true,
		".mcp.json": true, ".claude/settings.json": true, ".claude/hooks/x.sh": true, ".codex/config.toml": true,
		".github/copilot-instructions.md": true, ".github/instructions/go.instructions.md": true, ".github/prompts/x.prompt.md": true,
		".vscode/mcp.json": true, ".vscode/tasks.json": true, ".husky/pre-commit": true, ".githooks/post-checkout": true,
		".pre-commit-config.yaml": true, "lefthook.yml": true, ".gemini/settings.json": true, ".git/hooks/pre-commit": true,
		// A link or a submodule of the folder's name.
		".claude": true, "sub/.cursor": true,
		// What a careless file system takes for the same.
		"AGENTS.md.": true, "AGENTS.md ": true, ".clau\u200bde/settings.json": true, "AGE\u00adNTS.MD": true,

		"": false, "README.md": false, "agents.go": false, "docs/agents-guide.md": false, "claude/x.go": false, "cursor.ts": false,
		".github/workflows/ci.yml": false, ".vscode/extensions.json": false, "hooks/useState.ts": false, "src/hooks/index.ts": false,
	} {
		if got := configuresAgent(path); got != want {
			t.Errorf("configuresAgent(%q) is %t, want %t", path, got, want)
		}
	}
}

func TestRiskOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]risk{
		".github/workflows/ci.yml": riskAutomation, ".github/dependabot.yml": riskAutomation, "Dockerfile": riskAutomation,
		"infra/main.tf": riskAutomation, "CODEOWNERS": riskAutomation, "docs/CODEOWNERS": riskAutomation, "AGENTS.md": riskAutomation,
		"db/migrations/0001.py": riskMigration, "schema.sql": riskMigration,
		"go.mod": riskDependency, "web/package.json": riskDependency, "requirements-dev.txt": riskDependency,
		"internal/auth/login.go": riskSecurity, "pkg/userSession.ts": riskSecurity, "lib/jwt_token.py": riskSecurity,
		"pkg/author.go": riskCode, "main.go": riskCode, "monkey/tree.rs": riskCode,
		"main_test.go": riskTest, "tests/auth.py": riskTest, "a.spec.ts": riskTest,
		"config.yaml": riskOther, "unknown": riskOther,
		"README.md": riskDocs, ".github/PULL_REQUEST_TEMPLATE.md": riskDocs, "docs/logo.drawio": riskDocs,
		"go.sum": riskGenerated, "vendor/a/auth.go": riskGenerated, "api.pb.go": riskGenerated, "web/package-lock.json": riskGenerated,
	} {
		f := File{Path: path, AgentConfig: configuresAgent(path)}
		if got := riskOf(&f); got != want {
			t.Errorf("riskOf(%q) is %d, want %d", path, got, want)
		}
	}
	// A rename does not hide what the file was.
	if got := riskOf(&File{Path: "docs/x.md", PreviousPath: ".github/workflows/x.yml"}); got != riskAutomation {
		t.Errorf("a workflow renamed to a document has risk %d, want %d", got, riskAutomation)
	}
}

func TestEscapePath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"a/b.go": "a/b.go", "a b?c#d%2e.go": "a%20b%3Fc%23d%252e.go", "日本": "%E6%97%A5%E6%9C%AC", "-rf": "-rf", "a..b": "a..b", "x\ny": "x%0Ay",
	} {
		if got, ok := escapePath(path); !ok || got != want {
			t.Errorf("escapePath(%q) is %q, %t; want %q", path, got, ok, want)
		}
	}
	for _, path := range []string{"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b"} {
		if got, ok := escapePath(path); ok {
			t.Errorf("escapePath(%q) is %q, want refused", path, got)
		}
	}
}

// FuzzPath puts any name that a stranger can choose through all that handles
// names: none may leave the repository's part of the API or break a line.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"a/b.go", "../x", "-x", "a\nb", "\"q\"", "%2e%2e/x", "a?b#c", "日本", "\xff\xfe", "AGENTS.md", ".cursor/\u200bx", `a\..\b`} {
		f.Add(s)
	}
	base, err := url.Parse("https://api.github.com/api/v3/")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path string) {
		file := File{Path: path, PreviousPath: path, AgentConfig: configuresAgent(path)}
		if r := riskOf(&file); r < riskAutomation || r > riskGenerated {
			t.Errorf("risk %d", r)
		}
		if q := quote(path); strings.ContainsAny(q, "\n\r") || len(q) > 10*maxName+100 || !utf8.ValidString(q) {
			t.Errorf("quote(%q) is %q", path, q)
		}
		escaped, ok := escapePath(path)
		if !ok {
			return
		}
		u, err := base.Parse("repos/o/r/contents/" + escaped + "?ref=abc")
		if err != nil {
			t.Fatalf("%q is no URL: %v", escaped, err)
		}
		const prefix = "/api/v3/repos/o/r/contents/"
		if u.Host != base.Host || u.Path != prefix+path || u.RawQuery != "ref=abc" || u.Fragment != "" {
			t.Errorf("%q leads to %s", path, u)
		}
	})
}

func TestAsText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in, want, encoding string
		ok                 bool
	}{
		"empty":             {"", "", "utf-8", true},
		"UTF-8":             {"é\n", "é\n", "utf-8", true},
		"byte order mark":   {"\xef\xbb\xbfx", "\ufeffx", "utf-8", true},
		"UTF-16, little":    {"\xff\xfea\x00", "a", "utf-16le", true},
		"UTF-16, big":       {"\xfe\xff\x00a", "a", "utf-16be", true},
		"UTF-16, surrogate": {"\xff\xfe\x3d\xd8\x00\xde", "😀", "utf-16le", true},
		"UTF-16, lone half": {"\xff\xfe\x3d\xd8", "\uFFFD", "utf-16le", true},
		"UTF-16 with a NUL": {"\xff\xfea\x00\x00\x00", "", "utf-16le", false},
		"UTF-16, odd":       {"\xff\xfea\x00\x00", "", "", false},
		"latin-1":           {"caf\xe9", "café", "latin-1", true},
		"latin-1, controls": {"caf\xe9\x01", "", "", false},
		"NUL":               {"a\x00", "", "", false},
		"escape in UTF-8":   {"\x1b[0m", "\x1b[0m", "utf-8", true},
	} {
		got, encoding, ok := asText([]byte(c.in))
		if string(got) != c.want || encoding != c.encoding || ok != c.ok {
			t.Errorf("%s: %q, %q, %t; want %q, %q, %t", name, got, encoding, ok, c.want, c.encoding, c.ok)
		}
	}
}

func TestCountPatch(t *testing.T) {
	t.Parallel()
	add, del := countPatch("@@ -1,3 +1,3 @@ func x\n a\n--- b\n+++ c\n+d\n\\ No newline at end of file")
	if add != 2 || del != 1 {
		t.Errorf("+%d -%d, want +2 -1", add, del)
	}
	const sub = "@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2"
	if !isSubmodulePatch(sub) || isSubmodulePatch(sub+"\n+x") || isSubmodulePatch("@@ -0,0 +0,0 @@") {
		t.Error("a submodule's patch is not told from others")
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]string{4: "äö", 3: "ä\n[cut: 2 more bytes]", 2: "ä\n[cut: 2 more bytes]", 1: "\n[cut: 4 more bytes]", 5: "äö"} {
		if got := cut("äö", limit); got != want {
			t.Errorf("cut to %d is %q, want %q", limit, got, want)
		}
	}
}
