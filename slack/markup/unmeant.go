package markup

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// dunder is a name that Python gives a meaning to, as in __init__.
var dunder = lazyregexp.New(`^[a-z][a-z0-9_]*$`)

// unmeant reports whether emphasis is none that anybody means, as in 2*3*4 and
// __init__, and which marks stand where.
func unmeant(n *ast.Emphasis, src []byte) (marks string, opening, closing int, ok bool) {
	opening = n.Pos()
	if opening < 0 || opening+n.Level > len(src) {
		return "", 0, 0, false
	}
	marks = string(src[opening : opening+n.Level])
	if only, isText := n.FirstChild().(*ast.Text); isText && marks == "__" && n.ChildCount() == 1 {
		closing = only.Segment.Stop
		return marks, opening, closing, dunder.Match(only.Segment.Value(src)) && bytes.HasPrefix(src[closing:], []byte(marks))
	}
	next := n.NextSibling()
	if marks != "*" || opening < 1 || next == nil || next.Kind() != ast.KindText {
		return "", 0, 0, false
	}
	closing = next.Pos() - 1
	if closing <= opening || closing+1 >= len(src) || src[closing] != '*' {
		return "", 0, 0, false
	}
	return marks, opening, closing, isAlphanumeric(rune(src[opening-1])) && isAlphanumeric(rune(src[closing+1]))
}

// about reports whether a strikethrough has single marks, which say "about" more
// often than they strike out.
func about(n *extension.Strikethrough, src []byte) bool {
	at := n.Pos()
	return at >= 0 && at+1 < len(src) && src[at] == '~' && src[at+1] != '~'
}
