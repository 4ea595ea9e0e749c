package reviewer

import (
	"context"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
)

// memory is evidence that was never written to a disk.
type memory map[string]string

func (m memory) read(name string, limit int) ([]byte, bool, error) {
	content, ok := m[name]
	if !ok {
		return nil, false, fs.ErrNotExist
	}
	return []byte(content[:min(len(content), limit)]), len(content) > limit, nil
}

// judgeHostile reviews evidence: it must end, be inert Markdown of bounded
// length, and place every finding.
func judgeHostile(t *testing.T, evidence memory) {
	t.Helper()
	trace := &tracer{emit: func(s Step) {
		if strings.ContainsAny(s.Summary, "\n\x00\x1b") {
			t.Errorf("step %+q", s.Summary)
		}
	}}
	report, err := judge(context.Background(), &workspace{source: evidence, trace: trace})
	if err != nil {
		t.Fatal(err)
	}
	checkInert(t, report.Markdown())
	for _, finding := range report.Findings {
		if finding.Rule == "" || finding.Title == "" || finding.Line < 0 || (finding.Line > 0) != (finding.Side != "") {
			t.Errorf("finding %+v", finding)
		}
	}
}

// FuzzReview feeds a stranger's names and text through every rule.
func FuzzReview(f *testing.F) {
	f.Add("a.go", "@@ -0,0 +1,2 @@\n+_ = err\n+// TODO @x fixes #1\n", "", "Title", "")
	f.Add("db/migrations/1_x.sql", "@@ -0,0 +1 @@\n+DROP TABLE a;\n+CREATE INDEX `#1` ON `@x`", "DROP TABLE a;", "<b>`", "see #1")
	f.Add(".github/workflows/x.yml", "@@ -0,0 +1 @@\n+- uses: a`b@c\n+contents: write", "on: pull_request_target", "\u202e", "@x")
	f.Add("package.json", "@@ -1 +1 @@\n-\"a\": \"1\"\n+\"a\": \"git+https://u:p@x.y/#1\"\n", "{}", "", "")
	f.Add("go.mod", "@@ -0,0 +1 @@\n+replace a => `b\n+x.y/z v1.2.3", "", "", "")
	f.Add("x\n`@y`\x00", "diff --git a/x b/x\nnew file mode 120000\n@@ -0,0 +1 @@\n+/etc\n", "../..", "`", "`")
	f.Add("pyproject.toml", "@@ -0,0 +1 @@\n+[tool.poetry.dependencies]\n+\xff\xe9 = {git=\"@x\"}", "[a]\n", "", "")
	f.Add("a_test.go", "@@ -1 +1 @@\n-func TestA(\n+us\u0435r\u200b := `-----BEGIN PRIVATE KEY-----\n+<<<<<<< x\n", "", "", "")
	f.Add(".gitmodules", "@@ -1 +1 @@\n+url = #1\n", "", "", "")
	f.Add("yarn.lock", "@@ -1 +1 @@\n+  resolved \"https://@x/#1\"\n", "", "", "")
	f.Fuzz(func(t *testing.T, path, patch, head, title, missing string) {
		entries := []map[string]any{
			{"path": path, "patch": "1", "head": "2", "owners": []string{title, path}},
			{"path": path + ".js", "patch": "1", "agent_config": true},
			{"path": title + "_test.py", "patch": "1", "status": "removed"},
			{"path": "l", "head": "2", "kind": "symlink"},
		}
		files, err := json.Marshal(map[string]any{"complete": false, "missing": missing, "head_sha": title, "files": entries})
		if err != nil {
			t.Fatal(err)
		}
		facts, err := json.Marshal(map[string]any{"title": title, "head": map[string]any{"ref": path}, "author": map[string]any{"login": missing}})
		if err != nil {
			t.Fatal(err)
		}
		judgeHostile(t, memory{"files.json": string(files), "pull_request.json": string(facts), "diff.patch": patch, "checks.json": head, "1": patch, "2": head})
	})
}

// FuzzEvidence feeds whatever bytes through the readers of evidence.
func FuzzEvidence(f *testing.F) {
	f.Add(`{"files":[{"path":"a.go","patch":"1"}]}`, `{"title":"x"}`, "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", `[{"name":"test"}]`)
	f.Add(`{"files":[null,{"path":7},{"path":"a","size":1e99,"owners":[null]}],"complete":false}`, `null`, "diff --git \"a/\\n\" \"b/\\n\"\nGIT binary patch\n", `{"a":{"name":{}}}`)
	f.Add(`[]`, `[]`, "diff --git a/x b/y\nrename from x\nrename to y\n@@ -1 +1 @@\n-a\n+b\n", `"`)
	f.Fuzz(func(t *testing.T, files, facts, diff, checks string) {
		judgeHostile(t, memory{"files.json": files, "pull_request.json": facts, "diff.patch": diff, "checks.json": checks, "1": diff})
		judgeHostile(t, memory{"diff.patch": diff})
	})
}
