package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// maxReferences bounds, in bytes, what a text may grow by when links get the
// addresses that are defined elsewhere in it.
const maxReferences = 20_000

// inlined writes the address of a link to where the link is: its definition may
// come to stand in another message.
func inlined(n *ast.Link, src string) (edit, bool) {
	destination := string(n.Destination)
	if n.Reference == nil || n.Pos() < 0 || strings.ContainsAny(destination, " ()<>\n") {
		return edit{}, false
	}
	value := "[" + string(n.Reference.Value) + "]"
	link := src[n.Pos():min(len(src), n.Pos()+longestLabel)]
	at, length := len(value), 0
	switch n.Reference.Type {
	case ast.ReferenceLinkFull:
		at, length = strings.Index(link, "]"+value)+1, len(value)
	case ast.ReferenceLinkCollapsed:
		length = len("[]")
	}
	if at < 1 || n.Reference.Type != ast.ReferenceLinkFull && !strings.HasPrefix(link, value) {
		return edit{}, false
	}
	at += n.Pos()
	return edit{at, at + length, "(" + destination + ")"}, true
}

// longestLabel bounds how far the end of a link is looked for.
const longestLabel = 1000
