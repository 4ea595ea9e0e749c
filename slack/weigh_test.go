package slack

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// A question to us becomes a turn as it was mapped.
func TestQuestionIsTakenUpAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Mention(general, ann, "why?")
	d := w.last("app_mention")
	if before, after := show(w.mapped(d)), show(w.weigh(d)); before != after {
		t.Errorf("it became\n%s\nof\n%s", after, before)
	}
}

// What is asked with a word is answered: to all in a thread where it was asked
// there, to one person alone where it was a command, or is nobody else's business.
func TestHelp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := w.Mention(general, ann, "help")
	w.perform(w.weigh(w.last("app_mention")))
	thread := w.Thread(general, root.TS)
	if len(thread) != 2 || !strings.Contains(thread[1].Shown, "/liaison") {
		t.Fatalf("the thread is %+v", thread)
	}
	if strings.Contains(thread[1].Shown, "review") {
		t.Error("a review is offered where GitHub is off")
	}
	w.Command(general, ann, "/liaison", "")
	w.perform(w.weigh(w.last("/liaison")))
	if heard := w.hears(general, ann); len(heard) != 1 || !strings.Contains(heard[0], "I am Liaison") {
		t.Errorf("heard %q", heard)
	}
}

// Who replies in a thread is told by help whether that is heard.
func TestHelpSaysHowToReply(t *testing.T) {
	t.Parallel()
	for required, want := range map[bool]string{true: "mention me again", false: "need not mention me"} {
		w := newWorld(t, func(o *Options) {
			o.Settings.MentionInThreads = required
			o.Review = func(context.Context, Review) error { return nil }
		})
		root := w.Mention(general, ann, "help")
		w.perform(w.weigh(w.last("app_mention")))
		said := w.Thread(general, root.TS)[1].Shown
		wantIn(t, "help", said, want)
		wantIn(t, "help", said, "review <address")
	}
}

// A channel that takes nothing from us is named with what is the matter.
func TestAskInAnArchivedChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.AddChannel(sim.SlackChannel{ID: "C0OLD", Team: team, Archived: true})
	w.Command("C0OLD", ann, "/liaison", "ask why?")
	_, text := told(t, w.weigh(w.last("/liaison")))
	wantIn(t, "advice", text, "(it is archived)")
}

// withSessions are sessions of Ann's, in the channel and elsewhere.
func withSessions(working ...string) func(*Options) {
	return func(o *Options) {
		all := []SessionLine{
			{Key: "slack:T0ACME:C0GENERAL:1.1", Title: "Fix *this* <!channel>", State: "idle"},
			{Key: "slack:T0ACME:C0GENERAL:2.2", Title: "And that", State: "idle"},
			{Key: "slack:T0ACME:C0SECRET:3.3", Title: "Hidden", State: "idle"},
		}
		for i := range all {
			if slices.Contains(working, all[i].Key) {
				all[i].Working, all[i].State = true, "running"
			}
		}
		o.Sessions = func(_ context.Context, who string, _ int) ([]SessionLine, error) {
			if who != "slack:user:T0ACME:U0ANN" {
				return nil, nil
			}
			return all, nil
		}
		o.Session = func(_ context.Context, key string) (SessionLine, bool, error) {
			for _, l := range all {
				if l.Key == key {
					return l, true, nil
				}
			}
			return SessionLine{}, false, nil
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSessions("slack:T0ACME:C0GENERAL:2.2"))
	w.AddUser(sim.SlackUser{ID: "U0BOB", Team: team})
	w.AddChannel(sim.SlackChannel{ID: general, Team: team, Members: []string{w.team.BotUser, ann, "U0BOB"}})
	w.Command(general, ann, "/liaison", "status")
	w.perform(w.weigh(w.last("/liaison")))
	w.Command(general, "U0BOB", "/liaison", "status")
	w.perform(w.weigh(w.last("/liaison")))
	w.Mention(general, ann, "status")
	w.perform(w.weigh(w.last("app_mention")))
	heard := w.hears(general, ann)
	if len(heard) != 2 {
		t.Fatalf("heard %q", heard)
	}
	for _, text := range heard {
		wantIn(t, "status", text, "running")
		wantIn(t, "status", text, "Hidden")
		wantIn(t, "status", text, "https://acme.slack.com/archives/C0GENERAL/p22")
		if strings.Contains(text, "<!channel>") {
			t.Errorf("it calls everybody: %s", text)
		}
	}
	if bob := w.hears(general, "U0BOB"); len(bob) != 1 || strings.Contains(bob[0], "Hidden") {
		t.Errorf("somebody else heard %q", bob)
	}
	for _, m := range w.ours(general) {
		if m.EphemeralTo == "" {
			t.Errorf("said to all: %q", m.Shown)
		}
	}
}

func TestStatusOfAThread(t *testing.T) {
	t.Parallel()
	for want, working := range map[string][]string{"running": {"slack:T0ACME:C0GENERAL:1.1"}, "Nothing is running": nil} {
		w := newWorld(t, withSessions(working...))
		r := request{address: address{Team: team, Channel: general, Thread: "1.1"}, Trigger: byMention, TS: "1.5", User: ann, Verb: verbStatus}
		in, err := w.channel.Weigh(t.Context(), sessions.Intent{Action: sessions.ActionIgnore, Reason: "status", Request: r.encode()})
		must(t, err)
		kinds, text := told(t, in)
		if !slices.Equal(kinds, []string{kindEphemeral}) {
			t.Errorf("told by %q", kinds)
		}
		wantIn(t, "status", text, want)
	}
}

// A store that cannot be read is no answer.
func TestStatusThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) {
		o.Sessions = func(context.Context, string, int) ([]SessionLine, error) { return nil, errors.New("the disk is away") }
	})
	w.Command(general, ann, "/liaison", "status")
	_, err := w.tryWeigh(w.last("/liaison"))
	var retry *sessions.RetryError
	if !errors.As(err, &retry) {
		t.Errorf("got %v", err)
	}
}

// "/liaison stop" is about what runs in the channel for who enters it.
func TestStopByCommand(t *testing.T) {
	t.Parallel()
	const one, two, hidden = "slack:T0ACME:C0GENERAL:1.1", "slack:T0ACME:C0GENERAL:2.2", "slack:T0ACME:C0SECRET:3.3"
	for name, test := range map[string]struct {
		working []string
		key     string
		said    string
	}{
		"nothing":            {nil, "", "Nothing of yours"},
		"one":                {[]string{two}, two, ""},
		"several":            {[]string{one, two}, "", "Several things"},
		"in another channel": {[]string{hidden}, "", "Nothing of yours"},
	} {
		w := newWorld(t, withSessions(test.working...))
		w.Command(general, ann, "/liaison", "stop")
		in := w.weigh(w.last("/liaison"))
		if (in.Action == sessions.ActionStop) != (test.key != "") || test.key != "" && in.Key != test.key {
			t.Errorf("%s: action %v of %q", name, in.Action, in.Key)
		}
		if _, text := told(t, in); !strings.Contains(text, test.said) {
			t.Errorf("%s: said %q", name, text)
		}
		if test.key != "" {
			in.Effects = w.channel.StopEffects(in.Request, sessions.StopVerdict{Ended: true})
			w.perform(in)
			if heard := w.hears(general, ann); !slices.Equal(heard, []string{stoppedText}) {
				t.Errorf("%s: heard %q", name, heard)
			}
		}
	}
}

// A question by command is posed where all can read it, and answered there.
func TestAskByCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Command(general, ann, "/liaison", "ask why <!channel> &lt;b&gt;?\nhunter2")
	d := w.last("/liaison")
	in := w.weigh(d)
	ours := w.ours(general)
	if len(ours) != 1 {
		t.Fatalf("%d messages", len(ours))
	}
	root := ours[0]
	if in.Action != sessions.ActionRun || in.Key != "slack:T0ACME:C0GENERAL:"+root.TS || in.MessageID != root.TS {
		t.Errorf("action %v of %q", in.Action, in.Key)
	}
	wantIn(t, "root", root.Text, "<@U0ANN> asks:\n> ")
	if !slices.Equal(root.Pings, []string{"<@U0ANN>"}) || strings.Contains(root.Text, "hunter2") {
		t.Errorf("it is %q and calls %q", root.Text, root.Pings)
	}
	if r := requestOf(t, in); r.ResponseURL != "" || r.TriggerID != "" || r.Thread != root.TS || r.TS != root.TS {
		t.Errorf("the turn carries %+v", r)
	}
	// Weighed once more, as after a crash, it is found again.
	if again := w.weigh(d); again.Key != in.Key || len(w.ours(general)) != 1 {
		t.Errorf("the second time: %q, %d messages", again.Key, len(w.ours(general)))
	}
	w.Command(general, ann, "/liaison", "ask why <!channel> &lt;b&gt;?\nhunter2")
	if again := w.weigh(w.last("/liaison")); again.Key == in.Key {
		t.Error("the same question asked again is not asked again")
	}
}

// An answer of Slack's that is lost does not repeat the question.
func TestAskByCommandWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fail(sim.SlackFault{Method: "chat.postMessage", DropConnection: true, AfterEffect: true})
	w.Command(general, ann, "/liaison", "ask why?")
	in := w.weigh(w.last("/liaison"))
	if ours := w.ours(general); len(ours) != 1 || in.Key != "slack:T0ACME:C0GENERAL:"+ours[0].TS {
		t.Errorf("%d messages, session %q", len(ours), in.Key)
	}
}

// Where nothing can be posed, who asked is told what to do.
func TestAskWhereTheAppIsNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.AddChannel(sim.SlackChannel{ID: "C0AWAY", Team: team, Members: []string{ann}})
	for _, text := range []string{"ask why?", "review https://github.com/octo/shop/pull/7"} {
		w.channel.settings.People = map[string]string{ann: "ann"}
		w.channel.review = func(context.Context, Review) error { return nil }
		w.Command("C0AWAY", ann, "/liaison", text)
		in := w.weigh(w.last("/liaison"))
		if in.Action != sessions.ActionIgnore {
			t.Errorf("action %v", in.Action)
		}
		w.perform(in)
	}
	heard := w.hears("C0AWAY", ann)
	if len(heard) != 2 {
		t.Fatalf("heard %q", heard)
	}
	for _, text := range heard {
		wantIn(t, "advice", text, "/invite @liaison`")
	}
}

func TestAskWhileSlackLimitsUs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fail(sim.SlackRateLimit("chat.postMessage", time.Minute))
	w.Command(general, ann, "/liaison", "ask why?")
	_, err := w.tryWeigh(w.last("/liaison"))
	var retry *sessions.RetryError
	if !errors.As(err, &retry) || !retry.Uncounted || retry.After < time.Minute {
		t.Errorf("got %v", err)
	}
}

// Where direct messages are one session, a command there is one of its questions.
func TestAskByCommandInOneConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, with(func(s *Settings) { s.DirectIsOne = true }))
	direct := w.DirectChannelOf(ann)
	w.Command(direct, ann, "/liaison", "ask why?")
	in := w.weigh(w.last("/liaison"))
	if in.Action != sessions.ActionRun || in.Key != "slack:T0ACME:"+direct+":" || len(w.ours(direct)) != 0 {
		t.Errorf("action %v of %q", in.Action, in.Key)
	}
}

// The home tab and an empty assistant thread are filled.
func TestHomeAndAssistantThread(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withSessions())
	w.perform(w.weigh(w.OpenHome(ann, "home")))
	if home, ok := w.Home(ann); !ok || !strings.Contains(home.Shown, "And that") {
		t.Errorf("the home tab is %+v", home)
	}
	w.OpenAssistantThread(ann, general)
	w.perform(w.weigh(w.last("assistant_thread_started")))
	if n := len(w.Calls("assistant.threads.setSuggestedPrompts")); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// What is known of an installation is forgotten before its sessions end.
func TestUninstalledIsForgotten(t *testing.T) {
	t.Parallel()
	var removed []string
	fail := errors.New("the disk is away")
	w := newWorld(t, func(o *Options) {
		o.Removed = func(_ context.Context, team, _ string, at time.Time) error {
			if at.IsZero() {
				t.Error("it says not when")
			}
			removed = append(removed, team)
			return fail
		}
	})
	w.Uninstall(team)
	d := w.last("app_uninstalled")
	var retry *sessions.RetryError
	if _, err := w.tryWeigh(d); !errors.As(err, &retry) {
		t.Errorf("got %v", err)
	}
	fail = nil
	if in := w.weigh(d); in.Action != sessions.ActionArchive || !slices.Equal(removed, []string{team, team}) {
		t.Errorf("action %v, removed %q", in.Action, removed)
	}
}
