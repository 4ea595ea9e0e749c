package sim_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/internal/sim"
)

const redirectURL = "https://liaison.example.com/slack/oauth"

func oauthWorld(t *testing.T, rotation bool) *slackWorld {
	t.Helper()
	w := newSlackWorld(t, func(o *sim.SlackOptions) {
		o.ClientID, o.ClientSecret, o.RedirectURLs, o.TokenRotation = "1.2", "hush", []string{redirectURL}, rotation
	})
	w.AddWorkspace(sim.Workspace{ID: "T0NEW", NotInstalled: true})
	w.AddUser(sim.SlackUser{ID: "U0NEW", Team: "T0NEW"})
	return w
}

// allow has somebody install the app and returns the code.
func (w *slackWorld) allow() string {
	w.t.Helper()
	page := "https://slack.com/oauth/v2/authorize?" + url.Values{
		"client_id": {"1.2"}, "scope": {"chat:write,users:read"}, "state": {"s&1"}, "redirect_uri": {redirectURL},
	}.Encode()
	back, err := w.Authorize(page, "U0NEW")
	if err != nil {
		w.t.Fatal(err)
	}
	u, err := url.Parse(back)
	if err != nil || !strings.HasPrefix(back, redirectURL+"?") || u.Query().Get("state") != "s&1" {
		w.t.Fatalf("Slack sends people to %s: %v", back, err)
	}
	return u.Query().Get("code")
}

func (w *slackWorld) exchange(code, secret, redirect string) (*slack.OAuthV2Response, error) {
	return slack.GetOAuthV2ResponseContext(w.t.Context(), oneShot(), "1.2", secret, code, redirect, slack.OAuthOptionAPIURL(w.URL()))
}

func TestSlackInstall(t *testing.T) {
	t.Parallel()
	w := oauthWorld(t, false)
	code := w.allow()
	for want, try := range map[string][]string{
		"bad_client_secret": {code, "wrong", redirectURL}, "bad_redirect_uri": {code, "hush", redirectURL + "/x"}, "invalid_code": {"x", "hush", redirectURL},
	} {
		if _, err := w.exchange(try[0], try[1], try[2]); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	got, err := w.exchange(code, "hush", redirectURL)
	if err != nil {
		t.Fatal(err)
	}
	if got.Team.ID != "T0NEW" || got.Scope != "chat:write,users:read" || got.AuthedUser.ID != "U0NEW" || got.RefreshToken != "" {
		t.Errorf("got %+v", got)
	}
	if who, err := w.client(got.AccessToken).AuthTestContext(t.Context()); err != nil || who.TeamID != "T0NEW" || who.UserID != got.BotUserID {
		t.Errorf("the token is of %+v %v", who, err)
	}
	if _, err := w.exchange(code, "hush", redirectURL); err == nil || err.Error() != "code_already_used" {
		t.Errorf("the code again: %v", err)
	}
	late := w.allow()
	w.clock.Add(10 * time.Minute)
	if _, err := w.exchange(late, "hush", redirectURL); err == nil || err.Error() != "invalid_code" {
		t.Errorf("the code ten minutes later: %v", err)
	}
	if _, err := w.Authorize("https://slack.com/oauth/v2/authorize?client_id=1.2&scope=a&redirect_uri=https://evil.example", "U0NEW"); err == nil {
		t.Error("a redirect to a stranger is allowed")
	}
}

func TestSlackTokenRotation(t *testing.T) {
	t.Parallel()
	w := oauthWorld(t, true)
	first, err := w.exchange(w.allow(), "hush", redirectURL)
	if err != nil || first.ExpiresIn != 12*60*60 {
		t.Fatalf("%+v %v", first, err)
	}
	refresh := func(token string) (*slack.OAuthV2Response, error) {
		return slack.RefreshOAuthV2TokenContext(t.Context(), oneShot(), "1.2", "hush", token, slack.OAuthOptionAPIURL(w.URL()))
	}
	second, err := refresh(first.RefreshToken)
	if err != nil || second.AccessToken == first.AccessToken {
		t.Fatalf("%+v %v", second, err)
	}
	if _, err := refresh(first.RefreshToken); err == nil || err.Error() != "invalid_refresh_token" {
		t.Errorf("the refresh token again: %v", err)
	}
	w.clock.Add(12 * time.Hour)
	if _, err := w.client(second.AccessToken).AuthTestContext(t.Context()); err == nil || err.Error() != "token_expired" {
		t.Errorf("12 hours later: %v", err)
	}
}

func TestSlackRevoke(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	if o := w.call("auth.revoke", w.team.BotToken); o["revoked"] != true {
		t.Fatalf("got %v", o)
	}
	w.wantError("token_revoked", "auth.test")
	if made := w.Deliveries(); len(made) != 1 || made[0].Type != "tokens_revoked" {
		t.Errorf("the app is told %v", made)
	}
}

func TestSlackOrganisationToken(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	one := w.AddWorkspace(sim.Workspace{ID: "T0ONE", Enterprise: "E0GRID", OrgInstall: true})
	two := w.AddWorkspace(sim.Workspace{ID: "T0TWO", Enterprise: "E0GRID", OrgInstall: true})
	if one.BotToken != two.BotToken {
		t.Fatal("an organisation has one token")
	}
	w.AddUser(sim.SlackUser{ID: "U0GRID", Team: "T0TWO"})
	w.AddChannel(sim.SlackChannel{ID: "C0GRID", Team: "T0TWO", Members: []string{"U0GRID", two.BotUser}})
	if o := w.call("chat.postMessage", two.BotToken, "channel", "C0GRID", "text", "x", "team_id", "T0TWO"); o["ok"] != true {
		t.Errorf("got %v", o)
	}
	if o := w.call("team.info", two.BotToken, "team_id", slackTeam); o["error"] != "team_not_found" {
		t.Errorf("a team of another organisation: %v", o)
	}
	w.Say("C0GRID", "U0GRID", "hello")
	made := w.Deliveries()
	if last := string(made[len(made)-1].Payload); !strings.Contains(last, `"is_enterprise_install":true`) || !strings.Contains(last, `"enterprise_id":"E0GRID"`) {
		t.Errorf("the app is told %s", last)
	}
}
