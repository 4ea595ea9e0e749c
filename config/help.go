package config

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteHelp writes what every setting means, for a terminal.
func WriteHelp(w io.Writer) error {
	var b strings.Builder
	b.WriteString("Settings come from the environment; liaison.yaml is read too, and the environment wins.\n")
	for _, s := range Settings() {
		fmt.Fprintf(&b, "\n%s", s.Env)
		if s.Key != "" {
			fmt.Fprintf(&b, "   (liaison.yaml: %s)", s.Key)
		}
		b.WriteString("\n")
		for line := range strings.Lines(wrap(s.Doc, 92)) {
			b.WriteString("    " + line)
		}
		b.WriteString("\n")
		switch {
		case s.Secret:
			b.WriteString("    Secret: never printed or logged.\n")
		case s.Default != "":
			fmt.Fprintf(&b, "    Default: %s\n", s.Default)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// place puts an entry below the groups that its key names.
func place(properties map[string]any, key string, entry any) {
	group, rest, nested := strings.Cut(key, ".")
	if !nested {
		properties[key] = entry
		return
	}
	object, ok := properties[group].(map[string]any)
	if !ok {
		object = map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{}}
		properties[group] = object
	}
	place(object["properties"].(map[string]any), rest, entry)
}

// wrap breaks text into lines of at most width bytes at spaces.
func wrap(text string, width int) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		if column > 0 && column+1+len(word) > width {
			b.WriteByte('\n')
			column = 0
		}
		if column > 0 {
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// Schema returns the JSON Schema of liaison.yaml, which editors use for
// completion. It is kept in liaison.schema.json.
func Schema() ([]byte, error) {
	properties := map[string]any{}
	for _, s := range Settings() {
		if s.Key == "" {
			continue
		}
		scalar := map[string]any{"type": []string{"string", "number", "boolean"}}
		entry := map[string]any{"description": s.Doc}
		switch {
		case len(s.Fields) > 0:
			parts := map[string]any{}
			for _, name := range s.Fields {
				parts[name] = scalar
			}
			record := map[string]any{"type": "object", "additionalProperties": false, "properties": parts, "required": s.Fields[:1]}
			entry["oneOf"] = []any{scalar, map[string]any{"type": "array", "items": map[string]any{"oneOf": []any{scalar, record}}}}
		case s.List:
			entry["oneOf"] = []any{scalar, map[string]any{"type": "array", "items": scalar}}
		default:
			entry["type"] = scalar["type"]
		}
		if s.Default != "" {
			entry["default"] = s.Default
		}
		place(properties, s.Key, entry)
	}
	schema := map[string]any{
		"$schema":              "https://json-schema.org/draft/2020-12/schema",
		"$id":                  "https://github.com/liaison-bot/liaison/config/liaison.schema.json",
		"title":                "liaison.yaml",
		"type":                 "object",
		"additionalProperties": false,
		"properties":           properties,
	}
	data, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("schema of liaison.yaml: %w", err)
	}
	return append(data, '\n'), nil
}
