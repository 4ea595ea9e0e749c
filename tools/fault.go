package tools

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// fault is one thing that is wrong with an input: where, and what.
type fault struct{ at, what string }

// String is the fault as one short line.
func (f fault) String() string {
	line := strings.Join(strings.Fields(cmp.Or(f.at, "/")+": "+f.what), " ")
	return Cut(line, maxFault, " …")
}

// faultsOf names what is wrong with a value that its schema refuses, each field
// by itself, so that an agent can mend all at once. It knows the keywords that
// tools describe their inputs with, and is silent about others: whether an input
// is taken is not decided here.
func faultsOf(s *jsonschema.Schema, value any, at string, all []fault) []fault {
	if s == nil {
		return all
	}
	wrong := func(format string, args ...any) { all = append(all, fault{at, fmt.Sprintf(format, args...)}) }
	if want := kinds(s); len(want) > 0 && !slices.ContainsFunc(want, func(kind string) bool { return isA(value, kind) }) {
		wrong("got %s, want %s", kindOf(value), strings.Join(want, " or "))
		return all
	}
	if s.Enum != nil && !slices.ContainsFunc(s.Enum, func(one any) bool { return fmt.Sprint(one) == fmt.Sprint(value) }) {
		wrong("value must be one of %s", listed(s.Enum))
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, there := v[name]; !there {
				wrong("missing property '%s'", name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			of, known := s.Properties[name]
			switch {
			case !known && forbids(s.AdditionalProperties) && len(s.PatternProperties) == 0:
				wrong("additional property '%s' is not allowed", name)
				continue
			case !known && len(s.PatternProperties) == 0:
				of = s.AdditionalProperties
			}
			all = faultsOf(of, v[name], at+"/"+name, all)
		}
	case []any:
		count(wrong, "items", len(v), s.MinItems, s.MaxItems)
		for i, item := range v {
			all = faultsOf(s.Items, item, at+"/"+strconv.Itoa(i), all)
		}
	case string:
		count(wrong, "length", utf8.RuneCountInString(v), s.MinLength, s.MaxLength)
	case float64:
		if s.Minimum != nil && v < *s.Minimum {
			wrong("minimum: got %v, want %v", v, *s.Minimum)
		}
		if s.Maximum != nil && v > *s.Maximum {
			wrong("maximum: got %v, want %v", v, *s.Maximum)
		}
	}
	return all
}

func count(wrong func(string, ...any), what string, n int, least, most *int) {
	if least != nil && n < *least {
		wrong("%s: got %d, want at least %d", what, n, *least)
	}
	if most != nil && n > *most {
		wrong("%s: got %d, want at most %d", what, n, *most)
	}
}

// kinds are the types that a schema takes; none means all.
func kinds(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}

// forbids reports whether a schema is the one that takes nothing.
func forbids(s *jsonschema.Schema) bool {
	return s != nil && s.Not != nil && reflect.ValueOf(*s.Not).IsZero()
}

func isA(value any, kind string) bool {
	if n, ok := value.(float64); ok && kind == "integer" {
		return n == math.Trunc(n)
	}
	return kindOf(value) == kind
}

// kindOf is JSON's name for what a value is.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

func listed(values []any) string {
	var all []string
	for _, v := range values {
		all = append(all, fmt.Sprintf("%q", fmt.Sprint(v)))
	}
	return strings.Join(all, ", ")
}
