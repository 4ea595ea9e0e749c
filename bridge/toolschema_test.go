package bridge

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
)

func noCall(context.Context, ToolInvocation) (ToolResult, error) { return ToolResult{}, nil }

func TestToolsAreChecked(t *testing.T) {
	t.Parallel()
	with := func(schema string) []Tool {
		return []Tool{{Name: "t", Call: noCall, InputSchema: json.RawMessage(schema)}}
	}
	for _, tt := range []struct {
		name  string
		tools []Tool
		want  string // empty when they are right
	}{
		{"none", nil, ""},
		{"plain", []Tool{{Name: "t", Call: noCall}}, ""},
		{"longest name", []Tool{{Name: strings.Repeat("x", 64), Call: noCall}}, ""},
		{"name too long", []Tool{{Name: strings.Repeat("x", 65), Call: noCall}}, "1 to 64 letters"},
		{"no name", []Tool{{Call: noCall}}, "1 to 64 letters"},
		{"name with a dot", []Tool{{Name: "a.b", Call: noCall}}, "1 to 64 letters"},
		{"name with a line end", []Tool{{Name: "a\n", Call: noCall}}, "1 to 64 letters"},
		{"name of other letters", []Tool{{Name: "größe", Call: noCall}}, "1 to 64 letters"},
		{"twice", []Tool{{Name: "t", Call: noCall}, {Name: "t", Call: noCall}}, `two tools are named "t"`},
		{"nothing to call", []Tool{{Name: "t"}}, "no Call"},
		{"schema", with(`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`), ""},
		{"schema of a known draft", with(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`), ""},
		{"schema of another draft", with(`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}`), "$schema"},
		{"schema without a type", with(`{"properties":{}}`), ""},
		{"schema of text", with(`{"type":"string"}`), `not "object"`},
		{"schema of several", with(`{"type":["object","null"]}`), `not "object"`},
		{"schema that is true", with(`true`), "not a JSON object"},
		{"schema that is empty", with(``), "not a JSON object"},
		{"schema that is a list", with(`[]`), "not a JSON object"},
		{"schema that is cut", with(`{"type":"object"`), "not a JSON Schema"},
		{"schema with more behind", with(`{"type":"object"} {}`), "not a JSON Schema"},
		{"schema with a bad pattern", with(`{"properties":{"a":{"pattern":"("}}}`), "not a JSON Schema"},
		{"schema with a bad type", with(`{"properties":{"a":{"type":7}}}`), "not a JSON Schema"},
		{"schema of the net", with(`{"properties":{"a":{"$ref":"https://example.com/s"}}}`), "not a JSON Schema"},
		{"schema that leads nowhere", with(`{"properties":{"a":{"$ref":"#/$defs/b"}}}`), "not a JSON Schema"},
		{"schema that is too deep", with(strings.Repeat(`{"not":`, 60) + nested(60) + strings.Repeat(`}`, 60)), "levels deep"},
		{"output schema of text", []Tool{{Name: "t", Call: noCall, OutputSchema: json.RawMessage(`{"type":"string"}`)}}, "output schema"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := wireTools(tt.tools)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("error = %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error = %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestToolsOnTheWire(t *testing.T) {
	t.Parallel()
	wire, err := wireTools([]Tool{
		{Name: "plain", Call: noCall},
		{Name: "full", Description: "Does it.", Call: noCall,
			InputSchema: json.RawMessage(`{"properties":{"a":{"type":"string","minLength":1}}}`), OutputSchema: json.RawMessage(`{"type":"object"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"plain": `{"inputSchema":{"type":"object"}}`,
		"full":  `{"description":"Does it.","inputSchema":{"properties":{"a":{"minLength":1,"type":"string"}},"type":"object"},"outputSchema":{"type":"object"}}`,
	} {
		data, err := protojson.Marshal(wire[name])
		if err != nil {
			t.Fatal(err)
		}
		var compact any
		if err := json.Unmarshal(data, &compact); err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(compact); string(got) != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	if len(wire) != 2 {
		t.Errorf("%d tools", len(wire))
	}
}

func TestArgumentsAreHeldAgainstTheSchema(t *testing.T) {
	t.Parallel()
	calls := 0
	box := startedBox(t, Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["city"],
		"properties":{"city":{"type":"string","pattern":"^[a-z]+$"},"days":{"type":"integer","minimum":1,"maximum":7},
		"deep":{"type":"object","properties":{"inner":{"type":"array","items":{"enum":["a","b"]}}}}}}`),
		Call: func(context.Context, ToolInvocation) (ToolResult, error) { calls++; return ToolResult{}, nil }})
	for _, tt := range []struct{ args, names string }{
		{`{}`, "city"},
		{`{"city":7}`, "city"},
		{`{"city":"UP"}`, "city"},
		{`{"city":"x","days":8}`, "days"},
		{`{"city":"x","days":1.5}`, "days"},
		{`{"city":"x","more":1}`, "more"},
		{`{"city":"x","deep":{"inner":["a","c"]}}`, "inner"},
		{`{"city":"` + strings.Repeat("x ", 1<<19) + `"}`, "city"},
	} {
		got := box.call(t, "t", tt.args)
		if !strings.Contains(got, tt.names) || !strings.Contains(got, "match its schema") || len(got) > 2*maxRefusal {
			t.Errorf("%.60s: got %.300s, want an error that names %s", tt.args, got, tt.names)
		}
	}
	if calls != 0 {
		t.Errorf("the tool was called %d times with arguments that do not match", calls)
	}
	if got := box.call(t, "t", `{"city":"x","days":7,"deep":{"inner":["b"]}}`); got != `{"value":null}` || calls != 1 {
		t.Errorf("arguments that match were answered with %s", got)
	}
}

func TestNesting(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want bool
	}{
		{`{"a":[{}]}`, false}, {`{"a":[{"b":{}}]}`, true}, {`"[[[[["`, false}, {`["\"[[[[["]`, false}, {`{"\\":[[[]]]}`, true},
		{`[[]],[[]],[[]]`, false}, {`]]]][[[`, false}, {`"\`, false},
	} {
		if got := deeper([]byte(tt.text), 3); got != tt.want {
			t.Errorf("deeper(%s, 3) = %v", tt.text, got)
		}
	}
}
