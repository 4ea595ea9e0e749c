package agent

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// text returns a file as text: without a byte order mark, and with lines that end
// as they do on Unix. What is no text is a problem.
func (p *problems) text(f *file) (string, bool) {
	data := bytes.TrimPrefix(f.data, []byte("\xEF\xBB\xBF"))
	line := 1
	for len(data) > 0 {
		c, size := utf8.DecodeRune(data)
		switch {
		case c == utf8.RuneError && size == 1:
			p.fail(f.path, line, "is not UTF-8 text")
			return "", false
		case c == 0:
			p.fail(f.path, line, "has a zero byte, which text has not")
			return "", false
		case c == '\n':
			line++
		}
		data = data[size:]
	}
	text := strings.TrimPrefix(string(f.data), "\uFEFF")
	return strings.ReplaceAll(text, "\r\n", "\n"), true
}

// settings reads a YAML file of the folder.
func (p *problems) settings(f *file, into any) (*reader, bool) {
	text, ok := p.text(f)
	if !ok {
		return nil, false
	}
	return p.readYAML(f.path, []byte(text), 0, into)
}
