package repoconfig

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// schema is the JSON Schema that the table of fields amounts to.
func schema(t testing.TB) string {
	t.Helper()
	defaults := Default()
	group := func() map[string]any {
		return map[string]any{"type": []string{"object", "null"}, "additionalProperties": false, "properties": map[string]any{}}
	}
	root := group()
	root["type"] = "object"
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "https://raw.githubusercontent.com/liaison-bot/liaison/main/github/repoconfig/liaison.schema.json"
	root["title"] = "Liaison's configuration of a repository: .github/liaison.yml"
	for _, f := range fields() {
		entry := map[string]any{"description": f.doc}
		text := map[string]any{"type": "string"}
		if f.choices != nil {
			text["enum"] = f.choices
		} else {
			text["maxLength"] = f.most
		}
		switch at := f.at(&defaults).(type) {
		case *bool:
			entry["type"], entry["default"] = "boolean", *at
		case *int:
			entry["type"], entry["minimum"], entry["maximum"], entry["default"] = "integer", 0, f.most, *at
		case *string:
			for k, v := range text {
				entry[k] = v
			}
			entry["default"] = *at
		case *[]string:
			if f.choices == nil {
				text["minLength"] = 1
			}
			list := *at
			if list == nil {
				list = []string{}
			}
			entry["type"], entry["items"], entry["maxItems"], entry["default"] = "array", text, maxItems, list
		}
		in := root
		parts := strings.Split(f.key, ".")
		for _, g := range parts[:len(parts)-1] {
			properties := in["properties"].(map[string]any)
			if properties[g] == nil {
				properties[g] = group()
			}
			in = properties[g].(map[string]any)
		}
		in["properties"].(map[string]any)[parts[len(parts)-1]] = entry
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSchemaFileIsCurrent(t *testing.T) {
	t.Parallel()
	golden(t, "liaison.schema.json", schema(t))
}

// Editors and we agree about what is a good file.
func TestTheSchemaSaysWhatTheReaderSays(t *testing.T) {
	t.Parallel()
	compiled, err := jsonschema.NewCompiler().Compile("liaison.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{
		string(example(t)), Resolve().YAML(), "{}", "review:\n", "enabled: true", "enabled: \"true\"", "enabled: 1", "enabld: true", "review: {on: [push]}",
		"review: {on: push}", "review: {on: [pushed]}", "review: {inline: {max: 50}}", "review: {inline: {max: 51}}", "review: {inline: {max: -1}}",
		"review: {labels: [\"\"]}", "review: {labels: [7]}", "review: {after: \"\"}", "review: {after: lunch}", "commands: {minimum: anyone}",
		"review: {minimum: anyone}", "budgets: {actorPerDay: 0}", "budgets: {actorPerDay: 1.5}", "review: {language: " + strings.Repeat("x", 65) + "}",
		"review: {verdicts: [comment]}", "issues: {on: [opened]}",
	} {
		var document any
		if err := yaml.Unmarshal([]byte(file), &document); err != nil {
			t.Fatal(err)
		}
		_, problems := Parse("x", []byte(file))
		if err := compiled.Validate(document); (err == nil) != (len(problems) == 0) {
			t.Errorf("%s\nthe schema says %v, the reader %v", file, err, problems)
		}
	}
}
