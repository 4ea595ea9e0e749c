package limits

// Length is the length of a text in UTF-16 code units, which is what the editors
// and most clients of Slack count; an emoji is two. It is never less than the
// number of code points, so a text that fits by it fits either way.
func Length(text string) int {
	n := 0
	for _, r := range text {
		n += runeLength(r)
	}
	return n
}

func runeLength(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// Prefix is how many bytes at the beginning of a text are no longer than limit
// characters, as [Length] counts them. It ends between two code points.
func Prefix(text string, limit int) int {
	for i, r := range text {
		if limit -= runeLength(r); limit < 0 {
			return i
		}
	}
	return len(text)
}
