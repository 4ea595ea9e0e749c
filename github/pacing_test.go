package github

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
)

// pacedBySeconds has the channel pause as the service does.
func pacedBySeconds(_ *sim.GitHubOptions, o *Options) { o.WritePause = time.Second }

// GitHub asks for writes one after another and a second apart; what several
// turns owe at once must not become a burst.
func TestWritesOfOneInstallationAreASecondApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var at []time.Time
		p := newPacer(time.Second, time.Now)
		write := paced{pacer: p, installation: installation, next: roundTripper(func(*http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			at = append(at, time.Now())
			return nil, errors.New("not answered")
		})}
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://x.example/", strings.NewReader("{}"))
				_, _ = write.RoundTrip(req)
			})
		}
		all.Wait()
		for i := 1; i < len(at); i++ {
			if gap := at[i].Sub(at[i-1]); gap != time.Second {
				t.Errorf("write %d came %s after the one before", i, gap)
			}
		}
		if len(at) != 5 {
			t.Errorf("%d writes", len(at))
		}
	})
}

// A pause is between writes only: reads pass, other installations pass, and who
// wrote long ago does not wait.
func TestOnlyWritesOfTheSameInstallationWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, pacedBySeconds)
		start := time.Now()
		w.mustDeliver(w.items(w.turn("trn_1"), started)...)
		if took := time.Since(start); took != 0 {
			t.Errorf("the first write waited for %s", took)
		}
		must(t, w.getPull())
		leave, err := w.channel.app.pacer.enter(t.Context(), installation+1)
		must(t, err)
		leave()
		if took := time.Since(start); took != 0 {
			t.Errorf("a read, or another installation, waited for %s", took)
		}
		// A check and a comment: two writes after the one before.
		w.mustDeliver(w.items(w.turn("trn_1"), completed("Fine."))...)
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("a review of three writes took %s of pauses, want 2s", took)
		}
		time.Sleep(time.Minute)
		start = time.Now()
		w.mustDeliver(w.items(w.turn("trn_2"), started)...)
		if took := time.Since(start); took != 0 {
			t.Errorf("after a minute without a write the next waited for %s", took)
		}
	})
}

// Who waits for a turn to write can be told to stop, and gives up its place.
func TestAWaitForTheTurnEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(time.Second, time.Now)
		leave, err := p.enter(t.Context(), installation)
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := p.enter(ctx, installation); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		leave()
		// In the pause as well.
		ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := p.enter(ctx, installation); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		leave, err = p.enter(t.Context(), installation)
		must(t, err)
		leave()
	})
}

// A line that is too long, or a write that hangs, puts the others off without
// counting against them.
func TestALongLineIsNobodysFailure(t *testing.T) {
	for name, c := range map[string]struct {
		pause time.Duration
		ahead int
		waits time.Duration
	}{
		"a write that hangs":  {time.Second, 0, maxPaceWait},
		"a line at the limit": {10 * time.Second, 3, maxPaceWait},
		"a line too long":     {10 * time.Second, 4, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPacer(c.pause, time.Now)
				leave, err := p.enter(t.Context(), installation)
				must(t, err)
				ctx, stop := context.WithCancel(t.Context())
				var line sync.WaitGroup
				for range c.ahead {
					line.Go(func() {
						if leave, err := p.enter(ctx, installation); err == nil {
							leave()
						}
					})
				}
				synctest.Wait()
				start := time.Now()
				_, err = p.enter(t.Context(), installation)
				if retry := wantRetry(t, retryable(err, time.Now())); !retry.Uncounted {
					t.Errorf("it counts as an attempt: %v", err)
				}
				if waited := time.Since(start); waited != c.waits {
					t.Errorf("it waited for %s, want %s", waited, c.waits)
				}
				stop()
				leave()
				line.Wait()
			})
		})
	}
}
