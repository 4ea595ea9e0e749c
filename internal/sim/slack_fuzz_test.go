package sim_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

// Whatever a client sends, the answer is JSON and the simulator stays up.
func FuzzSlackCalls(f *testing.F) {
	s := sim.NewSlack(sim.SlackOptions{AppToken: "xapp-1", ConfigToken: "xoxe-1", ClientID: "1.2", ClientSecret: "x"})
	team := s.AddWorkspace(sim.Workspace{ID: slackTeam})
	s.AddUser(sim.SlackUser{ID: ann, Team: slackTeam})
	s.AddChannel(sim.SlackChannel{ID: slackChannel, Team: slackTeam})
	root := s.Say(slackChannel, ann, "hello")
	for _, seed := range [][3]string{
		{"chat.postMessage", "application/json", `{"channel":"C0GENERAL","blocks":[null,{"type":"table","rows":[[{}]]}],"metadata":{"event_type":1}}`},
		{"chat.postMessage", "application/x-www-form-urlencoded", "channel=C0GENERAL&text=x&thread_ts=" + root.TS},
		{"chat.startStream", "application/json", `{"channel":"C0GENERAL","recipient_team_id":"T0ACME","recipient_user_id":"U0ANN","chunks":[null,{"type":"blocks"}]}`},
		{"conversations.replies", "application/x-www-form-urlencoded", "channel=C0GENERAL&limit=-1&cursor=bmV4dDotMQ==&ts=" + root.TS},
		{"views.publish", "application/json", `{"user_id":"U0ANN","view":{"type":"home","blocks":[{"type":"input","element":{"type":"checkboxes","options":[null]}}]}}`},
		{"apps.manifest.validate", "application/json", `{"manifest":"{\"features\":{\"slash_commands\":[null],\"shortcuts\":[1]}}"}`},
		{"files.completeUploadExternal", "application/json", `{"files":[{"id":null}]}`},
		{"reactions.add", "application/json", `{"channel":"C0GENERAL","timestamp":"1.000000","name":"eyes"}`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, method, contentType, body string) {
		if method == "auth.revoke" || method == "apps.uninstall" {
			return // the world of the seeds stays as it is
		}
		r := httptest.NewRequest(http.MethodPost, "/api/x", strings.NewReader(body))
		r.URL.Path = "/api/" + method
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Authorization", "Bearer "+team.BotToken)
		if strings.HasPrefix(method, "apps.manifest") {
			r.Header.Set("Authorization", "Bearer xoxe-1")
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		s.ForgetCalls()
		if w.Code != http.StatusOK || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %s: %d %q", method, body, w.Code, w.Body)
		}
	})
}

// The check of blocks takes any bytes, and refuses nothing for an empty list.
func FuzzSlackBlocks(f *testing.F) {
	f.Add(`[{"type":"section","text":{"type":"mrkdwn","text":"x"},"accessory":{"type":"overflow","options":[{}]}}]`)
	f.Add(`[{"type":"rich_text","elements":[{"type":"rich_text_list","elements":[null]}]}]`)
	f.Add(`[{"type":"context_actions","elements":[{"type":"feedback_buttons"}]}]`)
	f.Fuzz(func(t *testing.T, blocks string) {
		for _, on := range []sim.SlackSurface{sim.OnMessage, sim.OnModal, sim.OnHome, sim.OnStream, sim.OnResponse} {
			if err := sim.CheckSlackBlocks(on, "x", []byte(blocks)); err == nil && blocks != "" && !json.Valid([]byte(blocks)) {
				t.Errorf("%s takes %q", on, blocks)
			}
		}
	})
}
