package config_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/config"
)

// talk reads a file in which Slack is on; text is the rest of its part "slack:".
func talk(t *testing.T, text string) (config.SlackTalk, error) {
	t.Helper()
	c, err := config.Load(nil, writeFile(t, "slack:\n  signingSecret: s\n"+text))
	if err != nil {
		return config.SlackTalk{}, err
	}
	return c.Slack.Talk, nil
}

func TestHowLiaisonTalksInSlack(t *testing.T) {
	t.Parallel()
	usual := config.SlackTalk{MentionInThreads: true, Reply: "message", Reactions: true, People: map[string]string{}}
	for name, c := range map[string]struct {
		text   string
		change func(*config.SlackTalk)
	}{
		"by itself": {"", func(*config.SlackTalk) {}},
		"people": {"people: [{slack: U1, github: octocat}, 'W2=@mona']", func(t *config.SlackTalk) {
			t.People = map[string]string{"U1": "octocat", "W2": "mona"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := usual
			c.change(&want)
			got, err := talk(t, c.text)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, want)
			}
		})
	}
}

func TestEverythingThatCanBeSaidAboutSlack(t *testing.T) {
	t.Parallel()
	got, err := talk(t, `
  threads: {mentionRequired: false}
  dm: {session: conversation}
  reply: stream
  watch:
    - {channel: C1, posts: all, debounce: 30s}
    - {channel: C2, debounce: 1m}
    - C3
  allowGuests: true
  allowExternal: true
  channels: [C1, G2]
  users: [U1, W2]
  allowedApps: [A1]
  reactions: false
`)
	want := config.SlackTalk{
		DirectIsOne: true, Reply: "stream", AllowGuests: true, AllowExternal: true,
		Watch: []config.SlackWatch{
			{Channel: "C1", All: true, Debounce: 30 * time.Second}, {Channel: "C2", Debounce: time.Minute}, {Channel: "C3"},
		},
		Channels: []string{"C1", "G2"}, Users: []string{"U1", "W2"}, Apps: []string{"A1"}, People: map[string]string{},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

// What is not understood lets nobody in: the process does not start.
func TestWhatCannotBeSaidAboutSlack(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"people: ['octocat=U1']":                      "is not the id of somebody in Slack",
		"people: [{slack: U1}]":                       "is no login",
		"people: [{slack: U1, github: a__b}]":         "is no login",
		"people: ['U1=a', 'U1=b']":                    "there twice",
		"people: [{slack: U1, githb: a}]":             `unknown key "githb"`,
		"people: [{slack: U1, slack: U2, github: a}]": "there twice",
		"people: [[U1, a]]":                           "list of values",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			refused(t, text, says)
		})
	}
	for text, says := range map[string]string{
		"threads: {mentionRequired: maybe}": "is not one of true, false",
		"threads: {mention: true}":          "unknown key",
		"dm: {session: one}":                "is not one of thread, conversation",
		"reply: shout":                      "is not one of message, stream, edit",
		"watch: ['#general']":               "is not channel:posts:debounce",
		"watch: ['C1:some']":                "is not one of top-level, all",
		"watch: ['C1::soon']":               "is not a duration",
		"watch: ['C1::11m']":                "is not a duration",
		"watch: ['C1:all:1s:x']":            "is not channel:posts:debounce",
		"watch: [{channel: 'C1:all'}]":      "without commas",
		"channels: ['#general']":            "is not the id of a channel",
		"users: ['@mona']":                  "is not the id of a person",
		"allowedApps: [B1]":                 "is not the id of an app",
		"allowGuests: sometimes":            "is not one of true, false",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			refused(t, "  "+text, says)
		})
	}
}

func refused(t *testing.T, text, says string) {
	t.Helper()
	if got, err := talk(t, text); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("got %+v, %v, want an error that says %q", got, err, says)
	}
}
