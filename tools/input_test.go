package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const sampleSchema = `{"type":"object","required":["path"],"properties":{
	"path":{"type":"string","minLength":1},"line":{"type":"integer","minimum":1},
	"lines":{"type":"array","items":{"type":"integer"}}}}`

func TestARefusalNamesTheFieldAndWhatWasExpected(t *testing.T) {
	t.Parallel()
	schema, err := compile(json.RawMessage(sampleSchema))
	if err != nil {
		t.Fatal(err)
	}
	for input, want := range map[string]string{
		`{"path":"a","line":3,"more":true}`: "",
		`{"path":"a","line":3.0}`:           "",
		`{"line":3}`:                        "- /: missing property 'path'",
		`{"path":7}`:                        "- /path: got number, want string",
		`{"path":"a","line":"3"}`:           "- /line: got string, want integer",
		`{"path":"a","line":0}`:             "- /line: minimum: got 0, want 1",
		`{"path":"a","lines":[1,"b"]}`:      "- /lines/1: got string, want integer",
		`[]`:                                "not a JSON object",
		`null`:                              "not a JSON object",
		``:                                  "not JSON",
		`{"path":"a"} {}`:                   "not JSON",
		`{"path":"a","line":1e999}`:         "not JSON",
	} {
		err := schema.check(json.RawMessage(input))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", input, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want %q", input, err, want)
		}
	}
}

func TestARefusalIsShort(t *testing.T) {
	t.Parallel()
	schema, err := compile(json.RawMessage(`{"type":"object","additionalProperties":{"type":"integer"},"maxProperties":1000}`))
	if err != nil {
		t.Fatal(err)
	}
	input := map[string]string{}
	for i := range 100 {
		input[fmt.Sprintf("%d%s", i, strings.Repeat("😀", 1000))] = "x"
	}
	raw, _ := json.Marshal(input)
	refused := schema.check(raw)
	if refused == nil || len(refused.Error()) > (maxNamedFaults+2)*maxFault || !strings.Contains(refused.Error(), "and 92 more") {
		t.Errorf("%d bytes: %.300v", len(refused.Error()), refused)
	}
}

func TestInputIsBounded(t *testing.T) {
	t.Parallel()
	schema, err := compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	text := func(n int) string { return `{"a":"` + strings.Repeat("x", n-len(`{"a":""}`)) + `"}` }
	nested := func(n int) string { return strings.Repeat(`{"a":`, n-1) + `{}` + strings.Repeat(`}`, n-1) }
	for _, tt := range []struct {
		input string
		taken bool
	}{
		{text(maxInput - 1), true}, {text(maxInput), true}, {text(maxInput + 1), false},
		{nested(maxNesting - 1), true}, {nested(maxNesting), true}, {nested(maxNesting + 1), false},
		{`{"a":"` + strings.Repeat(`[\"{`, 100) + `"}`, true},
	} {
		if err := schema.check(json.RawMessage(tt.input)); (err == nil) != tt.taken {
			t.Errorf("%.40s (%d bytes): %v", tt.input, len(tt.input), err)
		}
	}
}

func FuzzInput(f *testing.F) {
	schema, err := compile(json.RawMessage(sampleSchema))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{`{"path":"a","line":3}`, `{"path":7}`, `{"lines":[1e308,-0]}`, `{"path":"\u0000\ud800"}`, `[`, "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		err := schema.check(input)
		var value struct {
			Path *string
		}
		if err == nil && (json.Unmarshal(input, &value) != nil || value.Path == nil && !strings.Contains(string(input), "path")) {
			t.Errorf("%q was taken", input)
		}
		if err != nil && len(err.Error()) > (maxNamedFaults+2)*maxFault {
			t.Errorf("the refusal has %d bytes", len(err.Error()))
		}
	})
}
