package reviewer

import (
	"context"
	"strings"
	"testing"
)

// FuzzReview feeds hostile evidence through a whole review: it must end, be
// inert Markdown of bounded length, and place every finding in a file.
func FuzzReview(f *testing.F) {
	f.Add("a.go", "@@ -0,0 +1,2 @@\n+_ = err\n+// TODO @x fixes #1\n", "", "Title", "")
	f.Add("db/migrations/1_x.sql", "@@ -0,0 +1 @@\n+DROP TABLE a;\n", "DROP TABLE a;", "<b>`", "see #1")
	f.Add(".github/workflows/x.yml", "@@ -0,0 +1 @@\n+- uses: a`b@c\n", "on: pull_request_target", "\u202e", "@x")
	f.Add("package.json", "@@ -1 +1 @@\n-\"a\": \"1\"\n+\"a\": \"git+https://u:p@x.y/#1\"\n", "{}", "", "")
	f.Add("go.mod", "@@ -0,0 +1 @@\n+replace a => `b\n", "", "", "")
	f.Add("x\n`@y`\x00", "diff --git a/x b/x\nnew file mode 120000\n@@ -0,0 +1 @@\n+/etc\n", "../..", "`", "`")
	f.Fuzz(func(t *testing.T, path, patch, head, title, missing string) {
		if len(patch) > 4096 || len(path) > 1024 || len(missing) > 1024 || len(title) > 1024 {
			t.Skip("longer input finds nothing more")
		}
		e := evidence{
			title: title, ref: title, author: title, missing: missing, diff: patch, checks: head,
			files: []file{
				{path: path, patch: patch, head: head, entry: map[string]any{"owners": []string{title, path}}},
				{path: path + ".js", patch: patch, entry: map[string]any{"agent_config": true}},
				{path: title + "_test.py", patch: patch, entry: map[string]any{"status": "removed"}},
				{path: "l", head: head, entry: map[string]any{"kind": "symlink"}},
			},
		}
		dir := e.write(t)
		report, err := Review(context.Background(), dir, func(s Step) {
			if strings.ContainsAny(s.Summary, "\n\x00\x1b") {
				t.Errorf("step %+q", s.Summary)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		checkInert(t, report.Markdown())
		for _, finding := range report.Findings {
			if finding.Rule == "" || finding.Title == "" || finding.Line < 0 || (finding.Line > 0) != (finding.Side != "") {
				t.Errorf("finding %+v", finding)
			}
		}
	})
}
