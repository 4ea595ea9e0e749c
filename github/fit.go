package github

import (
	"strings"
	"unicode/utf8"
)

// fit returns an agent's Markdown ready for GitHub, in at most limit
// characters: all of it shown, nothing of it reaching beyond, nothing left
// open. What is too long is cut at the end of a paragraph, and cutNote says so.
func fit(body string, limit int, cutNote string) string {
	// Growth by neutralising aside, more than this never fits; parsing stays cheap.
	body, cutHard := firstRunes(spellOut(body), 2*max(limit, 0))
	if !cutHard {
		if whole := dress(body); runes(whole) <= limit {
			return whole
		}
	}
	cutNote = "\n\n" + cutNote
	room := limit - runes(cutNote)
	for size := room; size > 0; {
		part := dress(cut(body, size))
		if runes(part) <= room {
			return part + cutNote
		}
		size = min(size*room/runes(part), size-size/10-1)
	}
	short, _ := firstRunes(strings.TrimSpace(cutNote), max(limit, 0))
	return short
}

func dress(body string) string {
	return seal(neutralise(inert(unhide(strings.TrimSpace(body)))))
}

// cut returns the beginning of a text of at most limit characters, up to the
// end of a paragraph where one is near, else of a line.
func cut(body string, limit int) string {
	head, shortened := firstRunes(body, limit)
	if !shortened {
		return body
	}
	blocks := layOut([]byte(body)).blocks
	for pos := len(head); pos >= len(head)/2; {
		pos = strings.LastIndex(head[:pos], "\n\n")
		if pos < len(head)/2 {
			break
		}
		if _, inside := within(blocks, pos); !inside {
			return head[:pos]
		}
	}
	if pos := strings.LastIndexByte(head, '\n'); pos >= len(head)/2 {
		return head[:pos]
	}
	return head
}

// firstRunes returns the first n characters of s, and whether there are more.
func firstRunes(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	for pos := range s {
		if n == 0 {
			return s[:pos], true
		}
		n--
	}
	return s, false
}

func runes(s string) int { return utf8.RuneCountInString(s) }

// ellipsis returns s in at most n characters.
func ellipsis(s string, n int) string {
	short, cut := firstRunes(s, n)
	if !cut {
		return s
	}
	short, _ = firstRunes(short, n-1)
	return strings.TrimSpace(short) + "…"
}
