package markup

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// breaker is put where Slack would act on a text. It shows as nothing.
const breaker = "\u200B"

// Neutralise takes from a text what Slack would act on: mentions of people,
// groups and everybody in a channel, links to channels, and dates that hide a
// link. Their brackets become ‹ and ›, so that a person still reads what was
// written. A bare @channel, @here or @everyone gets a zero-width space behind its
// "@", as some ways of posting act on that too; in a URL the "@" is encoded.
//
// It looks at a text as the most forgiving reader would: through entities encoded
// once or several times, backslashes, emphasis, full-width letters, zero-width
// characters and HTML. Code gets no exception, since Slack makes none
// (https://github.com/NousResearch/hermes-agent/issues/26869). It can be applied
// again without further change.
func Neutralise(text string) string {
	if !strings.ContainsAny(text, "<&@]\uFE64\uFF1C\uFE6B\uFF20\uFF3D") {
		return text
	}
	text = apply(text, fold(text, true).live(text))
	if strings.Contains(text, "<") {
		text = apply(text, fold(text, false).live(text))
	}
	return text
}

// edit replaces the bytes from start to end.
type edit struct {
	start, end int
	with       string
}

func apply(src string, edits []edit) string {
	if len(edits) == 0 {
		return src
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	from := 0
	for _, e := range edits {
		if e.start < from {
			continue // one rune that stands for several, or one bracket of two openings
		}
		b.WriteString(src[from:e.start])
		b.WriteString(e.with)
		from = e.end
	}
	b.WriteString(src[from:])
	return b.String()
}

// live returns what has to change in the source.
func (f folded) live(src string) []edit {
	var edits []edit
	for i, r := range f.runes {
		switch r {
		case '<':
			if f.calls(i + 1) {
				edits = append(edits, edit{escapedAt(src, f.start[i]), f.end[i], "‹"})
				if end := f.closing(i + 1); end > 0 {
					edits = append(edits, edit{f.start[end], f.end[end], "›"})
				}
			}
		case ']':
			// [label](!channel) is a link that Slack would write in brackets.
			if at := f.destination(i + 1); at > 0 && f.calls(at) {
				edits = append(edits, edit{f.start[at], f.end[at], encoded(f.runes[at])})
			}
		case '@':
			if !f.everybody(i) {
				continue
			}
			switch after := src[f.end[i]:]; {
			case inURL(src[:f.start[i]]):
				edits = append(edits, edit{f.start[i], f.end[i], encoded('@')})
			case !strings.HasPrefix(after, breaker):
				edits = append(edits, edit{f.end[i], f.end[i], breaker})
			}
		}
	}
	return edits
}

// escapedAt is where the backslash stands that escapes what is at a place, or the place.
func escapedAt(src string, at int) int {
	if before := src[:at]; (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1 {
		return at - 1
	}
	return at
}

// callsAll reports whether a text that is neutral apart from how it was cut has a
// bare mention of everybody.
func callsAll(text string) bool {
	if !strings.ContainsAny(text, "@&\uFE6B\uFF20") {
		return false
	}
	f := fold(text, true)
	for i, r := range f.runes {
		if r == '@' && f.everybody(i) && !strings.HasPrefix(text[f.end[i]:], breaker) {
			return true
		}
	}
	return false
}

// quietCut returns the last place until at, but after start, where cutting makes no
// mention of everybody, as cutting @hereabouts would.
func quietCut(text string, start, at int) int {
	const around = 64
	for place := at; place > start && place > at-around; place-- {
		if place < len(text) && !utf8.RuneStart(text[place]) {
			continue
		}
		before := strings.ToValidUTF8(text[max(0, place-around):place], "")
		after := strings.ToValidUTF8(text[place:min(len(text), place+around)], "")
		if !callsAll(before) && !callsAll(after) {
			return place
		}
	}
	return at
}

// commands are what Slack knows after "<!".
var commands = []string{"channel", "here", "everyone", "group", "subteam", "date"}

// calls reports whether what stands at i, within brackets, is Slack's and not text.
func (f folded) calls(i int) bool {
	if i >= len(f.runes) {
		return false
	}
	// A link in angle brackets may become its text.
	linked := i+2 < len(f.runes) && f.runes[i+1] == '<' && isAlphanumeric(f.runes[i+2])
	switch f.runes[i] {
	case '!':
		return linked || slices.ContainsFunc(commands, func(c string) bool { return f.has(i+1, c) })
	case '@':
		return linked || i+1 < len(f.runes) && isAlphanumeric(f.runes[i+1])
	case '#':
		return i+2 < len(f.runes) && strings.ContainsRune("CDG", f.runes[i+1]) &&
			isAlphanumeric(f.runes[i+2]) && !unicode.IsLower(f.runes[i+2])
	}
	return false
}

// has reports whether a word in small letters begins at i, in letters of any size.
func (f folded) has(i int, word string) bool {
	if i+len(word) > len(f.runes) {
		return false
	}
	for k := range len(word) {
		if unicode.ToLower(f.runes[i+k]) != rune(word[k]) {
			return false
		}
	}
	return true
}

// everybody reports whether a bare mention of all stands at i.
func (f folded) everybody(i int) bool {
	if i > 0 && isWord(f.runes[i-1]) && f.end[i-1] == f.start[i] {
		return false // an address
	}
	name := i + 1
	if name < len(f.runes) && f.runes[name] == '<' {
		name++ // of a link that may become its text
	}
	for _, word := range []string{"channel", "here", "everyone"} {
		if !f.has(name, word) {
			continue
		}
		after := name + len(word)
		if after == len(f.runes) || !isWord(f.runes[after]) || f.end[after-1] != f.start[after] {
			return true
		}
	}
	return false
}

// longestMention is longer than anything in brackets that Slack acts on, but for links in dates.
const longestMention = 200

// closing returns where the bracket ends that began before i, or zero.
func (f folded) closing(i int) int {
	for end := i; end < min(len(f.runes), i+longestMention); end++ {
		switch f.runes[end] {
		case '>':
			return end
		case '<', '\n':
			return 0
		}
	}
	return 0
}

// destination returns where the destination of a link begins whose label has just ended, or zero.
func (f folded) destination(i int) int {
	if i >= len(f.runes) || f.runes[i] != '(' && f.runes[i] != ':' {
		return 0
	}
	for i++; i < len(f.runes); i++ {
		if r := f.runes[i]; r != ' ' && r != '\t' && r != '\n' && r != '<' {
			return i
		}
	}
	return 0
}

func encoded(r rune) string {
	switch r {
	case '!':
		return "%21"
	case '#':
		return "%23"
	}
	return "%40"
}

// longestBack is how far back a URL is looked for.
const longestBack = 500

// inURL reports whether a text ends within a URL.
func inURL(before string) bool {
	before = before[max(0, len(before)-longestBack):]
	return strings.Contains(before[strings.LastIndexAny(before, " \t\n<>‹›()[]\"'`|")+1:], "://")
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r)
}
