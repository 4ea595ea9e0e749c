package sim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/scanner"
)

// graphQLDocument is one operation. Fragments, directives and block strings are
// not read: clients here have no use for them.
type graphQLDocument struct {
	operation string // "query" or "mutation"
	fields    []graphQLSelection
}

// graphQLSelection is a field that is asked for.
type graphQLSelection struct {
	alias, name string
	args        map[string]graphQLValue
	fields      []graphQLSelection
}

// graphQLValue gives an argument's value, with the variables filled in.
type graphQLValue struct {
	literal  any
	variable string
	members  map[string]graphQLValue
	items    []graphQLValue
}

func (v graphQLValue) value(vars object) any {
	switch {
	case v.variable != "":
		return vars[v.variable]
	case v.members != nil:
		o := object{}
		for name, m := range v.members {
			o[name] = m.value(vars)
		}
		return o
	case v.items != nil:
		list := []any{}
		for _, item := range v.items {
			list = append(list, item.value(vars))
		}
		return list
	}
	return v.literal
}

// graphQLParser reads tokens one ahead.
type graphQLParser struct {
	scan scanner.Scanner
	tok  rune
	err  error
}

var errGraphQL = errors.New("Parse error") //nolint:staticcheck // GitHub's own words

func parseGraphQL(query string) (graphQLDocument, error) {
	p := &graphQLParser{}
	p.scan.Init(strings.NewReader(query))
	p.scan.Mode = scanner.ScanIdents | scanner.ScanInts | scanner.ScanFloats | scanner.ScanStrings
	p.scan.Error = func(*scanner.Scanner, string) {}
	p.next()
	doc := graphQLDocument{operation: "query"}
	if p.tok == scanner.Ident {
		doc.operation = p.name()
		if p.tok == scanner.Ident {
			p.name()
		}
		if p.take('(') {
			p.declarations()
		}
	}
	doc.fields = p.selection(0)
	switch {
	case p.err != nil:
		return doc, p.err
	case doc.operation != "query" && doc.operation != "mutation":
		return doc, fmt.Errorf("%w on %q", errGraphQL, doc.operation)
	case p.tok != scanner.EOF:
		return doc, fmt.Errorf("%w on %q", errGraphQL, p.scan.TokenText())
	}
	return doc, nil
}

func (p *graphQLParser) next() {
	for {
		if p.tok = p.scan.Scan(); p.tok != ',' { // a comma is a space
			return
		}
	}
}

func (p *graphQLParser) take(tok rune) bool {
	if p.err != nil || p.tok != tok {
		return false
	}
	p.next()
	return true
}

func (p *graphQLParser) want(tok rune) {
	if !p.take(tok) && p.err == nil {
		p.err = fmt.Errorf("%w on %q at %s (expected %q)", errGraphQL, p.scan.TokenText(), p.scan.Pos(), tok)
	}
}

func (p *graphQLParser) name() string {
	text := p.scan.TokenText()
	p.want(scanner.Ident)
	return text
}

// declarations skips the types of the variables: "($id: ID!, $n: Int = 3)".
func (p *graphQLParser) declarations() {
	for p.err == nil && !p.take(')') {
		if p.tok == scanner.EOF {
			p.want(')')
		}
		p.next()
	}
}

// maxGraphQLDepth bounds how deep a query may go.
const maxGraphQLDepth = 25

func (p *graphQLParser) selection(depth int) []graphQLSelection {
	var fields []graphQLSelection
	p.want('{')
	if depth > maxGraphQLDepth {
		p.err = fmt.Errorf("%w: the query is too deep", errGraphQL)
	}
	for p.err == nil && !p.take('}') {
		f := graphQLSelection{name: p.name(), args: map[string]graphQLValue{}}
		f.alias = f.name
		if p.take(':') {
			f.name = p.name()
		}
		if p.take('(') {
			for p.err == nil && !p.take(')') {
				name := p.name()
				p.want(':')
				f.args[name] = p.value(depth)
			}
		}
		if p.tok == '{' {
			f.fields = p.selection(depth + 1)
		}
		fields = append(fields, f)
	}
	return fields
}

func (p *graphQLParser) value(depth int) graphQLValue {
	text := p.scan.TokenText()
	switch {
	case depth > maxGraphQLDepth:
		p.err = fmt.Errorf("%w: the query is too deep", errGraphQL)
	case p.take('$'):
		return graphQLValue{variable: p.name()}
	case p.take(scanner.Int):
		n, err := strconv.Atoi(text)
		if err != nil {
			p.err = fmt.Errorf("%w on %q", errGraphQL, text)
		}
		return graphQLValue{literal: float64(n)} // as a variable comes out of JSON
	case p.take(scanner.String):
		s, err := strconv.Unquote(text)
		if err != nil {
			p.err = fmt.Errorf("%w on %q", errGraphQL, text)
		}
		return graphQLValue{literal: s}
	case p.take(scanner.Ident):
		switch text {
		case "true", "false":
			return graphQLValue{literal: text == "true"}
		case "null":
			return graphQLValue{}
		}
		return graphQLValue{literal: text} // an enum
	case p.take('{'):
		v := graphQLValue{members: map[string]graphQLValue{}}
		for p.err == nil && !p.take('}') {
			name := p.name()
			p.want(':')
			v.members[name] = p.value(depth + 1)
		}
		return v
	case p.take('['):
		v := graphQLValue{items: []graphQLValue{}}
		for p.err == nil && !p.take(']') {
			v.items = append(v.items, p.value(depth+1))
		}
		return v
	default:
		p.want(scanner.Ident)
	}
	return graphQLValue{}
}
