package sessions

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzTextStream cuts a text in pieces: what is let go of it is always the
// beginning of the masked whole, and never holds the secret.
func FuzzTextStream(f *testing.F) {
	f.Add("the key is "+secret+" you see", uint8(3))
	f.Add(secret+secret, uint8(1))
	f.Add(strings.Repeat("a b\n", 9000)+secret, uint8(200))
	f.Add("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n", uint8(5))
	f.Fuzz(func(t *testing.T, text string, step uint8) {
		redact := func(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") }
		stream := &textStream{redact: redact}
		var shown strings.Builder
		now := time.Unix(0, 0)
		for rest := text; rest != ""; {
			n := min(len(rest), int(step)+1)
			now = now.Add(appendEvery)
			stream.add(rest[:n], now)
			shown.WriteString(stream.next(n == len(rest)))
			rest = rest[n:]
		}
		whole := stream.whole()
		if !strings.HasPrefix(whole, shown.String()) {
			t.Errorf("showed %q of %q", shown.String(), whole)
		}
		if strings.Contains(shown.String(), secret) || strings.Contains(whole, secret) {
			t.Errorf("the secret is in %q", shown.String())
		}
	})
}

func TestPrivateKeyIsHeldBackUntilItIsWhole(t *testing.T) {
	redact := func(s string) string {
		begin, end := strings.Index(s, "-----BEGIN"), strings.LastIndex(s, "END KEY-----")
		if begin < 0 || end < 0 {
			return s
		}
		return s[:begin] + "[redacted]" + s[end+len("END KEY-----"):]
	}
	stream := &textStream{redact: redact}
	var shown string
	for _, line := range []string{"here: ", "-----BEGIN KEY-----\n", "aaaa\n", "bbbb\n", "-----END KEY-----\n", "done \n"} {
		stream.add(line, time.Unix(0, 0))
		shown += stream.next(false)
	}
	if shown != "here: [redacted]\ndone \n" {
		t.Errorf("showed %q", shown)
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in string
		n  int
	}{{"short", 10}, {"exactly ten", 11}, {strings.Repeat("é", 100), 50}, {"", 0}, {"much too long for that", 15}} {
		got := clip(c.in, c.n)
		if len(got) > max(c.n, len(" … (cut)")) || !utf8.ValidString(got) {
			t.Errorf("clip(%q, %d) = %q", c.in, c.n, got)
		}
		if len(c.in) <= c.n && got != c.in {
			t.Errorf("clip(%q, %d) = %q", c.in, c.n, got)
		}
	}
}
