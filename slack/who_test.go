package slack

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/workspace"
)

// people are one of each kind, in a channel that another organisation shares.
const (
	shared   = "C0SHARED"
	gus      = "U0GUS"   // a guest
	solo     = "U0SOLO"  // a guest of one channel
	gone     = "U0GONE"  // deactivated
	otto     = "U0OTTO"  // of another organisation
	mate     = "U0MATE"  // of another workspace of our organisation
	robot    = "U0ROBOT" // another app
	robotApp = "A0ROBOT"
)

func (w *world) people() {
	w.AddWorkspace(sim.Workspace{ID: "T0OTHER", Name: "Other", NotInstalled: true})
	w.AddUser(sim.SlackUser{ID: gus, Team: team, Guest: true})
	w.AddUser(sim.SlackUser{ID: solo, Team: team, SingleChannelGuest: true})
	w.AddUser(sim.SlackUser{ID: gone, Team: team, Deleted: true})
	w.AddUser(sim.SlackUser{ID: otto, Team: "T0OTHER"})
	w.AddUser(sim.SlackUser{ID: robot, Team: team, Bot: true, BotID: "B0ROBOT", AppID: robotApp})
	w.AddChannel(sim.SlackChannel{
		ID: shared, Team: team, SharedWith: []string{"T0OTHER"},
		Members: []string{w.team.BotUser, ann, gus, solo, gone, otto, robot},
	})
}

// Who may ask is decided by what Slack says of their account, and by ids.
func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	settings := func(edit func(*Settings)) *Settings {
		s := defaults()
		edit(&s)
		return &s
	}
	for name, test := range map[string]struct {
		user     string
		settings *Settings
		want     denial
	}{
		"member":                       {ann, nil, admitted},
		"guest":                        {gus, nil, deniedGuest},
		"guest of one channel":         {solo, nil, deniedGuest},
		"guest who may":                {gus, settings(func(s *Settings) { s.AllowGuests = true }), admitted},
		"guest where externals may":    {gus, settings(func(s *Settings) { s.AllowExternal = true }), deniedGuest},
		"deactivated":                  {gone, settings(func(s *Settings) { s.AllowGuests, s.AllowExternal = true, true }), deniedNobody},
		"external":                     {otto, nil, deniedExternal},
		"external who may":             {otto, settings(func(s *Settings) { s.AllowExternal = true }), admitted},
		"external where guests may":    {otto, settings(func(s *Settings) { s.AllowGuests = true }), deniedExternal},
		"listed user":                  {ann, settings(func(s *Settings) { s.Users = []string{ann} }), admitted},
		"unlisted user":                {ann, settings(func(s *Settings) { s.Users = []string{"U0BOB"} }), deniedUser},
		"listed guest is still one":    {gus, settings(func(s *Settings) { s.Users = []string{gus} }), deniedGuest},
		"listed channel":               {ann, settings(func(s *Settings) { s.Channels = []string{shared} }), admitted},
		"unlisted channel":             {ann, settings(func(s *Settings) { s.Channels = []string{general} }), deniedChannel},
		"app that is on the list":      {robot, settings(func(s *Settings) { s.Bots = []string{robotApp} }), admitted},
		"listed app where users are":   {robot, settings(func(s *Settings) { s.Bots, s.Users = []string{robotApp}, []string{ann} }), admitted},
		"listed app, unlisted channel": {robot, settings(func(s *Settings) { s.Bots, s.Channels = []string{robotApp}, []string{general} }), deniedChannel},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *Options) {
				if test.settings != nil {
					o.Settings = *test.settings
				}
			})
			w.people()
			w.Mention(shared, test.user, "what is this?")
			in := w.weigh(w.last("app_mention"))
			if (in.Action == sessions.ActionRun) != (test.want == admitted) {
				t.Fatalf("action %v: %s", in.Action, in.Reason)
			}
			if test.want != admitted {
				wantIn(t, "reason", in.Reason, string(test.want))
			}
		})
	}
}

// An app that is not on the list does not get as far as being weighed, and one that
// is taken off it meanwhile is refused without a word.
func TestAppThatIsNotOnTheList(t *testing.T) {
	t.Parallel()
	w := newWorld(t, with(func(s *Settings) { s.Bots = []string{robotApp} }))
	w.people()
	w.Mention(shared, robot, "hi")
	in := w.mapped(w.last("app_mention"))
	w.channel.settings.Bots = nil
	out, err := w.channel.Weigh(t.Context(), in)
	must(t, err)
	if out.Action != sessions.ActionIgnore || len(out.Effects) != 0 {
		t.Errorf("got %+v", out)
	}
}

// A colleague of another workspace of the same organisation is no stranger.
func TestColleagueOfTheSameOrganisation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	home := w.AddWorkspace(sim.Workspace{ID: "T1GRID", Enterprise: "E1GRID"})
	w.AddWorkspace(sim.Workspace{ID: "T2GRID", Enterprise: "E1GRID", NotInstalled: true})
	w.AddUser(sim.SlackUser{ID: mate, Team: "T2GRID"})
	for enterprise, want := range map[string]bool{"E1GRID": false, "": true} {
		var err error
		w.channel, err = New(Options{
			Workspaces: source{workspace.Workspace{Team: home.ID, Enterprise: enterprise, Token: home.BotToken}},
			APIURL:     w.URL(), Transport: w.transport,
		})
		must(t, err)
		who, err := w.channel.standing(t.Context(), request{
			address: address{Team: "T1GRID", Channel: "C1"}, User: mate, UserTeam: "T2GRID",
		})
		must(t, err)
		if who.external != want {
			t.Errorf("organisation %q: external %v", enterprise, who.external)
		}
	}
}

// source has one installation, whatever is asked for.
type source struct{ of workspace.Workspace }

func (s source) Workspace(context.Context, string, string) (workspace.Workspace, error) {
	return s.of, nil
}

// The signals of people of other organisations, each alone, are enough
// (https://github.com/PostHog/posthog/pull/43263 and its kind).
func TestStrangersInASharedChannel(t *testing.T) {
	t.Parallel()
	info := func(fields string) string {
		return `{"ok":true,"user":{"id":"U0ANN","team_id":"T0ACME","name":"ann"` + fields + `}}`
	}
	for name, test := range map[string]struct {
		userTeam string
		answer   string // of users.info
		retried  bool
	}{
		"user_team of others":       {"T2", info(""), false},
		"is_stranger":               {team, info(`,"is_stranger":true`), false},
		"is_restricted":             {team, info(`,"is_restricted":true`), false},
		"is_ultra_restricted":       {team, info(`,"is_ultra_restricted":true`), false},
		"deleted":                   {team, info(`,"deleted":true`), false},
		"is_bot":                    {team, info(`,"is_bot":true`), false},
		"team_id of others":         {team, `{"ok":true,"user":{"id":"U0ANN","team_id":"T2"}}`, false},
		"no team_id":                {team, `{"ok":true,"user":{"id":"U0ANN"}}`, false},
		"user_not_found":            {team, `{"ok":false,"error":"user_not_found"}`, false},
		"user_not_visible":          {team, `{"ok":false,"error":"user_not_visible"}`, false},
		"about somebody else":       {team, `{"ok":true,"user":{"id":"U0BOB","team_id":"T0ACME"}}`, true},
		"about nobody":              {team, `{"ok":true}`, true},
		"an error that Slack added": {team, `{"ok":false,"error":"brand_new_error"}`, true},
		"no scope":                  {team, `{"ok":false,"error":"missing_scope","needed":"users:read"}`, true},
		"garbage":                   {team, `<html>`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Fail(sim.SlackFault{Method: "users.info", Status: http.StatusOK, Body: test.answer, Times: -1})
			r := request{
				address: address{Team: team, Channel: general, Thread: "1.1"}, Trigger: byMention, TS: "1.1",
				User: ann, UserTeam: test.userTeam, Shared: true, Verb: verbAsk, Text: "hi",
			}
			in, err := w.channel.Weigh(t.Context(), sessions.Intent{Action: sessions.ActionRun, Key: r.key(), Request: r.encode(), Reason: "a mention"})
			var retry *sessions.RetryError
			if test.retried {
				if !errors.As(err, &retry) {
					t.Fatalf("got %v, %+v", err, in)
				}
				return
			}
			must(t, err)
			if in.Action != sessions.ActionIgnore {
				t.Errorf("taken up: %s", in.Reason)
			}
		})
	}
}

// A token that Slack does not take pauses what came, and the operator is told once.
func TestTokenThatIsNotTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fail(sim.SlackFault{Method: "users.info", Error: "invalid_auth", Times: -1})
	w.Mention(general, ann, "hi")
	for range 2 {
		_, err := w.tryWeigh(w.last("app_mention"))
		var retry *sessions.RetryError
		if !errors.As(err, &retry) || !retry.Paused {
			t.Fatalf("got %v", err)
		}
	}
	if n := strings.Count(w.logs.String(), "does not take the app's token"); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// What Slack says of somebody is asked again after minutes, sooner where they were
// refused.
func TestHowLongSomebodyIsKnown(t *testing.T) {
	t.Parallel()
	now := time.Now()
	w := newWorld(t, func(o *Options) { o.Now = func() time.Time { return now } })
	w.people()
	ask := func(user string) { // counts one call more where Slack is asked
		w.Mention(shared, user, "hi")
		w.weigh(w.last("app_mention"))
	}
	for _, test := range []struct {
		user  string
		after time.Duration
		calls int
	}{
		{ann, 0, 1}, {ann, admittedFor, 1}, {ann, time.Second, 2},
		{gus, 0, 3}, {gus, time.Minute, 3}, {gus, time.Minute + time.Second, 4},
	} {
		now = now.Add(test.after)
		ask(test.user)
		if n := len(w.Calls("users.info")); n != test.calls {
			t.Errorf("%s after %s more: %d calls, want %d", test.user, test.after, n, test.calls)
		}
	}
}

// Who is refused is told so politely, once in a thread, and where nobody asked us
// nothing is said.
func TestRefusalIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.people()
	root := w.Mention(shared, otto, "hi")
	first := w.weigh(w.last("app_mention"))
	w.perform(first)
	w.MentionIn(shared, root.TS, otto, "hello?")
	second := w.weigh(w.last("app_mention"))
	if first.Fact == "" || first.Fact != second.Fact {
		t.Errorf("facts %q and %q", first.Fact, second.Fact)
	}
	w.MentionIn(shared, root.TS, gus, "and me?")
	if third := w.weigh(w.last("app_mention")); third.Fact == first.Fact {
		t.Error("somebody else is told nothing")
	}
	heard := w.hears(shared, otto)
	if len(heard) != 1 {
		t.Fatalf("heard %q", heard)
	}
	wantIn(t, "refusal", heard[0], "another organisation")
	if ours := w.ours(shared); len(ours) != 1 {
		t.Errorf("%d messages of ours", len(ours))
	}
}

func TestWhoDidNotSpeakToUsHearsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, with(func(s *Settings) {
		s.MentionInThreads = false
		s.Watch = []Watch{{Channel: shared}}
	}))
	w.people()
	root := w.Say(shared, gus, "prod is down") // watched
	for _, d := range []sim.SlackDelivery{w.last("message"), func() sim.SlackDelivery {
		w.Reply(shared, root.TS, gus, "still")
		return w.last("message")
	}(), func() sim.SlackDelivery {
		w.Reply(shared, root.TS, gus, "stop")
		return w.last("message")
	}()} {
		in := w.weigh(d)
		if in.Action != sessions.ActionIgnore || len(in.Effects) != 0 || !strings.Contains(in.Reason, "a guest") {
			t.Errorf("got %v with %d effects: %s", in.Action, len(in.Effects), in.Reason)
		}
	}
}

// In a direct message, which everybody who is refused may write, it is told there.
func TestRefusalInADirectMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, with(func(s *Settings) { s.Channels = []string{general} }))
	w.people()
	w.DirectMessage(gus, "hi")
	in := w.weigh(w.last("message"))
	w.perform(in)
	ours := w.ours(w.DirectChannelOf(gus))
	if len(ours) != 1 || !strings.Contains(ours[0].Shown, "guest") {
		t.Errorf("got %+v", ours)
	}
	w.DirectMessage(ann, "hi")
	if in := w.weigh(w.last("message")); in.Action != sessions.ActionRun {
		t.Errorf("the list of channels holds for direct messages: %s", in.Reason)
	}
}
