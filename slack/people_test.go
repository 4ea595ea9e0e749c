package slack

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

const pullURL = "https://github.com/octo/shop/pull/7"

// reviewing is a world in which Ann is somebody at GitHub; it returns what was
// handed over.
func reviewing(t *testing.T) (*world, *[]Review) {
	var handed []Review
	w := newWorld(t, func(o *Options) {
		o.Settings.People = map[string]string{ann: "ann-at-github", robot: "nobody"}
		o.Settings.Bots = []string{robotApp}
		o.Review = func(_ context.Context, r Review) error {
			handed = append(handed, r)
			return nil
		}
	})
	return w, &handed
}

// A review that somebody asks for goes to GitHub's side on behalf of their login
// there, and its outcome comes back to where it was asked for.
func TestReviewIsHandedOver(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(*world) sim.SlackDelivery{
		"mention": func(w *world) sim.SlackDelivery {
			w.Mention(general, ann, "review <"+pullURL+">")
			return w.last("app_mention")
		},
		"thread": func(w *world) sim.SlackDelivery {
			w.MentionIn(general, w.root.TS, ann, "please review <"+pullURL+"|octo/shop#7>")
			return w.last("app_mention")
		},
		"direct": func(w *world) sim.SlackDelivery {
			w.DirectMessage(ann, "review "+pullURL)
			return w.last("message")
		},
		"command": func(w *world) sim.SlackDelivery {
			w.Command(general, ann, "/liaison", "review "+pullURL)
			return w.last("/liaison")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, handed := reviewing(t)
			in := w.weigh(ask(w))
			w.perform(in)
			if len(*handed) != 1 {
				t.Fatalf("handed over %+v: %s", *handed, in.Reason)
			}
			got := (*handed)[0]
			if got.URL != pullURL || got.Login != "ann-at-github" || got.ID == "" || got.Caller.Channel != Name {
				t.Errorf("handed over %+v", got)
			}
			w.must(sessions.Item{ID: "out", Kind: sessions.KindOutcome, Attempts: 1, Payload: encode(sessions.Outcome{
				Address: got.Caller.Address, Stage: sessions.OutcomeCompleted, Subject: "octo/shop#7", URL: pullURL, Text: "Two findings.",
			})})
			var to address
			must(t, json.Unmarshal(got.Caller.Address, &to))
			thread := w.Thread(to.Channel, to.Thread)
			if to.Thread == "" || len(thread) < 2 {
				t.Fatalf("told at %+v: %+v", to, thread)
			}
			wantIn(t, "outcome", thread[len(thread)-1].Shown, "Two findings.")
		})
	}
}

// Without a login, or a pull request, or GitHub, it is said what is missing.
func TestReviewIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*world)
		text   string
		said   string
	}{
		"no login":        {func(w *world) { w.channel.settings.People = nil }, pullURL, "people: [{slack: U0ANN, github: your-login}]"},
		"GitHub is off":   {func(w *world) { w.channel.review = nil }, pullURL, noReviews},
		"no pull request": {func(*world) {}, "", "address of a pull request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, handed := reviewing(t)
			test.change(w)
			w.Command(general, ann, "/liaison", strings.TrimSpace("review "+test.text))
			in := w.weigh(w.last("/liaison"))
			w.perform(in)
			heard := w.hears(general, ann)
			if len(heard) != 1 || len(*handed) != 0 || in.Action != sessions.ActionIgnore {
				t.Fatalf("heard %q, handed over %d: %s", heard, len(*handed), in.Reason)
			}
			wantIn(t, "refusal", heard[0], test.said)
		})
	}
}

// An app asks for no reviews, whatever the list of people says.
func TestReviewForAnApp(t *testing.T) {
	t.Parallel()
	w, handed := reviewing(t)
	w.people()
	w.Mention(shared, robot, "review "+pullURL)
	in := w.weigh(w.last("app_mention"))
	w.perform(in)
	if len(*handed) != 0 || in.Action != sessions.ActionIgnore {
		t.Errorf("handed over %+v: %s", *handed, in.Reason)
	}
}
