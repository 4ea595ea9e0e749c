package repoconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxProblems is how many problems of one file are told; a file with more is
// another kind of file.
const maxProblems = 20

// Problem is something in a file that cannot be used.
type Problem struct {
	// Line counts from 1; 0 means the file as a whole.
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// Error implements error.
func (p Problem) Error() string {
	if p.Line == 0 {
		return p.Message
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Message)
}

// Layer is what one file says.
type Layer struct {
	// Source is where it stands, as people are told: "octo/shop@main".
	Source string
	values map[string]any
}

// Parse reads a file. Unknown keys, keys that are there twice, aliases, and
// values of another type or out of bounds are problems; a file with any is not
// to be used at all, because half of what somebody wants may be its opposite.
// An empty file says nothing and has no problem.
func Parse(source string, data []byte) (Layer, []Problem) {
	p := parser{layer: Layer{Source: source, values: map[string]any{}}, known: map[string]field{}, groups: map[string]bool{}}
	if len(data) > MaxFile {
		p.fail(0, "the file has %d bytes; at most %d are read", len(data), MaxFile)
		return Layer{Source: source}, p.problems
	}
	if !utf8.Valid(data) {
		p.fail(0, "the file is not UTF-8 text")
		return Layer{Source: source}, p.problems
	}
	for _, f := range fields() {
		p.known[f.key] = f
		for i, c := range f.key {
			if c == '.' {
				p.groups[f.key[:i]] = true
			}
		}
	}
	p.read(data)
	if len(p.problems) > 0 {
		return Layer{Source: source}, p.problems
	}
	return p.layer, nil
}

type parser struct {
	layer    Layer
	known    map[string]field
	groups   map[string]bool
	problems []Problem
}

func (p *parser) fail(line int, format string, args ...any) {
	if len(p.problems) < maxProblems {
		p.problems = append(p.problems, Problem{Line: line, Message: fmt.Sprintf(format, args...)})
	}
}

func (p *parser) read(data []byte) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	err := dec.Decode(&document)
	if errors.Is(err, io.EOF) {
		return
	}
	if err != nil {
		p.fail(0, "%s", strings.TrimPrefix(err.Error(), "yaml: "))
		return
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		p.fail(second.Line, "the file must be one YAML document")
		return
	}
	if len(document.Content) > 0 {
		p.walk("", document.Content[0])
	}
}

// walk reads the mapping below prefix.
func (p *parser) walk(prefix string, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		p.fail(n.Line, "%s must hold keys and values", name(prefix))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		word, value := n.Content[i], n.Content[i+1]
		key := word.Value
		if prefix != "" {
			key = prefix + "." + key
		}
		if seen[key] {
			p.fail(word.Line, "%s is there twice", name(key))
			continue
		}
		seen[key] = true
		f, known := p.known[key]
		switch {
		case word.Kind != yaml.ScalarNode:
			p.fail(word.Line, "a key must be a word")
		case known:
			p.value(f, value)
		case p.groups[key]:
			p.walk(key, value)
		default:
			p.fail(word.Line, "there is no key %s", name(key))
		}
	}
}

// value reads the value of one key.
func (p *parser) value(f field, n *yaml.Node) {
	switch f.at(&Config{}).(type) {
	case *bool:
		if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
			p.fail(n.Line, "%s must be true or false", f.key)
			return
		}
		p.layer.values[f.key] = strings.EqualFold(n.Value, "true")
	case *int:
		v, err := strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil || v < 0 || v > f.most {
			p.fail(n.Line, "%s must be a whole number from 0 to %d", f.key, f.most)
			return
		}
		p.layer.values[f.key] = v
	case *string:
		if text, ok := p.text(f, n); ok {
			p.layer.values[f.key] = text
		}
	case *[]string:
		if n.Kind != yaml.SequenceNode {
			p.fail(n.Line, "%s must be a list", f.key)
			return
		}
		if len(n.Content) > maxItems {
			p.fail(n.Line, "%s has %d entries; at most %d are allowed", f.key, len(n.Content), maxItems)
			return
		}
		list := make([]string, 0, len(n.Content))
		for _, item := range n.Content {
			if text, ok := p.text(f, item); ok {
				list = append(list, text)
			}
		}
		p.layer.values[f.key] = list
	}
}

// text reads a text, or an entry of a list.
func (p *parser) text(f field, n *yaml.Node) (string, bool) {
	_, list := f.at(&Config{}).(*[]string)
	what := f.key
	if list {
		what = "an entry of " + f.key
	}
	switch {
	case n.Kind == yaml.AliasNode:
		p.fail(n.Line, "%s is an alias; write the value out", what)
	case n.Kind != yaml.ScalarNode || n.Tag != "!!str":
		p.fail(n.Line, "%s must be text; put it in quotes", what)
	case f.choices != nil && !slices.Contains(f.choices, n.Value):
		p.fail(n.Line, "%s must be %s, not %s", what, oneOf(f.choices), name(n.Value))
	case f.choices == nil && len(n.Value) > f.most:
		p.fail(n.Line, "%s has %d bytes; at most %d are allowed", what, len(n.Value), f.most)
	case list && strings.TrimPrefix(n.Value, "!") == "":
		p.fail(n.Line, "%s is empty", what)
	case f.check != nil && f.check(n.Value) != nil:
		p.fail(n.Line, "%s must be %s, not %s", what, f.pattern, name(n.Value))
	default:
		return n.Value, true
	}
	return "", false
}

func oneOf(choices []string) string {
	quoted := make([]string, 0, len(choices))
	for _, c := range choices {
		if c != "" {
			quoted = append(quoted, strconv.Quote(c))
		}
	}
	return strings.Join(quoted, " or ")
}

// name shows a word of the file, bounded and on one line.
func name(word string) string {
	const most = 60
	if word == "" {
		return "the file"
	}
	if len(word) > most {
		word = strings.ToValidUTF8(word[:most], "") + "…"
	}
	return strconv.Quote(word)
}
