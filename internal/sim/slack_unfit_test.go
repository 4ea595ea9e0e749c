package sim_test

import (
	"strings"
	"testing"
)

// What Slack would not show as it was meant is kept, whatever the app does about
// the answer; what has only a bad place or a bad time is not among it.
func TestSlackUnfit(t *testing.T) {
	t.Parallel()
	tooLong, section := strings.Repeat("x", 4001), `[{"type":"section","text":{"type":"mrkdwn","text":"`
	for name, c := range map[string]struct {
		method string
		args   []string
		want   string
	}{
		"refused blocks":     {"chat.postMessage", []string{"channel", slackChannel, "text", "x", "blocks", section + `"}}]`}, "invalid_blocks"},
		"a text that splits": {"chat.postMessage", []string{"channel", slackChannel, "text", tooLong}, "4001 bytes"},
		"everybody":          {"chat.postMessage", []string{"channel", slackChannel, "text", "<!here>"}, "calls <!here>"},
		"a group in a block": {"chat.postEphemeral", []string{"channel", slackChannel, "user", ann, "text", "x", "blocks", section + `\u003c!subteam^S1>"}}]`}, "calls <!subteam^S1>"},
		"a long title":       {"assistant.threads.setTitle", []string{"channel_id", slackChannel, "thread_ts", "1.000000", "title", tooLong}, "title"},
		"no place":           {"chat.postMessage", []string{"channel", "C0NOWHERE", "text", "x"}, ""},
		"a person":           {"chat.postMessage", []string{"channel", slackChannel, "text", "<@U0ANN>"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSlackWorld(t)
			w.call(c.method, w.team.BotToken, c.args...)
			got := w.Unfit()
			if (len(got) > 0) != (c.want != "") || !strings.Contains(strings.Join(got, " "), c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
