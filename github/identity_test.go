package github

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/github/repoconfig"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

func TestCheckApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	info, err := w.channel.CheckApp(t.Context())
	must(t, err)
	if info.ID != appID || info.Slug != "liaison" || info.BotLogin != "liaison[bot]" || info.Permissions["checks"] == "" {
		t.Errorf("got %+v", info)
	}
}

func TestCheckAppNamesTheSetting(t *testing.T) {
	t.Parallel()
	other := func(so *sim.GitHubOptions, _ *Options) { so.PublicKey = nil }
	_, err := newWorld(t, other).channel.CheckApp(t.Context())
	if err == nil || !strings.Contains(err.Error(), "GITHUB_PRIVATE_KEY") {
		t.Errorf("wrong key: %v", err)
	}
	w := newWorld(t)
	w.Fail(sim.Fault{PathPattern: "/app", Status: 404})
	if _, err = w.channel.CheckApp(t.Context()); err == nil || !strings.Contains(err.Error(), "GITHUB_API_URL") {
		t.Errorf("no API there: %v", err)
	}
	slow := newWorld(t, func(so *sim.GitHubOptions, o *Options) {
		so.Now = func() time.Time { return time.Now().Add(4 * time.Minute) }
		o.Transport = nil
	})
	slow.channel.app.wire.base = dated{inProcess{slow.GitHub}, 4 * time.Minute}
	if _, err = slow.channel.CheckApp(t.Context()); err == nil || !strings.Contains(err.Error(), "clock") {
		t.Errorf("slow clock: %v", err)
	}
}

// At a first start nobody has told us yet what we are called.
func TestTheFirstDeliveryWaitsForWhoWeAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *sim.GitHubOptions, o *Options) { o.BotName = "" })
	_, hook := w.Comment(repoName, w.pull.Number, "mona", "@liaison why?")
	before := len(w.Requests())
	for range 2 {
		in, err := w.channel.Map(sessions.Delivery{Source: Name, ID: hook.DeliveryID, Event: hook.Event, Body: hook.Body})
		must(t, err)
		if in.Action == sessions.ActionIgnore && !in.Weigh {
			t.Errorf("words to us are ignored: %s", in.Reason)
		}
	}
	if n := len(w.Requests()) - before; n > 2 {
		t.Errorf("GitHub was asked %d times", n)
	}
}

// dated sends GitHub's time, which is ahead.
type dated struct {
	next  http.RoundTripper
	ahead time.Duration
}

func (d dated) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := d.next.RoundTrip(req)
	if err == nil {
		resp.Header.Set("Date", time.Now().Add(d.ahead).UTC().Format(http.TimeFormat))
	}
	return resp, err
}

// The id of the bot is learned from our first comment where nobody tells it,
// and from then on our own doings are dropped.
func TestBotIDIsLearnedFromOurComment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.review("trn_1", "Fine.")
	id := w.channel.app.self().BotID
	if id == 0 {
		t.Fatal("not learned")
	}
	intent, err := w.channel.Map(delivery("pull_request", edited(t, "opened", "sender.id", id)))
	must(t, err)
	if intent.Action != sessions.ActionIgnore {
		t.Errorf("got %+v", intent)
	}
}

// What came while the service was down is read before GitHub was asked who we
// are: a question to us is one all the same, and our own doing none.
func TestWhoWeAreIsKnownAfterARestart(t *testing.T) {
	t.Parallel()
	folder, err := repoconfig.OpenFolder(t.TempDir())
	must(t, err)
	defer func() { must(t, folder.Close()) }()
	keep := func(_ *sim.GitHubOptions, o *Options) { o.Configurations = folder }
	_, err = newWorld(t, keep).channel.CheckApp(t.Context())
	must(t, err)

	again := newWorld(t, keep)
	known := again.channel.app.self()
	if known.Handle != "liaison" || known.BotID == 0 {
		t.Errorf("after a restart we are %+v", known)
	}
	if n := len(again.Requests()); n > 0 {
		t.Errorf("%d requests were made for it", n)
	}
	named := newWorld(t, keep, func(_ *sim.GitHubOptions, o *Options) { o.BotName = "reviewer" })
	if got := named.channel.app.self().Handle; got != "reviewer" {
		t.Errorf("the operator's name gave way to %q", got)
	}
	other := newWorld(t, keep, func(so *sim.GitHubOptions, o *Options) { so.AppID, o.AppID = 4712, 4712 })
	if got := other.channel.app.self(); got.Handle != "" || got.BotID != 0 {
		t.Errorf("another App takes itself for the first: %+v", got)
	}
}
