package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/liaison-bot/liaison/internal/sim"
)

const (
	demoTeam    = "T0ACME"
	demoPerson  = "U0MONA" // mona at GitHub
	demoChannel = "C0PAYMENTS"
)

// talk is the part of the demo that plays in Slack.
type talk struct {
	*play
	chat *sim.Slack
	bot  string
}

func (t *talk) run(ctx context.Context) error {
	root, err := t.mention(ctx)
	if err != nil {
		return err
	}
	for _, scene := range []func(context.Context, string) error{t.followUp, t.stop, t.handOver, t.announce} {
		if err := t.bounded(ctx, func(ctx context.Context) error { return scene(ctx, root) }); err != nil {
			return err
		}
	}
	return t.verify(root)
}

// bounded plays a scene within the time of a step.
func (t *talk) bounded(ctx context.Context, scene func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, demoStep)
	defer cancel()
	return scene(ctx)
}

// mention asks in the channel and returns the ts of the thread.
func (t *talk) mention(ctx context.Context) (string, error) {
	const question = "which files should I read first?"
	t.show.step("In Slack, in #payments, mona writes: @liaison %s", question)
	asked := t.chat.Mention(demoChannel, demoPerson, question)
	return asked.TS, t.bounded(ctx, func(ctx context.Context) error {
		if err := t.answered(ctx, asked.TS, asked.TS, 1); err != nil {
			return err
		}
		t.show.quote(t.answers(asked.TS)[0].Shown)
		return nil
	})
}

// hold makes the next turn stand still while it reads the thread, until what is
// returned is called; begun is closed once it does.
func (t *talk) hold() (begun <-chan struct{}, release func()) {
	gate, reached := make(chan struct{}), make(chan struct{})
	t.chat.Fail(sim.SlackFault{Method: "conversations.replies", Gate: gate, Hook: func(sim.SlackCall) { close(reached) }})
	return reached, func() { close(gate) }
}

// followUp asks twice more in the thread, the second time while the first is at work.
func (t *talk) followUp(ctx context.Context, root string) error {
	begun, release := t.hold()
	t.show.step("mona goes on in the thread: @liaison and who owns them?")
	first := t.chat.MentionIn(demoChannel, root, demoPerson, "and who owns them?")
	err := t.wait(ctx, "the agent to begin", func() bool { return isClosed(begun) })
	if err != nil {
		release()
		return err
	}
	t.show.step("While it works on that, mona adds: @liaison the tests too, please")
	second := t.chat.MentionIn(demoChannel, root, demoPerson, "the tests too, please")
	err = t.wait(ctx, "the word that it is queued", func() bool {
		for _, m := range t.chat.Thread(demoChannel, root) {
			if m.EphemeralTo == demoPerson {
				t.show.line("only mona sees: %s", m.Shown)
				return true
			}
		}
		return false
	})
	release()
	if err != nil {
		return err
	}
	if err := t.answered(ctx, root, first.TS, 2); err != nil {
		return err
	}
	return t.answered(ctx, root, second.TS, 3)
}

// stop asks for something and stops it.
func (t *talk) stop(ctx context.Context, root string) error {
	begun, release := t.hold()
	defer release()
	t.show.step("mona asks once more, and then writes: @liaison stop")
	asked := t.chat.MentionIn(demoChannel, root, demoPerson, "what about the migrations?")
	if err := t.wait(ctx, "the agent to begin", func() bool { return isClosed(begun) }); err != nil {
		return err
	}
	stop := t.chat.MentionIn(demoChannel, root, demoPerson, "stop")
	err := t.wait(ctx, "the stop", func() bool {
		return t.reacted(root, asked.TS, "octagonal_sign") && t.reacted(root, stop.TS, "octagonal_sign")
	})
	if err != nil {
		return err
	}
	t.show.line("the question and the stop have the reaction :octagonal_sign:, and there is no answer")
	return nil
}

// handOver asks for the review of a pull request of which no webhook tells.
func (t *talk) handOver(ctx context.Context, _ string) error {
	pull := t.hub.OpenPullRequest(demoRepository, sim.NewPullRequest{
		Title: "Explain the retries", Author: "mona", Branch: "explain-retries",
		Files: map[string]sim.Change{"README.md": sim.Write("# Shop\n\nA small shop, for the demo. Payments are tried three times.\n")},
	})
	t.show.step("mona writes: @liaison review %s", pull.HTMLURL)
	asked := t.chat.Mention(demoChannel, demoPerson, "review <"+pull.HTMLURL+">")
	var check sim.CheckRun
	var err error
	waiting := t.wait(ctx, "the review of "+short(pull.HeadSHA), func() bool {
		check, err = t.onlyCheck(pull.HeadSHA)
		return check.Status == "completed"
	})
	if err = cmp.Or(waiting, err); err != nil {
		return err
	}
	t.show.line("on GitHub: check %q on %s: %s, %s (%s)", check.Name, short(pull.HeadSHA), check.Status, check.Conclusion, check.Title)
	outcome := fmt.Sprintf("Done: %s#%d", demoRepository, pull.Number)
	err = t.wait(ctx, "the outcome in Slack", func() bool {
		said := t.answers(asked.TS)
		return len(said) > 0 && strings.Contains(said[len(said)-1].Shown, outcome)
	})
	if err != nil {
		return err
	}
	t.show.line("and in the thread in Slack:")
	for _, m := range t.answers(asked.TS) {
		t.show.quote(m.Shown)
	}
	return nil
}

// answered waits until a thread has so many answers, and the message that asked
// shows that it has one.
func (t *talk) answered(ctx context.Context, root, asked string, answers int) error {
	err := t.wait(ctx, "the answer in Slack", func() bool {
		return len(t.answers(root)) == answers && t.reacted(root, asked, "white_check_mark")
	})
	if err == nil {
		t.show.line("answer %d in the thread, and :white_check_mark: on what was asked", answers)
	}
	return err
}

// answers are what the app wrote into a thread for everybody.
func (t *talk) answers(root string) []sim.SlackMessage {
	var all []sim.SlackMessage
	for _, m := range t.chat.Thread(demoChannel, root) {
		if m.ByApp && m.EphemeralTo == "" {
			all = append(all, m)
		}
	}
	return all
}

// reacted reports whether the app's only reaction to a message is this one.
func (t *talk) reacted(root, ts, name string) bool {
	for _, m := range t.chat.Thread(demoChannel, root) {
		if m.TS == ts {
			return len(m.Reactions) == 1 && len(m.Reactions[name]) == 1 && m.Reactions[name][0] == t.bot
		}
	}
	return false
}

// verify looks at everything once more.
func (t *talk) verify(root string) error {
	if n := len(t.answers(root)); n != 3 {
		return fmt.Errorf("the thread has %d answers, not 3", n)
	}
	for _, m := range t.answers(root) {
		if len(m.Pings) > 0 {
			return fmt.Errorf("an answer notifies %s", strings.Join(m.Pings, ", "))
		}
	}
	attempts := t.chat.Attempts()
	for _, a := range attempts {
		if a.Status != http.StatusOK {
			return fmt.Errorf("an event of Slack's was answered %d", a.Status)
		}
	}
	for _, c := range t.chat.Calls() {
		if c.Error != "" && c.Error != "already_reacted" && c.Error != "no_reaction" {
			return fmt.Errorf("the simulated Slack refused %s: %s", c.Method, c.Error)
		}
	}
	if misfits := t.chat.Unfit(); len(misfits) > 0 {
		return fmt.Errorf("the simulated Slack was told what it would not show as it was meant: %s", misfits[0])
	}
	t.show.line("%d events and as many answers 200; no answer notifies anybody", len(attempts))
	return nil
}
