package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// format is what is in force around a piece of text.
type format struct{ bold, italic, strike bool }

// inline writes what is below a node, with marks to be settled.
func (p printer) inline(parent ast.Node, in format) string {
	w := inlineWriter{printer: p, in: in}
	w.children(parent)
	return w.b.String()
}

// inlineWriter writes inline nodes. Slack's formatting ends with the line, so what
// is open is closed there and opened again.
type inlineWriter struct {
	printer
	b  strings.Builder
	in format
	// labels is set where a link is only its label, because it is written elsewhere.
	labels bool
	// open are the marks in force that were opened here, as their closing runes.
	open []rune
}

func (w *inlineWriter) children(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.node(n)
	}
}

func (w *inlineWriter) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		if raw := n.Segment.Value(w.src); n.IsRaw() {
			w.text(string(raw))
		} else {
			w.text(unescape(raw))
		}
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.newline()
		}
	case *ast.String:
		w.text(string(n.Value))
	case *ast.CodeSpan:
		w.code(w.codeText(n))
	case *ast.Emphasis:
		if marks, _, _, ok := unmeant(n, w.src); ok {
			w.text(marks)
			w.children(n)
			w.text(marks)
		} else if n.Level >= 2 {
			w.formatted(n, &w.in.bold, openBold, closeBold)
		} else {
			w.formatted(n, &w.in.italic, openItalic, closeItalic)
		}
	case *extension.Strikethrough:
		if !about(n, w.src) {
			w.formatted(n, &w.in.strike, openStrike, closeStrike)
			return
		}
		w.text("~")
		w.children(n)
		w.text("~")
	case *ast.Link:
		w.link(w.label(n), string(n.Destination))
	case *ast.Image:
		w.link(w.label(n), string(n.Destination))
	case *ast.AutoLink:
		url := string(n.URL(w.src))
		if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(url, "mailto:") {
			url = "mailto:" + url
		}
		w.link(string(n.Label(w.src)), url)
	case *ast.RawHTML:
		w.text(htmlText(string(n.Segments.Value(w.src))))
	case *extension.TaskCheckBox:
		if n.IsChecked {
			w.text("☑ ")
		} else {
			w.text("☐ ")
		}
	default:
		w.children(n)
	}
}

// text writes plain text, of which nothing shall format.
func (w *inlineWriter) text(text string) {
	first, rest, more := strings.Cut(text, "\n")
	for {
		if w.plain {
			w.b.WriteString(first)
		} else {
			w.b.WriteString(literal.Replace(first))
		}
		if !more {
			return
		}
		w.newline()
		first, rest, more = strings.Cut(rest, "\n")
	}
}

func (w *inlineWriter) newline() {
	for i := len(w.open) - 1; i >= 0; i-- {
		w.b.WriteRune(w.open[i])
	}
	w.b.WriteByte('\n')
	for _, r := range w.open {
		w.b.WriteRune(r - closeBold + openBold)
	}
}

func (w *inlineWriter) formatted(n ast.Node, already *bool, opening, closing rune) {
	if *already || w.plain {
		w.children(n)
		return
	}
	*already = true
	w.b.WriteRune(opening)
	w.open = append(w.open, closing)
	w.children(n)
	w.open = w.open[:len(w.open)-1]
	w.b.WriteRune(closing)
	*already = false
}

func (w *inlineWriter) codeText(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(w.src))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// code writes inline code. There is no way to write a backtick in it.
func (w *inlineWriter) code(text string) {
	if w.plain {
		w.b.WriteString(text)
		return
	}
	if strings.TrimSpace(text) == "" {
		w.b.WriteString(text)
		return
	}
	w.b.WriteRune(openCode)
	w.b.WriteString(escaper.Replace(strings.ReplaceAll(text, "`", "ˋ")))
	w.b.WriteRune(closeCode)
}

// label is the text of a link on one line, without markup.
func (w *inlineWriter) label(n ast.Node) string {
	inner := inlineWriter{printer: printer{src: w.src, plain: true}, labels: true}
	inner.children(n)
	return strings.Join(strings.Fields(inner.b.String()), " ")
}

// link writes a link. A label that is itself an address stands beside it, so that
// nobody is led to another place than they read.
func (w *inlineWriter) link(label, destination string) {
	url, ok := address(unescape([]byte(destination)))
	switch {
	case label == "" && !ok:
		w.text(destination)
	case w.labels && ok && label != "":
		w.b.WriteString(label)
	case !ok && strings.HasPrefix(destination, "#"):
		w.text(label)
	case !ok && destination != "" && destination != label:
		w.text(label + " (" + destination + ")")
	case !ok:
		w.text(label)
	case w.plain && label == "":
		w.b.WriteString(destination)
	case w.plain && sameAddress(label, destination):
		w.b.WriteString(label)
	case w.plain:
		w.b.WriteString(label + " (" + destination + ")")
	case label == "" || label == destination:
		w.b.WriteString("<" + url + ">")
	case sameAddress(label, destination):
		w.b.WriteString("<" + url + "|" + literal.Replace(label) + ">")
	case looksLikeAddress(label):
		w.text(label + " (")
		w.b.WriteString("<" + url + ">")
		w.text(")")
	default:
		w.b.WriteString("<" + url + "|" + literal.Replace(label) + ">")
	}
}

func sameAddress(label, destination string) bool {
	return bareAddress(label) == bareAddress(destination)
}

func bareAddress(text string) string {
	for _, scheme := range []string{"https://", "http://", "mailto:", "tel:"} {
		text = strings.TrimPrefix(text, scheme)
	}
	return strings.TrimSuffix(text, "/")
}

// looksLikeAddress reports whether a reader would take a label for where a link leads.
func looksLikeAddress(label string) bool {
	return strings.Contains(label, "://") || strings.HasPrefix(strings.ToLower(label), "www.")
}

var (
	lineBreak = lazyregexp.New(`(?i)<br[ \t]*/?>\n?`)
	// silent is HTML that formats or folds, and says nothing itself.
	silent = lazyregexp.New(`(?i)</?(?:b|strong|i|em|u|ins|sub|sup|small|kbd|center|details|summary|p|div|span)(?:[ \t\n][^<>]*)?/?>`)
)

// htmlText is HTML as a person reads it: comments and what formats are left out,
// what is not known stays as it is.
func htmlText(html string) string {
	var b strings.Builder
	for {
		before, comment, found := strings.Cut(html, "<!--")
		_, after, closed := strings.Cut(comment, "-->")
		if !found || !closed {
			break
		}
		b.WriteString(before)
		html = after
	}
	b.WriteString(html)
	return silent.ReplaceAllString(lineBreak.ReplaceAllString(b.String(), "\n"), "")
}

func (p printer) html(text string) string {
	w := inlineWriter{printer: p}
	w.text(unescapeEntities(htmlText(text)))
	return w.b.String()
}
