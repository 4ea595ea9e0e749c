package sim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

func TestSlackBlockLimits(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("x", n) }
	many := func(n int, one string) string {
		return strings.TrimSuffix(strings.Repeat(one+",", n), ",")
	}
	section := func(text string) string { return `{"type":"section","text":{"type":"mrkdwn","text":"` + text + `"}}` }
	field := func(n int) string { return `{"type":"mrkdwn","text":"` + x(n) + `"}` }
	plain := func(n int) string { return `{"type":"plain_text","text":"` + x(n) + `"}` }
	button := func(text, value, id, url int) string {
		return fmt.Sprintf(`{"type":"actions","elements":[{"type":"button","text":%s,"value":"%s","action_id":"%s","url":"%s"}]}`, plain(text), x(value), x(id), x(url))
	}
	md := func(n int) string { return `{"type":"markdown","text":"` + x(n) + `"}` }
	row := func(cells int) string { return "[" + many(cells, `{"type":"raw_text","text":"x"}`) + "]" }
	table := func(rows, cells int) string { return `{"type":"table","rows":[` + many(rows, row(cells)) + `]}` }
	for name, c := range map[string]struct{ good, bad, code string }{
		"section text":     {section(x(3000)), section(x(3001)), "invalid_blocks"},
		"section emoji":    {section(strings.Repeat("😀", 3000)), section(strings.Repeat("😀", 3001)), "invalid_blocks"},
		"section empty":    {section("x"), section(""), "invalid_blocks"},
		"fields":           {`{"type":"section","fields":[` + many(10, field(1)) + `]}`, `{"type":"section","fields":[` + many(11, field(1)) + `]}`, "invalid_blocks"},
		"field text":       {`{"type":"section","fields":[` + field(2000) + `]}`, `{"type":"section","fields":[` + field(2001) + `]}`, "invalid_blocks"},
		"header":           {`{"type":"header","text":` + plain(150) + `}`, `{"type":"header","text":` + plain(151) + `}`, "invalid_blocks"},
		"header type":      {`{"type":"header","text":` + plain(1) + `}`, `{"type":"header","text":` + field(1) + `}`, "invalid_blocks"},
		"context":          {`{"type":"context","elements":[` + many(10, field(1)) + `]}`, `{"type":"context","elements":[` + many(11, field(1)) + `]}`, "invalid_blocks"},
		"button text":      {button(75, 1, 1, 1), button(76, 1, 1, 1), "invalid_blocks"},
		"button value":     {button(1, 2000, 1, 1), button(1, 2001, 1, 1), "invalid_blocks"},
		"action id":        {button(1, 1, 255, 1), button(1, 1, 256, 1), "invalid_blocks"},
		"button url":       {button(1, 1, 1, 3000), button(1, 1, 1, 3001), "invalid_blocks"},
		"actions":          {`{"type":"actions","elements":[` + many(25, `{"type":"button","text":`+plain(1)+`}`) + `]}`, `{"type":"actions","elements":[` + many(26, `{"type":"button","text":`+plain(1)+`}`) + `]}`, "invalid_blocks"},
		"blocks":           {many(50, `{"type":"divider"}`), many(51, `{"type":"divider"}`), "invalid_blocks"},
		"block ids":        {`{"type":"divider","block_id":"a"},{"type":"divider","block_id":"b"}`, `{"type":"divider","block_id":"a"},{"type":"divider","block_id":"a"}`, "invalid_blocks"},
		"markdown":         {md(12000), md(12001), "msg_blocks_too_long"},
		"markdown in sum":  {md(6000) + "," + md(6000), md(6000) + "," + md(6001), "msg_blocks_too_long"},
		"table rows":       {table(100, 1), table(101, 1), "invalid_blocks"},
		"table columns":    {table(1, 20), table(1, 21), "invalid_blocks"},
		"one table":        {table(1, 1), table(1, 1) + "," + table(1, 1), "invalid_blocks"},
		"unknown block":    {`{"type":"divider"}`, `{"type":"from_2027"}`, "invalid_blocks"},
		"cards are chunks": {`{"type":"divider"}`, `{"type":"card"}`, "invalid_blocks"},
		"rich text": {
			`{"type":"rich_text","elements":[{"type":"rich_text_preformatted","elements":[{"type":"text","text":"x"}]}]}`,
			`{"type":"rich_text","elements":[{"type":"rich_text_preformatted","elements":[{"type":"text","text":""}]}]}`, "invalid_blocks",
		},
	} {
		if err := sim.CheckSlackMessage("x", []byte("["+c.good+"]")); err != nil {
			t.Errorf("%s: refuses what Slack takes: %v", name, err)
		}
		var refusal *sim.SlackRefusal
		if err := sim.CheckSlackMessage("x", []byte("["+c.bad+"]")); !errors.As(err, &refusal) || refusal.Code != c.code {
			t.Errorf("%s: takes what Slack refuses with %s: %v", name, c.code, err)
		}
	}
}

func TestSlackPings(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	for text, want := range map[string]int{
		"<!channel> <!here|here> <!subteam^S1> <@U2|bob>": 4, "@channel &lt;!channel&gt; <https://x|<!here>": 1, "`<!everyone>`": 1, "plain": 0,
	} {
		ts := w.call("chat.postMessage", w.team.BotToken, "channel", slackChannel, "markdown_text", text)["ts"].(string)
		if got := w.Thread(slackChannel, ts)[0].Pings; len(got) != want {
			t.Errorf("%q pings %v, want %d", text, got, want)
		}
	}
	ts := w.call("chat.postMessage", w.team.BotToken, "channel", slackChannel, "text", "all, @channel!", "link_names", "1")["ts"].(string)
	if got := w.Thread(slackChannel, ts)[0].Pings; len(got) != 1 {
		t.Errorf("linked names ping %v", got)
	}
}
