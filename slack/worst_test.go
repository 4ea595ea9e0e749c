package slack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/sessions"
)

// worst are texts that are hardest to fit into what Slack takes.
var worst = map[string]string{
	"long":         strings.Repeat("x", 70_000),
	"four bytes":   strings.Repeat("😀", 20_000),
	"words":        strings.Repeat("word ", 5000),
	"escapes":      strings.Repeat("&<>", 5000),
	"pings":        strings.Repeat("<!channel> <!here|x> <!subteam^S0GROUP> @everyone ", 200),
	"hidden pings": strings.Repeat("&lt;!channel&gt; <\u200B!here> `<!channel>` [x](!here) ", 200),
	"brackets":     strings.Repeat("[", 13_000),
	"backticks":    strings.Repeat("`", 5000) + "<!here>",
	"tables":       strings.Repeat("| a | b |\n|---|---|\n| <!here> | 😀 |\n\n", 250),
	"wide table":   strings.Repeat("| a ", 300) + "|\n" + strings.Repeat("|---", 300) + "|\n" + strings.Repeat("| b ", 300) + "|\n",
	"fences":       strings.Repeat("````md\n```go\n<!here>\n```\n````\n", 400),
	"depth":        strings.Repeat("> - ", 2000) + "x",
	"lines":        strings.Repeat("\n", 10_000) + "x",
	"no UTF-8":     strings.Repeat("a\xff\xfe\x00", 4000),
	"unseen":       strings.Repeat("\u200B\u202E", 5000),
	"one mark":     "~",
	"links":        strings.Repeat("<https://example.com/"+strings.Repeat("y", 100)+"|<!here>>", 120),
	"entities":     strings.Repeat("&amp;", 3000),
}

// Whatever a model, a stranger or an operator's setting holds, Slack takes every
// message that is made of it, and it calls nobody but who asked.
func TestWorstTextsInEveryMessage(t *testing.T) {
	t.Parallel()
	for name, text := range worst {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, unhurried, func(o *Options) {
				o.BotName = text
				o.Sessions = func(_ context.Context, _ string, limit int) ([]SessionLine, error) {
					line := SessionLine{Key: "slack:T0ACME:C0GENERAL:1.000001", Title: text, State: text, Updated: time.Unix(1, 0)}
					return slices.Repeat([]SessionLine{line}, limit), nil
				}
			})
			for i, item := range w.worstItems(text) {
				item.ID, item.Surface = fmt.Sprintf("turn_1/%d", i), map[string]string{}
				w.must(item)
			}
			about := w.Say(general, ann, text)
			w.Shortcut(general, about.TS, ann, shortcutAsk)
			w.weigh(w.last("message_action"))
			if _, open := w.View(ann); !open {
				t.Error("no window is open")
			}
			for _, m := range w.ours(general) {
				for _, p := range m.Pings {
					if p != "<@"+ann+">" {
						t.Errorf("%q is called in %.200q", p, m.Shown)
					}
				}
			}
		})
	}
}

// worstItems are effects of every kind with a text wherever one may stand.
func (w *world) worstItems(text string) []sessions.Item {
	w.t.Helper()
	direct := w.DirectMessage(ann, "why?")
	mention := request{address: w.thread(), Trigger: byMention, ChannelType: "channel", TS: w.root.TS, User: ann}
	inDirect := request{
		address: address{Team: team, Channel: direct.Channel, Thread: direct.TS}, Trigger: byDirect, ChannelType: "im", TS: direct.TS, User: ann,
	}
	var all []sessions.Item
	for i, r := range []request{mention, inDirect} {
		for moment := sessions.MomentStarted; moment <= sessions.MomentDropped; moment++ {
			turn := sessions.Turn{ID: fmt.Sprintf("trn_%d_%d", i, moment), SessionID: "ses_1", Message: text, Request: r.encode()}
			effects, err := w.channel.Effects(turn, sessions.Report{
				Moment: moment, Request: r.encode(), Behind: true, Text: text, Reason: text, Model: text, WaitsFor: text, Duration: time.Hour,
			})
			must(w.t, err)
			for _, e := range effects {
				all = append(all, sessions.Item{SessionID: "ses_1", TurnID: turn.ID, Key: r.key(), Kind: e.Kind, Payload: e.Payload, Attempts: 1})
			}
		}
	}
	for _, stage := range []sessions.OutcomeStage{sessions.OutcomeAccepted, sessions.OutcomeWaiting, sessions.OutcomeRefused, sessions.OutcomeCompleted, sessions.OutcomeInterrupted, sessions.OutcomeFailed} {
		all = append(all, w.item(sessions.KindOutcome, sessions.Outcome{
			Address: encode(outcomeAddress{address: w.thread(), User: ann}), Stage: stage,
			Subject: text, URL: "https://example.com/" + text, Text: text, Model: text, Duration: time.Hour,
		}))
	}
	said := w.Command(general, ann, "/liaison", "status")
	return append(all,
		w.item(kindEphemeral, ephemeralPayload{To: w.thread(), User: ann, Markdown: "Status: " + text}),
		w.item(kindEphemeral, ephemeralPayload{To: w.thread(), User: ann, Markdown: "Status: " + text, ResponseURL: said.ResponseURL}),
		w.item(kindTitle, titlePayload{To: w.thread(), Title: text}),
		w.item(kindPrompts, promptsPayload{To: w.thread()}),
		w.item(kindHome, homePayload{To: address{Team: team}, User: ann}),
		w.item(kindReview, reviewPayload{From: w.thread(), URL: text, Login: text, User: ann}),
	)
}

// So it is with an answer that is shown while it grows.
func TestWorstTextsWhileTheyGrow(t *testing.T) {
	for _, reply := range []Reply{ReplyStream, ReplyEdit} {
		for _, name := range slices.Sorted(maps.Keys(worst)) {
			t.Run(string(reply)+" "+name, func(t *testing.T) {
				inLiveWorld(t, reply, func(_ *testing.T, w *liveWorld) {
					f := w.begin(w.request(), nil)
					text := strings.ToValidUTF8(worst[name], "\uFFFD")
					f.happen(sessions.EventActionsRequested, map[string]any{"actions": []map[string]string{{"name": text}}})
					for piece := range slices.Chunk([]byte(text), 1+len(text)/3) {
						f.says(strings.ToValidUTF8(string(piece), ""))
						time.Sleep(20 * time.Second)
					}
					f.stop()
					w.answer(w.thread(), text)
					w.nobodyCalled()
				})
			})
		}
	}
}
