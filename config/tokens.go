package config

import (
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// APIToken lets a named caller use the API.
type APIToken struct {
	// Name is who calls, as the principal "api:<name>".
	Name  string
	Token string
}

const (
	// minTokenLength keeps an operator from guarding the API with a word that can
	// be guessed.
	minTokenLength = 16
	// maxTokenName bounds a caller's name in characters: that of a DNS label, as
	// such names are often made from.
	maxTokenName = 63
)

var tokenName = lazyregexp.New(`^[a-z0-9][a-z0-9._-]*$`)

// reservedNames are principals that exist without a token of this list.
var reservedNames = []string{"operator", "local"}

// buildTokens reads who may use the API. Its problems count entries instead of
// quoting them: a name and a token may have changed places.
func buildTokens(c *Config, v *values, p *problems) {
	if s, ok := v.get(EnvAPIToken); ok {
		switch c.APIToken = s; {
		case len(s) < minTokenLength:
			p.add(EnvAPIToken, "must have at least %d characters; remove it to admit loopback callers only", minTokenLength)
		case !headerText(s):
			p.add(EnvAPIToken, "has characters that no Authorization header can carry; use letters, digits and punctuation without spaces")
		}
	}
	entries, set := v.list(EnvAPITokens)
	if set && len(entries) == 0 {
		p.add(EnvAPITokens, "is set but empty; unset it to have no named callers")
	}
	for i, entry := range entries {
		name, token, ok := strings.Cut(entry, ":")
		t := APIToken{Name: strings.TrimSpace(name), Token: strings.TrimSpace(token)}
		switch {
		case !ok:
			p.add(EnvAPITokens, "entry %d is not name:token", i+1)
		case len(t.Name) > maxTokenName || !tokenName.MatchString(t.Name):
			p.add(EnvAPITokens, "entry %d: the name before the colon must have 1 to %d of a-z, 0-9, dot, underscore and hyphen, and begin with a letter or a digit", i+1, maxTokenName)
		case slices.Contains(reservedNames, t.Name):
			p.add(EnvAPITokens, "entry %d: the names %s are taken by the service itself", i+1, strings.Join(reservedNames, " and "))
		case len(t.Token) < minTokenLength:
			p.add(EnvAPITokens, "entry %d: the token must have at least %d characters", i+1, minTokenLength)
		case !headerText(t.Token):
			p.add(EnvAPITokens, "entry %d: the token has characters that no Authorization header can carry", i+1)
		case t.Token == c.APIToken:
			p.add(EnvAPITokens, "entry %d has the operator's token; give each caller one of its own", i+1)
		case slices.ContainsFunc(c.APITokens, func(o APIToken) bool { return o.Name == t.Name || o.Token == t.Token }):
			p.add(EnvAPITokens, "entry %d has the name or the token of an earlier entry; both must be unique", i+1)
		}
		c.APITokens = append(c.APITokens, t)
	}
}

// headerText reports whether a bearer token of these characters can be sent.
func headerText(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}
