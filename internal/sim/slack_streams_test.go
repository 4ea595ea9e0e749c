package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"
)

func (w *slackWorld) startStream(thread string, more ...slack.MsgOption) string {
	w.t.Helper()
	options := append([]slack.MsgOption{
		slack.MsgOptionTS(thread), slack.MsgOptionRecipientTeamID(slackTeam), slack.MsgOptionRecipientUserID(ann),
	}, more...)
	_, ts, err := w.api.StartStreamContext(w.t.Context(), slackChannel, options...)
	if err != nil {
		w.t.Fatal(err)
	}
	return ts
}

func TestSlackStream(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	asked := w.Mention(slackChannel, ann, "hello")
	ts := w.startStream(asked.TS, slack.MsgOptionMarkdownText("one "))
	if _, _, err := w.api.AppendStreamContext(t.Context(), slackChannel, ts, slack.MsgOptionMarkdownText("two ")); err != nil {
		t.Fatal(err)
	}
	chunks := slack.MsgOptionChunks(slack.NewMarkdownTextChunk("three"), slack.NewTaskUpdateChunk("t1", "Reading"))
	if _, _, err := w.api.AppendStreamContext(t.Context(), slackChannel, ts, chunks); err != nil {
		t.Fatal(err)
	}
	if m := w.Thread(slackChannel, asked.TS)[1]; !m.Streaming || m.Text != "one two three" {
		t.Errorf("while it runs people see %+v", m)
	}
	_, _, err := w.api.StopStreamContext(t.Context(), slackChannel, ts,
		slack.MsgOptionBlocks(slack.NewSectionBlock(slack.NewTextBlockObject("mrkdwn", "the end", false, false), nil, nil)),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "reply", EventPayload: map[string]any{"id": "1"}}))
	if err != nil {
		t.Fatal(err)
	}
	m := w.Thread(slackChannel, asked.TS)[1]
	if m.Streaming || m.Shown != "one two three\nReading\nthe end" || !strings.Contains(string(m.Metadata), `"id":"1"`) {
		t.Errorf("in the end people see %+v, metadata %s", m, m.Metadata)
	}
	w.wantError("message_not_in_streaming_state", "chat.appendStream", "channel", slackChannel, "ts", ts, "markdown_text", "late")
}

func TestSlackStreamsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	asked := w.Mention(slackChannel, ann, "hello")
	plain := w.post(slackChannel, slack.MsgOptionText("x", false))
	direct := w.DirectMessage(ann, "hello")
	ts := w.startStream(asked.TS)
	to := []string{"recipient_user_id", ann, "recipient_team_id", slackTeam}
	for _, c := range []struct {
		code, method string
		form         []string
	}{
		{"missing_recipient_team_id", "chat.startStream", []string{"channel", slackChannel, "thread_ts", asked.TS}},
		{"missing_recipient_user_id", "chat.startStream", []string{"channel", slackChannel, "recipient_team_id", slackTeam}},
		{"invalid_thread_ts", "chat.startStream", []string{"channel", direct.Channel}},
		{"msg_too_long", "chat.startStream", append(to, "channel", slackChannel, "markdown_text", strings.Repeat("é", 12001))},
		{"invalid_arguments", "chat.startStream", append(to, "channel", slackChannel, "metadata", "{}")},
		{"msg_too_long", "chat.appendStream", []string{"channel", slackChannel, "ts", ts, "markdown_text", strings.Repeat("é", 12001)}},
		{"invalid_arguments", "chat.appendStream", []string{"channel", slackChannel, "ts", ts, "markdown_text", "x", "chunks", "[]"}},
		{"invalid_chunks", "chat.appendStream", []string{"channel", slackChannel, "ts", ts, "chunks", `[{"type":"song"}]`}},
		{"no_text", "chat.appendStream", []string{"channel", slackChannel, "ts", ts}},
		{"message_not_in_streaming_state", "chat.appendStream", []string{"channel", slackChannel, "ts", plain, "markdown_text", "x"}},
		{"message_not_owned_by_app", "chat.appendStream", []string{"channel", slackChannel, "ts", asked.TS, "markdown_text", "x"}},
		{"streaming_state_conflict", "chat.update", []string{"channel", slackChannel, "ts", ts, "text", "x"}},
	} {
		w.wantError(c.code, c.method, c.form...)
	}
	w.clock.Add(5 * time.Minute)
	w.wantError("message_not_in_streaming_state", "chat.stopStream", "channel", slackChannel, "ts", ts)
}

func TestSlackStopButtonEndsStreams(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	asked := w.Mention(slackChannel, ann, "hello")
	ts := w.startStream(asked.TS)
	d := w.StopSession(slackChannel, asked.TS, ann)
	if d.Type != "agent_session_stopped" || !strings.Contains(string(d.Payload), ts) {
		t.Errorf("the app is told %s", d.Payload)
	}
	w.wantError("message_not_in_streaming_state", "chat.appendStream", "channel", slackChannel, "ts", ts, "markdown_text", "x")
}
