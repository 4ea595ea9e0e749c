package agent_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/liaison-bot/liaison/agent"
	"github.com/liaison-bot/liaison/tools/condition"
)

const page = "../docs/agent-folder.md"

func readPage(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n")
}

var example = regexp.MustCompile("(?ms)^\\*\\*`([^`]+)`\\*\\*\n\n```[a-z]+\n(.*?)^```$")

// The examples of the documentation are a folder, which can be used.
func TestTheDocumentedFolderIsGood(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{}
	for _, found := range example.FindAllStringSubmatch(readPage(t), -1) {
		file := &fstest.MapFile{Data: []byte(found[2]), Mode: 0o644}
		if strings.HasPrefix(found[2], "#!") {
			file.Mode = 0o755
		}
		if fsys[found[1]] != nil {
			t.Errorf("%s is there twice", found[1])
		}
		fsys[found[1]] = file
	}
	hold := func(compile func(string, json.RawMessage) (*condition.Condition, error)) func(string, json.RawMessage) error {
		return func(expression string, schema json.RawMessage) error {
			_, err := compile(expression, schema)
			return err
		}
	}
	def, problems := agent.Load(fsys, "/agent", agent.Checks{
		Effect: hold(condition.ForInput), Approval: hold(condition.ForCall),
		HostTool: func(name string) bool { return name == "set_labels" },
	})
	for _, p := range problems {
		t.Error(p)
	}
	if def == nil {
		t.Fatal("it cannot be used")
	}
	var names []string
	for _, tool := range def.Tools {
		names = append(names, tool.Name)
	}
	if !slices.Equal(names, []string{"builds", "promote", "set_labels", "words"}) || len(def.Skills) != 1 || len(def.Subagents) != 1 ||
		len(def.Connections) != 2 || def.Seeds == nil || def.Approvals.SlackChannel == "" {
		t.Errorf("the documentation does not show everything: %+v", def)
	}
}

// keyed is what the tables of keys need of a schema.
type keyed struct {
	Description string           `json:"description"`
	Properties  map[string]keyed `json:"properties"`
	Items       *keyed           `json:"items"`
	Required    []string         `json:"required"`
}

// rows are the keys below prefix, each with what it means.
func (k keyed) rows(b *strings.Builder, prefix string) {
	var names []string
	for name := range k.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		of := k.Properties[name]
		meaning := strings.TrimSuffix(of.Description, ".") + "."
		if slices.Contains(k.Required, name) {
			meaning += " Required."
		}
		fmt.Fprintf(b, "| `%s%s` | %s |\n", prefix, name, meaning)
		if prefix == "approvals." && (name == "escalation" || name == "repositories" || name == "channels") {
			continue // lists of approvers, as those that were there
		}
		of.rows(b, prefix+name+".")
		if of.Items != nil {
			of.Items.rows(b, prefix+name+"[].")
		}
	}
}

// The tables of keys say what the schemas say.
func TestKeysAreDocumented(t *testing.T) {
	t.Parallel()
	have := readPage(t)
	want := have
	for _, name := range []string{"agent", "skill", "subagent", "mcp-connection", "tool"} {
		data, err := os.ReadFile("schema/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var schema keyed
		if err := json.Unmarshal(data, &schema); err != nil {
			t.Fatal(err)
		}
		var table strings.Builder
		table.WriteString("| key | meaning |\n|---|---|\n")
		schema.rows(&table, "")
		mark := "<!-- keys " + name + " -->\n"
		head, rest, found := strings.Cut(want, mark)
		_, tail, closed := strings.Cut(rest, "<!-- end -->")
		if !found || !closed {
			t.Fatalf("the page has no place for the keys of %s", name)
		}
		want = head + mark + table.String() + "<!-- end -->" + tail
	}
	if have == want {
		return
	}
	if flag.Lookup("update").Value.String() != "true" {
		t.Fatalf("%s does not say what the schemas say: go test ./agent -update", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
