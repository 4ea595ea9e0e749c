package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// inputSchema says what an input must be. A nil schema takes any object.
type inputSchema struct{ schema *jsonschema.Resolved }

// compile makes a schema ready. It must be an object's, and refer to nothing
// outside of itself.
func compile(raw json.RawMessage) (*inputSchema, error) {
	if raw == nil {
		return &inputSchema{}, nil
	}
	switch first := bytes.TrimLeft(raw, " \t\r\n"); {
	case !json.Valid(raw):
		return nil, errors.New("it is not JSON")
	case first[0] != '{':
		return nil, errors.New("it is not a JSON object")
	}
	schema := new(jsonschema.Schema)
	if err := json.Unmarshal(raw, schema); err != nil {
		return nil, fmt.Errorf("it is not a JSON Schema: %w", err)
	}
	if schema.Types != nil || schema.Type != "" && schema.Type != "object" {
		return nil, errors.New(`its type is not "object"`)
	}
	ready, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("it is not a JSON Schema that stands alone: %w", err)
	}
	// Whether the draft that it names is known is said only when it is used.
	draft, err := (&jsonschema.Schema{Schema: schema.Schema}).Resolve(nil)
	if err == nil {
		err = draft.Validate(map[string]any{})
	}
	if err != nil {
		return nil, fmt.Errorf("its $schema is not understood: %w", err)
	}
	return &inputSchema{ready}, nil
}

// check holds an input against the schema. The error tells the agent which field
// is wrong, and what was expected.
func (s *inputSchema) check(input json.RawMessage) error {
	switch {
	case len(input) > maxInput:
		return fmt.Errorf("the input has %d bytes; at most %d are taken", len(input), maxInput)
	case deeper(input, maxNesting):
		return fmt.Errorf("the input is nested more than %d levels deep", maxNesting)
	}
	// Numbers become float64: as exact numbers a short text can stand for one that
	// fills the memory.
	var value any
	if err := json.Unmarshal(input, &value); err != nil {
		return fmt.Errorf("the input is not JSON: %w", err)
	}
	if _, ok := value.(map[string]any); !ok {
		return errors.New("the input is not a JSON object")
	}
	if name, twice := repeated(input); twice {
		return fmt.Errorf("the input has %s twice in one object", Cut(strconv.Quote(name), maxFault, "…"))
	}
	if s.schema == nil {
		return nil
	}
	err := s.schema.Validate(value)
	if err == nil {
		return nil
	}
	faults := faultsOf(s.schema.Schema(), value, "", nil)
	if len(faults) == 0 {
		faults = []fault{{"", err.Error()}}
	}
	var b strings.Builder
	b.WriteString("the input does not match the tool's schema:")
	for _, f := range faults[:min(len(faults), maxNamedFaults)] {
		b.WriteString("\n- " + f.String())
	}
	if more := len(faults) - maxNamedFaults; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	return errors.New(b.String())
}

// repeated returns a name that an object of a JSON text has twice. Of its values
// some readers take the first and others the last, so that what is checked, shown
// and agreed to need not be what a tool reads.
func repeated(document []byte) (name string, twice bool) {
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber()
	type container struct {
		names map[string]bool // nil for a list
		value bool            // of an object, whether a value comes next
	}
	var open []container
	for {
		token, err := dec.Token()
		if err != nil {
			return "", false // the end: the text is valid
		}
		if end := token == json.Delim('}') || token == json.Delim(']'); end {
			open = open[:len(open)-1]
			continue
		}
		if in := len(open) - 1; in >= 0 && open[in].names != nil {
			if key, is := token.(string); is && !open[in].value {
				if open[in].names[key] {
					return key, true
				}
				open[in].names[key], open[in].value = true, true
				continue
			}
			open[in].value = false
		}
		switch token {
		case json.Delim('{'):
			open = append(open, container{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, container{})
		}
	}
}

// Cut returns text as valid UTF-8 of at most size bytes; a mark says that some is
// missing.
func Cut(text string, size int, mark string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= size {
		return text
	}
	return strings.ToValidUTF8(text[:size-len(mark)], "") + mark
}

// deeper reports whether a JSON text has more levels than limit. It needs no
// valid text: what is not valid fails when it is decoded.
func deeper(data []byte, limit int) bool {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
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
