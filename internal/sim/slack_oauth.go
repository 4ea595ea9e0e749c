package sim

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// How long what OAuth gives out lives.
// https://docs.slack.dev/authentication/installing-with-oauth
// https://docs.slack.dev/authentication/using-token-rotation
const (
	codeLife     = 10 * time.Minute
	rotatedToken = 12 * time.Hour
)

// slackGrants are what OAuth has given out.
type slackGrants struct {
	codes   map[string]*slackCode
	refresh map[string]*slackToken // single-use refresh tokens
}

// slackCode is the code of an installation, good once.
type slackCode struct {
	team, user, redirect string
	scopes               []string
	at                   time.Time
	used                 bool
}

// oauthMethods install and remove the app.
func (s *Slack) oauthMethods() map[string]slackMethod {
	return map[string]slackMethod{
		"oauth.v2.access": {
			args: "| client_id client_secret code redirect_uri grant_type refresh_token code_verifier", handle: (*slackRequest).oauthAccess,
		},
		"auth.revoke":    {token: "bot", args: "| test", handle: (*slackRequest).revokeSelf},
		"apps.uninstall": {token: "bot", args: "client_id client_secret", handle: (*slackRequest).uninstallSelf},
	}
}

// Authorize has a person of a workspace allow the app, at the address that the
// app's installation page sent them to, and returns where Slack sends them next:
// the redirect URL with a code and the state. It fails where Slack shows an error
// page.
func (s *Slack) Authorize(address, user string) (redirect string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("sim: authorize: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := u.Query()
	back := q.Get("redirect_uri")
	if back == "" && len(s.opts.RedirectURLs) > 0 {
		back = s.opts.RedirectURLs[0]
	}
	switch {
	case u.Path != "/oauth/v2/authorize":
		return "", errors.New("sim: authorize: no such page " + u.Path)
	case q.Get("client_id") != s.opts.ClientID || s.opts.ClientID == "":
		return "", errors.New("sim: authorize: invalid_client_id")
	case q.Get("scope") == "":
		return "", errors.New("sim: authorize: missing scope")
	case !slices.ContainsFunc(s.opts.RedirectURLs, func(allowed string) bool { return back == allowed || strings.HasPrefix(back, allowed+"/") }):
		return "", errors.New("sim: authorize: bad_redirect_uri " + back)
	}
	code := s.newID("code.") + "." + digest("code", user)[:32]
	s.grants.codes[code] = &slackCode{
		team: s.mustUser(user).Team, user: user, redirect: q.Get("redirect_uri"), scopes: strings.Split(q.Get("scope"), ","), at: s.opts.Now(),
	}
	return withQuery(back, url.Values{"code": {code}, "state": {q.Get("state")}}), nil
}

// Refuse has a person cancel an installation, and returns where Slack sends them.
func (s *Slack) Refuse(address string) (redirect string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("sim: refuse: %w", err)
	}
	q := u.Query()
	return withQuery(q.Get("redirect_uri"), url.Values{"error": {"access_denied"}, "state": {q.Get("state")}}), nil
}

func withQuery(address string, more url.Values) string {
	if strings.Contains(address, "?") {
		return address + "&" + more.Encode()
	}
	return address + "?" + more.Encode()
}

// client checks the app's own credentials: of the form, or else of the header.
func (q *slackRequest) client() object {
	id, secret := q.args["client_id"], q.args["client_secret"]
	if user, password, has := q.r.BasicAuth(); has && id == "" {
		id, secret = user, password
	}
	switch {
	case id == "" || id != q.s.opts.ClientID:
		return slackFailed("invalid_client_id")
	case secret != q.s.opts.ClientSecret:
		return slackFailed("bad_client_secret")
	}
	return nil
}

func (q *slackRequest) oauthAccess() object {
	if refusal := q.client(); refusal != nil {
		return refusal
	}
	switch q.args["grant_type"] {
	case "refresh_token":
		return q.refreshToken()
	case "", "authorization_code":
	default:
		return slackFailed("invalid_grant_type")
	}
	c := q.s.grants.codes[q.args["code"]]
	switch {
	case c == nil || q.s.opts.Now().Sub(c.at) >= codeLife:
		return slackFailed("invalid_code")
	case c.used:
		return slackFailed("code_already_used")
	case c.redirect != q.args["redirect_uri"]:
		return slackFailed("bad_redirect_uri")
	}
	c.used = true
	return q.s.install(q.s.mustTeam(c.team), c.user, c.scopes)
}

// install gives the app its token of a workspace. Callers hold the lock.
func (s *Slack) install(t *workspace, user string, scopes []string) object {
	t.uninstalled, t.Scopes = false, scopes
	tok := s.tokens[t.BotToken]
	if tok == nil || tok.revoked || s.opts.TokenRotation {
		tok = s.mint(t)
	}
	tok.scopes = scopes
	o := s.granted(t, tok)
	o["authed_user"] = object{"id": user}
	return o
}

// mint makes a fresh token of an installation. Callers hold the lock.
func (s *Slack) mint(t *workspace) *slackToken {
	secret := digest("bot token", s.newID("token"))[:24]
	tok := s.botToken(t, "xoxb-"+t.ID+"-"+secret)
	if s.opts.TokenRotation {
		tok.value = "xoxe.xoxb-1-" + secret
		tok.expires = s.opts.Now().Add(rotatedToken).Unix()
		tok.refresh = "xoxe-1-" + digest("refresh", secret)
		s.grants.refresh[tok.refresh] = tok
	}
	t.BotToken = tok.value
	s.tokens[tok.value] = tok
	return tok
}

// granted is what OAuth answers with a token.
func (s *Slack) granted(t *workspace, tok *slackToken) object {
	o := object{
		"access_token": tok.value, "token_type": "bot", "scope": strings.Join(tok.scopes, ","), "bot_user_id": t.BotUser, "app_id": s.opts.AppID,
		"team": object{"id": t.ID, "name": t.Name}, "enterprise": nil, "is_enterprise_install": t.OrgInstall,
	}
	if t.Enterprise != "" {
		o["enterprise"] = object{"id": t.Enterprise, "name": t.Enterprise}
	}
	if t.OrgInstall {
		o["team"] = nil
	}
	if tok.refresh != "" {
		o["refresh_token"], o["expires_in"] = tok.refresh, tok.expires-s.opts.Now().Unix()
	}
	return slackDone(o)
}

// refreshToken changes a refresh token, which is good once, into a new pair. The
// old access token lives on until it expires.
func (q *slackRequest) refreshToken() object {
	old := q.s.grants.refresh[q.args["refresh_token"]]
	if old == nil || old.revoked || q.s.workspaces[old.team].uninstalled {
		return slackFailed("invalid_refresh_token")
	}
	delete(q.s.grants.refresh, old.refresh)
	t := q.s.workspaces[old.team]
	tok := q.s.mint(t)
	tok.scopes = old.scopes
	return q.s.granted(t, tok)
}

func (q *slackRequest) revokeSelf() object {
	if q.flag("test") {
		return slackDone(object{"revoked": false})
	}
	q.token.revoked = true
	q.s.toldRevoked(q.team)
	return slackDone(object{"revoked": true})
}

func (q *slackRequest) uninstallSelf() object {
	if refusal := q.client(); refusal != nil {
		return refusal
	}
	q.s.uninstall(q.team)
	return slackDone(nil)
}

// Token returns the bot token of a workspace as it is now.
func (s *Slack) Token(team string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mustTeam(team).BotToken
}

// ExpireToken ends the life of the bot token of a workspace now.
func (s *Slack) ExpireToken(team string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.mustTeam(team)
	tok := s.tokens[t.BotToken]
	if tok == nil {
		panic("sim: the app has no token of " + team)
	}
	tok.expires = s.opts.Now().Unix()
}
