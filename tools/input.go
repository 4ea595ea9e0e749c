package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// inputSchema says what an input must be. A nil schema takes any object.
type inputSchema struct{ schema *jsonschema.Schema }

// schemaURL names a tool's schema while it is compiled. Nothing is fetched.
const schemaURL = "tool:///input.json"

// compile makes a schema ready. It must be an object's, and refer to nothing
// outside of itself.
func compile(raw json.RawMessage) (*inputSchema, error) {
	if raw == nil {
		return &inputSchema{}, nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	object, ok := doc.(map[string]any)
	if !ok {
		return nil, errors.New("it is not a JSON object")
	}
	if kind, ok := object["type"]; ok && kind != "object" {
		return nil, errors.New(`its type is not "object"`)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	schema, err := c.Compile(schemaURL)
	if err != nil {
		return nil, err
	}
	return &inputSchema{schema}, nil
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
	if s.schema == nil {
		return nil
	}
	err := s.schema.Validate(value)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	faults := leaves(invalid, nil)
	var b strings.Builder
	b.WriteString("the input does not match the tool's schema:")
	for _, f := range faults[:min(len(faults), maxNamedFaults)] {
		b.WriteString("\n- " + f)
	}
	if more := len(faults) - maxNamedFaults; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	return errors.New(b.String())
}

// leaves gathers the faults that have no cause below them, each as a line.
func leaves(e *jsonschema.ValidationError, all []string) []string {
	for _, cause := range e.Causes {
		all = leaves(cause, all)
	}
	if len(e.Causes) > 0 {
		return all
	}
	where := "/" + strings.Join(e.InstanceLocation, "/")
	what := e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	return append(all, Cut(strings.Join(strings.Fields(where+": "+what), " "), maxFault, " …"))
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
