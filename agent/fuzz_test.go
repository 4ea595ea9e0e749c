package agent

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// fuzzFile holds a file of a folder to what every reading promises: it ends, each
// problem has a place that exists, and what is taken is the same again.
func fuzzFile(f *testing.F, name string, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fsys := minimal(map[string]string{name: text})
		def, problems := Load(fsys, "/agent", testChecks())
		lines := strings.Count(text, "\n") + 1
		errors := 0
		for _, p := range problems {
			if p.Line < 0 || p.Line > lines+1 || p.Text == "" || p.File == "" {
				t.Errorf("the problem %+v of a file with %d lines", p, lines)
			}
			if p.Severity == Error {
				errors++
			}
		}
		if (def == nil) != (errors > 0) {
			t.Errorf("taken: %t, with %d errors", def != nil, errors)
		}
		if def == nil {
			return
		}
		again, _ := Load(fsys, "/agent", testChecks())
		if !reflect.DeepEqual(def, again) {
			t.Error("it is read differently the second time")
		}
		for _, tool := range def.Tools {
			for _, text := range []json.RawMessage{tool.InputSchema, tool.OutputSchema, tool.DryRunResult} {
				if text != nil && !json.Valid(text) {
					t.Errorf("%q is no JSON", text)
				}
			}
		}
		if def.Approvals.Policy.MinApprovals < 1 || def.Approvals.Policy.ExpiresAfter <= 0 {
			t.Errorf("the policy is %+v", def.Approvals.Policy)
		}
	})
}

func FuzzSettings(f *testing.F) {
	fuzzFile(f, settingsFile, "model: {name: a, params: {b: c}}\nlimits: {duration: 3d, cost: 1.5}\n",
		"approvals: {approvers: {slack: [U012]}, repositories: {a/b: {}}}\n", "a: &a [*a]\n", "%YAML 1.1\n---\n", "? [a]\n: b\n", "tools: !!set {read}\n")
}

func FuzzTool(f *testing.F) {
	fuzzFile(f, "tools/t/tool.yaml", "description: x\nrun: git\neffect: read\ninputSchema: {type: object, x: [1, 2.5, ~, true]}\n",
		"host: true\nneedsApproval: true\n", "description: x\nflavor: agent\nrun: sh ./tool.yaml\n", "description: x\nrun: [a, \"b c\"]\ndryRunResult: 0x1F\n")
}

func FuzzConnection(f *testing.F) {
	fuzzFile(f, "mcp-connections/c.yaml", "url: https://example.com\nheaders: {A: \"${B}\"}\n", "command: a b\nargs: [\"$${x\"]\n")
}

func FuzzSubagent(f *testing.F) {
	fuzzFile(f, "subagents/s/agent.yaml", "description: x\nmodel: y\n", "")
}

func FuzzSkill(f *testing.F) {
	fuzzFile(f, "skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\nx\n", "---\n---\n", "---\nname: [\n---\n")
}

func FuzzInstructions(f *testing.F) {
	fuzzFile(f, instructionsFile, "Help.\r\n", "\xEF\xBB\xBF", "a\x00")
}

// What is put in the place of a reference is put there once, and never read again.
func FuzzExpand(f *testing.F) {
	f.Add("a ${B} $${C} $d", "${X}")
	f.Add("${", "")
	f.Add("$$${A}", "v")
	f.Fuzz(func(t *testing.T, text, value string) {
		out, err := expand(text, func(name string) (string, error) {
			if !variable.MatchString(name) {
				t.Errorf("it asks for %q", name)
			}
			return value, nil
		})
		if err != nil {
			return
		}
		if !strings.Contains(text, "${") && out != text {
			t.Errorf("%q without references becomes %q", text, out)
		}
		if checkReferences(text) != nil {
			t.Error("it is refused when it is checked, and taken when it is used")
		}
	})
}

func FuzzDuration(f *testing.F) {
	for _, seed := range []string{"3d", "1d2h", "90s", "d", "-1d", "1.5h", "99999999d", "65535d9999999h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDuration(text)
		if err == nil && strings.Contains(text, "d") && !strings.Contains(text, "-") && d < 0 {
			t.Errorf("%q is %s", text, d)
		}
		if days, ok := strings.CutSuffix(text, "d"); ok && err == nil && d%(24*time.Hour) != 0 {
			t.Errorf("%q days are %s", days, d)
		}
	})
}
