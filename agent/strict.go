package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// reader reads one YAML file into a Go type, strictly: keys that the type does not
// have, keys that are there twice, aliases and values of another type are problems.
type reader struct {
	*problems
	file string
	// first is the line before the document's first, where it stands within a file.
	first int
	// lines are where each value stands, by its path: "approvers.slack[0]". Broken are
	// those that were told of.
	lines  map[string]int
	broken map[string]bool
}

func (p *problems) reader(name string, first int) *reader {
	return &reader{problems: p, file: name, first: first, lines: map[string]int{}, broken: map[string]bool{}}
}

// value is what reads itself, since it can be written in several ways.
type value interface {
	read(r *reader, n *yaml.Node, path string)
}

// readYAML reads a document into what into points to, and reports whether it is
// one. What of it has a wrong form is left out.
func (p *problems) readYAML(name string, text []byte, first int, into any) (*reader, bool) {
	r := p.reader(name, first)
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	err := dec.Decode(&document)
	switch {
	case errors.Is(err, io.EOF):
		document.Content = []*yaml.Node{{Kind: yaml.MappingNode, Line: 1}}
	case err != nil:
		r.syntax(err)
		return r, false
	}
	if err := dec.Decode(&second); err != nil && !errors.Is(err, io.EOF) {
		r.syntax(err)
		return r, false
	} else if err == nil {
		p.fail(name, first+second.Line, "the file must be one YAML document")
		return r, false
	}
	r.any(document.Content[0], reflect.ValueOf(into).Elem(), "")
	return r, true
}

var yamlLine = lazyregexp.New(`^(?:yaml: )?(?:line (\d+): )?`)

// syntax tells of a text that is no YAML.
func (r *reader) syntax(err error) {
	text := err.Error()
	found := yamlLine.FindStringSubmatch(text)
	line, _ := strconv.Atoi(found[1])
	if line > 0 {
		line += r.first
	}
	r.fail(r.file, line, "is not YAML: %s", text[len(found[0]):])
}

func (r *reader) wrong(n *yaml.Node, path, format string, args ...any) {
	r.broken[path] = true
	if path == "" {
		path = "the file"
	}
	r.fail(r.file, r.first+n.Line, "%s %s", path, fmt.Sprintf(format, args...))
}

// at tells of a value by its path, or of the file where it is not there. A value
// of which was told already has no meaning that could be wrong.
func (r *reader) at(path, format string, args ...any) {
	if r.broken[path] {
		return
	}
	r.fail(r.file, r.line(path), "%s %s", path, fmt.Sprintf(format, args...))
}

func (r *reader) line(path string) int { return r.lines[path] }

// has reports whether a value is there.
func (r *reader) has(path string) bool { return r.lines[path] > 0 }

// any reads a node into a value of any of the types that settings have.
func (r *reader) any(n *yaml.Node, into reflect.Value, path string) {
	r.lines[path] = r.first + n.Line
	if n.Kind == yaml.AliasNode {
		r.wrong(n, path, "is an alias; write the value out")
		return
	}
	if own, ok := into.Addr().Interface().(value); ok {
		own.read(r, n, path)
		return
	}
	empty := n.Kind == yaml.ScalarNode && n.Tag == "!!null"
	switch into.Kind() {
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		r.any(n, into.Elem(), path)
	case reflect.Struct:
		if !empty {
			r.fields(n, into, path)
		}
	case reflect.Map:
		into.Set(reflect.MakeMap(into.Type()))
		if empty {
			return
		}
		r.pairs(n, path, func(key, v *yaml.Node) {
			one := reflect.New(into.Type().Elem()).Elem()
			r.any(v, one, within(path, key.Value))
			into.SetMapIndex(reflect.ValueOf(key.Value), one)
		})
	case reflect.Slice:
		r.items(n, into, path, empty)
	case reflect.String:
		text, ok := r.text(n, path)
		if ok {
			into.SetString(text)
		}
	case reflect.Bool:
		if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
			r.wrong(n, path, "must be true or false")
			return
		}
		into.SetBool(strings.EqualFold(n.Value, "true"))
	case reflect.Int, reflect.Int64:
		v, err := strconv.ParseInt(n.Value, 10, 64)
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil {
			r.wrong(n, path, "must be a whole number")
			return
		}
		into.SetInt(v)
	case reflect.Float64:
		v, err := strconv.ParseFloat(n.Value, 64)
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || err != nil || v-v != 0 {
			r.wrong(n, path, "must be a number")
			return
		}
		into.SetFloat(v)
	}
}

// text reads a scalar that is text.
func (r *reader) text(n *yaml.Node, path string) (string, bool) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		r.wrong(n, path, "has no value; remove the key or give it one")
	case n.Kind != yaml.ScalarNode:
		r.wrong(n, path, "must be text")
	case n.Tag != "!!str":
		r.wrong(n, path, "must be text; put it in quotes")
	default:
		return n.Value, true
	}
	return "", false
}

func (r *reader) items(n *yaml.Node, into reflect.Value, path string, empty bool) {
	into.Set(reflect.MakeSlice(into.Type(), 0, 0))
	switch {
	case empty:
	case n.Kind != yaml.SequenceNode:
		r.wrong(n, path, "must be a list")
	case len(n.Content) > maxList:
		r.wrong(n, path, "has %d entries; at most %d are allowed", len(n.Content), maxList)
	default:
		for i, item := range n.Content {
			one := reflect.New(into.Type().Elem()).Elem()
			r.any(item, one, index(path, i))
			into.Set(reflect.Append(into, one))
		}
	}
}

// fields reads a mapping into a struct. Its keys are the names of the fields in
// JSON; those that are not marked omitempty must be there.
func (r *reader) fields(n *yaml.Node, into reflect.Value, path string) {
	var names []string
	at := map[string]int{}
	for i := range into.NumField() {
		name, _, _ := strings.Cut(into.Type().Field(i).Tag.Get("json"), ",")
		names = append(names, name)
		at[name] = i
	}
	r.pairs(n, path, func(key, v *yaml.Node) {
		i, known := at[key.Value]
		if !known {
			r.fail(r.file, r.first+key.Line, "there is no key %.100q; there is %s", within(path, key.Value), strings.Join(names, ", "))
			return
		}
		r.any(v, into.Field(i), within(path, key.Value))
	})
	for _, name := range names {
		needed := !strings.Contains(into.Type().Field(at[name]).Tag.Get("json"), ",omit")
		if needed && !r.has(within(path, name)) {
			r.wrong(n, path, "must have the key %s", name)
			r.broken[within(path, name)] = true
		}
	}
}

// pairs calls each for the keys and values of a mapping.
func (r *reader) pairs(n *yaml.Node, path string, each func(key, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, path, "must hold keys and values")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag != "!!str":
			r.wrong(key, path, "has a key that is not text; put it in quotes")
		case seen[key.Value]:
			r.fail(r.file, r.first+key.Line, "%s is there twice", within(path, key.Value))
		default:
			seen[key.Value] = true
			each(key, n.Content[i+1])
		}
	}
}

// within is the path of a value in a mapping.
func within(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// index is the path of a value in a list.
func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
