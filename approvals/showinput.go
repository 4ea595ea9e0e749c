package approvals

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/liaison-bot/liaison/internal/unseen"
	"github.com/liaison-bot/liaison/redact"
)

// manySpaces is how many spaces in a row are counted instead of shown: something
// can hide behind more.
const manySpaces = 32

// showInput writes an input for people: indented, in its own order, each text
// decoded, masked and then shown so that nothing in it can hide. It is whole. What
// stands for a character that nobody sees, `\u{202E}`, cannot be written by any
// text, in which a backslash is `\\`; nor can `⟨5000 spaces⟩`.
func showInput(input json.RawMessage, redacted func(string) string) string {
	mask := func(s string) string { return unseen.Joined(s, redacted) }
	masked, err := redact.Values(input, mask)
	if err != nil {
		return showText(mask(string(input)))
	}
	var out strings.Builder
	p := printer{dec: json.NewDecoder(bytes.NewReader(masked)), out: &out}
	p.dec.UseNumber()
	for {
		err := p.value()
		if errors.Is(err, io.EOF) {
			return mask(out.String())
		}
		if err != nil {
			return showText(mask(string(masked)))
		}
	}
}

// printer writes a stream of JSON tokens by lines.
type printer struct {
	dec *json.Decoder
	out *strings.Builder
	// open are the objects and lists around what is written.
	open []container
}

type container struct {
	object bool
	// n counts the tokens within, names included.
	n int
}

// value writes the next token.
func (p *printer) value() error {
	token, err := p.dec.Token()
	if err != nil {
		return err
	}
	if end, ok := token.(json.Delim); ok && (end == '}' || end == ']') {
		last := p.open[len(p.open)-1]
		p.open = p.open[:len(p.open)-1]
		if last.n > 0 {
			p.line()
		}
		p.out.WriteRune(rune(end))
		return nil
	}
	p.begin()
	switch t := token.(type) {
	case json.Delim:
		p.out.WriteRune(rune(t))
		p.open = append(p.open, container{object: t == '{'})
	case string:
		writeString(p.out, t)
	case json.Number:
		p.out.WriteString(t.String())
	case nil:
		p.out.WriteString("null")
	default:
		fmt.Fprint(p.out, t)
	}
	return nil
}

// begin writes what stands before a token.
func (p *printer) begin() {
	if len(p.open) == 0 {
		return
	}
	in := &p.open[len(p.open)-1]
	switch {
	case in.object && in.n%2 == 1:
		p.out.WriteString(": ")
	default:
		if in.n > 0 {
			p.out.WriteByte(',')
		}
		p.line()
	}
	in.n++
}

func (p *printer) line() {
	p.out.WriteByte('\n')
	for range min(len(p.open), maxIndent) {
		p.out.WriteString("  ")
	}
}

// maxIndent keeps what is nested deeply from being mostly spaces.
const maxIndent = 12

// writeString writes a text in quotes.
func writeString(out *strings.Builder, s string) {
	out.WriteByte('"')
	write(out, s, func(r rune) string {
		switch r {
		case '"':
			return `\"`
		case '\\':
			return `\\`
		case '\n':
			return `\n`
		case '\r':
			return `\r`
		case '\t':
			return `\t`
		}
		return ""
	})
	out.WriteByte('"')
}

// showText shows a text that is no JSON, with its own lines.
func showText(s string) string {
	var out strings.Builder
	write(&out, s, func(r rune) string {
		switch r {
		case '\\':
			return `\\`
		case '\n', '\t':
			return string(r)
		}
		return ""
	})
	return out.String()
}

// maxMarks is how many marks may be put onto one letter.
const maxMarks = 3

// write writes a text so that each character is seen; escaped returns what stands
// for one that has another form here, or nothing.
func write(out *strings.Builder, s string, escaped func(rune) string) {
	spaces, marks := 0, 0
	blank := func() {
		if spaces >= manySpaces {
			fmt.Fprintf(out, "⟨%d spaces⟩", spaces)
		} else {
			out.WriteString(strings.Repeat(" ", spaces))
		}
		spaces = 0
	}
	defer blank()
	for _, r := range s {
		if r == ' ' {
			spaces++
			continue
		}
		if spaces > 0 {
			blank()
		}
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		switch e := escaped(r); {
		case e != "":
			out.WriteString(e)
		case hides(r) || marks > maxMarks:
			fmt.Fprintf(out, `\u{%04X}`, r)
		default:
			out.WriteRune(r)
		}
	}
}

// hides reports whether a character is not seen, or could be taken for one of our marks.
func hides(r rune) bool {
	switch r {
	case '⟨', '⟩', 0x2800: // the last is an empty pattern of Braille
		return true
	}
	return !unicode.IsPrint(r) || unseen.Invisible(r)
}
