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

// Of two values of one name some readers take the first and others the last: what
// people agree to must be what a tool reads, whatever that is written in.
func TestANameIsThereOnce(t *testing.T) {
	t.Parallel()
	schema, err := compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	for input, taken := range map[string]bool{
		`{"a":"a","b":"a","c":["a","a"],"d":{"a":1}}`: true,
		`{"a":[{"b":1},{"b":2}],"b":3,"A":{}}`:        true,
		`{"":1}`:                                      true,
		`{"service":"shop","service":"blog"}`:         false,
		`{"service":"shop","s\u0065rvice":"blog"}`:    false,
		`{"a":{"b":[1,{"c":1,"d":{},"c":2}]}}`:        false,
		`{"":1,"":2}`:                                 false,
		"{\"a\xff\":1,\"a\xfe\":2}":                   false,
	} {
		if err := schema.check(json.RawMessage(input)); (err == nil) != taken {
			t.Errorf("%s: %v", input, err)
		}
	}
}

// Every fault is named, so that an agent can mend all of them at once, and what
// cannot be named is refused all the same.
func TestEveryFaultIsNamed(t *testing.T) {
	t.Parallel()
	schema, err := compile(json.RawMessage(`{"type":"object","required":["path","side"],"additionalProperties":false,"properties":{
		"path":{"type":["string","null"],"minLength":2,"maxLength":3},"side":{"enum":["left","right"]},
		"line":{"type":"integer","maximum":9},"code":{"type":"string","pattern":"^[a-z]+$"},
		"all":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"object","required":["id"]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for input, want := range map[string][]string{
		`{"path":null,"side":"left"}`:                  nil,
		`{"path":"é!","side":"left","all":[{"id":1}]}`: nil,
		`{}`:                                   {"/: missing property 'path'", "/: missing property 'side'"},
		`{"path":7,"side":"up"}`:               {"/path: got number, want string or null", `/side: value must be one of "left", "right"`},
		`{"path":"a","side":"left","line":10}`: {"/line: maximum: got 10, want 9", "/path: length: got 1, want at least 2"},
		`{"path":"abcd","side":"left","line":1.5}`:       {"/line: got number, want integer", "/path: length: got 4, want at most 3"},
		`{"path":"ab","side":"left","all":[]}`:           {"/all: items: got 0, want at least 1"},
		`{"path":"ab","side":"left","all":[{},true,{}]}`: {"/all: items: got 3, want at most 2", "/all/0: missing property 'id'", "/all/1: got boolean, want object", "/all/2: missing property 'id'"},
		`{"path":"ab","side":"left","more":1}`:           {"/: additional property 'more' is not allowed"},
		`{"path":"ab","side":"left","code":"A"}`:         {"pattern"},
	} {
		err := schema.check(json.RawMessage(input))
		if want == nil {
			if err != nil {
				t.Errorf("%s: %v", input, err)
			}
			continue
		}
		if err == nil || strings.Count(err.Error(), "\n- ") != len(want) {
			t.Errorf("%s: got %v, want %q", input, err, want)
			continue
		}
		for _, fault := range want {
			if !strings.Contains(err.Error(), fault) {
				t.Errorf("%s: got %v, want %q", input, err, fault)
			}
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
