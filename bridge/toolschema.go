package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/google/jsonschema-go/jsonschema"
	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// toolName is what model providers accept as the name of a function, which has
// maxToolName bytes at most.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

const maxToolName = 64

// maxNesting is how deep arguments, results and schemas may be nested. No sensible
// one comes near it, and decoders of several languages stop at 100 messages.
const maxNesting = 100

// offeredTool is a tool with its schema made ready.
type offeredTool struct {
	Tool
	// arguments is nil when any object will do.
	arguments *jsonschema.Resolved
}

// checkTools makes tools ready to be called, by their names.
func checkTools(tools []Tool) (map[string]*offeredTool, error) {
	offered := make(map[string]*offeredTool, len(tools))
	for _, t := range tools {
		if len(t.Name) > maxToolName || !toolName.MatchString(t.Name) {
			return nil, fmt.Errorf("the name of tool %.80q is not 1 to 64 letters, digits, '_' or '-'", t.Name)
		}
		if offered[t.Name] != nil {
			return nil, fmt.Errorf("two tools are named %q", t.Name)
		}
		if t.Call == nil {
			return nil, fmt.Errorf("tool %q has no Call", t.Name)
		}
		o := &offeredTool{Tool: t}
		if t.InputSchema != nil {
			var err error
			if o.arguments, err = compileSchema(t.InputSchema); err != nil {
				return nil, fmt.Errorf("the input schema of tool %q: %w", t.Name, err)
			}
		}
		if t.OutputSchema != nil {
			if _, err := compileSchema(t.OutputSchema); err != nil {
				return nil, fmt.Errorf("the output schema of tool %q: %w", t.Name, err)
			}
		}
		offered[t.Name] = o
	}
	return offered, nil
}

// compileSchema makes a schema ready. It must describe an object, since that is
// what arguments and results are on the wire. References lead nowhere outside it.
func compileSchema(data json.RawMessage) (compiled *jsonschema.Resolved, err error) {
	if first := bytes.TrimLeft(data, " \t\r\n"); len(first) == 0 || first[0] != '{' {
		return nil, errors.New("not a JSON object")
	}
	if deeper(data, maxNesting) {
		return nil, fmt.Errorf("nested more than %d levels deep", maxNesting)
	}
	schema := new(jsonschema.Schema)
	if err := json.Unmarshal(data, schema); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	if schema.Types != nil || schema.Type != "" && schema.Type != "object" {
		return nil, errors.New(`its type is not "object"`)
	}
	compiled, err = schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	// Whether the draft that it names is supported is said only when it is used.
	draft, err := (&jsonschema.Schema{Schema: schema.Schema}).Resolve(nil)
	if err == nil {
		err = draft.Validate(map[string]any{})
	}
	if err != nil {
		return nil, fmt.Errorf("its $schema is not understood: %w", err)
	}
	return compiled, nil
}

// wireTools describes tools as the bridge wants to know them.
func wireTools(tools []Tool) (map[string]*sdkv1.CustomToolDefinition, error) {
	offered, err := checkTools(tools)
	if err != nil || len(offered) == 0 {
		return nil, err
	}
	wire := make(map[string]*sdkv1.CustomToolDefinition, len(offered))
	for name, t := range offered {
		d := new(sdkv1.CustomToolDefinition)
		if t.Description != "" {
			d.Description = &t.Description
		}
		if d.InputSchema, err = wireSchema(t.InputSchema); err != nil {
			return nil, fmt.Errorf("the input schema of tool %q: %w", name, err)
		}
		if t.OutputSchema != nil {
			if d.OutputSchema, err = wireSchema(t.OutputSchema); err != nil {
				return nil, fmt.Errorf("the output schema of tool %q: %w", name, err)
			}
		}
		wire[name] = d
	}
	return wire, nil
}

// wireSchema makes a struct of a schema. Model providers want the type said.
func wireSchema(data json.RawMessage) (*structpb.Struct, error) {
	schema := map[string]any{}
	if data != nil {
		if err := json.Unmarshal(data, &schema); err != nil {
			return nil, err
		}
	}
	if schema["type"] == nil {
		schema["type"] = "object"
	}
	return structpb.NewStruct(schema)
}

// deeper reports whether the JSON text has more levels than limit. It needs no
// valid text: what is not valid fails when it is decoded.
func deeper(data []byte, limit int) bool {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString:
			switch c {
			case '\\':
				i++
			case '"':
				inString = false
			}
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
