package slack

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// map maps a delivery as the dispatcher does.
func (w *world) mapped(d sim.SlackDelivery) sessions.Intent {
	w.t.Helper()
	body, contentType := d.Body()
	in, err := w.channel.Map(sessions.Delivery{
		Source: Name, ID: d.ID, Headers: map[string]string{"Content-Type": contentType}, Body: body, ReceivedAt: time.Now(),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return in
}

// weigh maps and weighs a delivery as the dispatcher does.
func (w *world) weigh(d sim.SlackDelivery) sessions.Intent {
	w.t.Helper()
	in, err := w.tryWeigh(d)
	if err != nil {
		w.t.Fatal(err)
	}
	return in
}

func (w *world) tryWeigh(d sim.SlackDelivery) (sessions.Intent, error) {
	w.t.Helper()
	in := w.mapped(d)
	if !in.Weigh {
		return in, nil
	}
	return w.channel.Weigh(w.t.Context(), in)
}

// last is what Slack told of last, of a type.
func (w *world) last(types ...string) sim.SlackDelivery {
	w.t.Helper()
	all := w.Deliveries()
	for _, d := range slices.Backward(all) {
		if slices.Contains(types, d.Type) {
			return d
		}
	}
	w.t.Fatalf("Slack told of none of %q", types)
	return sim.SlackDelivery{}
}

// perform delivers what is owed for an intent.
func (w *world) perform(in sessions.Intent) {
	w.t.Helper()
	for _, e := range in.Effects {
		w.must(sessions.Item{ID: "delivery:" + in.Reason + "/" + e.Name, Kind: e.Kind, Payload: e.Payload, Attempts: 1, Surface: map[string]string{}})
	}
}

// told are the texts that an intent owes to a person, by the kinds of their effects.
func told(t *testing.T, in sessions.Intent) (kinds []string, text string) {
	t.Helper()
	for _, e := range in.Effects {
		var p struct {
			Markdown string `json:"markdown"`
		}
		must(t, json.Unmarshal(e.Payload, &p))
		kinds, text = append(kinds, e.Kind), text+p.Markdown
	}
	return kinds, text
}

// requestOf is the request of an intent.
func requestOf(t *testing.T, in sessions.Intent) request {
	t.Helper()
	r, err := parseRequest(in.Request)
	must(t, err)
	return r
}

// hears are the texts of ours that somebody alone saw in a channel.
func (w *world) hears(channel, user string) []string {
	var all []string
	for _, m := range w.Messages(channel) {
		if m.EphemeralTo == user {
			all = append(all, m.Text)
		}
	}
	return all
}

func with(edit func(*Settings)) func(*Options) { return func(o *Options) { edit(&o.Settings) } }

func wantIn(t *testing.T, what, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s: %q is not in %q", what, part, text)
	}
}
