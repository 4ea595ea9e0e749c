package slack

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/workspace"
)

// reactions are those on Ann's question.
func (w *world) reactions() []string {
	var names []string
	for name := range w.Thread(general, w.root.TS)[0].Reactions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A reaction of ours takes the place of another, however often that is tried, and
// one that is there or gone already is a success.
func TestReactions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	react := func(add, remove string) {
		t.Helper()
		w.must(w.item(kindReaction, reactionPayload{To: w.thread(), TS: w.root.TS, Add: add, Remove: remove}))
	}
	react("eyes", "")
	react("eyes", "")
	react("white_check_mark", "eyes")
	react("white_check_mark", "eyes")
	if got := w.reactions(); !slices.Equal(got, []string{"white_check_mark"}) {
		t.Errorf("got %v", got)
	}
	w.Fail(sim.SlackRateLimit("reactions.add", time.Minute))
	react("eyes", "") // is left out: the answer stands in line behind it
	react("", "white_check_mark")
	if got := w.reactions(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// Nobody misses a reaction, a status, a title or something to ask: where Slack does
// not take it, it is left out with a note, and an outage is waited out.
func TestMinorEffects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	items := map[string]sessions.Item{
		"reactions.add":                         w.item(kindReaction, reactionPayload{To: w.thread(), TS: w.root.TS, Add: "eyes"}),
		"assistant.threads.setTitle":            w.item(kindTitle, titlePayload{To: w.thread(), Title: "A question"}),
		"assistant.threads.setSuggestedPrompts": w.item(kindPrompts, promptsPayload{To: w.thread()}),
		"views.publish":                         w.item(kindHome, homePayload{To: address{Team: team}, User: ann}),
	}
	for method, item := range items {
		for _, code := range []string{"missing_scope", "channel_not_found", "message_not_found", "of_a_later_year"} {
			w.Fail(sim.SlackFault{Method: method, Error: code})
			if receipt, err := w.deliver(item); err != nil || !strings.HasPrefix(receipt.Note, "no ") || !strings.Contains(receipt.Note, code) {
				t.Errorf("%s, %s: %q, %v", method, code, receipt.Note, err)
			}
		}
		w.Fail(sim.SlackFault{Method: method, Status: http.StatusBadGateway})
		var retry *sessions.RetryError
		if _, err := w.deliver(item); !errors.As(err, &retry) || retry.Paused {
			t.Errorf("%s: %v", method, err)
		}
		w.Fail(sim.SlackFault{Method: method, Error: "account_inactive"})
		if _, err := w.deliver(item); !errors.As(err, &retry) || !retry.Paused {
			t.Errorf("%s: %v", method, err)
		}
		w.must(item)
	}
}

// An assistant thread gets a title and something to ask.
func TestAssistantThread(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.item(kindPrompts, promptsPayload{To: w.thread()}))
	w.must(w.item(kindTitle, titlePayload{To: w.thread(), Title: "*Why* " + strings.Repeat("x", 500)}))
	got := w.Status(general, w.root.TS)
	if len(got.Prompts) == 0 || !strings.HasPrefix(got.Title, "Why") {
		t.Errorf("got %+v", got)
	}
}

// The home tab shows what somebody asked for, with the way to it, whatever the
// titles hold, and never more than Slack takes.
func TestHome(t *testing.T) {
	t.Parallel()
	lines := []SessionLine{
		{Key: "slack:T0ACME:C0GENERAL:1700000000.000100", Title: "Why <!channel> & hunter2?", State: "active", Updated: time.Unix(1700000000, 0)},
		{Key: "slack:T0ACME:D0ANN:", State: "active"},
		{Key: "github:repo:1:pull:2", Title: strings.Repeat("é", 5000)},
	}
	for len(lines) < 100 {
		lines = append(lines, lines[len(lines)%3])
	}
	var asked string
	w := newWorld(t, func(o *Options) {
		o.BotName = strings.Repeat("Liaison", 100)
		o.Sessions = func(_ context.Context, principal string, limit int) ([]SessionLine, error) {
			asked = principal
			return lines[:limit], nil
		}
	})
	if note := w.must(w.item(kindHome, homePayload{To: address{Team: team}, User: ann})).Note; !strings.HasPrefix(note, "drew") {
		t.Error(note)
	}
	home, _ := w.Home(ann)
	blocks := string(home.Blocks)
	for _, want := range []string{
		"https://acme.slack.com/archives/C0GENERAL/p1700000000000100?cid=C0GENERAL\\u0026thread_ts=1700000000.000100",
		"https://acme.slack.com/archives/D0ANN", "date^1700000000^", "[redacted]", "Without a title",
	} {
		if !strings.Contains(blocks, want) {
			t.Errorf("%q is not in %s", want, blocks)
		}
	}
	if strings.Contains(blocks, "hunter2") || asked != "slack:user:T0ACME:U0ANN" {
		t.Errorf("asked for %s, drew %s", asked, blocks)
	}
}

// Somebody without sessions gets a home tab too.
func TestEmptyHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.item(kindHome, homePayload{To: address{Team: team}, User: ann}))
	if home, ok := w.Home(ann); !ok || !strings.Contains(string(home.Blocks), "Nothing yet") {
		t.Errorf("got %+v", home)
	}
}

// How work goes that is done on another surface is told in the thread in which it
// was asked for, and who asked is called when it is over.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for stage, tt := range map[sessions.OutcomeStage]struct {
		says  string
		pings int
	}{
		sessions.OutcomeAccepted:    {"On it: octo/shop#12", 0},
		sessions.OutcomeWaiting:     {"octo/shop#12 has to wait", 0},
		sessions.OutcomeRefused:     {"did not take up octo/shop#12", 1},
		sessions.OutcomeCompleted:   {"Done: octo/shop#12", 1},
		sessions.OutcomeFailed:      {"octo/shop#12 failed", 1},
		sessions.OutcomeInterrupted: {"octo/shop#12 was stopped", 1},
	} {
		t.Run(string(stage), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			item := w.item(sessions.KindOutcome, sessions.Outcome{
				Address: encode(outcomeAddress{address: w.thread(), User: ann}), Stage: stage,
				Subject: "octo/shop#12", URL: "https://github.com/octo/shop/pull/12", Text: "Two findings.",
			})
			w.must(item)
			item.Attempts++
			w.must(item)
			got := w.answers()
			if len(got) != 1 || !strings.Contains(got[0].Shown, tt.says) || !strings.Contains(got[0].Shown, "Two findings.") ||
				!strings.Contains(string(got[0].Blocks), "https://github.com/octo/shop/pull/12") || len(got[0].Pings) != tt.pings {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A review is handed over with where its outcome is to be told; without a GitHub
// side somebody is told so.
func TestHandOver(t *testing.T) {
	t.Parallel()
	var handed Review
	w := newWorld(t, func(o *Options) {
		o.Review = func(_ context.Context, r Review) error { handed = r; return nil }
	})
	item := w.item(kindReview, reviewPayload{From: w.thread(), URL: "https://github.com/octo/shop/pull/12", Login: "ann", User: ann})
	w.must(item)
	if handed.ID != item.ID || handed.Login != "ann" || handed.Caller.Channel != Name || len(w.answers()) != 0 {
		t.Errorf("handed over %+v", handed)
	}
	w.must(w.item(sessions.KindOutcome, sessions.Outcome{Address: handed.Caller.Address, Stage: sessions.OutcomeCompleted, Subject: "octo/shop#12"}))
	if got := w.answers(); len(got) != 1 || len(got[0].Pings) != 1 {
		t.Errorf("got %+v", got)
	}
	alone := newWorld(t)
	alone.must(alone.item(kindReview, reviewPayload{From: alone.thread(), URL: "https://github.com/octo/shop/pull/12", User: ann}))
	if got := alone.answers(); len(got) != 1 || !strings.Contains(got[0].Shown, "no GitHub App") {
		t.Errorf("got %+v", got)
	}
}

// What cannot be read, or is of no kind, is given up and not tried for ever.
func TestUnreadableEffects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range []string{kindPost, kindEphemeral, kindReaction, kindStatus, kindRest, kindHome, kindPrompts, kindTitle, kindReview, sessions.KindOutcome, "other"} {
		for _, payload := range []string{`[]`, `"x"`, ``, `{"to":7,"from":7,"stage":7}`} {
			item := w.item(kind, nil)
			item.Payload = []byte(payload)
			var retry *sessions.RetryError
			if _, err := w.deliver(item); err == nil || errors.As(err, &retry) {
				t.Errorf("%s %s: %v", kind, payload, err)
			}
		}
	}
	if calls := w.Calls(); len(calls) != 0 {
		t.Errorf("called %v", calls)
	}
}

// Who we are is asked at Slack, and that a token is refused is said in words.
func TestCheckApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.channel.CheckApp(t.Context()); err != nil {
		t.Errorf("no single workspace: %v", err)
	}
	single := newWorld(t, func(o *Options) { o.Workspaces, o.OneToken = alone{o.Workspaces}, true })
	who, err := single.channel.CheckApp(t.Context())
	if err != nil || who != "bot "+single.team.BotUser+" in Acme" {
		t.Errorf("got %q, %v", who, err)
	}
	gone := newWorld(t, func(o *Options) { o.Workspaces, o.OneToken = nil, true })
	if _, err := gone.channel.CheckApp(t.Context()); !errors.Is(err, workspace.ErrNotInstalled) {
		t.Errorf("a token that is refused: %v", err)
	}
	single.Fail(sim.SlackFault{Method: "auth.test", Error: "token_revoked"})
	if _, err := single.channel.CheckApp(t.Context()); err == nil || !strings.Contains(err.Error(), "token_revoked") {
		t.Errorf("got %v", err)
	}
}

// Of an organisation that has the app as a whole, the operator is told once that
// its token is refused, whichever of its workspaces that shows in, and once that it
// is taken again.
func TestARefusedTokenIsToldOnce(t *testing.T) {
	t.Parallel()
	for name, enterprise := range map[string]string{"a workspace": "", "an organisation": "E0ACME"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, unhurried)
			to := w.thread()
			to.Enterprise = enterprise
			w.Fail(sim.SlackFault{Method: "*", Error: "invalid_auth", Times: -1})
			asks := request{address: to, Trigger: byMention, TS: w.root.TS, User: ann, Verb: verbAsk}
			if _, err := w.channel.Weigh(t.Context(), sessions.Intent{Action: sessions.ActionRun, Request: asks.encode()}); err == nil {
				t.Fatal("weighed with a token that is refused")
			}
			item := w.item(kindPost, postPayload{To: to, Key: "answer", Markdown: "Yes."})
			if _, err := w.deliver(item); err == nil {
				t.Fatal("posted with a token that is refused")
			}
			w.ClearFaults()
			item.Attempts++
			w.must(item)
			if n := strings.Count(w.logs.String(), "Slack does not take the app's token"); n != 1 {
				t.Errorf("told %d times that the token is refused:\n%s", n, w.logs)
			}
			if n := strings.Count(w.logs.String(), "Slack takes the app's token again"); n != 1 {
				t.Errorf("told %d times that it is taken again:\n%s", n, w.logs)
			}
		})
	}
}
