package slack

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
)

// open is the channel as it reads deliveries, for everybody: whatever is asked is
// let through once gate lets it.
type open struct {
	settings Settings
	gate     chan struct{} // nil never holds anything up
	owed     *[]string
}

func (open) Name() string { return Name }

func (o open) Map(d sessions.Delivery) (sessions.Intent, error) { return Map(d, self, o.settings) }

func (o open) Weigh(ctx context.Context, in sessions.Intent) (sessions.Intent, error) {
	if o.gate != nil {
		select {
		case <-o.gate:
		case <-ctx.Done():
			return in, ctx.Err()
		}
	}
	return in, nil
}

func (open) Prepare(_ context.Context, t sessions.Turn, _ string) (sessions.Brief, error) {
	return sessions.Brief{Prompt: strings.Join(t.Messages(), " + ")}, nil
}

func (open) Effects(sessions.Turn, sessions.Report) ([]sessions.Effect, error) { return nil, nil }

func (o open) Deliver(_ context.Context, item sessions.Item) (sessions.Receipt, error) {
	*o.owed = append(*o.owed, item.Kind)
	return sessions.Receipt{}, nil
}

// talk is a workspace of Slack of which everything that happens reaches an engine.
type talk struct {
	t     *testing.T
	store *memstore.Store
	ids   int

	mu   sync.Mutex
	runs []string
	owed []string
}

// Run implements [sessions.Runner]: an agent that takes a minute.
func (w *talk) Run(ctx context.Context, r sessions.RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
	w.mu.Lock()
	w.runs = append(w.runs, r.Prompt)
	w.mu.Unlock()
	select {
	case <-time.After(time.Minute):
		return bridge.Result{Status: bridge.RunFinished, Text: "Fine."}, nil
	case <-ctx.Done():
		return bridge.Result{}, context.Cause(ctx)
	}
}

// talking runs a test in which time passes only while nothing happens.
func talking(t *testing.T, s Settings, gate func() chan struct{}, test func(*talk)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &talk{t: t, store: memstore.New(memstore.Options{})}
		channel := open{settings: s, owed: &w.owed}
		if gate != nil {
			channel.gate = gate()
		}
		engine, err := sessions.New(sessions.Options{
			Store: w.store, Log: memstore.NewEventLog(), Channels: []sessions.Channel{channel}, Runner: w, Dir: dir,
		})
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- engine.Run(ctx) }()
		test(w)
		cancel()
		must(t, <-ended)
		must(t, w.store.Close())
	})
}

// send delivers an example under an event id of its own, with pairs of what is
// replaced in it and by what.
func (w *talk) send(name string, replace ...string) {
	w.t.Helper()
	w.ids++
	w.deliver(fmt.Sprintf("Ev%07d", w.ids), name, replace...)
}

func (w *talk) deliver(id, name string, replace ...string) {
	w.t.Helper()
	d := example(w.t, name)
	d.Headers["X-Slack-Retry-Num"] = "2" // a retry is a delivery like any other
	_, err := w.store.Accept(w.t.Context(), state.Delivery{
		Source: Name, ID: id, Event: d.Event, Headers: d.Headers, ReceivedAt: d.ReceivedAt,
		Body: bytes.Clone([]byte(strings.NewReplacer(replace...).Replace(string(d.Body)))),
	})
	must(w.t, err)
}

// soon lets everything happen that takes no longer than a few seconds.
func (w *talk) soon() {
	time.Sleep(5 * time.Second) // in a bubble this takes no time
	synctest.Wait()
}

func (w *talk) want(runs ...string) {
	w.t.Helper()
	time.Sleep(10 * time.Minute)
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.runs, runs) {
		w.t.Errorf("ran %q, want %q", w.runs, runs)
	}
}

const theQuestion = "why does the build fail?"

// Slack sends a mention as two events, in any order; together they ask once.
func TestMentionAndItsTwinAskOnce(t *testing.T) {
	t.Parallel()
	for name, events := range map[string][]string{
		"message first": {"event.mention.twin", "event.mention"},
		"mention first": {"event.mention", "event.mention.twin"},
		"message alone": {"event.mention.twin"},
		"mention alone": {"event.mention"},
		// Where the bot is not known from the message, its twin must not be shadowed.
		"message that asks nothing": {"event.channel-talk", "event.mention"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			talking(t, settings(), nil, func(w *talk) {
				for _, e := range events {
					w.send(e)
					w.soon()
				}
				w.want(theQuestion)
			})
		})
	}
}

func TestTwentyTwinsAtOnceAskOnce(t *testing.T) {
	t.Parallel()
	talking(t, settings(), nil, func(w *talk) {
		for i := range 20 {
			w.send([]string{"event.mention", "event.mention.twin"}[i%2])
		}
		w.want(theQuestion)
	})
}

// A delivery that is first seen as a retry is work like any other, and the same one
// later is known, however much later.
func TestRetryIsADelivery(t *testing.T) {
	t.Parallel()
	talking(t, settings(), nil, func(w *talk) {
		w.deliver("Ev1", "event.mention")
		w.want(theQuestion)
		time.Sleep(5*time.Minute + 30*time.Second)
		w.deliver("Ev1", "event.mention")
		w.want(theQuestion)
	})
}

// Unfolded links change a message and not what it says.
func TestUnfoldedLinksAskNothing(t *testing.T) {
	t.Parallel()
	talking(t, settings(), nil, func(w *talk) {
		for range 10 {
			w.send("event.unfurl")
			w.send("event.own.edited")
		}
		w.want()
		w.send("event.mention")
		w.soon()
		w.send("event.unfurl")
		w.want(theQuestion)
	})
}

// While a message is weighed, which may take long, its link is unfolded: it still
// asks once.
func TestUnfoldedWhileWeighed(t *testing.T) {
	t.Parallel()
	var gate chan struct{}
	talking(t, settings(), func() chan struct{} { gate = make(chan struct{}); return gate }, func(w *talk) {
		w.send("event.mention")
		w.soon()
		w.send("event.unfurl")
		w.send("event.mention.twin")
		w.soon()
		close(gate)
		w.want(theQuestion)
	})
}

// An edit changes what waits, and nothing that has begun.
func TestEditBeforeAndAfterTheTurnBegins(t *testing.T) {
	t.Parallel()
	talking(t, settings(), nil, func(w *talk) {
		w.send("event.mention")
		w.soon()
		w.send("event.edit") // the agent reads the old text by now
		w.send("event.edit.mention-twin")
		w.send("event.mention.thread")
		w.soon()
		w.send("event.edit.reply")
		w.want(theQuestion, "and the lint?")
	})
}

func TestDeletedBeforeTheTurnBegins(t *testing.T) {
	t.Parallel()
	talking(t, settings(), nil, func(w *talk) {
		w.send("event.mention")
		w.soon()
		w.send("event.mention.thread")
		w.soon()
		w.send("event.deleted")
		w.want(theQuestion)
	})
}

// Who forgot the mention and puts it in by an edit asks then, once.
func TestMentionByEdit(t *testing.T) {
	t.Parallel()
	talking(t, settings(), nil, func(w *talk) {
		w.send("event.mention.twin", "<@U0BOT> ", "") // talk among people so far
		w.soon()
		w.send("event.edit.mention-twin", "the lint", "the build")
		w.soon()
		w.send("event.edit.mention-added")
		w.send("event.edit.mention-added")
		w.want(theQuestion)
	})
}

// "Also send to channel" is one message, and the change that follows it none.
func TestBroadcastAsksOnce(t *testing.T) {
	t.Parallel()
	talking(t, settings(), nil, func(w *talk) {
		w.send("event.broadcast")
		w.send("event.broadcast.edit-that-follows")
		w.want(theQuestion)
	})
}

// The root of a thread and its replies are one session, whatever Slack says of the
// root's own thread.
func TestRootAndRepliesAreOneSession(t *testing.T) {
	t.Parallel()
	keys := map[string]string{}
	for _, name := range []string{"event.mention", "event.thread-of-itself", "event.thread-null", "event.mention.thread", "event.broadcast", "event.edit.reply", "event.deleted"} {
		keys[mapped(t, name, settings()).Key] = name
	}
	if len(keys) != 1 || keys["slack:T0ACME:C0DEV:1767323000.000100"] == "" {
		t.Errorf("got %v", keys)
	}
}

// Where no mention is needed, a reply is heard in a thread that there is a session
// of, and in no other.
func TestReplyWithoutMention(t *testing.T) {
	t.Parallel()
	s := settings()
	s.MentionInThreads = false
	talking(t, s, nil, func(w *talk) {
		w.send("event.reply")
		w.soon()
		w.send("event.mention")
		w.soon()
		w.send("event.reply", "000150", "000160")
		w.want(theQuestion, "any news?")
	})
	talking(t, settings(), nil, func(w *talk) {
		w.send("event.mention")
		w.soon()
		w.send("event.reply")
		w.want(theQuestion)
	})
}

// What comes hours late is answered by a word and not by a turn, once.
func TestLateMentionIsToldSo(t *testing.T) {
	t.Parallel()
	talking(t, settings(), nil, func(w *talk) {
		w.send("event.mention.late")
		w.send("event.mention.late")
		w.want()
		if !slices.Equal(w.owed, []string{kindPost}) {
			t.Errorf("owed %v", w.owed)
		}
	})
}

// Another app's card or word decides nothing and asks nothing.
func TestOwnPostsAndOtherAppsAskNothing(t *testing.T) {
	t.Parallel()
	talking(t, settings(), nil, func(w *talk) {
		for _, name := range examples(t) {
			if strings.HasPrefix(name, "event.own") || name == "event.bot.other" || name == "event.bot.not-listed" || name == "event.slackbot" {
				w.send(name)
			}
		}
		w.want()
	})
}
