package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

const (
	// apiVersion is the only REST version that the simulator speaks.
	apiVersion = "2022-11-28"
	// maxAppTokenLife is how far ahead the expiry of an App's token may lie.
	// https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
	maxAppTokenLife = 10 * time.Minute
	// installationTokenLife is how long an installation token works.
	installationTokenLife = time.Hour
)

// authKind is the identity that an endpoint wants, or that a request showed.
type authKind string

const (
	authNone         authKind = "none"
	authApp          authKind = "app"          // a JSON web token of the App
	authInstallation authKind = "installation" // a ghs_ token
	authAny          authKind = "any"
	authPublic       authKind = "public" // anybody, also without an identity
)

// identity is who sent a request.
type identity struct {
	kind  authKind
	token *token
	inst  *installation
}

func (i identity) label() string {
	if i.inst != nil {
		return fmt.Sprintf("installation ID %d", i.inst.id)
	}
	if i.kind == authNone {
		return "127.0.0.1"
	}
	return "the App"
}

// token is an installation token and what it was narrowed to.
type token struct {
	value       string
	inst        *installation
	repos       []int64 // nil means every repository of the installation
	permissions map[string]string
	expires     time.Time
}

// covers reports whether the token reaches a repository. Every repository here
// is private, so a token sees nothing beyond its own.
func (t *token) covers(repo int64) bool {
	if t == nil || !t.inst.repos[repo] {
		return false
	}
	return t.repos == nil || slices.Contains(t.repos, repo)
}

// grants reports whether the token has a permission such as "checks:write".
func (t *token) grants(need string) bool {
	name, level, _ := strings.Cut(need, ":")
	return atLeast(t.permissions[name], level)
}

// atLeast compares permission levels.
func atLeast(have, want string) bool {
	rank := map[string]int{"": 0, "read": 1, "write": 2, "admin": 3}
	return rank[have] > 0 && rank[have] >= rank[want]
}

// precheck refuses what GitHub refuses before it looks at the identity.
func (g *GitHub) precheck(r *http.Request) (reply, bool) {
	if r.UserAgent() == "" {
		return failed(http.StatusForbidden, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header."), true
	}
	if v := r.Header.Get("X-GitHub-Api-Version"); v != "" && v != apiVersion {
		return failed(http.StatusBadRequest, "Version "+v+" is not a supported version."), true
	}
	if accept := strings.Join(r.Header.Values("Accept"), ","); accept != "" &&
		!strings.Contains(accept, "json") && !strings.Contains(accept, "application/vnd.github") && !strings.Contains(accept, "*/*") {
		return failed(http.StatusUnsupportedMediaType, "Unsupported 'Accept' header: '"+accept+"'. Must accept 'application/json'."), true
	}
	return reply{}, false
}

// identify reads the Authorization header.
func (g *GitHub) identify(r *http.Request) (identity, reply, bool) {
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	value = strings.TrimSpace(value)
	refuse := func(message string) (identity, reply, bool) {
		return identity{}, failed(http.StatusUnauthorized, message), true
	}
	switch {
	case scheme == "" && value == "":
		return identity{kind: authNone}, reply{}, false
	case !strings.EqualFold(scheme, "bearer") && !strings.EqualFold(scheme, "token"):
		return refuse("Bad credentials")
	case authOf(r) == authApp:
		if message := g.checkAppToken(value); message != "" {
			return refuse(message)
		}
		return identity{kind: authApp}, reply{}, false
	}
	t, known := g.tokens[value]
	if !known || !g.opts.Now().Before(t.expires) || t.inst.removed {
		return refuse("Bad credentials")
	}
	if !t.inst.suspended.IsZero() {
		return identity{}, failed(http.StatusForbidden, "This installation has been suspended"), true
	}
	return identity{kind: authInstallation, token: t, inst: t.inst}, reply{}, false
}

// checkAppToken verifies an App's JSON web token; the empty text means it is good.
// The messages are GitHub's, which say what is wrong with which claim.
func (g *GitHub) checkAppToken(value string) string {
	const undecodable = "A JSON web token could not be decoded"
	if g.opts.PublicKey == nil {
		return undecodable
	}
	claims := jwt.MapClaims{}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation(), jwt.WithJSONNumber())
	if _, err := parser.ParseWithClaims(value, claims, func(*jwt.Token) (any, error) { return g.opts.PublicKey, nil }); err != nil {
		return undecodable
	}
	now := g.opts.Now()
	exp, isNumber := claimTime(claims["exp"])
	switch {
	case !isNumber || !exp.After(now):
		return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"
	case exp.Sub(now) > maxAppTokenLife:
		return "'Expiration time' claim ('exp') is too far in the future"
	}
	iat, isNumber := claimTime(claims["iat"])
	if !isNumber || iat.After(now) {
		return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
	}
	issuer := fmt.Sprint(claims["iss"])
	if issuer != strconv.FormatInt(g.opts.AppID, 10) {
		return "'Issuer' claim ('iss') must be the App's id"
	}
	return ""
}

func claimTime(v any) (time.Time, bool) {
	n, isNumber := v.(json.Number)
	if !isNumber {
		return time.Time{}, false
	}
	f, err := n.Float64()
	return time.UnixMilli(int64(f * 1000)), err == nil
}

// unauthenticated refuses a request that shows no identity.
func unauthenticated() reply { return failed(http.StatusUnauthorized, "Requires authentication") }

// allowed checks the kind of identity and the token's permissions.
func (i identity) allowed(rt *route) (reply, bool) {
	switch {
	case rt.auth == authPublic:
		return reply{}, false
	case i.kind == authNone:
		return unauthenticated(), true
	case rt.auth == authAny:
		return reply{}, false
	case rt.auth == authApp && i.kind != authApp:
		return failed(http.StatusUnauthorized, "A JSON web token could not be decoded"), true
	case rt.auth == authInstallation && i.kind != authInstallation:
		return failed(http.StatusForbidden, "You must authenticate with an installation access token in order to use this endpoint."), true
	case rt.auth == authApp:
		return reply{}, false
	}
	if len(rt.needs) == 0 || slices.ContainsFunc(rt.needs, i.token.grants) {
		return reply{}, false
	}
	return notAccessible().set("X-Accepted-Github-Permissions", acceptedPermissions(rt.needs)), true
}

// acceptedPermissions prints alternatives as GitHub's header does.
func acceptedPermissions(needs []string) string {
	return strings.ReplaceAll(strings.Join(needs, "; "), ":", "=")
}
