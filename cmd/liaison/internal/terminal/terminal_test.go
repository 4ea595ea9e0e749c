package terminal

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestLineAndText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, line, text string }{
		{"plain", "plain", "plain"},
		{"two\nlines\tand a tab", "two lines and a tab", "two\nlines\tand a tab"},
		{"\x1b[2J\x1b]0;title\x07", "·[2J·]0;title·", "·[2J·]0;title·"},
		{"c1 \u009b31m", "c1 ·31m", "c1 ·31m"},
		{"over\rwritten\r\n", "over written  ", "over written\n"},
		{"bidi \u202egnp.exe", "bidi ·gnp.exe", "bidi ·gnp.exe"},
		{"bad \xff byte", "bad · byte", "bad · byte"},
		{"日本語 ok 👍", "日本語 ok 👍", "日本語 ok 👍"},
		{"para\u2029graph", "para graph", "para·graph"},
	} {
		if got := Line(c.in); got != c.line {
			t.Errorf("Line(%q) = %q, want %q", c.in, got, c.line)
		}
		if got := Text(c.in); got != c.text {
			t.Errorf("Text(%q) = %q, want %q", c.in, got, c.text)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m\r\n")
	f.Add("\u202e\u0085\x9b")
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{Line(s), Text(s)} {
			if !utf8.ValidString(got) {
				t.Fatalf("%q is not UTF-8", got)
			}
			for _, r := range got {
				if unicode.IsControl(r) && r != '\n' && r != '\t' {
					t.Fatalf("%q has the control character %U", got, r)
				}
			}
		}
		if strings.ContainsAny(Line(s), "\n\t") {
			t.Fatalf("%q is not one line", Line(s))
		}
	})
}

func TestWidthAndCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		width int
		cut   string // to 5 columns
	}{
		{"", 0, ""},
		{"abcde", 5, "abcde"},
		{"abcdef", 6, "abcd…"},
		{"日本語", 6, "日本…"},
		{"e\u0301te\u0301", 3, "e\u0301te\u0301"},
		{"Ünïcödé", 7, "Ünïc…"},
		{"👍👍👍", 6, "👍👍…"},
	} {
		if got := Width(c.in); got != c.width {
			t.Errorf("Width(%q) = %d, want %d", c.in, got, c.width)
		}
		if got := Cut(c.in, 5); got != c.cut {
			t.Errorf("Cut(%q, 5) = %q, want %q", c.in, got, c.cut)
		}
	}
	if got := Cut("anything", 0); got != "" {
		t.Errorf("Cut to nothing = %q", got)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	columns := []Column{{Title: "ID"}, {Title: "TURNS", Right: true}, {Title: "TITLE", Style: func(string) Style { return Green }}}
	rows := func() [][]string {
		return [][]string{{"ses_1", "12", "日本語のタイトル"}, {"ses_234", "3", "a title\x1b[2J that is long"}}
	}
	for name, c := range map[string]struct {
		out  Output
		want string
	}{
		"pipe":       {Output{}, "ID       TURNS  TITLE\nses_1       12  日本語のタイトル\nses_234      3  a title·[2J that is long\n"},
		"narrow":     {Output{columns: 30}, "ID       TURNS  TITLE\nses_1       12  日本語のタイ…\nses_234      3  a title·[2J t…\n"},
		"too narrow": {Output{columns: 5}, "ID       TURNS  TITLE\nses_1       12  日本語のタ…\nses_234      3  a title·[2J…\n"},
		"colours": {Output{colours: true}, "\x1b[1mID     \x1b[0m  \x1b[1mTURNS\x1b[0m  \x1b[1mTITLE\x1b[0m\n" +
			"ses_1       12  \x1b[32m日本語のタイトル\x1b[0m\nses_234      3  \x1b[32ma title·[2J that is long\x1b[0m\n"},
	} {
		var b bytes.Buffer
		c.out.w = &b
		if err := c.out.Table(columns, rows()); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, b.String(), c.want)
		}
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2031, 3, 4, 12, 0, 0, 0, time.Local)
	for _, c := range []struct {
		before time.Duration
		want   string
	}{
		{0, "now"}, {999 * time.Millisecond, "now"}, {1500 * time.Millisecond, "1.5 s ago"}, {59 * time.Second, "59 s ago"},
		{61 * time.Second, "1 min 1 s ago"}, {59 * time.Minute, "59 min ago"}, {3 * time.Hour, "3 h ago"},
		{47 * time.Hour, "47 h ago"}, {48 * time.Hour, "2 days ago"}, {30 * 24 * time.Hour, "2031-02-02"},
		{-500 * time.Millisecond, "now"}, {-2 * time.Minute, "in 2 min 0 s"},
	} {
		if got := Ago(now, now.Add(-c.before)); got != c.want {
			t.Errorf("%v ago: %q, want %q", c.before, got, c.want)
		}
	}
	if got := Ago(now, time.Time{}); got != "-" {
		t.Errorf("never: %q", got)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 40 << 20: "40.0 MiB", 3 << 40: "3.0 TiB", 5 << 50: "5120.0 TiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestNoColoursAwayFromATerminal(t *testing.T) {
	t.Parallel()
	o := New(&bytes.Buffer{}, func(string) string { return "" })
	if got := o.Styled(Red, "x"); got != "x" || o.Terminal() {
		t.Errorf("a buffer is taken for a terminal: %q", got)
	}
}

type fullPipe struct{}

func (fullPipe) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("full")

func TestTheFirstErrorOfWritingStays(t *testing.T) {
	t.Parallel()
	o := New(fullPipe{}, func(string) string { return "" })
	_, _ = o.Write([]byte("x"))
	if !errors.Is(o.Err(), errFull) {
		t.Errorf("Err() = %v", o.Err())
	}
}
