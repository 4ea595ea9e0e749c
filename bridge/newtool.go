package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// NewTool makes a tool of a function. The arguments are described to the agent by
// In, a struct: its json tags name them, omitempty and omitzero make them optional,
// and a jsonschema tag describes one in words. Arguments that are not in In are
// refused. What f returns becomes [ToolResult.Value]; an Out that is [ToolResult]
// goes as it is.
//
// A type that JSON cannot hold, or that holds itself, is an error; for other
// schemas write the [Tool] as a struct.
func NewTool[In, Out any](name, description string, f func(ctx context.Context, in In) (Out, error)) (Tool, error) {
	input, err := schemaOf[In]()
	if err != nil {
		return Tool{}, fmt.Errorf("bridge: new tool %q: arguments of type %s: %w", name, reflect.TypeFor[In](), err)
	}
	t := Tool{Name: name, Description: description, InputSchema: input}
	// A result needs no schema, so one that cannot be written down is left out.
	if output, err := schemaOf[Out](); err == nil && reflect.TypeFor[Out]() != reflect.TypeFor[ToolResult]() {
		t.OutputSchema = output
	}
	t.Call = func(ctx context.Context, c ToolInvocation) (ToolResult, error) {
		var in In
		if err := decodeStrictly(c.Args, &in); err != nil {
			return ToolResult{}, fmt.Errorf("the arguments of tool %s cannot be used: %w", name, err)
		}
		out, err := f(ctx, in)
		if err != nil {
			return ToolResult{}, err
		}
		if r, ok := any(out).(ToolResult); ok {
			return r, nil
		}
		return ToolResult{Value: out}, nil
	}
	if _, err := checkTools([]Tool{t}); err != nil {
		return Tool{}, fmt.Errorf("bridge: new tool: %w", err)
	}
	return t, nil
}

// MustTool is [NewTool] for tools that are written in the program: it panics
// where NewTool returns an error.
func MustTool[In, Out any](name, description string, f func(ctx context.Context, in In) (Out, error)) Tool {
	t, err := NewTool(name, description, f)
	if err != nil {
		panic(err)
	}
	return t
}

// schemaOf describes a type that becomes a JSON object.
func schemaOf[T any]() (json.RawMessage, error) {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, err
	}
	// A pointer to a struct may be null in general; as a whole it never is here.
	if len(schema.Types) == 2 && schema.Types[0] == "null" && schema.Types[1] == "object" {
		schema.Types, schema.Type = nil, "object"
	}
	if schema.Type != "object" {
		return nil, errors.New("it does not become a JSON object; use a struct")
	}
	return json.Marshal(schema)
}

// decodeStrictly reads one JSON value and nothing more.
func decodeStrictly(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the JSON object")
	}
	return nil
}
