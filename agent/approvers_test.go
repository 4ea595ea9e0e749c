package agent

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// Who is named for a tool that asks nobody waits in vain to be asked.
func TestApproversOfAToolThatDoesNotAsk(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"tools/set_labels/tool.yaml":         "tools/set_labels/tool.yaml:2: warning: approvers has no effect without needsApproval",
		"tools/merge_pull_request/tool.yaml": "", // asks always
	} {
		checks := testChecks()
		checks.HostAsks = func(name string) bool { return name == "merge_pull_request" }
		_, problems := Load(minimal(map[string]string{file: "host: true\napprovers: {github: [ann]}\n"}), "/agent", checks)
		if got := strings.Trim(fmt.Sprint(problems), "[]"); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// More people than are named never come together, nobody decides where nobody is
// named, and nobody would learn why.
func TestMoreApprovalsThanPeople(t *testing.T) {
	t.Parallel()
	const tool = "description: Deploys.\nneedsApproval: true\nrun: [./run]\n"
	for _, tt := range []struct{ name, agent, tool, want string }{
		{"of one", "minApprovals: 2, approvers: {github: [ann]}", "",
			"agent.yaml:1: warning: 2 people must approve, and only 1 can: nothing is ever approved"},
		{"one in two spellings", "minApprovals: 2, approvers: {github: [ann, Ann]}", "",
			"agent.yaml:1: warning: 2 people must approve, and only 1 can: nothing is ever approved"},
		{"of a tool", "minApprovals: 1, approvers: {github: [ann]}", "minApprovals: 3",
			"tools/deploy/tool.yaml:4: warning: 3 people must approve, and only 1 can: nothing is ever approved"},
		{"of a tool's own people", "minApprovals: 2, approvers: {github: [ann, bob]}", "approvers: {slack: [U012AB3CD]}",
			"tools/deploy/tool.yaml:4: warning: 2 people must approve, and only 1 can: nothing is ever approved"},
		{"as many", "minApprovals: 2, approvers: {github: [ann], slack: [U012AB3CD]}", "", ""},
		{"with those who come later", "minApprovals: 2, approvers: {github: [ann]}, escalation: [{github: [bob]}]", "", ""},
		{"of a team", "minApprovals: 2, approvers: {githubTeams: [octo/ops]}", "", ""},
		{"of code owners", "minApprovals: 2, approvers: {github: [ann], codeowners: true}", "", ""},
		{"of people who are named elsewhere", "minApprovals: 2", "", ""},
		{"none at all", "approvers: {slack: [], github: []}", "", "agent.yaml:1: warning: approvers names nobody, so that only the operator may decide"},
		{"none, by what was not finished", "approvers: ", "", "agent.yaml:1: warning: approvers names nobody"},
		{"none before a while has passed", "approvers: {}, escalation: [{github: [bob]}]", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, problems := Load(fstest.MapFS{
				"agent.yaml":             {Data: []byte("approvals: {" + tt.agent + "}\n")},
				"instructions.md":        {Data: []byte("Help.\n")},
				"tools/deploy/tool.yaml": {Data: []byte(tool + tt.tool + "\n")},
				"tools/deploy/run":       {Data: []byte("#!/bin/sh\n"), Mode: 0o755},
			}, "/agent", testChecks())
			var told []string
			for _, p := range problems {
				if p.Severity == Error {
					t.Fatal(p)
				}
				told = append(told, fmt.Sprint(p))
			}
			if got := strings.Join(told, "\n"); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("told %q, want %q", got, tt.want)
			}
		})
	}
}
