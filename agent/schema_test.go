package agent

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"

	"github.com/liaison-bot/liaison/approvals"
)

// schemaAt is where editors find the schemas.
const schemaAt = "https://raw.githubusercontent.com/liaison-bot/liaison/main/agent/schema/"

// typeSchemas describe the types that are written otherwise than they are kept.
func typeSchemas() map[reflect.Type]*jsonschema.Schema {
	oneOf := func(values ...any) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Enum: values} }
	text := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }
	words := &jsonschema.Schema{AnyOf: []*jsonschema.Schema{text(), {Type: "array", Items: text()}}}
	model, err := jsonschema.For[struct {
		Name   string            `json:"name"`
		Params map[string]string `json:"params,omitempty"`
	}](nil)
	if err != nil {
		panic(err)
	}
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[Runtime]():        oneOf(string(Local), string(CloudHosted)),
		reflect.TypeFor[Transport]():      oneOf(string(Stdio), string(HTTP), string(SSE)),
		reflect.TypeFor[Flavor]():         oneOf(string(Server), string(OnAgent)),
		reflect.TypeFor[approvals.Risk](): oneOf("low", "medium", "high"),
		reflect.TypeFor[duration]():       {Type: "string", Pattern: `^[0-9]`},
		reflect.TypeFor[condition]():      {AnyOf: []*jsonschema.Schema{{Type: "boolean"}, text()}},
		reflect.TypeFor[command]():        words,
		reflect.TypeFor[jsonValue]():      {},
		reflect.TypeFor[modelSetting]():   {AnyOf: []*jsonschema.Schema{text(), model}},
	}
}

// schemas are those of each kind of file.
func schemas(t testing.TB) map[string]*jsonschema.Schema {
	t.Helper()
	all := map[string]*jsonschema.Schema{}
	add := func(name, title string, s *jsonschema.Schema, err error) {
		if err != nil {
			t.Fatal(err)
		}
		s.Schema, s.ID, s.Title = "https://json-schema.org/draft/2020-12/schema", schemaAt+name+".json", title
		nothing(s)
		all[name] = s
	}
	options := &jsonschema.ForOptions{TypeSchemas: typeSchemas()}
	s, err := jsonschema.For[settings](options)
	add("agent", "agent.yaml of an agent", s, err)
	s, err = jsonschema.For[toolSettings](options)
	add("tool", "tool.yaml of a tool of an agent", s, err)
	s, err = jsonschema.For[connectionSettings](options)
	add("mcp-connection", "A file of mcp-connections of an agent", s, err)
	s, err = jsonschema.For[subagentSettings](options)
	add("subagent", "agent.yaml of a subagent", s, err)
	s, err = jsonschema.For[skillHead](options)
	s.AdditionalProperties = nil
	add("skill", "The head of a SKILL.md of an agent", s, err)
	return all
}

// nothing says where a key may be there without a value: lists and mappings, whose
// entries may all be comments, and nowhere else.
func nothing(s *jsonschema.Schema) {
	for _, of := range s.Properties {
		kinds := slices.DeleteFunc(append(slices.Clone(of.Types), of.Type), func(kind string) bool { return kind == "null" || kind == "" })
		of.Type, of.Types = "", nil
		switch {
		case len(kinds) == 1 && (kinds[0] == "object" || kinds[0] == "array"):
			of.Types = []string{"null", kinds[0]}
		case len(kinds) == 1:
			of.Type = kinds[0]
		}
		nothing(of)
	}
	for _, of := range []*jsonschema.Schema{s.Items, s.AdditionalProperties} {
		if of != nil {
			nothing(of)
		}
	}
}

func TestSchemaFilesAreCurrent(t *testing.T) {
	t.Parallel()
	for name, s := range schemas(t) {
		text, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		want := string(text) + "\n"
		file := path.Join("schema", name+".json")
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		have, err := os.ReadFile(file)
		if err != nil || strings.ReplaceAll(string(have), "\r\n", "\n") != want {
			t.Errorf("%s is not what the types say (%v): go test ./agent -update", file, err)
		}
	}
}

// schemaOf is the name of the schema for a file, or empty.
func schemaOf(file string) string {
	switch parts := strings.Split(file, "/"); {
	case file == settingsFile:
		return "agent"
	case len(parts) == 3 && parts[0] == toolsDir && parts[2] == toolFile:
		return "tool"
	case len(parts) == 3 && parts[0] == subagentsDir && parts[2] == settingsFile:
		return "subagent"
	case len(parts) == 2 && parts[0] == connectionsDir && path.Ext(file) == ".yaml":
		return "mcp-connection"
	case len(parts) == 3 && parts[0] == skillsDir && parts[2] == skillFile:
		return "skill"
	}
	return ""
}

// fits holds a file against its schema.
func fits(t *testing.T, all map[string]*jsonschema.Schema, file, text string) error {
	t.Helper()
	if schemaOf(file) == "skill" {
		text, _ = frontMatter(text)
	}
	value := any(map[string]any{})
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		return err
	}
	plain, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var instance any
	if err := json.Unmarshal(plain, &instance); err != nil {
		return err
	}
	ready, err := all[schemaOf(file)].CloneSchemas().Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return ready.Validate(instance)
}

// What the reader takes fits the schemas, so that no editor finds fault with it.
func TestTheSchemasTakeWhatTheReaderTakes(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	seen := map[string]int{}
	check := func(t *testing.T, where, file, text string) {
		name := schemaOf(file)
		if name == "" {
			return
		}
		seen[name]++
		if err := fits(t, all, file, text); err != nil {
			t.Errorf("%s: %s: %v", where, file, err)
		}
	}
	for _, name := range []string{"whole", "defaults", "cloud"} {
		archive, err := txtar.ParseFile("testdata/load/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			check(t, name, f.Name, string(f.Data))
		}
	}
	for where, fsys := range map[string]fs.FS{"default": builtIn(), "scaffold": Scaffold()} {
		err := each(fsys, func(name string, data []byte, _ bool) error {
			check(t, where, name, string(data))
			if s := schemaOf(name); s != "" && s != "skill" && !strings.HasPrefix(string(data), "# yaml-language-server: $schema="+schemaAt+s+".json\n") {
				t.Errorf("%s: %s does not name its schema", where, name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range all {
		if seen[name] == 0 {
			t.Errorf("no file was held against the schema %s", name)
		}
	}
}

// What is wrong in form is wrong for an editor too.
func TestTheSchemasRefuseWhatTheReaderRefuses(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	for file, texts := range map[string][]string{
		settingsFile:             {"models: x", "model: 4", "limits: {tokens: many}", "runtime: remote", "approvals: {approvers: {slak: []}}", "tools: read"},
		"tools/t/tool.yaml":      {"describe: x", "risk: severe", "flavor: cloud", "needsApproval: [true]", "minApprovals: two"},
		"mcp-connections/c.yaml": {"transport: websocket", "headers: [a]", "hostonly: true"},
		"subagents/s/agent.yaml": {"model: x", "description: [x]"},
		"skills/s/SKILL.md":      {"---\nname: s\n---\n"},
	} {
		for _, text := range texts {
			if err := fits(t, all, file, text); err == nil {
				t.Errorf("the schema takes %q in %s", text, file)
			}
			_, problems := Load(minimal(map[string]string{file: text}), "/agent", testChecks())
			if !slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == Error && p.File == file }) {
				t.Errorf("the reader takes %q in %s", text, file)
			}
		}
	}
}
