package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxAnswer bounds an answer in bytes; Slack's have some 2 KB.
const maxAnswer = 256 << 10

// client calls the methods of Slack's that give and test tokens.
type client struct {
	apiURL, id, secret string
	http               *http.Client
}

func newClient(apiURL string, h *http.Client, id, secret string) *client {
	own := *h
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{apiURL: apiURL, http: &own, id: id, secret: secret}
}

// slackError is an answer of Slack's that says no.
type slackError struct{ method, code string }

func (e *slackError) Error() string { return "slack: " + e.method + ": " + e.code }

func says(err error, codes ...string) bool {
	e, ok := errors.AsType[*slackError](err)
	return ok && slices.Contains(codes, e.code)
}

// refused reports whether Slack does not know a token any more
// (https://docs.slack.dev/reference/methods/auth.test).
func refused(err error) bool {
	return says(err, "account_inactive", "invalid_auth", "not_authed", "token_expired", "token_revoked", "team_access_not_granted")
}

// spent reports whether Slack does not take a refresh token, now or later.
func spent(err error) bool {
	return says(err, "account_inactive", "invalid_grant", "invalid_refresh_token", "token_revoked")
}

// call posts a form, with the app's own credentials or a token.
func (c *client) call(ctx context.Context, method, token string, form url.Values, into any) (http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.apiURL+method, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, fmt.Errorf("slack: %s: %w", method, err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	} else {
		r.SetBasicAuth(c.id, c.secret)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("slack: %s: %w", method, err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("slack: %s: read the answer: %w", method, err)
	}
	var head struct {
		OK    bool `json:"ok"`
		Error any  `json:"error"`
	}
	if answer.StatusCode != http.StatusOK || json.Unmarshal(data, &head) != nil {
		return nil, fmt.Errorf("slack: %s: answered with HTTP status %d", method, answer.StatusCode)
	}
	if !head.OK {
		code, _ := head.Error.(string)
		if code = word(code); code == "" {
			code = "an error without a name"
		}
		return nil, &slackError{method, code}
	}
	if err := json.Unmarshal(data, into); err != nil {
		return nil, fmt.Errorf("slack: %s: the answer is not as documented", method)
	}
	return answer.Header, nil
}

// grant is what oauth.v2.access gives.
type grant struct {
	team, enterprise string
	name             string
	whole            bool
	botUser, app     string
	installer        string
	scopes           []string
	token, refresh   string
	lasts            time.Duration // 0 for ever
}

func (g grant) expires(now time.Time) time.Time {
	if g.lasts == 0 {
		return time.Time{}
	}
	return now.Add(g.lasts)
}

// exchange turns the code of an installation into what it grants.
func (c *client) exchange(ctx context.Context, code, redirect string) (grant, error) {
	g, err := c.access(ctx, url.Values{"code": {code}, "redirect_uri": {redirect}})
	switch {
	case err != nil:
		return g, err
	case g.botUser == "":
		return g, errors.New("slack: oauth.v2.access: the answer names no bot user; does the app have a bot, and ask for a bot scope?")
	case g.whole && g.enterprise == "" || !g.whole && g.team == "":
		return g, errors.New("slack: oauth.v2.access: the answer does not say where the app was installed")
	}
	return g, nil
}

// refresh turns a refresh token, which is then of no more use, into a new pair.
func (c *client) refresh(ctx context.Context, token string) (grant, error) {
	g, err := c.access(ctx, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
	if err == nil && g.lasts > 0 && g.refresh == "" {
		return g, errors.New("slack: oauth.v2.access: the answer has a token that ends, and none to replace it")
	}
	return g, err
}

func (c *client) access(ctx context.Context, form url.Values) (grant, error) {
	type named struct{ ID, Name loose }
	var a struct {
		Token      loose  `json:"access_token"`
		Type       loose  `json:"token_type"`
		Scope      loose  `json:"scope"`
		BotUser    loose  `json:"bot_user_id"`
		App        loose  `json:"app_id"`
		Team       *named `json:"team"`
		Enterprise *named `json:"enterprise"`
		Whole      loose  `json:"is_enterprise_install"`
		Installer  *named `json:"authed_user"`
		Refresh    loose  `json:"refresh_token"`
		Lasts      loose  `json:"expires_in"`
	}
	if _, err := c.call(ctx, "oauth.v2.access", "", form, &a); err != nil {
		return grant{}, err
	}
	g := grant{
		whole: a.Whole == "true", botUser: word(string(a.BotUser)), app: word(string(a.App)),
		scopes: scopes(string(a.Scope)), token: string(a.Token), refresh: string(a.Refresh),
	}
	if a.Team != nil {
		g.team, g.name = word(string(a.Team.ID)), string(a.Team.Name)
	}
	if a.Enterprise != nil {
		g.enterprise = word(string(a.Enterprise.ID))
		if g.name == "" {
			g.name = string(a.Enterprise.Name)
		}
	}
	if a.Installer != nil {
		g.installer = word(string(a.Installer.ID))
	}
	if seconds, err := strconv.ParseInt(string(a.Lasts), 10, 32); err == nil && seconds > 0 {
		g.lasts = time.Duration(seconds) * time.Second
	}
	if g.token == "" || a.Type != "bot" {
		return g, errors.New("slack: oauth.v2.access: the answer has no token of a bot; does the app ask for a bot scope?")
	}
	return g, nil
}

// identity is what auth.test says of a token.
type identity struct {
	team, enterprise string
	whole            bool
	name, url        string
	user, bot        string
	scopes           []string
}

// test asks Slack whom a token speaks for.
func (c *client) test(ctx context.Context, token string) (identity, error) {
	var a struct {
		Team       loose `json:"team_id"`
		Enterprise loose `json:"enterprise_id"`
		Whole      loose `json:"is_enterprise_install"`
		Name       loose `json:"team"`
		URL        loose `json:"url"`
		User       loose `json:"user_id"`
		Bot        loose `json:"bot_id"`
	}
	header, err := c.call(ctx, "auth.test", token, url.Values{}, &a)
	if err != nil {
		return identity{}, err
	}
	return identity{
		team: word(string(a.Team)), enterprise: word(string(a.Enterprise)), whole: a.Whole == "true",
		name: string(a.Name), url: string(a.URL), user: word(string(a.User)), bot: word(string(a.Bot)),
		scopes: scopes(header.Get("X-Oauth-Scopes")),
	}, nil
}

// loose is a text that Slack may send as another kind of value: a number or a
// truth as its text, and null, lists and objects as an empty one.
type loose string

// UnmarshalJSON implements [json.Unmarshaler].
func (l *loose) UnmarshalJSON(data []byte) error {
	var v any
	*l = ""
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	switch v := v.(type) {
	case string:
		*l = loose(v)
	case bool, float64:
		*l = loose(data)
	}
	return nil
}

// word returns a text that is an id or the name of an error, and an empty one for
// all else.
func word(s string) string {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}
	if len(s) > 64 || strings.ContainsFunc(s, other) {
		return ""
	}
	return s
}

// scopes reads a list that is separated by commas.
func scopes(list string) []string {
	var all []string
	for scope := range strings.SplitSeq(list, ",") {
		if scope = strings.TrimSpace(scope); scope != "" {
			all = append(all, scope)
		}
	}
	return all
}
