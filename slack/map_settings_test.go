package slack

import (
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/sessions"
)

// Where direct messages are one conversation, all that stands in no thread is one
// session: messages, commands and clicks.
func TestDirectMessagesAsOneSession(t *testing.T) {
	t.Parallel()
	s := settings()
	s.DirectIsOne = true
	const one = "slack:T0ACME:D0ADA:"
	for name, want := range map[string]string{
		"event.direct":        one,
		"event.direct.thread": one + "1767323000.000100",
		"event.me-message":    one,
		"event.mention":       "slack:T0ACME:C0DEV:1767323000.000100",
		"command.ask.direct":  one,
	} {
		in := mapped(t, name, s)
		if in.Action != sessions.ActionRun || in.Key != want {
			t.Errorf("%s: got %s", name, show(in))
		}
		if in.Urgent {
			t.Errorf("%s: it would overtake what was said before in a session that exists", name)
		}
	}
	if a, b := mapped(t, "command.ask", s), mapped(t, "command.ask.direct", settings()); !a.Urgent || !b.Urgent || a.Key == b.Key {
		t.Errorf("commands that begin a session each:\n%s%s", show(a), show(b))
	}
}

// Who we are is told by the delivery; what the channel knows counts where it does not
// say it, and only in the workspace of which it is known.
func TestWhoWeAre(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		example string
		self    Self
		want    sessions.Action
	}{
		"told by the delivery":           {"event.mention.twin", Self{}, sessions.ActionRun},
		"known here":                     {"event.mention.twin-bot-unknown", self, sessions.ActionRun},
		"known of another workspace":     {"event.mention.twin-bot-unknown", Self{Team: "T0OTHER", BotUser: "U0BOT"}, sessions.ActionIgnore},
		"not known":                      {"event.mention.twin-bot-unknown", Self{}, sessions.ActionIgnore},
		"a mention, not known":           {"event.mention.no-authorization", Self{}, sessions.ActionRun},
		"our own user, told":             {"event.own.user", Self{}, sessions.ActionIgnore},
		"our own app, told":              {"event.own.app-id", Self{}, sessions.ActionIgnore},
		"our own bot, which is unlisted": {"event.own.bot-id", Self{}, sessions.ActionIgnore},
	} {
		in, err := Map(example(t, tt.example), tt.self, settings())
		if err != nil || in.Action != tt.want {
			t.Errorf("%s: got %v and %s", name, err, show(in))
		}
	}
}

// An app on the list of bots is answered, and never we ourselves.
func TestOwnAppCannotBeListed(t *testing.T) {
	t.Parallel()
	s := settings()
	s.Bots = append(s.Bots, "A0LIAISON", "A0OTHER", "")
	for name, want := range map[string]sessions.Action{
		"event.own.app-id": sessions.ActionIgnore, "event.own.profile": sessions.ActionIgnore, "event.own.direct": sessions.ActionIgnore,
		"event.bot.other": sessions.ActionIgnore, "event.bot.not-listed": sessions.ActionRun,
	} {
		if in := mapped(t, name, s); in.Action != want {
			t.Errorf("%s: got %s", name, show(in))
		}
	}
}

// An event is late when it is more than an hour old, and those whom the operator's
// lists leave out are told nothing.
func TestLateness(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]sessions.Action{
		-time.Hour: sessions.ActionRun, 0: sessions.ActionRun, time.Hour: sessions.ActionRun,
		time.Hour + time.Second: sessions.ActionIgnore, 24 * time.Hour: sessions.ActionIgnore,
	} {
		d := example(t, "event.mention")
		d.ReceivedAt = time.Unix(1767323000, 0).Add(age)
		in, err := Map(d, self, settings())
		if err != nil || in.Action != want || (len(in.Effects) == 1) != (want == sessions.ActionIgnore) {
			t.Errorf("%s: got %v and %s", age, err, show(in))
		}
	}
	for name, change := range map[string]func(*Settings){
		"another channel": func(s *Settings) { s.Channels = []string{"C0OTHER"} },
		"another person":  func(s *Settings) { s.Users = []string{"U0OTHER"} },
	} {
		s := settings()
		change(&s)
		if in := mapped(t, "event.mention.late", s); in.Action != sessions.ActionIgnore || len(in.Effects) > 0 || in.Fact != "" {
			t.Errorf("%s: got %s", name, show(in))
		}
	}
	d := example(t, "event.authorized-elsewhere")
	d.ReceivedAt = time.Unix(1767323000, 0).Add(2 * time.Hour)
	for allowed, effects := range map[bool]int{false: 0, true: 1} {
		s := settings()
		s.AllowExternal = allowed
		if in, err := Map(d, self, s); err != nil || len(in.Effects) != effects {
			t.Errorf("a stranger, allowed %v: got %v and %s", allowed, err, show(in))
		}
	}
}

// A stranger of a shared channel is named as such to who decides what they may.
func TestStrangerIsToldOn(t *testing.T) {
	t.Parallel()
	in := mapped(t, "event.authorized-elsewhere", settings())
	r, err := parseRequest(in.Request)
	if err != nil || !in.Weigh || r.Team != "T0ACME" || r.UserTeam != "T0OTHER" || !r.Shared || r.User != "U0EVE" {
		t.Errorf("got %s, %v", show(in), err)
	}
}

// No click is silent, and none is believed that does not say which turn of which
// message it is about.
func TestClicksOnNothing(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]int{
		"interaction.stop.no-turn": 1, "interaction.stop.another-apps-message": 1, "interaction.feedback.odd": 1, "interaction.unknown-button": 1,
		"interaction.foreign-button": 0, "interaction.nobody": 0, "interaction.nobody.empty": 0, "interaction.no-actions": 0, "interaction.open": 0,
	} {
		if in := mapped(t, name, settings()); in.Action != sessions.ActionIgnore || in.Weigh || len(in.Effects) != told {
			t.Errorf("%s: got %s", name, show(in))
		}
	}
}

// A reason is read by people, in logs and pages, where an answer's address and what
// opens a view do not belong.
func TestNoCredentialInAReason(t *testing.T) {
	t.Parallel()
	for _, name := range examples(t) {
		in := mapped(t, name, settings())
		for _, secret := range []string{"hooks.slack.com", "1.2.x", "synthetic"} {
			if strings.Contains(in.Reason+in.Key+in.Fact+in.Title+in.Message+in.Principal, secret) {
				t.Errorf("%s: got %s", name, show(in))
			}
		}
	}
}

// What is said is never empty, since an empty text would take a message back, and a
// title is one line of it.
func TestTitles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"why?":                      "why?",
		"first\nsecond":             "first",
		"  many   spaces\t here ":   "many spaces here",
		"ask <@U1> about it":        "ask @U1 about it",
		strings.Repeat("é", 80):     strings.Repeat("é", 80),
		strings.Repeat("é", 81):     strings.Repeat("é", 79) + "…",
		strings.Repeat("word ", 30): strings.TrimSpace(strings.Repeat("word ", 15)) + "…",
		"":                          "",
	} {
		if got := title(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
