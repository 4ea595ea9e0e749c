package condition

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"github.com/google/jsonschema-go/jsonschema"
)

// fields hold an expression against the schema of the input, so that a misspelt
// field or value is found when the expression is compiled: where it runs, it would
// only look like one that does not hold. Of a schema it knows what tools mostly
// have, and it is silent about the rest. A nil one knows nothing.
type fields struct{ schema *jsonschema.Schema }

func readFields(schema json.RawMessage) (*fields, error) {
	if schema == nil {
		return nil, nil
	}
	f := &fields{new(jsonschema.Schema)}
	if err := json.Unmarshal(schema, f.schema); err != nil {
		return nil, fmt.Errorf("the input's schema cannot be read: %w", err)
	}
	return f, nil
}

func (f *fields) root() *jsonschema.Schema {
	if f == nil {
		return nil
	}
	return f.schema
}

// check returns the first mistake, as an [*Error].
func (f *fields) check(a *ast.AST) error {
	var first *Error
	ast.PostOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if first != nil {
			return
		}
		if text := f.mistake(e); text != "" {
			at := a.SourceInfo().GetStartLocation(e.ID())
			first = &Error{max(at.Line(), 1), max(at.Column()+1, 1), text}
		}
	}))
	if first == nil {
		return nil
	}
	return first
}

// boolean reports whether an expression is a field that is a boolean by the schema.
func (f *fields) boolean(e ast.Expr) bool {
	schema := f.schemaOf(e)
	return !opaque(schema) && schema.Type == "boolean"
}

// mistake says what is wrong with one part of an expression.
func (f *fields) mistake(e ast.Expr) string {
	switch e.Kind() {
	case ast.SelectKind:
		return f.missing(e.AsSelect().Operand(), e.AsSelect().FieldName())
	case ast.CallKind:
		call := e.AsCall()
		switch args := call.Args(); call.FunctionName() {
		case operators.Index:
			if name, ok := text(args[1]); ok {
				return f.missing(args[0], name)
			}
		case operators.Equals, operators.NotEquals:
			if wrong := f.never(args[0], args[1]); wrong != "" {
				return wrong
			}
			return f.never(args[1], args[0])
		case operators.In:
			if args[1].Kind() == ast.ListKind {
				for _, one := range args[1].AsList().Elements() {
					if wrong := f.never(args[0], one); wrong != "" {
						return wrong
					}
				}
			}
		case "matches":
			if pattern, ok := text(args[0]); ok {
				if _, err := compilePattern(pattern); err != nil {
					return err.Error()
				}
			}
		}
	}
	return ""
}

// missing reports a field that the schema does not have.
func (f *fields) missing(of ast.Expr, name string) string {
	schema := f.schemaOf(of)
	if opaque(schema) || len(schema.PatternProperties) > 0 || schema.AdditionalProperties != nil && !forbids(schema.AdditionalProperties) {
		return ""
	}
	if schema.Properties == nil && schema.AdditionalProperties == nil || schema.Properties[name] != nil {
		return ""
	}
	return fmt.Sprintf("the input's schema has no field %q here", name)
}

// never reports a field that is held against a value that it cannot have.
func (f *fields) never(field, value ast.Expr) string {
	schema := f.schemaOf(field)
	if opaque(schema) || value.Kind() != ast.LiteralKind {
		return ""
	}
	var kind string
	literal := value.AsLiteral()
	switch literal.(type) {
	case types.String:
		kind = "string"
	case types.Bool:
		kind = "boolean"
	case types.Int, types.Double:
		kind = "number"
	default:
		return ""
	}
	want := schema.Types
	if schema.Type != "" {
		want = []string{schema.Type}
	}
	if len(want) > 0 && !slices.Contains(want, kind) && (kind != "number" || !slices.Contains(want, "integer")) {
		return fmt.Sprintf("the field is never a %s: by the schema it is of type %v", kind, want)
	}
	said := fmt.Sprint(literal.Value())
	if schema.Enum != nil && !slices.ContainsFunc(schema.Enum, func(one any) bool { return fmt.Sprint(one) == said }) {
		return fmt.Sprintf("the field is never %s: by the schema it is one of %v", said, schema.Enum)
	}
	return ""
}

// schemaOf returns the schema of what an expression selects of the input, or nil.
func (f *fields) schemaOf(e ast.Expr) *jsonschema.Schema {
	switch e.Kind() {
	case ast.IdentKind:
		if e.AsIdent() == "input" {
			return f.root()
		}
	case ast.SelectKind:
		if s := e.AsSelect(); !s.IsTestOnly() {
			return declared(f.schemaOf(s.Operand()))[s.FieldName()]
		}
	case ast.CallKind:
		if call := e.AsCall(); call.FunctionName() == operators.Index {
			of := f.schemaOf(call.Args()[0])
			if name, ok := text(call.Args()[1]); ok {
				return declared(of)[name]
			}
			return items(of)
		}
	}
	return nil
}

// opaque reports whether a schema is none, or says more than is understood here.
func opaque(s *jsonschema.Schema) bool {
	return s == nil || s.Ref != "" || s.DynamicRef != "" || s.AllOf != nil || s.AnyOf != nil || s.OneOf != nil || s.If != nil
}

// declared are the fields that a schema names.
func declared(s *jsonschema.Schema) map[string]*jsonschema.Schema {
	if opaque(s) {
		return nil
	}
	return s.Properties
}

// items is the schema of what is in an array.
func items(s *jsonschema.Schema) *jsonschema.Schema {
	if opaque(s) {
		return nil
	}
	return s.Items
}

// forbids reports whether a schema is the one that takes nothing.
func forbids(s *jsonschema.Schema) bool {
	return s.Not != nil && reflect.ValueOf(*s.Not).IsZero()
}

func text(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().(types.String)
	return string(s), ok
}
