package reviewer

import "testing"

func TestConflictMarkers(t *testing.T) {
	t.Parallel()
	const title = " Conflict markers are left in the file"
	runRule(t, "conflict-marker", []ruleTest{
		{"whole block", one("a.go", "<<<<<<< HEAD", "x", "=======", "y", ">>>>>>> main"), []string{"error a.go:10" + title}},
		{"diff3 base marker alone", one("a.py", "x", "||||||| parent"), []string{"error a.py:11" + title}},
		{"one forgotten end", one("a.js", ">>>>>>> feature"), []string{"error a.js:10" + title}},
		{"carriage returns", one("a.go", "<<<<<<< HEAD\r", "=======\r", ">>>>>>> x\r"), []string{"error a.go:10" + title}},
		{"block in a document", one("README.md", "<<<<<<< HEAD", "=======", ">>>>>>> main"), []string{"warning README.md:10" + title}},
		{"heading underline in reStructuredText", one("guide.rst", "Heading", "======="), nil},
		{"heading underline in Markdown", one("README.md", "Heading", "======="), nil},
		{"separator line in code", one("a.py", "======="), nil},
		{"document that shows one marker", one("docs/git.md", "<<<<<<< HEAD"), nil},
		{"longer run", one("a.txt", "<<<<<<<<<< x", ">>>>>>>>>>"), nil},
		{"shift operators", one("a.cc", "a <<<<<<< b", "<<<<<<<x"), nil},
		{"marker that is removed", []file{{path: "a.go", patch: removed("<<<<<<< HEAD", ">>>>>>> x")}}, nil},
	})
}
