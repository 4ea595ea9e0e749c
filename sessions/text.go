package sessions

import (
	"strings"
	"time"
	"unicode/utf8"
)

// clip cuts text to at most n bytes, between characters, and says so.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = " … (cut)"
	end := max(n-len(mark), 0)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}

// maxHeld bounds how much of a streamed text is held back because it may be
// the beginning of a secret.
const maxHeld = 8 << 10

// textStream gathers one streamed message. A secret may arrive in two pieces of
// which neither looks like one, so text is let go only up to a white space, and
// only as far as masking all of it leaves what was let go before as it was.
type textStream struct {
	redact func(string) string
	// raw is the text so far, up to maxMessageText.
	raw strings.Builder
	cut bool
	// from is where the window that is masked together begins in raw; shown is
	// what was let go of it, masked.
	from  int
	shown string
	// tried is the length of raw when it was last looked at; stuck is set when
	// nothing more can be let go before the end.
	tried int
	stuck bool
	// fresh is when the oldest text that was not let go arrived.
	fresh time.Time
}

// add takes a fragment. It reports whether enough has gathered to let some go.
func (t *textStream) add(fragment string, now time.Time) bool {
	if room := maxMessageText - t.raw.Len(); len(fragment) > room {
		t.cut = true
		for room > 0 && !utf8.RuneStart(fragment[room]) {
			room--
		}
		fragment = fragment[:room]
	}
	if t.fresh.IsZero() {
		t.fresh = now
	}
	t.raw.WriteString(fragment)
	return t.raw.Len()-t.tried >= appendBytes || now.Sub(t.fresh) >= appendEvery
}

// next returns the text that may be shown now, masked; at the end of the
// message, all that is left.
func (t *textStream) next(end bool) string {
	t.fresh, t.tried = time.Time{}, t.raw.Len()
	if t.stuck {
		return ""
	}
	window := t.raw.String()[t.from:]
	safe := strings.LastIndexAny(window, " \t\r\n") + 1
	if begin := strings.LastIndex(window[:safe], "-----BEGIN"); begin >= 0 &&
		!strings.Contains(window[begin:safe], "-----END") && len(window)-begin <= maxHeld {
		safe = begin
	}
	if end || len(window)-safe > maxHeld {
		safe = len(window)
	}
	masked := t.redact(window[:safe])
	more, ok := strings.CutPrefix(masked, t.shown)
	if !ok {
		// Later text changed what must be masked: the whole comes at the end.
		t.stuck = true
		return ""
	}
	t.shown = masked
	if len(t.shown) > 4*appendBytes && strings.HasSuffix(window[:safe], "\n") {
		t.from, t.shown = t.from+safe, ""
	}
	return more
}

// whole returns the complete text, masked.
func (t *textStream) whole() string {
	text := t.redact(t.raw.String())
	if t.cut {
		text += " … (cut)"
	}
	return text
}
