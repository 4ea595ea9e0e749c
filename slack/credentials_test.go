package slack

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// Whoever has a response_url or a trigger id can speak for us. They stand in what is
// owed to the one who clicked, and nowhere else: in no turn, and in nothing that is
// for reading, whether Slack takes what is done or not.
func TestCredentialsOfClicksAndCommandsAreNotWrittenDown(t *testing.T) {
	t.Parallel()
	credential := func(text string) bool {
		return strings.Contains(text, "synthetic-response") || strings.Contains(text, "synthetic-trigger")
	}
	for how, fault := range map[string]*sim.SlackFault{
		"taken":     nil,
		"refused":   {Times: -1, Error: "channel_not_found"},
		"an outage": {Times: -1, Status: http.StatusBadGateway},
	} {
		tried := 0
		for _, name := range examples(t) {
			w := newWorld(t)
			w.AddUser(sim.SlackUser{ID: "U0ADA", Team: team, Name: "ada"})
			w.AddChannel(sim.SlackChannel{ID: "C0DEV", Team: team, Name: "dev"})
			if fault != nil {
				w.Fail(*fault)
			}
			d := example(t, name)
			planted := []string{"1.2.x", "synthetic-trigger"}
			for _, kind := range []string{"actions", "commands", "app"} {
				planted = append(planted, url.QueryEscape("https://hooks.slack.com/"+kind+"/T0ACME/1/x"), url.QueryEscape(w.URL()+"synthetic-response"))
			}
			d.Body = []byte(strings.NewReplacer(planted...).Replace(string(d.Body)))
			if !credential(string(d.Body)) {
				continue
			}
			tried++
			in, err := w.channel.Map(d)
			if err == nil && in.Weigh {
				in, err = w.channel.Weigh(t.Context(), in)
			}
			if credential(fmt.Sprint(err, in.Reason, in.Title, in.Message, in.Key, in.Fact)) || in.Action == sessions.ActionRun && !in.Weigh && credential(string(in.Request)) {
				t.Errorf("%s, %s: %v, %+v", name, how, err, in)
			}
			for _, e := range in.Effects {
				receipt, err := w.channel.Deliver(t.Context(), sessions.Item{ID: name + e.Name, Kind: e.Kind, Payload: e.Payload, Attempts: 1})
				if e.Kind != kindEphemeral && credential(string(e.Payload)) || credential(fmt.Sprint(receipt, err)) {
					t.Errorf("%s, %s: %s %s: %v, %v", name, how, e.Kind, e.Payload, receipt, err)
				}
			}
			if logs := w.logs.String(); credential(logs) {
				t.Errorf("%s, %s logged:\n%s", name, how, logs)
			}
		}
		if tried < 20 {
			t.Errorf("only %d deliveries have credentials", tried)
		}
	}
}
