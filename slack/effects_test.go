package slack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// asks is a message to us.
func asks(user, ts string) request {
	return request{
		address: address{Team: "T1", Channel: "C1", Thread: "1.1"}, Trigger: byMention, ChannelType: "channel",
		TS: ts, User: user, Text: "why?", Verb: verbAsk,
	}
}

func turnOf(r request, gathered ...request) sessions.Turn {
	t := sessions.Turn{ID: "trn_1", SessionID: "ses_1", Attempt: 1, Message: "why?", Request: r.encode()}
	for _, g := range gathered {
		t.Gathered = append(t.Gathered, state.Gathered{Message: "and?", Request: g.encode()})
	}
	return t
}

// effectLines shows effects, one in each line.
func effectLines(t *testing.T, effects []sessions.Effect) string {
	t.Helper()
	var b strings.Builder
	names := map[string]bool{}
	for _, f := range effects {
		if names[f.Name] {
			t.Errorf("two effects are called %s", f.Name)
		}
		names[f.Name] = true
		var p map[string]any
		must(t, json.Unmarshal(f.Payload, &p))
		delete(p, "to")
		shown, err := json.Marshal(p)
		must(t, err)
		fmt.Fprintf(&b, "%s %s %s\n", f.Name, f.Kind, shown)
	}
	return b.String()
}

// What people see at each moment of a turn.
func TestEffects(t *testing.T) {
	t.Parallel()
	mention, second, other := asks("U1", "1.2"), asks("U1", "1.3"), asks("U2", "1.4")
	direct := asks("U1", "1.1")
	direct.Trigger, direct.ChannelType, direct.Channel = byDirect, "im", "D1"
	command := asks("U1", "")
	command.Trigger, command.ResponseURL = byCommand, "https://hooks.slack.example/1"
	watched := asks("U1", "1.2")
	watched.Trigger = byWatch
	quiet := Settings{Reply: ReplyMessage}
	until := time.Date(2026, 3, 1, 12, 30, 40, 0, time.UTC)

	done := sessions.Report{Moment: sessions.MomentCompleted, Text: "Because of **this**.", Model: "m", Duration: 20 * time.Second}
	long := done
	long.Duration = 2 * time.Minute
	for name, c := range map[string]struct {
		settings Settings
		turn     sessions.Turn
		report   sessions.Report
	}{
		"accepted":            {defaults(), turnOf(mention), sessions.Report{Moment: sessions.MomentAccepted, Request: mention.encode()}},
		"accepted-behind":     {defaults(), turnOf(mention, second), sessions.Report{Moment: sessions.MomentAccepted, Request: second.encode(), Behind: true}},
		"accepted-watched":    {defaults(), turnOf(watched), sessions.Report{Moment: sessions.MomentAccepted, Request: watched.encode(), Behind: true}},
		"accepted-command":    {defaults(), turnOf(command), sessions.Report{Moment: sessions.MomentAccepted, Request: command.encode()}},
		"started":             {defaults(), turnOf(mention), sessions.Report{Moment: sessions.MomentStarted}},
		"waiting":             {defaults(), turnOf(mention), sessions.Report{Moment: sessions.MomentWaiting, WaitsFor: "the model's rate limit", Until: until, Reason: "429"}},
		"completed":           {defaults(), turnOf(mention), done},
		"completed-gathered":  {defaults(), turnOf(mention, second, other, other), done},
		"completed-long":      {defaults(), turnOf(mention), long},
		"completed-direct":    {defaults(), turnOf(direct), done},
		"completed-quiet":     {quiet, turnOf(mention), done},
		"completed-empty":     {defaults(), turnOf(mention), sessions.Report{Moment: sessions.MomentCompleted, Text: " \n"}},
		"failed":              {defaults(), turnOf(mention), sessions.Report{Moment: sessions.MomentFailed, Reason: "the model said:\n\nno"}},
		"stopped":             {defaults(), turnOf(mention), sessions.Report{Moment: sessions.MomentInterrupted, Reason: "stopped by U2", Stopped: true}},
		"stopped-streaming":   {Settings{Reply: ReplyStream, Reactions: true}, turnOf(mention), sessions.Report{Moment: sessions.MomentInterrupted, Reason: "stopped by U2", Stopped: true}},
		"stopped-quiet":       {quiet, turnOf(mention), sessions.Report{Moment: sessions.MomentInterrupted, Reason: "stopped by U2", Stopped: true}},
		"superseded":          {defaults(), turnOf(mention), sessions.Report{Moment: sessions.MomentInterrupted, Reason: "superseded", Superseded: true}},
		"interrupted":         {defaults(), turnOf(mention), sessions.Report{Moment: sessions.MomentInterrupted, Reason: "the channel is gone"}},
		"dropped-stopped":     {defaults(), turnOf(mention, second), sessions.Report{Moment: sessions.MomentDropped, Reason: "stopped by U2", Stopped: true}},
		"dropped-withdrawn":   {defaults(), turnOf(mention), sessions.Report{Moment: sessions.MomentDropped, Reason: "deleted", Withdrawn: true}},
		"dropped-superseded":  {defaults(), turnOf(mention), sessions.Report{Moment: sessions.MomentDropped, Reason: "x", Superseded: true}},
		"dropped-uninstalled": {defaults(), turnOf(mention), sessions.Report{Moment: sessions.MomentDropped, Reason: "the app was uninstalled"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch, err := New(Options{Settings: c.settings})
			must(t, err)
			effects, err := ch.Effects(c.turn, c.report)
			must(t, err)
			golden(t, "effects/"+name+".txt", effectLines(t, effects))
		})
	}
}

// A turn of a later version's words is not answered with silence.
func TestUnknownMoments(t *testing.T) {
	t.Parallel()
	ch, err := New(Options{})
	must(t, err)
	if _, err := ch.Effects(turnOf(asks("U1", "1.2")), sessions.Report{Moment: 99}); err == nil {
		t.Error("no error")
	}
	if _, err := ch.Effects(sessions.Turn{Request: json.RawMessage(`{}`)}, sessions.Report{Moment: sessions.MomentCompleted}); err == nil {
		t.Error("no error for a request that names no workspace")
	}
}
