package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

func nothing(context.Context, Call) (Result, error) { return Result{}, nil }

func TestARegistryRefusesToolsThatNobodyCouldCall(t *testing.T) {
	t.Parallel()
	good := Tool{Name: "a", Run: nothing}
	for name, tt := range map[string]struct {
		tools []Tool
		want  string
	}{
		"no name":             {[]Tool{{Run: nothing}}, "is not 1 to 64 letters"},
		"a name with space":   {[]Tool{{Name: "a b", Run: nothing}}, "is not 1 to 64 letters"},
		"65 letters":          {[]Tool{{Name: strings.Repeat("a", 65), Run: nothing}}, "is not 1 to 64 letters"},
		"twice":               {[]Tool{good, good}, "two tools are named"},
		"no Run":              {[]Tool{{Name: "a"}}, "has no Run"},
		"not JSON":            {[]Tool{{Name: "a", Run: nothing, InputSchema: json.RawMessage(`{`)}}, "not JSON"},
		"not an object":       {[]Tool{{Name: "a", Run: nothing, InputSchema: json.RawMessage(`true`)}}, "not a JSON object"},
		"of a list":           {[]Tool{{Name: "a", Run: nothing, InputSchema: json.RawMessage(`{"type":"array"}`)}}, `not "object"`},
		"no schema":           {[]Tool{{Name: "a", Run: nothing, InputSchema: json.RawMessage(`{"properties":7}`)}}, "properties"},
		"of an unknown draft": {[]Tool{{Name: "a", Run: nothing, InputSchema: json.RawMessage(`{"$schema":"https://example.com/draft"}`)}}, "$schema"},
		"looks elsewhere":     {[]Tool{{Name: "a", Run: nothing, InputSchema: json.RawMessage(`{"$ref":"file:///etc/passwd"}`)}}, "file:///etc/passwd"},
	} {
		if _, err := New(tt.tools...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
	if _, err := New(Tool{Name: strings.Repeat("a", 64), Run: nothing}, good); err != nil {
		t.Error(err)
	}
}

func TestATurnGetsItsToolsAndNoOthers(t *testing.T) {
	t.Parallel()
	r, err := New(
		Tool{Name: "b", Run: nothing},
		Tool{Name: "a", Run: nothing, Offered: func(t Turn) bool { return t.Channel == "github" }},
	)
	if err != nil {
		t.Fatal(err)
	}
	names := func(turn Turn) string {
		var out []string
		for _, tool := range r.Offered(turn) {
			out = append(out, tool.Name)
		}
		return strings.Join(out, " ")
	}
	if got := names(Turn{Channel: "github"}); got != "a b" {
		t.Errorf("github gets %q", got)
	}
	if got := names(Turn{}); got != "b" {
		t.Errorf("others get %q", got)
	}
	result, err := r.Call(t.Context(), Call{Input: json.RawMessage(`{}`)}, "a", nil)
	if err != nil || !result.IsError || result.Text != `there is no tool "a"; there is b` {
		t.Errorf("a tool that was not offered: %+v, %v", result, err)
	}
	empty, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if result, _ := empty.Call(t.Context(), Call{}, "a", nil); !result.IsError || !strings.Contains(result.Text, "no tools of the host") {
		t.Errorf("without any tools: %+v", result)
	}
}
