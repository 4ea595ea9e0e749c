package reviewer

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// file is a changed file of a test's pull request.
type file struct {
	entry map[string]any // what is special about its entry in the manifest
	path  string
	patch string
	head  string
}

// evidence is a test's pull request.
type evidence struct {
	title, author, ref string
	files              []file
	checks             string
	diff               string
	missing            string
}

const headSHA = "4f2c9a7d1e3b5f60718293a4b5c6d7e8f9012345"

// write lays the evidence out in a new workspace, as docs/evidence.md says.
func (e evidence) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	type object = map[string]any
	var entries []object
	for i, f := range e.files {
		added, removed := 0, 0
		for text := range strings.Lines(f.patch) {
			switch {
			case strings.HasPrefix(text, "+"):
				added++
			case strings.HasPrefix(text, "-"):
				removed++
			}
		}
		entry := object{
			"number": i + 1, "path": f.path, "status": "modified", "additions": added, "deletions": removed,
			"counts_known": true, "kind": "text", "size": 100,
		}
		if f.patch != "" {
			entry["patch"] = fmt.Sprintf("files/%04d/patch.diff", i+1)
			put(t, dir, "pr/"+entry["patch"].(string), f.patch)
		}
		if f.head != "" {
			entry["head"] = fmt.Sprintf("files/%04d/head.txt", i+1)
			put(t, dir, "pr/"+entry["head"].(string), f.head)
		}
		for key, value := range f.entry {
			entry[key] = value
		}
		entries = append(entries, entry)
	}
	author := e.author
	if author == "" {
		author = "mona"
	}
	putJSON(t, dir, "pr/pull_request.json", object{
		"number": 7, "title": e.title, "repository": object{"full_name": "octo/shop"},
		"author": object{"login": author}, "head": object{"sha": headSHA, "ref": e.ref},
	})
	putJSON(t, dir, "pr/files.json", object{
		"head_sha": headSHA, "complete": e.missing == "", "missing": e.missing, "files": entries,
	})
	if e.checks != "" {
		put(t, dir, "pr/checks.json", e.checks)
	}
	if e.diff != "" {
		put(t, dir, "pr/diff.patch", e.diff)
	}
	return dir
}

func putJSON(t testing.TB, dir, name string, value any) {
	t.Helper()
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, name, string(data))
}

func put(t testing.TB, dir, name, content string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func review(t testing.TB, dir string) Report {
	t.Helper()
	report, err := Review(context.Background(), dir, nil)
	if err != nil {
		t.Fatalf("Review: %v", err)
	}
	return report
}

// added makes a patch of a new part of a file, from its line 10.
func added(lines ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "@@ -9,1 +9,%d @@\n .\n", len(lines)+1)
	for _, l := range lines {
		b.WriteString("+" + l + "\n")
	}
	return b.String()
}

// removed makes a patch that takes lines away, from line 10 of the base.
func removed(lines ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "@@ -9,%d +9,1 @@\n .\n", len(lines)+1)
	for _, l := range lines {
		b.WriteString("-" + l + "\n")
	}
	return b.String()
}

// replaced makes a patch that puts lines in the place of others, at line 10.
func replaced(before, after []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "@@ -9,%d +9,%d @@\n .\n", len(before)+1, len(after)+1)
	for _, l := range before {
		b.WriteString("-" + l + "\n")
	}
	for _, l := range after {
		b.WriteString("+" + l + "\n")
	}
	return b.String()
}

// ruleTest is one case of a rule's table.
type ruleTest struct {
	name  string
	files []file
	// want lists the rule's findings as "severity path:line title", nothing for a case that must stay quiet.
	want []string
}

// runRule checks what one rule, and no other, says of each case.
func runRule(t *testing.T, rule string, tests []ruleTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			report := review(t, evidence{files: tt.files}.write(t))
			var got []string
			for _, f := range report.Findings {
				if f.Rule != rule {
					continue
				}
				side := ""
				if f.Side == SideLeft {
					side = "L"
				}
				got = append(got, fmt.Sprintf("%s %s:%s%d %s", f.Severity, f.Path, side, f.Line, f.Title))
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("%s found\n%s\nwant\n%s\nwhole report:\n%s", rule,
					strings.Join(got, "\n"), strings.Join(tt.want, "\n"), report.Markdown())
			}
		})
	}
}

func one(path string, lines ...string) []file { return []file{{path: path, patch: added(lines...)}} }
