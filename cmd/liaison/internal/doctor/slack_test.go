package doctor_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/doctor"
	"github.com/liaison-bot/liaison/slack/setup"
)

// healthySlack is an app that lacks nothing.
func healthySlack(t *testing.T) (setup.Examination, doctor.SlackSettings) {
	t.Helper()
	public, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return setup.Examination{
			Bot:      setup.Bot{Workspace: "Acme", Team: "T1", User: "U1", ID: "B1", App: "A1", Scopes: setup.ScopeNames()},
			Compared: true,
			Channels: []setup.Channel{{ID: "C1", Name: "general", Member: true}},
			People:   []setup.Person{{ID: "U2", Name: "ann"}},
		}, doctor.SlackSettings{
			Webhooks: true, Socket: true, Token: true, OAuth: true, Public: public, ConfigToken: true, Watched: []string{"C1"},
		}
}

func TestNothingIsWrongWithAHealthySlackApp(t *testing.T) {
	t.Parallel()
	found := doctor.Slack(healthySlack(t))
	if worst := doctor.Worst(found); worst != doctor.OK || len(found) != 9 {
		t.Errorf("%s, %d: %+v", worst, len(found), found)
	}
}

func TestEachGapOfSlackIsNamed(t *testing.T) {
	t.Parallel()
	without := func(scope string) []string {
		var rest []string
		for _, name := range setup.ScopeNames() {
			if name != scope {
				rest = append(rest, name)
			}
		}
		return rest
	}
	type exam = setup.Examination
	type settings = doctor.SlackSettings
	for _, c := range []struct {
		name      string
		spoil     func(*exam, *settings)
		status    doctor.Status
		text, fix string
	}{
		{"no token", func(_ *exam, s *settings) { s.Token, s.OAuth = false, false }, doctor.Failed, "nothing can be said", "SLACK_BOT_TOKEN"},
		{"refused token", func(e *exam, _ *settings) { e.BotErr = errors.New("token_revoked") }, doctor.Failed, "token_revoked", "install the app again"},
		{"a person's token", func(e *exam, _ *settings) { e.Bot.ID = "" }, doctor.Failed, "person's token", "xoxb-"},
		{"socket", func(e *exam, s *settings) { e.SocketErr, s.Webhooks = errors.New("invalid_auth"), false }, doctor.Failed, "invalid_auth", "connections:write"},
		{"socket beside webhooks", func(e *exam, _ *settings) { e.SocketErr = errors.New("invalid_auth") }, doctor.Warning, "invalid_auth", "SLACK_APP_TOKEN"},
		{"no public address", func(_ *exam, s *settings) { s.Public = nil }, doctor.Warning, "not known", "LIAISON_PUBLIC_URL"},
		{"another secret", func(_ *exam, s *settings) { s.Challenge = setup.ErrForeignSecret }, doctor.Failed, "another signing secret", "SLACK_SIGNING_SECRET"},
		{"nothing answers", func(_ *exam, s *settings) { s.Challenge = errors.New("nothing answers") }, doctor.Warning, "nothing answers", "Start the service"},
		{"clock", func(e *exam, _ *settings) { e.ClockAhead = -45 * time.Second }, doctor.Warning, "45s behind Slack's", "NTP"},
		{"clock far off", func(e *exam, _ *settings) { e.ClockAhead = 6 * time.Minute }, doctor.Failed, "6m0s ahead of Slack's", "NTP"},
		{"scope", func(e *exam, _ *settings) { e.Bot.Scopes = without("files:read") }, doctor.Warning, "lacks files:read. Questions are answered without", "install the app again"},
		{"essential scope", func(e *exam, _ *settings) { e.Bot.Scopes = without("chat:write") }, doctor.Failed, "lacks chat:write", "OAuth"},
		{"no configuration token", func(_ *exam, s *settings) { s.ConfigToken = false }, doctor.Warning, "not compared", "SLACK_CONFIG_TOKEN"},
		{"unreadable manifest", func(e *exam, _ *settings) { e.ManifestErr = setup.ErrConfigToken }, doctor.Warning, "12 hours", ""},
		{"event", func(e *exam, s *settings) {
			s.Socket = false
			e.Differences = []setup.Difference{{Path: "settings.event_subscriptions.bot_events", Wants: "message.im"}}
		}, doctor.Failed, "+ settings.event_subscriptions.bot_events: message.im", "liaison setup slack --app A1"},
		{"agent view", func(e *exam, _ *settings) {
			e.Differences = make([]setup.Difference, 10)
			e.Differences[0] = setup.Difference{Path: "features.agent_view.agent_description", Wants: `"x"`}
		}, doctor.Warning, "and 2 more", "--app A1"},
		{"channel without the bot", func(e *exam, _ *settings) { e.Channels[0].Member = false }, doctor.Warning, "not in the watched channel C1 (#general)", "/invite"},
		{"archived channel", func(e *exam, s *settings) { e.Channels[0].Archived, s.Watched = true, nil }, doctor.Warning, "allowed channel C1 (#general) is archived", "slack.channels"},
		{"unknown channel", func(e *exam, _ *settings) { e.Channels[0] = setup.Channel{ID: "C1", Err: setup.ErrUnknown} }, doctor.Warning, "C1 does not exist", "invite"},
		{"unreadable channel", func(e *exam, _ *settings) { e.Channels[0].Err = errors.New("no answer") }, doctor.Warning, "no answer", ""},
		{"unknown person", func(e *exam, _ *settings) { e.People[0].Err = setup.ErrUnknown }, doctor.Warning, "U2 does not exist", "people"},
		{"unreadable person", func(e *exam, _ *settings) { e.People[0].Err = errors.New("no answer") }, doctor.Warning, "no answer", ""},
		{"deactivated person", func(e *exam, _ *settings) { e.People[0].Deleted = true }, doctor.Warning, "U2 (ann) is deactivated", "people"},
		{"bot in people", func(e *exam, _ *settings) { e.People[0].Bot = true }, doctor.Warning, "slack.allowedApps", "people"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e, s := healthySlack(t)
			c.spoil(&e, &s)
			var gaps []doctor.Finding
			for _, f := range doctor.Slack(e, s) {
				if f.Status != doctor.OK {
					gaps = append(gaps, f)
				}
			}
			if len(gaps) != 1 {
				t.Fatalf("%d gaps, want one: %+v", len(gaps), gaps)
			}
			g := gaps[0]
			if g.Status != c.status || !strings.Contains(g.Text, c.text) || !strings.Contains(g.Fix, c.fix) {
				t.Errorf("%+v\nwant %s, %q and %q", g, c.status, c.text, c.fix)
			}
		})
	}
}
