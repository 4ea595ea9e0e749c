package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFile bounds the settings file in bytes.
const maxFile = 1 << 20

// readFile returns the file's values by key.
func readFile(path string, required bool) (map[string]string, []error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && !required {
		return nil, nil
	}
	if err != nil {
		return nil, []error{&Error{Setting: path, Problem: err.Error()}}
	}
	if info.Size() > maxFile {
		return nil, []error{&Error{Setting: path, Problem: fmt.Sprintf("has %d bytes; at most %d are read", info.Size(), maxFile)}}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, []error{&Error{Setting: path, Problem: err.Error()}}
	}
	return parseFile(path, data)
}

// parseFile reads YAML into values by dotted key. Every key must be a setting's.
func parseFile(path string, data []byte) (map[string]string, []error) {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, []error{&Error{Setting: path, Problem: err.Error()}}
	}
	f := file{path: path, values: map[string]string{}, known: map[string]Setting{}, groups: map[string]bool{}}
	for _, s := range Settings() {
		if s.Key == "" {
			continue
		}
		f.known[s.Key] = s
		for at, r := range s.Key {
			if r == '.' {
				f.groups[s.Key[:at]] = true
			}
		}
	}
	if len(document.Content) > 0 {
		f.walk("", document.Content[0])
	}
	return f.values, f.problems
}

// file is the state of one reading.
type file struct {
	path     string
	values   map[string]string
	known    map[string]Setting
	groups   map[string]bool
	problems []error
}

func (f *file) fail(n *yaml.Node, format string, args ...any) {
	f.problems = append(f.problems, &Error{
		Setting: fmt.Sprintf("%s:%d", f.path, n.Line),
		Problem: fmt.Sprintf(format, args...),
	})
}

// walk reads the mapping below prefix.
func (f *file) walk(prefix string, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		f.fail(n, "%s must hold keys and values", orFile(prefix))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		key := name.Value
		if prefix != "" {
			key = prefix + "." + key
		}
		if seen[key] {
			f.fail(name, "%s is there twice", key)
			continue
		}
		seen[key] = true
		switch s, known := f.known[key]; {
		case known:
			f.scalar(key, s, value)
		case f.groups[key]:
			f.walk(key, value)
		default:
			f.fail(name, "unknown key %q; \"liaison help config\" lists all keys", key)
		}
	}
}

// scalar reads one setting's value.
func (f *file) scalar(key string, s Setting, n *yaml.Node) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		f.fail(n, "%s has no value; remove the key or give it one", key)
	case n.Kind == yaml.ScalarNode:
		f.values[key] = n.Value
	case n.Kind == yaml.SequenceNode && s.List:
		var items []string
		for _, item := range n.Content {
			if item.Kind == yaml.MappingNode && len(s.Fields) > 0 {
				items = append(items, f.record(key, s, item))
				continue
			}
			if item.Kind != yaml.ScalarNode || strings.Contains(item.Value, s.between()) {
				f.fail(item, "%s must be a list of values without %s", key, map[bool]string{false: "commas", true: "line feeds"}[s.Lines])
				return
			}
			items = append(items, item.Value)
		}
		f.values[key] = strings.Join(items, s.between())
	case s.List:
		f.fail(n, "%s must be a list", key)
	default:
		f.fail(n, "%s must be a single value", key)
	}
}

// record reads one item of a list that is made of named parts, as the environment
// would have it.
func (f *file) record(key string, s Setting, n *yaml.Node) string {
	parts := make([]string, len(s.Fields))
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		at := slices.Index(s.Fields, name.Value)
		switch {
		case at < 0:
			f.fail(name, "unknown key %q; an item of %s has %s", name.Value, key, strings.Join(s.Fields, ", "))
		case seen[name.Value]:
			f.fail(name, "%s is there twice", name.Value)
		case value.Kind != yaml.ScalarNode || strings.ContainsAny(value.Value, ","+s.Separator):
			f.fail(value, "%s must be a single value without commas and %q", name.Value, s.Separator)
		default:
			parts[at] = value.Value
		}
		seen[name.Value] = true
	}
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, s.Separator)
}

func orFile(prefix string) string {
	if prefix == "" {
		return "the file"
	}
	return prefix
}
