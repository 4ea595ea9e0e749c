package state

import (
	"net/textproto"
	"strings"
	"unicode/utf8"
)

// MaxID is the greatest length of an id, a continuation key or a fact, in
// bytes. It leaves room below bbolt's 32 KiB for the keys of its indexes while
// several of them still fit a 4 KiB page.
const MaxID = 1024

// ValidID reports whether s can be an id, a continuation key or a fact: valid
// UTF-8 of 1 to [MaxID] bytes without NUL.
func ValidID(s string) bool {
	return s != "" && len(s) <= MaxID && utf8.ValidString(s) && !strings.Contains(s, "\x00")
}

// KeepHeader reports whether a request header of a delivery is worth keeping
// and safe to keep. It is an allow-list: what is not known is not stored.
func KeepHeader(name string) bool {
	name = textproto.CanonicalMIMEHeaderKey(name)
	switch name {
	case "Content-Type", "User-Agent",
		"X-Slack-Request-Timestamp", "X-Slack-Retry-Num", "X-Slack-Retry-Reason":
		return true
	}
	rest, ok := strings.CutPrefix(name, "X-Github-")
	return ok && !strings.Contains(rest, "Signature") && !strings.Contains(rest, "Token")
}

// ValidSessionID reports whether s can name a session's folder: 1 to 128 ASCII
// letters, digits, underscores and hyphens, not beginning with a hyphen. Such a
// name is never a path and needs no escaping in one.
func ValidSessionID(s string) bool {
	if s == "" || len(s) > 128 || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
		if !ok {
			return false
		}
	}
	return true
}
