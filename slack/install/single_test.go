package install_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/slack/install"
	"github.com/liaison-bot/liaison/slack/workspace"
)

func (w *world) single() *install.Single {
	return install.NewSingle(install.SingleOptions{Token: "xoxb-single", APIURL: slackURL + "/api/", HTTPClient: w.client(), Now: w.now})
}

// One token has one workspace, of which Slack is asked once.
func TestSingleToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.single()
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			team := []string{"T1", ""}[i%2]
			got, err := s.Workspace(t.Context(), team, "")
			if err != nil || got.Token != "xoxb-single" || got.Team != "T1" || got.BotUser != "UBOT" || got.BotID != "B1" ||
				got.Name != "Acme" || got.URL != "https://acme.slack.com/" || !slices.Equal(got.Scopes, []string{"chat:write", "im:history"}) {
				t.Errorf("%#v, %v", got, err)
			}
		})
	}
	all.Wait()
	w.pass(1000 * time.Hour)
	for _, other := range [][2]string{{"T2", ""}, {"T2", "E1"}, {"", "E1"}} {
		if got, err := s.Workspace(t.Context(), other[0], other[1]); !errors.Is(err, workspace.ErrNotInstalled) {
			t.Errorf("%v: %v, %v", other, got, err)
		}
	}
	if n := w.asked("auth.test"); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestSingleTokenOfAnOrganisation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answer("auth.test", func(url.Values) string {
		return `{"ok":true,"team":"Corp","team_id":"E1","enterprise_id":"E1","is_enterprise_install":true,"user_id":"UBOT"}`
	})
	s := w.single()
	for team, as := range map[string]string{"T1": "T1", "T2": "T2", "": "E1"} {
		if got, err := s.Workspace(t.Context(), team, "E1"); err != nil || got.Team != as || got.Enterprise != "E1" {
			t.Errorf("%q: %#v, %v", team, got, err)
		}
	}
	if _, err := s.Workspace(t.Context(), "T1", "E2"); !errors.Is(err, workspace.ErrNotInstalled) {
		t.Errorf("another organisation: %v", err)
	}
}

// What passes is asked again soon, a token that Slack does not know later, and
// neither by everybody at once.
func TestSingleTokenThatIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.single()
	try := func(answer string, refused bool) {
		t.Helper()
		w.answer("auth.test", func(url.Values) string { return answer })
		before := w.asked("auth.test")
		for range 3 {
			_, err := s.Workspace(t.Context(), "T1", "")
			if err == nil || errors.Is(err, workspace.ErrRefused) != refused || errors.Is(err, workspace.ErrNotInstalled) || strings.Contains(fmt.Sprint(err), "xoxb-") {
				t.Errorf("%s: %v", answer, err)
			}
		}
		if n := w.asked("auth.test") - before; n != 1 {
			t.Errorf("%s: asked %d times", answer, n)
		}
	}
	try(`{"ok":false,"error":"internal_error"}`, false)
	w.pass(5 * time.Second)
	try(`{"ok":true,"team_id":null,"user_id":7}`, false)
	w.pass(5 * time.Second)
	try(`no JSON`, false)
	w.pass(5 * time.Second)
	try(`{"ok":false,"error":"invalid_auth"}`, true)
	w.answer("auth.test", nil)
	w.pass(time.Minute)
	if _, err := s.Workspace(t.Context(), "T1", ""); err != nil {
		t.Errorf("once it is good: %v", err)
	}
}

// With installations beside a token of its own, each workspace has its token.
func TestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answer("oauth.v2.access", granted("installed", `{"id":"T2"}`, "null", "false"))
	w.install()
	f := install.First{w.store, w.single()}
	for team, token := range map[string]string{"T1": "xoxb-single", "T2": "installed"} {
		if got, err := f.Workspace(t.Context(), team, ""); err != nil || got.Token != token {
			t.Errorf("%s: %s, %v", team, got.Token, err)
		}
	}
	if _, err := f.Workspace(t.Context(), "T3", ""); !errors.Is(err, workspace.ErrNotInstalled) {
		t.Errorf("none: %v", err)
	}
	if _, err := (install.First{}).Workspace(t.Context(), "T3", ""); !errors.Is(err, workspace.ErrNotInstalled) {
		t.Errorf("nobody to ask: %v", err)
	}
	w.answer("auth.test", func(url.Values) string { return `{"ok":false,"error":"internal_error"}` })
	w.answer("auth.test", func(url.Values) string { return `{"ok":false,"error":"invalid_auth"}` })
	f = install.First{w.store, w.single()}
	if _, err := f.Workspace(t.Context(), "T1", ""); !errors.Is(err, workspace.ErrRefused) || !strings.Contains(err.Error(), "SLACK_BOT_TOKEN") {
		t.Errorf("one with a token of no use: %v", err)
	}
	w.answer("auth.test", func(url.Values) string { return `{"ok":false,"error":"internal_error"}` })
	f = install.First{w.single(), w.store}
	if _, err := f.Workspace(t.Context(), "T2", ""); err == nil || errors.Is(err, workspace.ErrNotInstalled) {
		t.Errorf("one that does not know: %v", err)
	}
}
