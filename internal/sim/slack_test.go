package sim_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/internal/sim"
)

func TestSlackConversation(t *testing.T) {
	t.Parallel()
	w, a := newSlackWorld(t), newApp(t)
	w.SetTarget(a.URL)
	w.clock.Add(time.Since(w.clock.Now())) // the library verifies by the real clock

	question := w.Mention(slackChannel, ann, "what is broken?")
	if err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	reqs := a.got()
	if len(reqs) != 2 {
		t.Fatalf("a mention made %d deliveries, want the message and its twin", len(reqs))
	}
	for i, want := range []string{"message", "app_mention"} {
		verifier, err := slack.NewSecretsVerifier(reqs[i].header, "shhh")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = verifier.Write(reqs[i].body)
		if err := verifier.Ensure(); err != nil {
			t.Errorf("delivery %d: %v", i, err)
		}
		if e := reqs[i].inner(t); e["type"] != want || e["ts"] != question.TS {
			t.Errorf("delivery %d: type %v ts %v, want %s %s", i, e["type"], e["ts"], want, question.TS)
		}
	}

	_, _, resp, err := w.api.PostMessageWithResponseContext(t.Context(), slackChannel, slack.MsgOptionText("*All* of it", false), slack.MsgOptionTS(question.TS),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "reply", EventPayload: map[string]any{"id": "1"}}))
	if err != nil {
		t.Fatal(err)
	}
	if resp.ThreadTimestamp != question.TS {
		t.Errorf("the reply is in thread %q, want %s", resp.ThreadTimestamp, question.TS)
	}
	thread, more, _, err := w.api.GetConversationRepliesContext(t.Context(), &slack.GetConversationRepliesParameters{
		ChannelID: slackChannel, Timestamp: question.TS, IncludeAllMetadata: true,
	})
	if err != nil || more || len(thread) != 2 {
		t.Fatalf("replies: %v, more %v, %d messages", err, more, len(thread))
	}
	if thread[1].Metadata.EventPayload["id"] != "1" || thread[0].ReplyCount != 1 {
		t.Errorf("got %+v", thread)
	}
	if err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if echo := a.got(); len(echo) != 3 || echo[2].inner(t)["bot_id"] != w.team.BotID {
		t.Errorf("the bot's own message did not come back as an event")
	}
	if calls := w.Calls("chat.postMessage"); len(calls) != 1 || calls[0].Args["thread_ts"] != question.TS || calls[0].Team != slackTeam {
		t.Errorf("recorded %+v", calls)
	}
	if seen := w.Thread(slackChannel, question.TS); len(seen) != 2 || seen[1].Shown != "*All* of it" || !seen[1].ByApp {
		t.Errorf("people see %+v", seen)
	}
}

func TestSlackPostsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	w.AddChannel(sim.SlackChannel{ID: "C0OLD", Team: slackTeam, Archived: true})
	w.AddChannel(sim.SlackChannel{ID: "C0OTHER", Team: slackTeam, Members: []string{ann}})
	w.AddChannel(sim.SlackChannel{ID: "C0SECRET", Team: slackTeam, Kind: sim.PrivateChannel, Members: []string{ann}})
	w.EditChannel("C0OTHER", func(c *sim.SlackChannel) { c.Members = []string{ann} })
	asked := w.Say(slackChannel, ann, "hello")
	reply := w.Reply(slackChannel, asked.TS, bob, "hi")
	for _, c := range []struct {
		code, method string
		form         []string
	}{
		{"no_text", "chat.postMessage", []string{"channel", slackChannel}},
		{"invalid_arguments", "chat.postMessage", []string{"text", "x"}},
		{"invalid_arguments", "chat.postMessage", []string{"channel", slackChannel, "text", "x", "thread", "1.2"}},
		{"channel_not_found", "chat.postMessage", []string{"channel", "C0NONE", "text", "x"}},
		{"channel_not_found", "chat.postMessage", []string{"channel", "C0SECRET", "text", "x"}},
		{"is_archived", "chat.postMessage", []string{"channel", "C0OLD", "text", "x"}},
		{"invalid_blocks_format", "chat.postMessage", []string{"channel", slackChannel, "blocks", "{"}},
		{"invalid_metadata_format", "chat.postMessage", []string{"channel", slackChannel, "text", "x", "metadata", "["}},
		{"invalid_metadata_schema", "chat.postMessage", []string{"channel", slackChannel, "text", "x", "metadata", `{"event_type":"a","event_payload":[]}`}},
		{"markdown_text_conflict", "chat.postMessage", []string{"channel", slackChannel, "text", "x", "markdown_text", "y"}},
		{"msg_too_long", "chat.postMessage", []string{"channel", slackChannel, "markdown_text", strings.Repeat("x", 12001)}},
		{"cannot_reply_to_message", "chat.postMessage", []string{"channel", slackChannel, "text", "x", "thread_ts", reply.TS}},
		{"cant_update_message", "chat.update", []string{"channel", slackChannel, "ts", asked.TS, "text", "x"}},
		{"message_not_found", "chat.update", []string{"channel", slackChannel, "ts", "1.000000", "text", "x"}},
		{"cant_delete_message", "chat.delete", []string{"channel", slackChannel, "ts", asked.TS}},
		{"user_not_found", "chat.postEphemeral", []string{"channel", slackChannel, "user", "U0NONE", "text", "x"}},
		{"user_not_found", "users.info", []string{"user", "U0NONE"}},
		{"message_not_found", "reactions.add", []string{"channel", slackChannel, "timestamp", "1.000000", "name", "eyes"}},
		{"invalid_name", "reactions.add", []string{"channel", slackChannel, "timestamp", asked.TS, "name", ":eyes:"}},
		{"no_reaction", "reactions.remove", []string{"channel", slackChannel, "timestamp", asked.TS, "name", "eyes"}},
		{"thread_not_found", "conversations.replies", []string{"channel", slackChannel, "ts", "1.000000"}},
		{"invalid_cursor", "conversations.history", []string{"channel", slackChannel, "cursor", "abc"}},
		{"unknown_method", "chat.shout", nil},
	} {
		w.wantError(c.code, c.method, c.form...)
	}
	narrow := w.AddWorkspace(sim.Workspace{ID: "T0NARROW", Scopes: []string{"users:read"}})
	if o := w.call("chat.postMessage", narrow.BotToken, "channel", slackChannel, "text", "x"); o["error"] != "missing_scope" || o["needed"] != "chat:write" || o["provided"] != "users:read" {
		t.Errorf("without the scope: %v", o)
	}
	if o := w.call("auth.test", ""); o["error"] != "not_authed" {
		t.Errorf("without a token: %v", o)
	}
	if o := w.call("auth.test", "xoxb-wrong"); o["error"] != "invalid_auth" {
		t.Errorf("with a wrong token: %v", o)
	}
}

func TestSlackNotInChannel(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t, func(o *sim.SlackOptions) { o.Scopes = []string{"chat:write", "channels:history", "reactions:write"} })
	w.AddChannel(sim.SlackChannel{ID: "C0OTHER", Team: slackTeam, Members: []string{ann}})
	m := w.Say("C0OTHER", ann, "hello")
	w.wantError("not_in_channel", "chat.postMessage", "channel", "C0OTHER", "text", "x")
	w.wantError("not_in_channel", "conversations.history", "channel", "C0OTHER")
	w.wantError("not_in_channel", "reactions.add", "channel", "C0OTHER", "timestamp", m.TS, "name", "eyes")
	if got := w.Deliveries(); len(got) != 0 {
		t.Errorf("told of %d messages in a channel without the bot", len(got))
	}
}

func TestSlackReplyToADeletedRootIsStray(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	for name, withReply := range map[string]bool{"gone": false, "tombstone": true} {
		root := w.Say(slackChannel, ann, "hello")
		if withReply {
			w.Reply(slackChannel, root.TS, bob, "hi")
		}
		w.Delete(slackChannel, root.TS)
		_, _, resp, err := w.api.PostMessageWithResponseContext(t.Context(), slackChannel, slack.MsgOptionText("late", false), slack.MsgOptionTS(root.TS))
		if err != nil {
			t.Fatal(err)
		}
		if resp.ThreadTimestamp != "" {
			t.Errorf("%s: the answer names thread %s", name, resp.ThreadTimestamp)
		}
	}
}

func TestSlackUpdateIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	ts := w.post(slackChannel, slack.MsgOptionText("first", false))
	w.wantError("msg_too_long", "chat.update", "channel", slackChannel, "ts", ts, "text", strings.Repeat("😀", 1001))
	if _, _, _, err := w.api.UpdateMessageContext(t.Context(), slackChannel, ts, slack.MsgOptionText(strings.Repeat("😀", 1000), false)); err != nil {
		t.Fatal(err)
	}
	if m := w.Messages(slackChannel)[0]; !m.Edited || len(m.Text) != 4000 {
		t.Errorf("got %d bytes, edited %v", len(m.Text), m.Edited)
	}
	long := w.post(slackChannel, slack.MsgOptionText(strings.Repeat("x", 40_001), false))
	if m := w.Thread(slackChannel, long)[0]; len(m.Text) != 40_000 {
		t.Errorf("a long text has %d characters", len(m.Text))
	}
}

func TestSlackFaults(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	post := func() error {
		_, _, err := w.api.PostMessageContext(t.Context(), slackChannel, slack.MsgOptionText("x", false))
		return err
	}
	w.Fail(sim.SlackRateLimit("chat.postMessage", 7*time.Second))
	var limited *slack.RateLimitedError
	if err := post(); !errors.As(err, &limited) || limited.RetryAfter != 7*time.Second {
		t.Errorf("429: %v", err)
	}
	w.Fail(sim.SlackFault{Method: "chat.*", Error: "is_archived", AfterEffect: true})
	if err := post(); err == nil || err.Error() != "is_archived" {
		t.Errorf("ok:false: %v", err)
	}
	w.Fail(sim.SlackFault{Method: "chat.postMessage", DropConnection: true, AfterEffect: true})
	if err := post(); err == nil {
		t.Error("a dropped connection is no error")
	}
	w.Fail(sim.SlackFault{Status: http.StatusBadGateway})
	var status slack.StatusCodeError
	if err := post(); !errors.As(err, &status) || status.Code != http.StatusBadGateway {
		t.Errorf("502: %v", err)
	}
	late := make(chan struct{})
	w.Fail(sim.SlackFault{DropConnection: true, LateEffect: late})
	if err := post(); err == nil {
		t.Error("a dropped connection is no error")
	}
	if n := len(w.Messages(slackChannel)); n != 2 {
		t.Errorf("%d messages before the late one, want 2", n)
	}
	close(late)
	if err := w.Wait(t.Context(), func() bool { return len(w.Messages(slackChannel)) == 3 }); err != nil {
		t.Error(err)
	}
	if calls := w.Calls("chat.postMessage"); len(calls) != 5 || calls[2].Status != 0 || calls[1].Error != "is_archived" {
		t.Errorf("recorded %+v", calls)
	}
}

func TestSlackRetriesWhatTheAppDoesNotTake(t *testing.T) {
	t.Parallel()
	w, a := newSlackWorld(t), newApp(t)
	a.answer = func(int) int { return http.StatusInternalServerError }
	w.SetTarget(a.URL)
	w.Say(slackChannel, ann, "hello")
	for range 4 { // one more than Slack tries
		if err := w.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.RetryFailed()
	}
	got := a.got()
	if len(got) != 4 {
		t.Fatalf("%d attempts, want 4", len(got))
	}
	for i, want := range []string{"", "1", "2", "3"} {
		if num := got[i].header.Get("X-Slack-Retry-Num"); num != want {
			t.Errorf("attempt %d has retry number %q", i, num)
		}
		if i > 0 && got[i].header.Get("X-Slack-Retry-Reason") != "http_error" {
			t.Errorf("attempt %d: %v", i, got[i].header)
		}
	}
}

func TestSlackHeldDeliveries(t *testing.T) {
	t.Parallel()
	w, a := newSlackWorld(t), newApp(t)
	w.SetTarget(a.URL)
	w.Hold()
	w.Mention(slackChannel, ann, "hello")
	held := w.TakeHeld()
	if len(held) != 2 {
		t.Fatalf("%d held", len(held))
	}
	for _, i := range []int{1, 0, 1} {
		if status, err := w.Deliver(t.Context(), held[i]); err != nil || status != http.StatusOK {
			t.Fatal(status, err)
		}
	}
	if got := a.got(); len(got) != 3 || got[0].inner(t)["type"] != "app_mention" || string(got[0].body) != string(got[2].body) {
		t.Errorf("got %d deliveries", len(got))
	}
}

func TestSlackReactionsAndStatus(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	m := w.Say(slackChannel, ann, "hello")
	item := slack.NewRefToMessage(slackChannel, m.TS)
	if err := w.api.AddReactionContext(t.Context(), "eyes", item); err != nil {
		t.Fatal(err)
	}
	if err := w.api.AddReactionContext(t.Context(), "eyes", item); err == nil || err.Error() != "already_reacted" {
		t.Errorf("the second reaction: %v", err)
	}
	if got := w.Messages(slackChannel)[0].Reactions["eyes"]; len(got) != 1 || got[0] != w.team.BotUser {
		t.Errorf("reactions %v", got)
	}
	status := slack.AssistantThreadsSetStatusParameters{ChannelID: slackChannel, ThreadTS: m.TS, Status: "is thinking…", LoadingMessages: []string{"a", "b"}}
	if err := w.api.SetAssistantThreadsStatusContext(t.Context(), status); err != nil {
		t.Fatal(err)
	}
	if st := w.Status(slackChannel, m.TS); st.Status != "is thinking…" || len(st.Loading) != 2 {
		t.Errorf("status %+v", st)
	}
	w.post(slackChannel, slack.MsgOptionText("done", false), slack.MsgOptionTS(m.TS))
	if st := w.Status(slackChannel, m.TS); st.Status != "" {
		t.Errorf("a post leaves the status %q", st.Status)
	}
	if err := w.api.SetAssistantThreadsStatusContext(t.Context(), status); err != nil {
		t.Fatal(err)
	}
	w.clock.Add(2 * time.Minute)
	if st := w.Status(slackChannel, m.TS); st.Status != "" {
		t.Errorf("two minutes leave the status %q", st.Status)
	}
}
