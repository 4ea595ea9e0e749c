package setup_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/manifests"
	"github.com/liaison-bot/liaison/slack/setup"
)

func TestSlackTakesBothManifests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	socket, err := read(t, manifests.SlackAppSocket).For(nil, "")
	must(t, err)
	for name, m := range map[string]setup.Manifest{"http": ours(t), "socket": socket, "as it stands": read(t, manifests.SlackApp)} {
		app, err := setup.NewRegistrar(w.site, w.client, configToken).Create(t.Context(), m)
		if err != nil || app.ID == "" || app.SigningSecret == "" || app.ClientID == "" || app.ClientSecret == "" || app.InstallURL == "" {
			t.Errorf("%s: %+v, %v", name, app, err)
		}
	}
}

// The variant has nothing else but what Socket Mode makes superfluous.
func TestTheSocketManifestIsTheOtherWithoutAddresses(t *testing.T) {
	t.Parallel()
	tree := func(source []byte) map[string]any {
		var m map[string]any
		must(t, json.Unmarshal(read(t, source).JSON(), &m))
		return m
	}
	want, got := tree(manifests.SlackApp), tree(manifests.SlackAppSocket)
	delete(want["oauth_config"].(map[string]any), "redirect_urls")
	settings := want["settings"].(map[string]any)
	settings["socket_mode_enabled"] = true
	delete(settings["event_subscriptions"].(map[string]any), "request_url")
	delete(settings["interactivity"].(map[string]any), "request_url")
	delete(want["features"].(map[string]any)["slash_commands"].([]any)[0].(map[string]any), "url")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestAddressesAreTheServices(t *testing.T) {
	t.Parallel()
	m := ours(t)
	for text, times := range map[string]int{"liaison.example.com": 0, "https://bots.example.com/liaison/webhooks/slack": 3, "https://bots.example.com/liaison/slack/oauth": 1} {
		if got := strings.Count(string(m.JSON()), text); got != times {
			t.Errorf("%q is in it %d times, want %d", text, got, times)
		}
	}
	for _, public := range []*url.URL{nil, address(t, "http://bots.example.com")} {
		if _, err := read(t, manifests.SlackApp).For(public, ""); err == nil {
			t.Errorf("a manifest with addresses for %v", public)
		}
	}
	if again := string(read(t, manifests.SlackApp).JSON()); !strings.Contains(again, "liaison.example.com") {
		t.Error("the source was changed")
	}
}

func TestNamesAsLongAsSlackTakesThem(t *testing.T) {
	t.Parallel()
	for n, taken := range map[int]bool{1: true, 34: true, 35: true, 36: false} {
		m, err := read(t, manifests.SlackAppSocket).For(nil, strings.Repeat("é", n))
		if (err == nil) != taken {
			t.Errorf("%d characters: %v", n, err)
		}
		if err == nil && strings.Count(string(m.JSON()), strings.Repeat("é", n)) != 2 {
			t.Errorf("the name is not the app's and the bot's: %s", m.JSON())
		}
	}
	if _, err := read(t, manifests.SlackAppSocket).For(nil, "  "); err == nil {
		t.Error("an empty name was taken")
	}
}

func TestUnknownKeysAreErrors(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"display_information: {name: x, colour: red}", "", "- a", ":"} {
		if _, err := setup.Read([]byte(source)); err == nil {
			t.Errorf("%q was taken", source)
		}
	}
}

// The link carries the whole manifest, which Slack's page reads back.
func TestTheLinkCarriesTheManifest(t *testing.T) {
	t.Parallel()
	for api, page := range map[string]string{
		"https://slack.com/api/": "https://api.slack.com", "https://slack-gov.com/api": "https://api.slack-gov.com", "http://127.0.0.1:9/api/": "http://127.0.0.1:9",
	} {
		site, err := setup.ParseSite(api)
		must(t, err)
		link := address(t, ours(t).Link(site))
		if got := link.Scheme + "://" + link.Host; got != page || link.Path != "/apps" || link.Query().Get("new_app") != "1" || strings.Contains(link.RawQuery, "+") {
			t.Errorf("link to %s: %s", api, link)
		}
		again, err := setup.Read([]byte(link.Query().Get("manifest_yaml")))
		if err != nil || string(again.JSON()) != string(ours(t).JSON()) {
			t.Errorf("the manifest in the link is another one: %v", err)
		}
		if strings.Contains(link.Query().Get("manifest_yaml"), "#") != strings.Contains(ours(t).YAML(), `"#`) {
			t.Error("there are comments in the link")
		}
	}
	for _, bad := range []string{"", "slack.com/api", "https://u:p@slack.com/api/", "https://slack.com/api/?x"} {
		if _, err := setup.ParseSite(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestWhatSlackRefusesIsNamedByItsPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	m := read(t, []byte("display_information: {name: x}\nsettings:\n  event_subscriptions: {bot_events: [message.channels, nonsense]}\n"))
	_, err := setup.NewRegistrar(w.site, w.client, configToken).Create(t.Context(), m)
	problems, ok := errors.AsType[*setup.ManifestError](err)
	if !ok || len(problems.Problems) != 3 || !strings.Contains(err.Error(), "settings/event_subscriptions/bot_events/1: ") {
		t.Errorf("err = %v", err)
	}
	_, err = setup.NewRegistrar(w.site, w.client, "xoxe.xoxp-other").Create(t.Context(), ours(t))
	if !errors.Is(err, setup.ErrConfigToken) || strings.Contains(err.Error(), "xoxp-other") {
		t.Errorf("err = %v", err)
	}
	if _, err = setup.NewRegistrar(w.site, w.client, configToken).Export(t.Context(), "A0NONE"); err == nil || !strings.Contains(err.Error(), "no such app") {
		t.Errorf("err = %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = setup.NewRegistrar(w.site, w.client, configToken).Create(gone, ours(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// What the operator has made of the app stays, and the rest becomes ours.
func TestAnUpdateKeepsTheOperatorsNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.AddApp("A0OLD", []byte(`{"display_information":{"name":"Ada","description":"Ours"},
"features":{"bot_user":{"display_name":"ada","always_online":false},"assistant_view":{"assistant_description":"old"},"unfurl_domains":["example.com"]},
"oauth_config":{"scopes":{"bot":["chat:write","emoji:read"]}},"settings":{"socket_mode_enabled":true,"event_subscriptions":{"bot_events":["app_mention"]}}}`))
	r := setup.NewRegistrar(w.site, w.client, configToken)
	has, err := r.Export(t.Context(), "A0OLD")
	must(t, err)
	merged, differences, err := ours(t).Onto(has)
	must(t, err)
	var shown []string
	for _, d := range differences {
		shown = append(shown, d.String())
	}
	all := strings.Join(shown, "\n")
	for _, want := range []string{
		"- oauth_config.scopes.bot: emoji:read", "+ oauth_config.scopes.bot: commands", "- settings.socket_mode_enabled: true",
		"- features.assistant_view.assistant_description: \"old\"", "+ settings.event_subscriptions.bot_events: message.im",
		`+ settings.event_subscriptions.request_url: "https://bots.example.com/liaison/webhooks/slack"`,
	} {
		if !strings.Contains(all+"\n", want+"\n") {
			t.Errorf("no %q in:\n%s", want, all)
		}
	}
	for _, kept := range []string{"unfurl_domains", "Ada", "ada", "display_name", "chat:write", "app_mention\n"} {
		if strings.Contains(all+"\n", kept) {
			t.Errorf("%q is said to change:\n%s", kept, all)
		}
	}
	reinstall, err := r.Update(t.Context(), "A0OLD", merged)
	if err != nil || !reinstall {
		t.Errorf("reinstall %v, %v", reinstall, err)
	}
	if now := string(w.Manifest("A0OLD")); !strings.Contains(now, `"name":"Ada"`) || !strings.Contains(now, `"unfurl_domains"`) || strings.Contains(now, "assistant_view") {
		t.Errorf("it is now %s", now)
	}
	// A second time there is nothing to do.
	if has, err = r.Export(t.Context(), "A0OLD"); err != nil {
		t.Fatal(err)
	}
	if _, differences, err = ours(t).Onto(has); err != nil || len(differences) != 0 {
		t.Errorf("still different: %v, %v", differences, err)
	}
	for _, odd := range []string{"", "[]", "null", `"x"`} {
		if _, _, err := ours(t).Onto(json.RawMessage(odd)); err == nil {
			t.Errorf("%q was taken", odd)
		}
	}
}
