package event

import "strings"

const (
	// maxID bounds an id; Slack's have some 11 characters.
	maxID = 64
	// maxWord bounds a word; Slack's longest event type has some 40 characters.
	maxWord = 64
	// maxTS bounds a ts, which has 17 characters.
	maxTS = 32
)

// ID returns s if it can be an id of Slack's, and "" for all else. What is put
// together of ids can then be taken apart again.
func ID(s string) string {
	if len(s) > maxID || strings.ContainsFunc(s, func(r rune) bool { return !alphanumeric(r) && r != '_' && r != '-' }) {
		return ""
	}
	return s
}

// Word returns s if it is a name of Slack's kind, such as that of an event, and ""
// for all else.
func Word(s string) string {
	if len(s) > maxWord || strings.ContainsFunc(s, func(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune("_-./", r) }) {
		return ""
	}
	return s
}

// TS returns s if it can be the ts of a message, such as "1700000000.000100", and ""
// for all else. It is a name: as a number it would lose digits.
func TS(s string) string {
	seconds, fraction, _ := strings.Cut(s, ".")
	if len(s) > maxTS || seconds == "" || strings.ContainsFunc(seconds+fraction, func(r rune) bool { return r < '0' || r > '9' }) {
		return ""
	}
	return s
}

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
