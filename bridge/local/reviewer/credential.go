package reviewer

import (
	"math"
	"strings"
	"unicode"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// credentialShape is a kind of credential that can be told by its form.
type credentialShape struct {
	kind string
	// hint must be in the text; it spares the expression on most lines.
	hint string
	// expression matches the credential: its first group if it has one, else all of it.
	expression *lazyregexp.Regexp
	// mild is set for those that open nothing of value, such as test keys.
	mild bool
}

// The prefixes are the issuers' own; they exist so that scanners can find them.
// What stands before a prefix does not matter: a token glued to a name is one
// still. Short prefixes that end ordinary words are the exception.
var credentialShapes = []credentialShape{
	{"an AWS access key id", "A", lazyregexp.New(`(?:AKIA|ASIA)[A-Z2-7]{16}`), false},
	{"a GitHub token", "gh", lazyregexp.New(`gh[pousr]_[A-Za-z0-9]{36,255}`), false},
	{"a GitHub token", "github_pat_", lazyregexp.New(`github_pat_[A-Za-z0-9_]{50,255}`), false},
	{"a GitLab token", "glpat-", lazyregexp.New(`glpat-[A-Za-z0-9_-]{20,}`), false},
	{"a Slack token", "xox", lazyregexp.New(`xox[abeoprs]-[A-Za-z0-9-]{20,}`), false},
	{"a Slack app token", "xapp-", lazyregexp.New(`xapp-\d-[A-Za-z0-9-]{20,}`), false},
	{"a Slack webhook address", "hooks.slack.com", lazyregexp.New(`hooks\.slack\.com/(?:services|workflows)/([A-Z0-9]+/[A-Z0-9]+/[A-Za-z0-9]{16,})`), false},
	{"a Google API key", "AIza", lazyregexp.New(`AIza[A-Za-z0-9_-]{35}`), false},
	{"a Google OAuth secret", "GOCSPX-", lazyregexp.New(`GOCSPX-[A-Za-z0-9_-]{28}`), false},
	{"a live Stripe key", "k_live_", lazyregexp.New(`[rs]k_live_[A-Za-z0-9]{16,}`), false},
	{"a Stripe test key", "k_test_", lazyregexp.New(`[rs]k_test_[A-Za-z0-9]{16,}`), true},
	{"an OpenAI key", "sk-", lazyregexp.New(`(?:\b|_)(sk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{32,})`), false},
	{"an npm token", "npm_", lazyregexp.New(`npm_[A-Za-z0-9]{36}`), false},
	{"a PyPI token", "pypi-", lazyregexp.New(`pypi-[A-Za-z0-9_-]{50,}`), false},
	{"a SendGrid key", "SG.", lazyregexp.New(`(?:\b|_)(SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})`), false},
	{"a DigitalOcean token", "_v1_", lazyregexp.New(`do[opr]_v1_[a-f0-9]{64}`), false},
	{"a Hugging Face token", "hf_", lazyregexp.New(`(?:\b|_)(hf_[A-Za-z0-9]{34,})`), false},
	{"an Azure storage key", "AccountKey=", lazyregexp.New(`AccountKey=([A-Za-z0-9+/]{80,}={0,2})`), false},
	{"a JSON Web Token", "eyJ", lazyregexp.New(`eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}`), true},
	{"a password in an address", "://", lazyregexp.New(`\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@'"` + "`" + `<>]*:([^\s@/'"` + "`" + `<>]{3,})@[A-Za-z0-9-]+\.[A-Za-z0-9.-]+`), false},
}

// privateKey matches the head of a PEM block, or of the old PuTTY format.
var privateKey = lazyregexp.New(`-----BEGIN (?:(?:RSA|EC|DSA|OPENSSH|ENCRYPTED|PGP) )?PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d`)

const secretName = `[A-Za-z0-9_.\-]*(?i:secret|token|passwd|password|api[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key|credential)[A-Za-z0-9_\-]*`

var (
	// assigned matches a quoted value that is given to something with a secret's name.
	assigned = lazyregexp.New(`(` + secretName + `)["'\]]{0,2}\s*(?::=|=>|[:=])\s*["'` + "`" + `]([^"'` + "`" + `\s]{16,256})["'` + "`" + `]`)
	// assignedBare matches the same without quotes, as in environment files.
	assignedBare = lazyregexp.New(`^\s*(?:export\s+|ENV\s+)?(` + secretName + `)\s*[:=]\s*([^"'` + "`" + `\s#]{16,256})\s*$`)
	secretWords  = []string{"secret", "token", "passw", "key", "credential"}
	// noSecretName matches names of things about a secret that are no secret.
	noSecretName = lazyregexp.New(`(?i)(hash|digest|checksum|sha\d*|public|pubkey|[_-]?id|name|url|uri|path|file|field|header|param|type|label|selector|prefix|suffix|pattern|regexp?|class|placeholder|message|error|endpoint|expiry|ttl|scope)s?$`)
	// plainWords matches values that are words: keys of translations, names of settings.
	plainWords   = lazyregexp.New(`^[A-Za-z]+([._:/@ -]?[A-Za-z]+)*[._:/-]?v?\d{0,4}$`)
	placeholders = []string{
		"example", "sample", "dummy", "placeholder", "changeme", "change_me", "change-me", "replace", "insert", "your", "xxxx", "fake",
		"redacted", "todo", "${", "{{", "$(", "%(", "<", "...", "****", "notasecret", "not-a-secret", "not_a_secret", "mock", "test-", "test_", "-test", "_test",
		"0123456", "1234567", "abcdef", "abcdabcd", "deadbeef", "process.env", "os.environ", "getenv", "secrets.",
	}
	// knownSamples are values from issuers' own documentation.
	knownSamples = []string{"eyJzdWIiOiIxMjM0NTY3ODkwI"}
)

// credential is a secret found in a line. Its text must not get into a report.
type credential struct {
	kind       string
	start, end int
	// shaped is set when the form says what it is; else the name beside it does.
	shaped bool
	mild   bool
}

// findCredential returns the first credential in the text that looks real.
func findCredential(text string, bare bool) (credential, bool) {
	if !hasLongWord(text) && !containsAny(text, "://", "-----BEGIN ", "PuTTY-") {
		return credential{}, false
	}
	for _, s := range credentialShapes {
		if !strings.Contains(text, s.hint) {
			continue
		}
		for _, m := range s.expression.FindAllStringSubmatchIndex(text, 8) {
			start, end := m[0], m[1]
			if len(m) > 2 && m[2] >= 0 {
				start, end = m[2], m[3]
			}
			value := text[start:end]
			password := s.hint == "://"
			if isPlaceholder(value, s.kind) || password && isDefaultPassword(value) || s.hint == "sk-" && !looksRandom(value) {
				continue
			}
			return credential{s.kind, start, end, true, s.mild}, true
		}
	}
	if m := privateKey.FindStringIndex(text); m != nil {
		return credential{"a private key", m[0], m[1], true, false}, true
	}
	if !mentionsSecret(text) {
		return credential{}, false
	}
	for _, expression := range []*lazyregexp.Regexp{assigned, assignedBare} {
		if expression == assignedBare && !bare {
			continue
		}
		for _, m := range expression.FindAllStringSubmatchIndex(text, 8) {
			name, value := text[m[2]:m[3]], text[m[4]:m[5]]
			if noSecretName.MatchString(name) || isPlaceholder(value, "") || !looksRandom(value) {
				continue
			}
			return credential{"a secret", m[4], m[5], false, false}, true
		}
	}
	return credential{}, false
}

// minCredential is the length of the shortest credential that is told by its
// looks, in bytes. An address with a password in it may be shorter.
const minCredential = 16

// hasLongWord reports whether there is a run of minCredential characters that a
// credential can be made of. Most lines of code have none.
func hasLongWord(text string) bool {
	run := 0
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '"', '\'', '`', '(', ')', '{', '}', '[', ']', ',', ';':
			run = 0
		default:
			if run++; run >= minCredential {
				return true
			}
		}
	}
	return false
}

// mentionsSecret reports whether one of secretWords is in the text, in any case.
func mentionsSecret(text string) bool {
	if !strings.ContainsAny(text, ":=") {
		return false
	}
	lower := strings.ToLower(text)
	return containsAny(lower, secretWords...)
}

// isPlaceholder reports whether a value stands for a secret instead of being one.
// What is left after an issuer's prefix must also have some variety.
func isPlaceholder(value, kind string) bool {
	lower := strings.ToLower(value)
	if kind == "a Stripe test key" {
		lower = strings.Replace(lower, "_test_", "_", 1)
	}
	if containsAny(lower, placeholders...) || containsAny(value, knownSamples...) {
		return true
	}
	distinct := map[rune]bool{}
	for _, r := range lower {
		distinct[r] = true
	}
	return len(value) >= 16 && len(distinct) < 8
}

// isDefaultPassword reports whether a password in an address is one that only
// development set-ups use, or a variable.
func isDefaultPassword(value string) bool {
	switch strings.ToLower(value) {
	case "password", "passwd", "pass", "secret", "postgres", "root", "admin", "guest", "mysql", "redis", "test", "user", "token", "pwd", "foo", "bar":
		return true
	}
	return strings.HasPrefix(value, "$") || strings.HasPrefix(value, "%") || strings.HasPrefix(value, "{") || strings.HasPrefix(value, ":")
}

// minEntropy is in bits per character. Random base-62 text of 16 characters has
// nearly 4, English prose and identifiers mostly stay under 3.3.
const minEntropy = 3.3

// looksRandom reports whether no person would have thought of the value.
func looksRandom(value string) bool {
	letters, digits := false, false
	for _, r := range value {
		letters = letters || unicode.IsLetter(r)
		digits = digits || unicode.IsDigit(r)
	}
	return letters && digits && !plainWords.MatchString(value) && !strings.ContainsAny(value, "(){}[]$") &&
		!hasAnyPrefix(value, "http://", "https://", "/", "./", "@") && entropy(value) >= minEntropy
}

// entropy is Shannon's, in bits per byte.
func entropy(value string) float64 {
	var counts [256]int
	for i := range len(value) {
		counts[value[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(value))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// maskCredentials replaces whatever looks like a credential, at most 16 in a
// text, by its first characters.
func maskCredentials(text string) string {
	for range 16 {
		c, ok := findCredential(text, false)
		if !ok {
			break
		}
		text = text[:c.start] + c.masked(text) + text[c.end:]
	}
	return text
}

// maskHead is how much of a credential may be shown, in bytes: the issuer's
// prefix, and nothing that helps to guess the rest.
const maskHead = 4

// masked returns what may be shown of the credential in text.
func (c credential) masked(text string) string {
	value := text[c.start:c.end]
	if !c.shaped || c.kind == "a password in an address" || c.kind == "a private key" || len(value) < 4*maskHead {
		return "…"
	}
	return value[:maskHead] + "…"
}
