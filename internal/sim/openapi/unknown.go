package openapi

import (
	"slices"
	"strconv"
	"strings"
)

// shape is what several schemas, of which a value fits some, say of its parts.
type shape struct {
	fields map[string][]any
	items  []any
	// open is set where one of them allows fields that it does not name.
	open bool
}

// unknown returns the place of a field that none of the schemas names, or "".
func (j *Judge) unknown(schemas []any, v any) string {
	s := shape{fields: map[string][]any{}}
	for _, schema := range schemas {
		j.gather(&s, schema)
	}
	switch v := v.(type) {
	case map[string]any:
		if s.open || len(s.fields) == 0 {
			return ""
		}
		for name, inner := range v {
			if s.fields[name] == nil {
				return strconv.Quote(name)
			}
			if deeper := j.unknown(s.fields[name], inner); deeper != "" {
				return name + "." + deeper
			}
		}
	case []any:
		for _, inner := range v {
			if deeper := j.unknown(s.items, inner); deeper != "" {
				return deeper
			}
		}
	}
	return ""
}

func (j *Judge) gather(s *shape, schema any) {
	o, _ := schema.(map[string]any)
	if ref, is := o["$ref"].(string); is {
		j.gather(s, j.schemas[strings.TrimPrefix(ref, "#/schemas/")])
	}
	for _, several := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := o[several].([]any)
		for _, one := range list {
			j.gather(s, one)
		}
	}
	fields, _ := o["properties"].(map[string]any)
	for name, field := range fields {
		s.fields[name] = append(slices.Clip(s.fields[name]), field)
	}
	if o["items"] != nil {
		s.items = append(s.items, o["items"])
	}
	if more := o["additionalProperties"]; more != nil && more != false {
		s.open = true
	}
}
