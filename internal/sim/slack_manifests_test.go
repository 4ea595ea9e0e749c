package sim_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

const goodManifest = `{"display_information":{"name":"Liaison"},"features":{"bot_user":{"display_name":"liaison"}},
"oauth_config":{"scopes":{"bot":["app_mentions:read","chat:write"]}},
"settings":{"event_subscriptions":{"request_url":"https://liaison.example.com/webhooks/slack","bot_events":["app_mention"]}}}`

func TestSlackManifests(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t, func(o *sim.SlackOptions) { o.ConfigToken = "xoxe.xoxp-1" })
	if o := w.call("apps.manifest.create", "xoxe.xoxp-wrong", "manifest", goodManifest); o["error"] != "invalid_auth" {
		t.Errorf("a wrong token: %v", o)
	}
	made := w.call("apps.manifest.create", "xoxe.xoxp-1", "manifest", goodManifest)
	app, _ := made["app_id"].(string)
	if made["ok"] != true || app == "" || made["credentials"].(map[string]any)["signing_secret"] == "" {
		t.Fatalf("got %v", made)
	}
	out := w.call("apps.manifest.export", "xoxe.xoxp-1", "app_id", app)
	exported, err := json.Marshal(out["manifest"])
	if err != nil || string(exported) != string(w.Manifest(app)) {
		t.Errorf("exported %s %v", exported, err)
	}
	more := strings.Replace(goodManifest, `"chat:write"`, `"chat:write","users:read"`, 1)
	if o := w.call("apps.manifest.update", "xoxe.xoxp-1", "app_id", app, "manifest", more); o["permissions_updated"] != true {
		t.Errorf("got %v", o)
	}
	for pointer, edit := range map[string][2]string{
		"/display_information/name":                  {`"Liaison"`, `"` + strings.Repeat("x", 36) + `"`},
		"/settings/event_subscriptions/bot_events/0": {`"app_mention"`, `"message.channels"`},
		"/settings/event_subscriptions/request_url":  {"https://", "http://"},
		"/features/bot_user/display_name":            {`"display_name":"liaison"`, `"x":1`},
		"/colour":                                    {`{"display_information"`, `{"colour":1,"display_information"`},
	} {
		o := w.call("apps.manifest.validate", "xoxe.xoxp-1", "manifest", strings.Replace(goodManifest, edit[0], edit[1], 1))
		problems, _ := o["errors"].([]any)
		if o["error"] != "invalid_manifest" || len(problems) != 1 || problems[0].(map[string]any)["pointer"] != pointer {
			t.Errorf("%s: got %v", pointer, o)
		}
	}
}
