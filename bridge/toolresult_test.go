package bridge

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

func nested(levels int) string {
	return strings.Repeat(`{"a":`, levels-1) + `{}` + strings.Repeat(`}`, levels-1)
}

func TestResults(t *testing.T) {
	t.Parallel()
	type point struct {
		X int `json:"x"`
	}
	for _, tt := range []struct {
		name   string
		result ToolResult
		want   string
	}{
		{"text", ToolResult{Value: "hello"}, `{"value":"hello"}`},
		{"number", ToolResult{Value: 1.5}, `{"value":1.5}`},
		{"truth", ToolResult{Value: true}, `{"value":true}`},
		{"nothing", ToolResult{}, `{"value":null}`},
		{"list", ToolResult{Value: []any{1, "a", nil}}, `{"value":[1,"a",null]}`},
		{"object", ToolResult{Value: map[string]any{"a": map[string]int{"b": 1}}}, `{"a":{"b":1}}`},
		{"struct", ToolResult{Value: point{3}}, `{"x":3}`},
		{"raw JSON", ToolResult{Value: json.RawMessage(` {"a" : [ 1 ] }`)}, `{"a":[1]}`},
		{"empty object", ToolResult{Value: map[string]any{}}, `{}`},
		{"invalid UTF-8", ToolResult{Value: "a\xffb"}, "{\"value\":\"a\ufffdb\"}"},
		{"invalid UTF-8 in raw JSON", ToolResult{Value: json.RawMessage("{\"a\":\"\xff\"}")}, "{\"a\":\"\ufffd\"}"},
		{"text parts", ToolResult{Content: []ToolContent{{Text: "a"}, {Text: "b\xff"}}},
			`{"content":[{"text":"a","type":"text"},{"text":"b` + "\ufffd" + `","type":"text"}],"isError":false}`},
		{"image", ToolResult{Content: []ToolContent{{Image: []byte{1, 2, 255}, MIMEType: "image/png"}}},
			`{"content":[{"data":"AQL/","mimeType":"image/png","type":"image"}],"isError":false}`},
		{"content and value", ToolResult{Content: []ToolContent{{Text: "a"}}, Value: point{3}},
			`{"content":[{"text":"a","type":"text"}],"isError":false,"structuredContent":{"x":3}}`},
		{"content and scalar", ToolResult{Content: []ToolContent{{Text: "a"}}, Value: 3},
			`{"content":[{"text":"a","type":"text"}],"isError":false,"structuredContent":{"value":3}}`},
		{"empty content", ToolResult{Content: []ToolContent{}}, `{"content":[],"isError":false}`},
		{"error with text", ToolResult{Value: "closed", IsError: true},
			`{"content":[{"text":"closed","type":"text"}],"isError":true,"structuredContent":{"value":"closed"}}`},
		{"error with an object", ToolResult{Value: point{3}, IsError: true},
			`{"content":[{"text":"{\"x\":3}","type":"text"}],"isError":true,"structuredContent":{"x":3}}`},
		{"an object that looks like the rich form", ToolResult{Value: json.RawMessage(`{"content":[1],"x":2}`)},
			`{"content":[{"text":"{\"content\":[1],\"x\":2}","type":"text"}],"isError":false,"structuredContent":{"content":[1],"x":2}}`},
		{"an object with content of another kind", ToolResult{Value: map[string]any{"content": "a"}}, `{"content":"a"}`},
		{"as deep as may be", ToolResult{Value: json.RawMessage(nested(maxNesting))}, nested(maxNesting)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := encodeResult(tt.result)
			if err != nil {
				t.Fatal(err)
			}
			if s := resultJSON(t, got); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
			if _, err := proto.Marshal(got); err != nil {
				t.Errorf("it cannot be sent: %v", err)
			}
		})
	}
}

func TestResultsThatCannotBeSent(t *testing.T) {
	t.Parallel()
	loop := map[string]any{}
	loop["self"] = loop
	half := strings.Repeat("x", maxToolResult/2)
	for _, tt := range []struct {
		name   string
		result ToolResult
		want   string
	}{
		{"not a number", ToolResult{Value: math.NaN()}, "no JSON"},
		{"infinite", ToolResult{Value: []float64{math.Inf(1)}}, "no JSON"},
		{"a function", ToolResult{Value: func() {}}, "no JSON"},
		{"one that holds itself", ToolResult{Value: loop}, "no JSON"},
		{"raw JSON that is none", ToolResult{Value: json.RawMessage(`{"a":`)}, "no JSON"},
		{"a byte too large", ToolResult{Value: strings.Repeat("x", maxToolResult-1)}, "the limit is 1048576"},
		{"parts that are too large together", ToolResult{Content: []ToolContent{{Text: half}, {Text: half}, {Text: "x"}}}, "the limit is"},
		{"an image that is too large", ToolResult{Content: []ToolContent{{Image: make([]byte, maxToolResult), MIMEType: "image/png"}}}, "the limit is"},
		{"too deep", ToolResult{Value: json.RawMessage(nested(maxNesting + 1))}, "levels deep"},
		{"an image of no type", ToolResult{Content: []ToolContent{{Text: "a"}, {Image: []byte{1}}}}, "content 1"},
		{"an image that is none", ToolResult{Content: []ToolContent{{Image: []byte{1}, MIMEType: "text/html"}}}, "content 0"},
		{"both in one part", ToolResult{Content: []ToolContent{{Text: "a", Image: []byte{1}, MIMEType: "image/png"}}}, "content 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			box := startedBox(t, Tool{Name: "bad", Call: func(context.Context, ToolInvocation) (ToolResult, error) { return tt.result, nil }})
			got := box.call(t, "bad", `{}`)
			if !strings.Contains(got, tt.want) || !strings.Contains(got, `"isError":true`) || len(got) > 2*maxRefusal {
				t.Errorf("got %.300s, want an error with %q", got, tt.want)
			}
		})
	}
	if got := startedBox(t, Tool{Name: "most", Call: func(context.Context, ToolInvocation) (ToolResult, error) {
		return ToolResult{Value: strings.Repeat("x", maxToolResult-2)}, nil
	}}).call(t, "most", `{}`); strings.Contains(got, "isError") {
		t.Errorf("a result of exactly the limit was refused: %.300s", got)
	}
}

func TestArgumentsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	called := false
	box := startedBox(t, Tool{Name: "tool", Call: func(context.Context, ToolInvocation) (ToolResult, error) {
		called = true
		return ToolResult{}, nil
	}})
	list := structpb.NewListValue(&structpb.ListValue{})
	for range maxNesting {
		list = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{list}})
	}
	for name, tt := range map[string]struct {
		args *structpb.Value
		want string
	}{
		"not a number": {structpb.NewNumberValue(math.NaN()), "number"},
		"infinite":     {structpb.NewNumberValue(math.Inf(-1)), "number"},
		"too deep":     {list, "too deep"},
	} {
		result, err := box.toolbox.call(testContext(t), &sdkv1.CallCustomToolRequest{
			AgentId: "a", ToolName: "tool", Args: &structpb.Struct{Fields: map[string]*structpb.Value{"x": tt.args}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := resultJSON(t, result); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s", name, got)
		}
	}
	if called {
		t.Error("the tool was called with arguments that cannot be used")
	}
	if got := box.call(t, "tool", nested(maxNesting)); !called || strings.Contains(got, "isError") {
		t.Errorf("arguments as deep as may be were answered with %s", got)
	}
}

func TestUncheckedArgumentsReachTheTool(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"line":{"type":"integer"}}}`)
	echo := func(_ context.Context, c ToolInvocation) (ToolResult, error) {
		return ToolResult{Value: string(c.Args)}, nil
	}
	box := startedBox(t,
		Tool{Name: "checked", InputSchema: schema, Call: echo},
		Tool{Name: "unchecked", InputSchema: schema, Unchecked: true, Call: echo},
	)
	if got := box.callAs(t, "a", "1", "unchecked", `{"line":"3"}`); got != `{"value":"{\"line\":\"3\"}"}` {
		t.Errorf("unchecked: %s", got)
	}
	if got := box.callAs(t, "a", "2", "checked", `{"line":"3"}`); !strings.Contains(got, "do not match its schema") {
		t.Errorf("checked: %s", got)
	}
}
