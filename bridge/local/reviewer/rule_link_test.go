package reviewer

import "testing"

func TestSymlinks(t *testing.T) {
	t.Parallel()
	link := func(path, target string) []file {
		return []file{{path: path, head: target, entry: map[string]any{"kind": "symlink", "status": "added"}}}
	}
	runRule(t, "symlink", []ruleTest{
		{"absolute", link("a", "/etc/passwd"), []string{"error a:0 Symbolic link out of the repository"}},
		{"out by dots", link("x/a", "../../secrets"), []string{"error x/a:0 Symbolic link out of the repository"}},
		{"into git's folder", link("a", ".git/hooks"), []string{"error a:0 Symbolic link out of the repository"}},
		{"out on Windows", link("a", `..\..\x`), []string{"error a:0 Symbolic link out of the repository"}},
		{"inside", link("x/a", "../y"), []string{"info x/a:0 Symbolic link"}},
		{"target in the patch only", []file{{path: "a", patch: "@@ -0,0 +1 @@\n+/etc\n", entry: map[string]any{"kind": "symlink"}}}, []string{"error a:0 Symbolic link out of the repository"}},
		{"target unknown", link("a", ""), []string{"warning a:0 Symbolic link"}},
		{"removed", []file{{path: "a", patch: removed("/etc"), entry: map[string]any{"kind": "symlink", "status": "removed"}}}, nil},
		{"plain file", one("a", "/etc/passwd"), nil},
	})
}

func TestSubmodules(t *testing.T) {
	t.Parallel()
	runRule(t, "submodule", []ruleTest{
		{"pointer", []file{{path: "lib", patch: replaced([]string{"Subproject commit 1"}, []string{"Subproject commit 2"}), entry: map[string]any{"kind": "submodule"}}},
			[]string{"warning lib:0 Submodule points to another commit"}},
		{"address", one(".gitmodules", "	url = https://x.example/lib"), []string{"warning .gitmodules:10 Submodule comes from another address"}},
		{"path", one(".gitmodules", "	path = lib"), nil},
		{"removed", []file{{path: "lib", entry: map[string]any{"kind": "submodule", "status": "removed"}}}, nil},
	})
}
