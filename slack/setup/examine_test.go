package setup_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/handlers"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/slack/setup"
	"github.com/liaison-bot/liaison/state/memstore"
)

// examined is a world with people and channels in it.
func examined(t *testing.T) (*world, setup.Asked) {
	t.Helper()
	w := newWorld(t, nil)
	workspace := w.AddWorkspace(sim.Workspace{ID: team, Name: "Acme", Scopes: setup.ScopeNames()})
	w.AddUser(sim.SlackUser{ID: "U0ANN", Team: team, Name: "ann"})
	w.AddUser(sim.SlackUser{ID: "U0BOB", Team: team, Name: "bob", Deleted: true})
	w.AddUser(sim.SlackUser{ID: "U0ZAP", Team: team, Name: "zap", Bot: true})
	w.AddChannel(sim.SlackChannel{ID: "C0IN", Team: team, Name: "general"})
	w.AddChannel(sim.SlackChannel{ID: "C0OUT", Team: team, Name: "random", Members: []string{"U0ANN"}})
	w.AddChannel(sim.SlackChannel{ID: "C0OLD", Team: team, Name: "old", Archived: true})
	w.AddApp("A0LIAISON", ours(t).JSON())
	return w, setup.Asked{
		Site: w.site, HTTPClient: w.client, Now: time.Now,
		BotToken: workspace.BotToken, AppToken: appToken, ConfigToken: configToken, Manifest: ours(t),
		Channels: []string{"C0OUT", "C0IN", "C0OLD", "C0NONE", "C0IN"}, People: []string{"U0ANN", "U0BOB", "U0ZAP", "U0NONE"},
	}
}

func TestExamine(t *testing.T) {
	t.Parallel()
	_, a := examined(t)
	e := setup.Examine(t.Context(), a)
	if e.BotErr != nil || e.Bot.Workspace != "Acme" || e.Bot.Team != team || e.Bot.App != "A0LIAISON" || e.Bot.User == "" || e.Bot.ID == "" {
		t.Errorf("bot %+v, %v", e.Bot, e.BotErr)
	}
	if missing := setup.Missing(e.Bot.Scopes); len(missing) != 0 {
		t.Errorf("missing %+v of %v", missing, e.Bot.Scopes)
	}
	if e.SocketErr != nil || e.ManifestErr != nil || !e.Compared || len(e.Differences) != 0 {
		t.Errorf("socket %v, manifest %v %v", e.SocketErr, e.ManifestErr, e.Differences)
	}
	if len(e.Channels) != 4 || e.Channels[0].Err != nil || !e.Channels[0].Member || e.Channels[0].Name != "general" ||
		!errors.Is(e.Channels[1].Err, setup.ErrUnknown) || !e.Channels[2].Archived || e.Channels[3].Member {
		t.Errorf("channels %+v", e.Channels)
	}
	if len(e.People) != 4 || e.People[0].Name != "ann" || !e.People[1].Deleted || !errors.Is(e.People[2].Err, setup.ErrUnknown) || !e.People[3].Bot {
		t.Errorf("people %+v", e.People)
	}
}

func TestExamineSaysWhatItCouldNotRead(t *testing.T) {
	t.Parallel()
	_, a := examined(t)
	a.AppToken, a.ConfigToken = "xapp-wrong", "xoxe.xoxp-wrong"
	e := setup.Examine(t.Context(), a)
	if e.SocketErr == nil || !errors.Is(e.ManifestErr, setup.ErrConfigToken) || e.Compared {
		t.Errorf("socket %v, manifest %v", e.SocketErr, e.ManifestErr)
	}
	a.BotToken = "xoxb-wrong-token"
	e = setup.Examine(t.Context(), a)
	if e.BotErr == nil || !strings.Contains(e.BotErr.Error(), "invalid_auth") || len(e.Channels) != 0 {
		t.Errorf("%+v", e)
	}
	for _, err := range []error{e.SocketErr, e.BotErr} {
		if strings.Contains(err.Error(), "wrong") {
			t.Errorf("a token is shown: %v", err)
		}
	}
}

func TestExamineTellsAClockThatIsOff(t *testing.T) {
	t.Parallel()
	_, a := examined(t)
	a.Now = func() time.Time { return time.Now().Add(-7 * time.Minute) }
	if behind := -setup.Examine(t.Context(), a).ClockAhead; behind < 6*time.Minute || behind > 8*time.Minute {
		t.Errorf("behind by %s", behind)
	}
}

// The service itself answers the challenge, and only with its own secret.
func TestChallenge(t *testing.T) {
	t.Parallel()
	store := memstore.New(memstore.Options{})
	service := httptest.NewServer(handlers.New(handlers.Options{
		Inbox: store, Check: func(context.Context) error { return nil }, Intake: &handlers.Intake{}, Logger: slog.New(slog.DiscardHandler), SlackSecrets: []string{"old", "new"}, Now: time.Now,
	}))
	defer service.Close()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved/webhooks/slack" {
			http.Redirect(w, r, service.URL+"/webhooks/slack", http.StatusTemporaryRedirect)
		}
		_, _ = w.Write([]byte("hello"))
	}))
	defer other.Close()
	for name, c := range map[string]struct {
		at, secret string
		off        time.Duration
		says       string
	}{
		"the new secret":   {service.URL, "new", 0, ""},
		"the old one":      {service.URL + "/", "old", 0, ""},
		"another":          {service.URL, "stolen", 0, "another signing secret"},
		"a clock":          {service.URL, "new", 10 * time.Minute, "another signing secret"},
		"somebody else":    {other.URL, "new", 0, "something else"},
		"a redirect":       {other.URL + "/moved", "new", 0, "307"},
		"nothing is there": {"http://127.0.0.1:1", "new", 0, "nothing answers"},
	} {
		err := setup.Challenge(t.Context(), service.Client(), address(t, c.at), c.secret, "the-challenge", time.Now().Add(c.off))
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
