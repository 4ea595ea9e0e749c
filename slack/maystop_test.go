package slack

import (
	"slices"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// Beside who asked, which the engine knows, admins and owners of the workspace may stop.
func TestMayStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, with(func(s *Settings) { s.AllowExternal, s.AllowGuests = true, true }))
	w.people()
	w.AddUser(sim.SlackUser{ID: "U0ADMIN", Team: team, Admin: true})
	w.AddUser(sim.SlackUser{ID: "U0OWNER", Team: team, Owner: true})
	w.AddUser(sim.SlackUser{ID: "U0EXADMIN", Team: team, Admin: true, Deleted: true})
	w.AddUser(sim.SlackUser{ID: "U0THEIRS", Team: "T0OTHER", Admin: true})
	w.AddChannel(sim.SlackChannel{ID: shared, Team: team, SharedWith: []string{"T0OTHER"}, Members: []string{w.team.BotUser, "U0THEIRS", otto}})
	for user, want := range map[string]bool{
		"U0ADMIN": true, "U0OWNER": true, ann: false, gus: false, "U0EXADMIN": false, "U0THEIRS": false, "U0UNKNOWN": false, "": false,
	} {
		r := request{address: address{Team: team, Channel: shared, Thread: "1.1"}, Trigger: byMention, TS: "1.2", User: user, Verb: verbStop}
		q := sessions.StopQuestion{Key: r.key(), Principal: r.principal(), Request: r.encode()}
		may, err := w.channel.MayStop(t.Context(), q)
		must(t, err)
		if may != want {
			t.Errorf("%s may stop: %v", user, may)
		}
		for what, forged := range map[string]sessions.StopQuestion{
			"session": {Key: "slack:T0ACME:C0GENERAL:9.9", Principal: q.Principal, Request: q.Request},
			"person":  {Key: q.Key, Principal: "slack:user:T0ACME:U0BOB", Request: q.Request},
		} {
			if may, err := w.channel.MayStop(t.Context(), forged); may || err != nil {
				t.Errorf("%s of another %s: %v, %v", user, what, may, err)
			}
		}
	}
}

func TestMayStopThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fail(sim.SlackFault{Method: "users.info", Error: "internal_error", Times: -1})
	r := request{address: w.thread(), Trigger: byMention, TS: "1.2", User: ann, Verb: verbStop}
	if may, err := w.channel.MayStop(t.Context(), sessions.StopQuestion{Key: r.key(), Principal: r.principal(), Request: r.encode()}); may || err == nil {
		t.Errorf("got %v, %v", may, err)
	}
}

// Whoever asks for a stop learns what came of it, except where they did not ask us.
func TestWhatIsSaidOfAStop(t *testing.T) {
	t.Parallel()
	ended, refused, nothing := sessions.StopVerdict{Ended: true}, sessions.StopVerdict{Refused: true}, sessions.StopVerdict{}
	for name, test := range map[string]struct {
		by      trigger
		quiet   bool // without reactions
		verdict sessions.StopVerdict
		kinds   []string
		said    string
	}{
		"stopped":                        {byMention, false, ended, []string{kindReaction}, ""},
		"stopped without reactions":      {byMention, true, ended, []string{kindEphemeral}, stoppedText},
		"stopped by a click":             {byClick, false, ended, []string{kindEphemeral}, stoppedText},
		"refused":                        {byMention, false, refused, []string{kindEphemeral}, "admin"},
		"refused to a reply":             {byReply, false, refused, []string{kindEphemeral}, "admin"},
		"partly":                         {byMention, false, sessions.StopVerdict{Ended: true, Refused: true}, []string{kindEphemeral}, "I stopped what you asked for"},
		"nothing":                        {byMention, false, nothing, []string{kindEphemeral}, nothingToStop},
		"nothing, said to nobody":        {byReply, false, nothing, nil, ""},
		"nothing, by Slack's own button": {byStopEvent, false, nothing, []string{kindEphemeral}, nothingToStop},
		"nothing, by a click":            {byClick, false, nothing, []string{kindEphemeral}, endedBefore},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, with(func(s *Settings) { s.Reactions = !test.quiet }))
			r := request{address: w.thread(), Trigger: test.by, TS: w.root.TS, User: ann, Verb: verbStop}
			if test.by == byClick || test.by == byStopEvent {
				r.TS = ""
			}
			in := sessions.Intent{Reason: "stop", Effects: w.channel.StopEffects(r.encode(), test.verdict)}
			kinds, text := told(t, in)
			if !slices.Equal(kinds, test.kinds) {
				t.Errorf("kinds %q", kinds)
			}
			wantIn(t, "answer", text, test.said)
			w.perform(in)
		})
	}
}

// A stop of somebody who may not speak here goes no further.
func TestStopOfAStranger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.people()
	root := w.Say(shared, ann, "hi")
	w.MentionIn(shared, root.TS, otto, "stop")
	if in := w.weigh(w.last("app_mention")); in.Action != sessions.ActionIgnore {
		t.Errorf("action %v", in.Action)
	}
	w.MentionIn(shared, root.TS, ann, "stop")
	if in := w.weigh(w.last("app_mention")); in.Action != sessions.ActionStop || in.Key != "slack:T0ACME:C0SHARED:"+root.TS {
		t.Errorf("action %v of %q", in.Action, in.Key)
	}
}

// A button to stop may be left on a message of long ago.
func TestAButtonStopsItsTurnOnly(t *testing.T) {
	t.Parallel()
	in, err := Map(example(t, "interaction.stop"), self, settings())
	must(t, err)
	if in.Action != sessions.ActionStop || in.TurnID == "" || in.TurnID != requestOf(t, in).Value {
		t.Errorf("action %d of turn %q, and the button's is %q", in.Action, in.TurnID, requestOf(t, in).Value)
	}
}
