package markup

import (
	"strings"

	"github.com/liaison-bot/liaison/slack/limits"
)

// Part is a piece of a Markdown text that stands for itself.
type Part struct {
	// Open is what is said again so that Source means what it did: a fence, the
	// header of a table, the list that an item is in. It ends with a newline.
	Open string
	// Source is this part of the text, unchanged.
	Source string
	// Close ends what Source leaves open, which is a fence.
	Close string
}

// Text is the part as it is sent.
func (p Part) Text() string { return p.Open + p.Source + p.Close }

// minLimit is the least that Split cuts by; a part needs room for what is opened again.
const minLimit = 100

// Split cuts a Markdown text into parts of which none is longer than limit
// characters, as [limits.Length] counts them; a limit below 100 counts as 100. It
// cuts before headings rather than between paragraphs, between paragraphs rather
// than list items, rows, lines, sentences and words, and never within what a
// reader sees as one character, unless that alone is longer.
//
// The Sources of all parts, one after the other, are the text. An empty text has
// no parts.
func Split(text string, limit int) []Part {
	s := newSplitter(text, limit, 10)
	var parts []Part
	for from := cut(0, nil); from.at < len(text); {
		until := s.next(from)
		parts = append(parts, s.part(from, until))
		from = until
	}
	return parts
}

// firstPart is the first part of a text that is not empty, when there is to be no
// second one: rather full than cut at a good place.
func firstPart(text string, limit int) Part {
	s := newSplitter(text[:limits.Prefix(text, 2*max(limit, minLimit))], limit, 50)
	from := cut(0, nil)
	return s.part(from, s.next(from))
}

func newSplitter(text string, limit int, worth float64) *splitter {
	s := &splitter{src: text, limit: max(limit, minLimit), worth: worth}
	if limits.Length(text) > s.limit {
		s.layOut()
	}
	return s
}

// place is where a text can be cut, and in the middle of what.
type place struct {
	at int
	// in is nil between things.
	in *middle
}

func cut(at int, in *middle) place { return place{at: at, in: in} }

// middle is what a place is in the middle of.
type middle struct {
	// fence, if any, is the code block; otherwise open is what is said again.
	fence *fence
	open  string
}

// opening is what the part after a place begins with.
func (p place) opening() string {
	switch {
	case p.in == nil:
		return ""
	case p.in.fence != nil:
		return p.in.fence.opening()
	}
	return p.in.open
}

// splitter cuts one text.
type splitter struct {
	src   string
	limit int
	// worth is what leaving a whole part empty costs, in ranks.
	worth float64
	lines []sourceLine
	// spans are inline code, links and the like, in which no line is cut; sorted.
	spans []span
}

// opening is what the part from a place begins with. What would take half of it is
// not opened at all.
func (s *splitter) opening(from place) string {
	open := from.opening()
	if rest := strings.TrimLeft(s.src[from.at:], " >"); strings.HasSuffix(open, " …\n") && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		// A numbered list that goes on would be more of the paragraph "…".
		if strings.HasPrefix(open, ">") {
			open += ">"
		}
		open += "\n"
	}
	if limits.Length(open) <= s.limit/2 {
		return open
	}
	return ""
}

// closing is what the part from one place until another ends with.
func (s *splitter) closing(from, until place) string {
	if until.in == nil || until.in.fence == nil || until.at == len(s.src) {
		return ""
	}
	f := until.in.fence
	marks := f.marks
	if f.at < from.at { // it was opened by us
		if s.opening(from) == "" {
			return ""
		}
		marks = f.longer
	}
	closing := f.prefix + marks
	if s.src[until.at-1] != '\n' {
		closing = "\n" + closing
	}
	if limits.Length(closing) > s.limit/4 {
		return ""
	}
	return closing
}

// endsFence reports whether a cut within a line of code would leave something that
// ends the block by itself.
func (s *splitter) endsFence(from, until place) bool {
	if until.in == nil || until.in.fence == nil || until.in.fence.at < from.at {
		return false
	}
	marks := until.in.fence.marks
	line := strings.Trim(s.src[s.lines[s.lineAt(until.at-1)].start:until.at], " \t>")
	return len(line) >= len(marks) && strings.Trim(line, marks[:1]) == ""
}

func (s *splitter) part(from, until place) Part {
	return Part{Open: s.opening(from), Source: s.src[from.at:until.at], Close: s.closing(from, until)}
}

// next returns where the part that begins at a place ends.
func (s *splitter) next(from place) place {
	budget := s.limit - limits.Length(s.opening(from))
	most := from.at + limits.Prefix(s.src[from.at:], budget)
	if most == len(s.src) {
		return cut(most, nil)
	}
	best, cost := place{}, 0.0
	counted, length := from.at, 0
	try := func(p place, rank rank) {
		if p.at <= from.at || p.at > most || s.endsFence(from, p) {
			return
		}
		if p.at < counted {
			counted, length = from.at, 0
		}
		length += limits.Length(s.src[counted:p.at])
		counted = p.at
		if length+limits.Length(s.closing(from, p)) > budget {
			return
		}
		// A good place is worth leaving some of the part empty.
		if c := float64(rank) + s.worth*(1-float64(length)/float64(budget)); best.at == 0 || c <= cost {
			best, cost = p, c
		}
	}
	s.tryLines(from, most, try)
	s.tryWithinLine(from, most, try)
	if best.at == 0 {
		return cut(quietCut(s.src, from.at, most), nil)
	}
	return best
}

// tryLines tries the beginnings of lines.
func (s *splitter) tryLines(from place, most int, try func(place, rank)) {
	for i := s.lineAt(from.at) + 1; i < len(s.lines) && s.lines[i].start <= most; i++ {
		try(cut(s.lines[i].start, s.lines[i].before), s.lines[i].rank)
	}
}

// tryWithinLine tries the end of a sentence and of a word, and at last any place,
// in the last line that has room.
func (s *splitter) tryWithinLine(from place, most int, try func(place, rank)) {
	i := s.lineAt(most)
	l := s.lines[i]
	if l.whole {
		return
	}
	start := max(l.start, from.at)
	// A closing fence needs room.
	end := max(start, most-l.closingRoom())
	anywhere := s.grapheme(start, end)
	if before := s.spanStart(anywhere); before < anywhere {
		try(cut(before, l.inside), rankAnywhere)
		try(cut(anywhere, l.inside), rankInSpan)
	} else {
		try(cut(anywhere, l.inside), rankAnywhere)
	}
	window := s.src[start:end]
	for range triesWithinLine {
		at := strings.LastIndexAny(window, " \t")
		if at < 0 {
			break
		}
		r := rankWord
		if before := strings.TrimRight(window[:at], "\"')*_"); before != "" && strings.ContainsRune(".!?:;", rune(before[len(before)-1])) {
			r = rankSentence
		}
		if place := start + at + 1; s.spanStart(place) == place {
			try(cut(place, l.inside), r)
		}
		window = window[:at]
	}
	for _, stop := range []string{"。", "！", "？"} {
		if at := strings.LastIndex(s.src[start:end], stop); at >= 0 {
			try(cut(start+at+len(stop), l.inside), rankSentence)
		}
	}
}

// triesWithinLine is how many words back the end of a sentence is looked for.
const triesWithinLine = 200
