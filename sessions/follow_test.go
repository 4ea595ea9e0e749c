package sessions

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
)

// shower is a channel that shows its turns.
type shower struct {
	*world
	follow func(ctx context.Context, p Progress)
}

func (s *shower) Follow(ctx context.Context, p Progress) { s.follow(ctx, p) }

func inShow(t *testing.T, follow func(ctx context.Context, p Progress), f func(h *house)) {
	t.Helper()
	inHouseWith(t, func(o *Options) {
		o.Channels[0] = &shower{world: o.Channels[0].(*world), follow: follow}
	}, f)
}

// A follower sees what happens in its attempt from the beginning to the end.
func TestFollowersSeeTheTurn(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	ended := 0
	inShow(t, func(ctx context.Context, p Progress) {
		for ev, err := range p.Events {
			mu.Lock()
			if err == nil {
				seen = append(seen, ev.Type)
			}
			mu.Unlock()
		}
		if ctx.Err() != nil {
			ended++
		}
	}, func(h *house) {
		h.runner.run = func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
			observe(bridge.Event{Payload: bridge.Assistant{Text: strings.Repeat("word after word ", 40)}})
			return think(ctx, r, 10*time.Second)
		}
		h.send(request{Key: "k", Text: "one"})
		h.wait(time.Minute)
		for _, want := range []string{EventStepStarted, EventStepCompleted, EventMessageAppended} {
			if !slices.Contains(seen, want) {
				t.Errorf("not seen: %s in %q", want, seen)
			}
		}
		if ended != 1 {
			t.Errorf("following ended %d times", ended)
		}
	})
}

// What a follower wants remembered is there for what is owed at the end, and for
// the next attempt after a crash.
func TestFollowersRemember(t *testing.T) {
	var before []map[string]string
	inShow(t, func(ctx context.Context, p Progress) {
		before = append(before, p.Turn.Surface)
		if err := p.Remember(ctx, map[string]string{"live": p.Turn.ID}); err != nil {
			t.Error(err)
		}
	}, func(h *house) {
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			return think(ctx, r, time.Minute)
		}
		h.send(request{Key: "k", Text: "one"})
		h.wait(time.Second)
		h.crash()
		h.store = h.store.Reopen()
		h.start()
		h.wait(2 * time.Minute)
		turn := h.lastTurn("k").ID
		if len(before) != 2 || before[0]["live"] != "" || before[1]["live"] != turn {
			t.Errorf("attempts began with %v", before)
		}
		if got := h.world.surfaces[turn+"/conclusion"]["live"]; got != turn {
			t.Errorf("the end was delivered with %q", got)
		}
	})
}

// A follower that fails, or never ends, harms no turn and no stop.
func TestFollowersDoNoHarm(t *testing.T) {
	for name, follow := range map[string]func(context.Context, Progress){
		"panics":            func(context.Context, Progress) { panic("at " + secret) },
		"ends far too late": func(context.Context, Progress) { time.Sleep(time.Minute) },
		"ends late": func(ctx context.Context, _ Progress) {
			<-ctx.Done()
			time.Sleep(FollowGrace - time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inShow(t, follow, func(h *house) {
				h.send(request{Key: "k", Text: "one"})
				h.wait(2 * time.Second)
				h.wantTurns("k", ":completed")
				h.send(request{Key: "k", Text: "two"})
				h.wait(time.Millisecond)
				h.restart()
				h.wait(2 * time.Minute)
				h.wantTurns("k", ":completed", ":completed")
				if strings.Contains(h.logs.String(), secret) {
					t.Error("a secret is in the log")
				}
			})
		})
	}
}

// What another channel delivers is delivered by it, and holds up nothing.
func TestEffectsForAnotherChannel(t *testing.T) {
	other := &elsewhere{newWorld()}
	inHouseWith(t, func(o *Options) { o.Channels = append(o.Channels, other) }, func(h *house) {
		other.deliver = func(_ context.Context, item Item) (Receipt, error) {
			if item.Attempts < 3 {
				return Receipt{}, &RetryError{Uncounted: true, Err: context.DeadlineExceeded}
			}
			return other.write(item), nil
		}
		h.world.effects = func(_ Turn, r Report) ([]Effect, error) {
			if r.Moment != MomentCompleted {
				return nil, nil
			}
			told := say("told", "it is done")
			told.Channel = "other"
			return []Effect{told, say("own", "done")}, nil
		}
		h.send(request{Key: "k", Text: "one"})
		h.wait(1100 * time.Millisecond)
		h.wantSaid("done")
		h.wait(time.Hour)
		if got := other.said(); !slices.Equal(got, []string{"it is done"}) {
			t.Errorf("the other channel told %q", got)
		}
		if s := h.session("k"); s.Surface["told"] != "" || s.Paused != "" {
			t.Errorf("the session remembers what another channel did: %v", s.Surface)
		}
	})
}

// elsewhere is a second channel.
type elsewhere struct{ *world }

func (elsewhere) Name() string { return "other" }
