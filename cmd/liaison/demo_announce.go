package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/internal/sim"
)

// demoLaunches is the channel in which something is announced.
const demoLaunches = "C0LAUNCHES"

// announce has mona ask for a message in another channel, and lee approve it.
func (t *talk) announce(ctx context.Context, _ string) error {
	const tool, text = "post_to_slack", "Payments that time out are retried from today on."
	t.show.step("In #payments, mona writes: @liaison announce in %s: %s", demoLaunches, text)
	asked := t.chat.Mention(demoChannel, demoPerson, "announce in "+demoLaunches+": "+text)
	card := func() (sim.SlackMessage, bool) { return t.said(asked.TS, "apr_") }
	var drawn sim.SlackMessage
	err := t.wait(ctx, "the card", func() (found bool) {
		drawn, found = card()
		return found
	})
	if err != nil {
		return err
	}
	t.show.line("the thread has a card, and nothing is announced yet:")
	t.show.quote(drawn.Shown)
	if posted := t.chat.Messages(demoLaunches); len(posted) > 0 {
		return fmt.Errorf("before anybody has decided it was announced: %s", posted[0].Shown)
	}
	if !strings.Contains(string(drawn.Blocks), "liaison.approve") {
		return fmt.Errorf("the card has no button to approve: %s", drawn.Blocks)
	}
	t.show.step("lee, whom the agent's folder names, presses Approve")
	t.chat.Click(demoChannel, drawn.TS, demoApproverSlack, "liaison.approve")
	err = t.wait(ctx, "the announcement", func() bool {
		drawn, _ = card()
		return len(t.chat.Messages(demoLaunches)) > 0 && strings.Contains(drawn.Shown, ", and done")
	})
	if err != nil {
		return err
	}
	if strings.Contains(string(drawn.Blocks), "liaison.") {
		return fmt.Errorf("the card is settled and has buttons: %s", drawn.Blocks)
	}
	t.show.line("in #launches:")
	t.show.quote(t.chat.Messages(demoLaunches)[0].Shown)
	t.show.line("the card is settled:")
	t.show.quote(drawn.Shown)
	var heard sim.SlackMessage
	err = t.wait(ctx, "the outcome in the thread", func() (found bool) {
		heard, found = t.said(asked.TS, "was approved by")
		return found
	})
	if err != nil {
		return err
	}
	t.show.line("and the agent, which was told, says in the thread:")
	t.show.quote(heard.Shown)
	if n := len(t.chat.Messages(demoLaunches)); n != 1 {
		return fmt.Errorf("it was announced %d times", n)
	}
	return nil
}

// said finds what the app wrote into a thread by a part of it.
func (t *talk) said(root, part string) (found sim.SlackMessage, ok bool) {
	for _, m := range t.answers(root) {
		if strings.Contains(m.Shown, part) {
			return m, true
		}
	}
	return sim.SlackMessage{}, false
}
