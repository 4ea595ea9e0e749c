package unseen

import "strings"

// Joined has mask mask also a secret that is divided by characters that nobody sees; they
// are then left out.
func Joined(s string, mask func(string) string) string {
	masked := mask(s)
	if !strings.ContainsFunc(masked, Invisible) {
		return masked
	}
	bare := strings.Map(func(r rune) rune {
		if Invisible(r) {
			return -1
		}
		return r
	}, masked)
	if without := mask(bare); without != bare {
		return without
	}
	return masked
}
