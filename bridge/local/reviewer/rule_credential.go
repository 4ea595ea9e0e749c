package reviewer

import (
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// checkCredentials finds credentials that look real. None is ever shown whole.
func checkCredentials(p *pull, found *collector) {
	for _, c := range p.changes {
		if c.vendored || c.minified || isLockFile(strings.ToLower(c.base())) {
			continue
		}
		for i := range c.patch.lines {
			l := &c.patch.lines[i]
			if l.kind != lineAdded || len(l.text) < 16 {
				continue
			}
			bare := c.role == roleConfig || c.role == roleCI || c.language == langShell || c.language == langContainer
			secret, ok := findCredential(l.scanned(), bare)
			if !ok || secret.kind == "a private key" && !hasKeyBody(c, i) {
				continue
			}
			found.add(c.credentialAt(l, secret))
		}
	}
}

// keyText is a stretch of what a key is made of, shorter than any row of one.
var keyText = lazyregexp.New(`[A-Za-z0-9+/]{24,}`)

// hasKeyBody tells a key from code and text that speak of keys: these have the
// header alone, or dots and crosses behind it.
func hasKeyBody(c *change, i int) bool {
	_, after, ok := strings.Cut(c.patch.lines[i].scanned(), "-----BEGIN ")
	if !ok {
		return true // a PuTTY file says on its first line that it is one
	}
	for _, text := range []string{after, c.nextLine(i)} {
		if row := keyText.FindString(text); row != "" && !isPlaceholder(row, "") && !strings.Contains(text, "func ") {
			return true
		}
	}
	return hasAnyPrefix(c.nextLine(i), "Proc-Type:", "Version:", "Comment:", "Encryption:")
}

func (c *change) credentialAt(l *line, secret credential) Finding {
	severity := SeverityError
	if !secret.shaped || secret.mild {
		severity = SeverityWarning
	}
	advice := "Revoke it, then take it out of the history: who can read the pull request has it already."
	if c.role == roleTest || c.role == roleDocs || c.fixture {
		severity = severity.lower()
		advice = "If it is made up, make that visible in the value; if not, revoke it."
	}
	body := fmt.Sprintf("This looks like %s. %s", secret.kind, advice)
	if head := secret.masked(l.scanned()); head != "…" {
		body = fmt.Sprintf("%s looks like %s. %s", quote(head, maxQuotedName), secret.kind, advice)
	}
	return c.at(l, severity, capital(strings.TrimPrefix(strings.TrimPrefix(secret.kind, "a "), "an "))+" in the code", body)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
