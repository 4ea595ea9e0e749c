package reviewer

import "testing"

func TestWorkflows(t *testing.T) {
	t.Parallel()
	const name = ".github/workflows/a.yml"
	sha := "uses: x/y@0123456789012345678901234567890123456789"
	runRule(t, "workflow", []ruleTest{
		{"privileged trigger", one(name, "  pull_request_target:"), []string{"warning " + name + ":10 Workflow runs on `pull_request_target`"}},
		{"trigger in a list", one(name, "on: [push, pull_request_target]"), []string{"warning " + name + ":10 Workflow runs on `pull_request_target`"}},
		{"fork's code with secrets", []file{{path: name, patch: added("      ref: ${{ github.event.pull_request.head.sha }}"), head: "on:\n  pull_request_target:\n"}},
			[]string{"error " + name + ":10 Code of a fork is checked out with the repository's secrets"}},
		{"write-all", one(name, "permissions: write-all"), []string{"error " + name + ":10 Workflow gets write access to everything"}},
		{"scopes", one(name, "  contents: write", "  id-token: write"), []string{"warning " + name + ":10 Workflow gains write permission"}},
		{"permissions removed", []file{{path: name, patch: removed("permissions: {}")}}, []string{"warning " + name + ":L10 Workflow permissions removed"}},
		{"secret", one(name, "  X: ${{ secrets.DEPLOY_KEY }}"), []string{"info " + name + ":10 Workflow uses 1 more secret"}},
		{"all secrets", one(name, "    secrets: inherit"), []string{"warning " + name + ":10 All secrets are handed on"}},
		{"action by tag", one(name, "- uses: some/action@v3"), []string{"info " + name + ":10 Third-party action is pinned to a tag only"}},
		{"action by branch", one(name, "- uses: some/action@main"), []string{"warning " + name + ":10 Third-party action follows a branch"}},
		{"pin given up", []file{{path: name, patch: replaced([]string{"- " + sha}, []string{"- uses: x/y@v2"})}}, []string{"warning " + name + ":10 Action is no longer pinned to a commit"}},
		{"title in a script", one(name, `        run: echo "${{ github.event.pull_request.title }}"`), []string{"error " + name + ":10 Text of strangers is pasted into a script"}},
		{"branch in a block", one(name, `          git checkout ${{ github.head_ref }}`), []string{"error " + name + ":10 Text of strangers is pasted into a script"}},
		{"composite action", one("tools/x/action.yml", "    - uses: some/action@main"), []string{"warning tools/x/action.yml:10 Third-party action follows a branch"}},
		{"workflow removed", []file{{path: name, patch: removed("permissions: {}"), entry: map[string]any{"status": "removed"}}}, []string{"warning " + name + ":0 Workflow removed"}},
		{"workflow renamed away", []file{{path: "old.yml", entry: map[string]any{"status": "renamed", "previous_path": name}}}, []string{"warning old.yml:0 Workflow removed"}},

		{"workflow renamed", []file{{path: name, entry: map[string]any{"status": "renamed", "previous_path": ".github/workflows/b.yml"}}}, nil},
		{"ordinary trigger", one(name, "on: pull_request", "  # pull_request_target is unsafe"), nil},
		{"head checkout without secrets", []file{{path: name, patch: added("ref: ${{ github.event.pull_request.head.sha }}"), head: "on: pull_request\n"}}, nil},
		{"reading", one(name, "permissions: read-all", "  contents: read"), nil},
		{"the same scope, indented", []file{{path: name, patch: replaced([]string{"contents: write"}, []string{"  contents: write"})}}, nil},
		{"the run's own token", one(name, "  GH_TOKEN: ${{ secrets.GITHUB_TOKEN }}"), nil},
		{"trusted actions", one(name, "- uses: actions/checkout@v4", "- uses: ./local", "- "+sha, "- uses: octo/action@main"), nil},
		{"title in the environment", one(name, "  TITLE: ${{ github.event.pull_request.title }}", "  if: ${{ github.head_ref }}"), nil},
		{"numbers are harmless", one(name, "  run: echo ${{ github.event.pull_request.number }} ${{ github.event.repository.name }}"), nil},
		{"another file", one("docs/ci.yml", "pull_request_target:"), nil},
	})
}
