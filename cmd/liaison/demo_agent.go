package main

import (
	"os"
	"path/filepath"
)

const (
	demoApprover      = "lee"   // on GitHub, and the same person
	demoApproverSlack = "U0LEE" // in Slack
)

// demoAgent writes the folder of an agent that has two tools which wait for a
// person, and returns its path.
func demoAgent(dir string) (string, error) {
	dir = filepath.Join(dir, "agent")
	for name, content := range map[string]string{
		"agent.yaml": "approvals:\n" +
			"  approvers:\n" +
			"    slack: [" + demoApproverSlack + "]\n" +
			"    github: [" + demoApprover + "]\n" +
			"  holdFor: 0s # the agent ends its turn at once, and hears of the outcome in a new one\n",
		"instructions.md":               "You are Liaison. Review pull requests, and answer what people ask.\n",
		"tools/set_labels/tool.yaml":    "host: true\nneedsApproval: true\nrisk: low\n",
		"tools/post_to_slack/tool.yaml": "host: true\nneedsApproval: true\nrisk: medium\n",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}
