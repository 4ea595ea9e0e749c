package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// Principal is who calls.
type Principal struct {
	// Name is "api:operator", "api:local" or "api:<name>".
	Name string
	// Operator sees, continues and stops everything.
	Operator bool
}

// The principals that need no name.
const (
	operatorName = "api:operator"
	localName    = "api:local"
)

// Token is a named caller's bearer token.
type Token struct {
	// Name is the caller's, without "api:".
	Name  string
	Token string
}

// admission finds out who calls.
type admission struct {
	tokens []knownToken
	origin *http.CrossOriginProtection
}

// knownToken is kept as a hash: hashes have one length, so that the time of a
// comparison tells nothing about the token's.
type knownToken struct {
	hash      [sha256.Size]byte
	principal Principal
}

func newAdmission(operator string, named []Token) *admission {
	a := &admission{origin: http.NewCrossOriginProtection()}
	if operator != "" {
		a.tokens = append(a.tokens, knownToken{sha256.Sum256([]byte(operator)), Principal{operatorName, true}})
	}
	for _, t := range named {
		a.tokens = append(a.tokens, knownToken{sha256.Sum256([]byte(t.Token)), Principal{"api:" + t.Name, false}})
	}
	return a
}

// admit returns who sent r. What would change something is refused when it
// comes from another site's page, whoever's token it carries.
func (a *admission) admit(r *http.Request) (Principal, error) {
	if err := a.origin.Check(r); err != nil {
		return Principal{}, refusef(http.StatusForbidden, "cross_site", "requests from another site's page are refused")
	}
	if len(a.tokens) == 0 {
		if !directLoopback(r) {
			return Principal{}, refusef(http.StatusUnauthorized, "unauthorized", "set LIAISON_API_TOKEN and send it as a bearer token; without one only direct callers on this machine are admitted")
		}
		return Principal{localName, true}, nil
	}
	if p, ok := a.match(bearer(r)); ok {
		return p, nil
	}
	return Principal{}, refusef(http.StatusUnauthorized, "unauthorized", "send a token that this service knows as a bearer token (LIAISON_API_TOKEN, or one of LIAISON_API_TOKENS)")
}

// match looks at every token, whichever it is.
func (a *admission) match(given string) (p Principal, ok bool) {
	got := sha256.Sum256([]byte(given))
	for i := range a.tokens {
		if subtle.ConstantTimeCompare(got[:], a.tokens[i].hash[:]) == 1 {
			p, ok = a.tokens[i].principal, given != ""
		}
	}
	return p, ok
}

// bearer returns the token of a request, and nothing when it has several.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
