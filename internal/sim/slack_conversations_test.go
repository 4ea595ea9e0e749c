package sim_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/internal/sim"
)

func TestSlackHistoryIsPaged(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t, func(o *sim.SlackOptions) { o.HistoryLimit = 15 })
	root := w.Say(slackChannel, ann, "root")
	var sent []string
	for i := range 40 {
		sent = append(sent, w.Reply(slackChannel, root.TS, bob, fmt.Sprint("reply ", i)).TS)
	}
	var got []string
	p := &slack.GetConversationRepliesParameters{ChannelID: slackChannel, Timestamp: root.TS, Limit: 1000}
	pages := 0
	for more := true; more; pages++ {
		var page []slack.Message
		var err error
		if page, more, p.Cursor, err = w.api.GetConversationRepliesContext(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if len(page) > 15 {
			t.Errorf("a page of %d", len(page))
		}
		for _, m := range page {
			got = append(got, m.Timestamp)
		}
	}
	if want := strings.Join(append([]string{root.TS}, sent...), " "); strings.Join(got, " ") != want || pages != 3 {
		t.Errorf("%d pages: %v", pages, got)
	}
	some, _, _, err := w.api.GetConversationRepliesContext(t.Context(), &slack.GetConversationRepliesParameters{
		ChannelID: slackChannel, Timestamp: root.TS, Oldest: sent[3], Latest: sent[6],
	})
	if err != nil || len(some) != 3 || some[1].Timestamp != sent[4] {
		t.Errorf("bounds without their ends give %d messages, %v", len(some), err)
	}
	history, err := w.api.GetConversationHistoryContext(t.Context(), &slack.GetConversationHistoryParameters{ChannelID: slackChannel})
	if err != nil || len(history.Messages) != 1 || history.Messages[0].ReplyCount != 40 {
		t.Errorf("the history is %+v %v", history, err)
	}
}

func TestSlackScopesOfEachKind(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t, func(o *sim.SlackOptions) { o.Scopes = []string{"channels:history", "im:read", "im:write"} })
	m := w.DirectMessage(ann, "hello")
	if o := w.wantError("missing_scope", "conversations.history", "channel", m.Channel); o["needed"] != "im:history" {
		t.Errorf("needed %v", o["needed"])
	}
	if o := w.wantError("missing_scope", "conversations.info", "channel", slackChannel); o["needed"] != "channels:read" {
		t.Errorf("needed %v", o["needed"])
	}
	c, _, _, err := w.api.OpenConversationContext(t.Context(), &slack.OpenConversationParameters{Users: []string{ann}})
	if err != nil || c.ID != m.Channel {
		t.Errorf("opening gives %+v %v", c, err)
	}
	info, err := w.api.GetConversationInfoContext(t.Context(), &slack.GetConversationInfoInput{ChannelID: m.Channel})
	if err != nil || !info.IsIM || info.User != ann {
		t.Errorf("info %+v %v", info, err)
	}
}

func TestSlackConversationsOfTheBot(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	w.AddChannel(sim.SlackChannel{ID: "C0SECRET", Team: slackTeam, Kind: sim.PrivateChannel, Members: []string{ann}})
	w.AddChannel(sim.SlackChannel{ID: "C0CLUB", Team: slackTeam, Kind: sim.PrivateChannel})
	all, _, err := w.api.GetConversationsForUserContext(t.Context(), &slack.GetConversationsForUserParameters{Types: []string{"public_channel", "private_channel"}})
	if err != nil || len(all) != 2 {
		t.Errorf("got %+v %v", all, err)
	}
	members, _, err := w.api.GetUsersInConversationContext(t.Context(), &slack.GetUsersInConversationParameters{ChannelID: slackChannel})
	if err != nil || len(members) != 3 {
		t.Errorf("members %v %v", members, err)
	}
	w.AddChannel(sim.SlackChannel{ID: "C0NEW", Team: slackTeam, Members: []string{ann}})
	if _, _, _, err := w.api.JoinConversationContext(t.Context(), "C0NEW"); err != nil {
		t.Fatal(err)
	}
	w.post("C0NEW", slack.MsgOptionText("here", false))
	many, _, _, err := w.api.OpenConversationContext(t.Context(), &slack.OpenConversationParameters{Users: []string{ann, bob}})
	if err != nil {
		t.Fatal(err)
	}
	w.post(many.ID, slack.MsgOptionText("hello both", false))
}

// events are the inner events that the app was told of, each as "type/subtype".
func (w *slackWorld) events() (kinds []string, inner []map[string]any) {
	w.t.Helper()
	for _, d := range w.Deliveries() {
		var o struct {
			Event map[string]any `json:"event"`
		}
		if err := json.Unmarshal(d.Payload, &o); err != nil {
			w.t.Fatal(err)
		}
		kind, _ := o.Event["type"].(string)
		if sub, is := o.Event["subtype"].(string); is {
			kind += "/" + sub
		}
		kinds, inner = append(kinds, kind), append(inner, o.Event)
	}
	return kinds, inner
}

func TestSlackTellsOfWhatPeopleDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(w *slackWorld)
		want string
	}{
		"mention": {func(w *slackWorld) { w.Mention(slackChannel, ann, "hi") }, "message app_mention"},
		"mention first": {func(w *slackWorld) {
			w.Post(sim.Saying{Channel: slackChannel, User: ann, Text: "<@" + w.team.BotUser + "> hi", MentionFirst: true})
		}, "app_mention message"},
		"direct": {func(w *slackWorld) { w.DirectMessage(ann, "<@"+w.team.BotUser+"> hi") }, "message"},
		"edit": {func(w *slackWorld) {
			m := w.Say(slackChannel, ann, "hi")
			w.Edit(slackChannel, m.TS, "<@"+w.team.BotUser+"> hi")
		}, "message app_mention message/message_changed"},
		"unfurl": {func(w *slackWorld) {
			m := w.Say(slackChannel, ann, "https://example.com")
			w.Unfurl(slackChannel, m.TS, "https://example.com")
		}, "message message/message_changed"},
		"delete": {func(w *slackWorld) {
			m := w.Say(slackChannel, ann, "hi")
			w.Delete(slackChannel, m.TS)
		}, "message message/message_deleted"},
		"delete of a root": {func(w *slackWorld) {
			m := w.Say(slackChannel, ann, "hi")
			w.Reply(slackChannel, m.TS, bob, "ho")
			w.Delete(slackChannel, m.TS)
		}, "message message message/message_changed"},
		"broadcast": {func(w *slackWorld) {
			m := w.Say(slackChannel, ann, "hi")
			w.Broadcast(slackChannel, m.TS, bob, "all")
		}, "message message/thread_broadcast message/message_changed"},
		"reaction": {func(w *slackWorld) {
			m := w.Say(slackChannel, ann, "hi")
			w.React(slackChannel, m.TS, bob, "eyes")
		}, "message reaction_added"},
		"another bot": {func(w *slackWorld) {
			w.AddUser(sim.SlackUser{ID: "U0CI", Team: slackTeam, Bot: true, AppID: "A0CI"})
			w.Say(slackChannel, "U0CI", "built")
		}, "message/bot_message"},
		"invitation": {func(w *slackWorld) { w.InviteBot(slackChannel, ann) }, "member_joined_channel"},
		"home":       {func(w *slackWorld) { w.OpenHome(ann, "messages") }, "app_home_opened"},
		"assistant":  {func(w *slackWorld) { w.OpenAssistantThread(ann, "") }, "assistant_thread_started"},
		"anything":   {func(w *slackWorld) { w.SendEvent(slackTeam, json.RawMessage(`{"type":"from_2027"}`)) }, "from_2027"},
	} {
		w := newSlackWorld(t)
		c.act(w)
		if kinds, _ := w.events(); strings.Join(kinds, " ") != c.want {
			t.Errorf("%s: the app is told %v, want %s", name, kinds, c.want)
		}
	}
}

func TestSlackUnfurlChangesNoText(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	m := w.Say(slackChannel, ann, "https://example.com")
	w.Unfurl(slackChannel, m.TS, "https://example.com")
	_, inner := w.events()
	now, before := inner[1]["message"].(map[string]any), inner[1]["previous_message"].(map[string]any)
	if now["text"] != before["text"] || now["attachments"] == nil || before["attachments"] != nil || inner[1]["hidden"] != true {
		t.Errorf("the app is told %v", inner[1])
	}
}

func TestSlackTranscript(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	root := w.Say(slackChannel, ann, "broken\nagain")
	w.Say(slackChannel, bob, "lunch?")
	w.post(slackChannel, slack.MsgOptionText("On it", false), slack.MsgOptionTS(root.TS))
	if _, err := w.api.PostEphemeralContext(t.Context(), slackChannel, bob, slack.MsgOptionText("not you", false)); err != nil {
		t.Fatal(err)
	}
	want := "ann: broken\nann: again\n    liaison: On it\nbob: lunch?\nliaison (only to bob): not you\n"
	if got := w.Transcript(slackChannel); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSlackPostBurst(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t, func(o *sim.SlackOptions) { o.PostBurst = 2 })
	w.post(slackChannel, slack.MsgOptionText("1", false))
	w.post(slackChannel, slack.MsgOptionText("2", false))
	_, _, err := w.api.PostMessageContext(t.Context(), slackChannel, slack.MsgOptionText("3", false))
	var limited *slack.RateLimitedError
	if !errors.As(err, &limited) || limited.RetryAfter != time.Second {
		t.Errorf("the third at once: %v", err)
	}
	w.clock.Add(time.Second)
	w.post(slackChannel, slack.MsgOptionText("3", false))
}

func TestSlackEphemeralMessageIsInNoHistory(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	ts, err := w.api.PostEphemeralContext(t.Context(), slackChannel, ann, button("stop", "S1"), slack.MsgOptionText("for you", false))
	if err != nil {
		t.Fatal(err)
	}
	history, err := w.api.GetConversationHistoryContext(t.Context(), &slack.GetConversationHistoryParameters{ChannelID: slackChannel})
	if err != nil || len(history.Messages) != 0 {
		t.Errorf("history %+v %v", history, err)
	}
	w.wantError("message_not_found", "chat.update", "channel", slackChannel, "ts", ts, "text", "x")
	if kinds, _ := w.events(); len(kinds) != 0 {
		t.Errorf("the app is told %v", kinds)
	}
	if c := w.Click(slackChannel, ts, ann, "stop"); !strings.Contains(string(c.Delivery.Payload), `"is_ephemeral":true`) {
		t.Errorf("payload %s", c.Delivery.Payload)
	}
}
