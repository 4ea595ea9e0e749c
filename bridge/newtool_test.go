package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

type searchArgs struct {
	Query string   `json:"query" jsonschema:"what to look for"`
	Limit int      `json:"limit,omitempty"`
	Tags  []string `json:"tags,omitzero"`
}

type searchResult struct {
	Found []string `json:"found"`
}

func TestNewTool(t *testing.T) {
	t.Parallel()
	tool, err := NewTool("search", "Searches.", func(_ context.Context, in searchArgs) (searchResult, error) {
		if in.Limit < 0 {
			return searchResult{}, errors.New("limit is negative")
		}
		return searchResult{Found: append(in.Tags, in.Query)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Type       string
		Required   []string
		Properties map[string]struct{ Type, Description any }
	}
	if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Type != "object" || len(schema.Required) != 1 || schema.Required[0] != "query" ||
		schema.Properties["query"].Description != "what to look for" || schema.Properties["limit"].Type != "integer" {
		t.Errorf("schema = %s", tool.InputSchema)
	}
	if !strings.Contains(string(tool.OutputSchema), `"found"`) {
		t.Errorf("output schema = %s", tool.OutputSchema)
	}
	box := startedBox(t, tool)
	for _, tt := range []struct{ name, args, want string }{
		{"all of it", `{"query":"x","limit":3,"tags":["a"]}`, `{"found":["a","x"]}`},
		{"only what is required", `{"query":"x"}`, `{"found":["x"]}`},
		{"its own error", `{"query":"x","limit":-1}`, `{"content":[{"text":"limit is negative","type":"text"}],"isError":true}`},
	} {
		if got := box.call(t, "search", tt.args); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	for name, tt := range map[string]struct{ args, names string }{
		"missing":      {`{}`, "query"},
		"wrong type":   {`{"query":1}`, "query"},
		"wrong inside": {`{"query":"x","tags":["a",{}]}`, "tags"},
		"unknown":      {`{"query":"x","quary":"y"}`, "quary"},
		"other case":   {`{"Query":"x"}`, "Query"},
		"not whole":    {`{"query":"x","limit":1.5}`, "limit"},
		"too large":    {`{"query":"x","limit":1e300}`, "limit"},
	} {
		got := box.call(t, "search", tt.args)
		if !strings.Contains(got, `"isError":true`) || !strings.Contains(got, tt.names) {
			t.Errorf("%s: got %s, want an error that names %s", name, got, tt.names)
		}
	}
}

func TestNewToolResults(t *testing.T) {
	t.Parallel()
	rich := MustTool("rich", "", func(context.Context, struct{}) (ToolResult, error) {
		return ToolResult{Content: []ToolContent{{Text: "hello"}}}, nil
	})
	if rich.OutputSchema != nil {
		t.Errorf("a rich result has the schema %s", rich.OutputSchema)
	}
	box := startedBox(t, rich,
		MustTool("scalar", "", func(context.Context, struct{}) (int, error) { return 7, nil }),
		MustTool("none", "", func(context.Context, *searchArgs) (*searchResult, error) { return nil, nil }),
		MustTool("anything", "", func(_ context.Context, in map[string]any) (any, error) { return in, nil }),
	)
	for _, tt := range []struct{ tool, args, want string }{
		{"rich", `{}`, `{"content":[{"text":"hello","type":"text"}],"isError":false}`},
		{"scalar", `{}`, `{"value":7}`},
		{"none", `{"query":"x"}`, `{"value":null}`},
		{"anything", `{"a":[1]}`, `{"a":[1]}`},
	} {
		if got := box.call(t, tt.tool, tt.args); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.tool, got, tt.want)
		}
	}
}

type endless struct {
	Next *endless `json:"next"`
}

func TestNewToolRefusesTypes(t *testing.T) {
	t.Parallel()
	for name, try := range map[string]func() error{
		"a number": func() error {
			_, err := NewTool("n", "", func(context.Context, int) (int, error) { return 0, nil })
			return err
		},
		"a list": func() error {
			_, err := NewTool("n", "", func(context.Context, []string) (int, error) { return 0, nil })
			return err
		},
		"a channel": func() error {
			_, err := NewTool("n", "", func(context.Context, struct{ C chan int }) (int, error) { return 0, nil })
			return err
		},
		"one that holds itself": func() error {
			_, err := NewTool("n", "", func(context.Context, endless) (int, error) { return 0, nil })
			return err
		},
		"a bad name": func() error {
			_, err := NewTool("no spaces", "", func(context.Context, struct{}) (int, error) { return 0, nil })
			return err
		},
	} {
		if err := try(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := NewTool("n", "", func(context.Context, struct{}) (endless, error) { return endless{}, nil }); err != nil {
		t.Errorf("a result that holds itself: %v", err)
	}
}

func TestMustToolPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	MustTool("", "", func(context.Context, struct{}) (int, error) { return 0, nil })
}
