package markup

import (
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// gfm parses the dialect that models write.
var gfm = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
})

// What no answer has, and what costs the parser work that grows faster than the text.
const (
	// maxNesting is how many lists and quotations a line may open.
	maxNesting = 30
	// maxRun is how many of one mark may stand side by side.
	maxRun = 300
	// maxChained is how many brackets, delimiters or tags may stand in one word.
	maxChained = 1000
	// maxUnclosed is how often code may begin behind an escaped backtick. Nothing
	// closes it, and each time the parser looks for that through the whole paragraph.
	maxUnclosed = 30
)

// parse reads Markdown. A text that would cost too much is not read, and ok is
// false: it is to be shown as it is.
func parse(src string) (doc ast.Node, ok bool) {
	if costly(src) {
		return nil, false
	}
	return gfm().Parse(text.NewReader([]byte(src))), true
}

// nesting is the beginning of a line that opens too many lists and quotations.
var nesting = lazyregexp.New(`(?m)^(?:[ \t]*(?:>|(?:[-+*]|[0-9]{1,9}[.)])(?:[ \t]|$))){` + strconv.Itoa(maxNesting+1) + `}`)

// costly reports whether a text has what costs a parser more than its length.
func costly(src string) bool {
	if nesting.MatchString(src) || strings.Count(src, "\\``") > maxUnclosed {
		return true
	}
	var last byte
	run, chained := 0, 0
	for i := range len(src) {
		c := src[i]
		if c != last {
			run = 0
		}
		last = c
		switch c {
		case ' ', '\t', '\n':
			chained = 0
		case '[', ']', '!', '*', '_', '~', '`', '<':
			run++
			chained++
			if run > maxRun || chained > maxChained {
				return true
			}
		}
	}
	return false
}

// newlines makes all line ends alike, and takes out what no text has.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\uFFFD")

// tidy makes a text valid UTF-8 with one kind of line end.
func tidy(src string) string {
	return strings.Map(reserved, newlines.Replace(strings.ToValidUTF8(src, "\uFFFD")))
}
