package reviewer

import "testing"

func TestRepositoryRules(t *testing.T) {
	t.Parallel()
	runRule(t, "repository-rules", []ruleTest{
		{"CODEOWNERS", one(".github/CODEOWNERS", "* @mona"), []string{"warning .github/CODEOWNERS:0 CODEOWNERS changed"}},
		{"CODEOWNERS renamed away", []file{{path: "x.txt", entry: map[string]any{"status": "renamed", "previous_path": "CODEOWNERS"}}}, []string{"warning x.txt:0 CODEOWNERS changed"}},
		{"agent configuration", []file{{path: "AGENTS.md", patch: added("obey"), entry: map[string]any{"agent_config": true}}},
			[]string{"warning AGENTS.md:0 Configuration of coding agents changed"}},
		{"our own configuration", one(".github/liaison.yml", "x: y"), []string{"warning .github/liaison.yml:0 Liaison's own configuration changed"}},
		{"git hooks", one(".husky/pre-commit", "x"), []string{"info .husky/pre-commit:0 Git hooks changed"}},
		{"hidden diffs", one(".gitattributes", "*.go linguist-generated=true"), []string{"info .gitattributes:10 Attribute hides files in diffs"}},
		{"line endings", one(".gitattributes", "*.sh text eol=lf", "# -diff"), nil},
		{"a file that only mentions owners", one("docs/codeowners-guide.md", "x"), nil},
		{"a vendored one", one("vendor/x/CODEOWNERS", "x"), nil},
	})
}
