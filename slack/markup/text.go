package markup

import (
	"strings"
	"unicode/utf8"
)

// ellipsis shows where a text was cut.
const ellipsis = "…"

// Mrkdwn is Markdown as Slack's mrkdwn, for cards, ephemeral answers and whatever
// else takes no markdown block. It is at most limit bytes long, which is never more
// than as many characters, and ends with "…" where it was cut. Formatting that was
// open is closed.
func Mrkdwn(source string, limit int) string {
	return fitted(ready(source, limit), limit)
}

// Plain is Markdown as text without any markup, for titles, headers and other
// plain_text; nothing in it is escaped. It is at most limit bytes long, and ends
// with "…" where it was cut.
func Plain(source string, limit int) string {
	source = ready(source, limit)
	text := Neutralise(convert(source, true))
	if len(text) <= limit {
		return text
	}
	text = shortened(text, limit-len(ellipsis))
	return text[:quietCut(text, 0, len(text))] + ellipsisWithin(limit)
}

// whole reports whether no link and no entity is open at the end of a text.
func whole(text string) bool {
	if strings.LastIndexByte(text, '<') > strings.LastIndexByte(text, '>') {
		return false
	}
	tail := text[max(0, len(text)-len("&amp")):]
	return strings.LastIndexByte(tail, '&') <= strings.LastIndexByte(tail, ';')
}

// sourceFactor is how many times longer than what it becomes a source may be before
// its end is not even read: a bound on work, as for a preview of a whole file.
const sourceFactor = 8

// ready makes a source fit to be printed, and bounds it by the text that it becomes.
func ready(source string, limit int) string {
	if most := sourceFactor*max(limit, minLimit) + len(ellipsis); len(source) > most {
		source = shortened(source, most) + ellipsis
	}
	return clean(Neutralise(tidy(source)))
}

// fitted is neutral Markdown as mrkdwn of at most limit bytes.
func fitted(source string, limit int) string {
	if text := convert(source, false); len(text) <= limit {
		return text
	}
	// What is cut is the source, so that nothing is left open.
	for tries, size := 0, limit; size >= minLimit; tries++ {
		text := convert(firstPart(source, size).Text(), false) + ellipsis
		if len(text) <= limit {
			return text
		}
		next := size*limit/len(text) - 4
		if next >= size || tries >= maxTries {
			next = size * 3 / 4
		}
		size = next
	}
	text := verbatim(strings.Join(strings.Fields(source), " "))
	at := max(0, min(len(text), limit-len(ellipsis)))
	for at > 0 && (at < len(text) && !utf8.RuneStart(text[at]) || !whole(text[:at])) {
		at--
	}
	return text[:quietCut(text, 0, at)] + ellipsisWithin(limit)
}

// maxTries is how often a cut is reckoned from how much too long the last one came out.
const maxTries = 8

// chunks is neutral Markdown as mrkdwn in as many texts as it takes, each of at
// most limit bytes.
func chunks(source string, limit int) []string {
	mrkdwn := func(source string) string { return convert(source, false) }
	if costly(source) {
		mrkdwn = verbatim
	}
	var all []string
	var add func(source string, size int)
	add = func(source string, size int) {
		for _, p := range Split(source, size) {
			text := mrkdwn(p.Text())
			switch {
			case text == "":
			case len(text) <= limit:
				all = append(all, text)
			case size > minLimit:
				add(p.Text(), size/2)
			default:
				all = append(all, fitted(p.Text(), limit))
			}
		}
	}
	add(source, limit)
	return all
}

// shortened is the beginning of a text, in at most limit bytes.
func shortened(text string, limit int) string {
	limit = min(len(text), max(0, limit))
	for limit > 0 && limit < len(text) && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

func ellipsisWithin(limit int) string {
	if limit < len(ellipsis) {
		return ""
	}
	return ellipsis
}
