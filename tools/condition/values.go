package condition

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// numbers replaces JSON's numbers by Go's, and refuses objects that two readers
// could understand in two ways. Several languages, Go among them, find a field by a
// name that differs from it by case: what the tool reads would then not be what was
// decided about.
func numbers(value any, schema *jsonschema.Schema) (any, error) {
	switch v := value.(type) {
	case map[string]any:
		names := make(map[string]string, len(v))
		for name := range declared(schema) {
			names[fold(name)] = name
		}
		for name, field := range v {
			if other, there := names[fold(name)]; there && other != name {
				return nil, fmt.Errorf("the input's fields %q and %q differ by case alone", name, other)
			}
			names[fold(name)] = name
			var err error
			if v[name], err = numbers(field, declared(schema)[name]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, item := range v {
			var err error
			if v[i], err = numbers(item, items(schema)); err != nil {
				return nil, err
			}
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		return v.Float64()
	}
	return value, nil
}

// fold is the same for names that differ by case alone.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }
