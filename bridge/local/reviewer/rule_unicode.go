package reviewer

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hiddenKind says in what way a character deceives.
type hiddenKind int

const (
	hiddenNone hiddenKind = iota
	// hiddenBidi reorders what a reader sees (CVE-2021-42574, "Trojan Source").
	hiddenBidi
	// hiddenTag is invisible and can spell out any text for a machine.
	hiddenTag
	// hiddenZeroWidth is invisible and tells two equal-looking names apart.
	hiddenZeroWidth
	// hiddenMark is a direction mark: invisible, but at home in right-to-left text.
	hiddenMark
)

func classifyRune(r rune) hiddenKind {
	switch {
	case r < 0x80:
		return hiddenNone
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return hiddenBidi
	case r >= 0xE0000 && r <= 0xE007F, r >= 0xE0100 && r <= 0xE01EF:
		return hiddenTag
	case r >= 0x200B && r <= 0x200D, r == 0x2060, r == 0xFEFF, r == 0x00AD, r == 0x180E, r >= 0x2061 && r <= 0x2064,
		r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0:
		return hiddenZeroWidth
	case r == 0x200E, r == 0x200F, r == 0x061C:
		return hiddenMark
	}
	return hiddenNone
}

// isHidden reports whether a reader cannot see the character for what it is.
func isHidden(r rune) bool { return classifyRune(r) != hiddenNone }

// hidden is the worst hidden character of a text.
type hidden struct {
	kind hiddenKind
	char rune
}

// findHidden looks for hidden characters that have no honest reason to be where
// they are. Joiners belong between the letters of several scripts and inside
// emoji, flags are spelled with tags, and a byte order mark may open a file.
func findHidden(text string, opensFile bool) hidden {
	if isASCII(text) {
		return hidden{}
	}
	worst := hidden{}
	var previous rune
	flagTags := -1 // tags since a black flag; -1 outside of a flag
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		kind := classifyRune(r)
		next, _ := utf8.DecodeRuneInString(text[i+size:])
		switch {
		case r == blackFlag:
			flagTags = 0
		case flagTags >= 0 && flagTags < maxFlagTags && r >= 0xE0020 && r <= 0xE007F:
			flagTags++
			kind = hiddenNone // a flag such as Scotland's
		default:
			flagTags = -1
		}
		switch {
		case kind == hiddenNone:
		case r == 0xFEFF && i == 0 && opensFile:
			kind = hiddenNone
		case (r == 0x200C || r == 0x200D) && previous >= 0x300 && next >= 0x300:
			kind = hiddenNone // between letters or emoji that join
		case r >= 0xE0100 && r <= 0xE01EF && unicode.Is(unicode.Han, previous):
			kind = hiddenNone // a variant of an ideograph
		case r == 0x00AD && unicode.IsLetter(previous) && previous >= 0x80:
			kind = hiddenNone
		}
		if kind != hiddenNone && (worst.kind == hiddenNone || kind < worst.kind) {
			worst = hidden{kind, r}
		}
		previous = r
		i += size
	}
	return worst
}

// blackFlag opens the flag of a region, which up to maxFlagTags tags spell out,
// see https://www.unicode.org/reports/tr51/#flag-emoji-tag-sequences.
const (
	blackFlag   = 0x1F3F4
	maxFlagTags = 7
)

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

func (h hidden) title() string {
	switch h.kind {
	case hiddenBidi:
		return fmt.Sprintf("Bidirectional control character U+%04X", h.char)
	case hiddenTag:
		return fmt.Sprintf("Invisible tag character U+%04X", h.char)
	default:
		return fmt.Sprintf("Invisible character U+%04X", h.char)
	}
}

func (h hidden) why() string {
	switch h.kind {
	case hiddenBidi:
		return "It makes the line read in another order than it runs. Remove it, or escape it where it is wanted."
	case hiddenTag:
		return "It can carry text that people do not see and programs do. Remove it."
	default:
		return "Nobody can see it, and it makes equal-looking text differ. Remove it, or escape it where it is wanted."
	}
}

// severity is milder where right-to-left text is at home.
func (h hidden) severity(c *change) Severity {
	prose := c.role == roleDocs || c.role == roleAsset || c.fixture
	switch {
	case h.kind == hiddenMark:
		return SeverityInfo
	case h.kind == hiddenTag:
		return SeverityError
	case h.kind == hiddenBidi && !prose:
		return SeverityError
	case prose && h.kind == hiddenZeroWidth:
		return SeverityInfo
	}
	return SeverityWarning
}

// checkUnicode finds characters that deceive, in added lines and in names.
func checkUnicode(p *pull, found *collector) {
	for _, place := range []struct{ name, text string }{
		{"title", p.facts.Title}, {"head branch's name", p.facts.Head.Ref},
	} {
		if h := findHidden(place.text, false); h.kind != hiddenNone && h.kind != hiddenMark {
			found.add(Finding{Severity: SeverityWarning, Title: h.title() + " in the pull request's " + place.name,
				Body: "What it shows is not what it says."})
		}
	}
	for _, c := range p.changes {
		if h := findHidden(c.Path, false); h.kind != hiddenNone {
			found.add(c.about(SeverityError, h.title()+" in the file's name", "The name is not what it looks like. Rename the file."))
		} else if word := mixedWord(c.Path); word != "" {
			found.add(c.about(SeverityWarning, "Look-alike letters in the file's name",
				fmt.Sprintf("%s mixes Latin letters with others that look the same.", quote(word, maxQuotedName))))
		}
		if c.vendored || c.minified {
			continue
		}
		checkUnicodeLines(c, found)
	}
}

func checkUnicodeLines(c *change, found *collector) {
	for i := range c.patch.lines {
		l := &c.patch.lines[i]
		if l.kind != lineAdded || isASCII(l.text) {
			continue
		}
		if h := findHidden(l.text, l.new == 1); h.kind != hiddenNone {
			found.add(c.at(l, h.severity(c), h.title(), h.why()))
			continue
		}
		if !c.language.isCode() || l.moved || c.isComment(l.text) {
			continue
		}
		if word := mixedWord(l.scanned()); word != "" {
			found.add(c.at(l, SeverityWarning, "Look-alike letters in one word",
				fmt.Sprintf("%s mixes Latin letters with others that look the same, so it is not the name that it seems to be.",
					quote(word, maxQuotedName))))
		}
	}
}

// lookAlikes are Cyrillic and Greek letters that most fonts draw as Latin ones.
// Greek letters that mathematics uses (Δ, μ, σ …) are not among them.
const lookAlikes = "аеорсухіјѕԁһԛԝԌАВЕКМНОРСТХІЈЅУ" + "οΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"

// mixedWord returns the first word that has both Latin letters and look-alikes.
func mixedWord(text string) string {
	if isASCII(text) {
		return ""
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}) {
		latin, alike, other := false, false, false
		for _, r := range word {
			switch {
			case r < 0x80:
				latin = latin || unicode.IsLetter(r)
			case strings.ContainsRune(lookAlikes, r):
				alike = true
			case unicode.Is(unicode.Cyrillic, r) || unicode.Is(unicode.Greek, r):
				other = true // a word of that script, such as a Russian one with a Latin ending
			}
		}
		if latin && alike && !other {
			return word
		}
	}
	return ""
}
