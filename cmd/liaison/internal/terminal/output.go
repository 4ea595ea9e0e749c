package terminal

import (
	"io"
	"os"
	"strconv"
)

// Output is where people read. Errors of writing are kept and returned by every
// later write, so that a loop of prints needs to look once.
type Output struct {
	w       io.Writer
	screen  bool
	colours bool
	columns int // 0 where nothing is to be cut
	err     error
}

// New returns an Output to w. Colours are used on a terminal, unless NO_COLOR is
// set to anything (https://no-color.org) or TERM is "dumb".
func New(w io.Writer, getenv func(string) string) *Output {
	o := &Output{w: w}
	f, ok := w.(*os.File)
	if !ok || !isTerminal(f) {
		return o
	}
	o.screen = true
	o.colours = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb" && obeysSequences(f)
	if n, err := strconv.Atoi(getenv("COLUMNS")); err == nil && n > 0 {
		o.columns = n
	} else {
		o.columns = size(f)
	}
	return o
}

// Terminal reports whether a person looks at it directly.
func (o *Output) Terminal() bool { return o.screen }

// Write implements io.Writer. What comes from strangers must have gone through
// [Line] or [Text] before.
func (o *Output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	o.err = err
	return n, err
}

// Err returns the first error of writing.
func (o *Output) Err() error { return o.err }

// Style is how a piece of text looks.
type Style string

// The styles. They mean the same everywhere: green ended well, red did not,
// yellow is under way.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
)

// Styled returns s in a style, or as it is where there are no colours.
func (o *Output) Styled(style Style, s string) string {
	if !o.colours || style == Plain || s == "" {
		return s
	}
	return "\x1b[" + string(style) + "m" + s + "\x1b[0m"
}
