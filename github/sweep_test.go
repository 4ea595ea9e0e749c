package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
)

// sweeping is a world with a store and what sweeps into it.
type sweeping struct {
	*world
	store *memstore.Store
	dir   string
	found map[string]int
}

func newSweeping(t *testing.T) *sweeping {
	t.Helper()
	w := &sweeping{world: newWorld(t), store: memstore.New(memstore.Options{}), dir: t.TempDir(), found: map[string]int{}}
	t.Cleanup(func() { _ = w.store.Close() })
	return w
}

func (w *sweeping) DeliveriesMissed(_ string, n int)         { w.found["missed"] += n }
func (w *sweeping) DeliveriesRecovered(_, how string, n int) { w.found[how] += n }

// sweep sweeps once, as a process that has just started does.
func (w *sweeping) sweep() error {
	return w.channel.NewSweeper(SweepOptions{Inbox: w.store, Ledger: w.store, Dir: w.dir, Metrics: w}).Sweep(w.t.Context())
}

// swept is a sweep that has to succeed.
func (w *sweeping) swept() {
	w.t.Helper()
	must(w.t, w.sweep())
}

// has reports whether a delivery is in the store.
func (w *sweeping) has(hook sim.Webhook) bool {
	w.t.Helper()
	_, err := w.store.Delivery(w.t.Context(), Name, hook.DeliveryID)
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		w.t.Fatal(err)
	}
	return err == nil
}

// arrive stores a delivery as the webhook does.
func (w *sweeping) arrive(hook sim.Webhook) {
	w.t.Helper()
	_, err := w.store.Accept(w.t.Context(), state.Delivery{Source: Name, ID: hook.DeliveryID, Event: hook.Event, Body: hook.Body, ReceivedAt: time.Now()})
	must(w.t, err)
}

// https://github.com/kubernetes/test-infra/issues/2640: about one in a hundred
// deliveries does not arrive, and nobody tells.
func TestADeliveryThatDidNotArriveIsFetchedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSweeping(t)
		came, late, lost := w.Event(repoName, 1, "opened"), w.Event(repoName, 1, "edited"), w.Event(repoName, 1, "synchronize")
		w.arrive(came)
		w.arrive(late)
		w.Lose(came, sim.Attempt{Ago: 10 * time.Minute, Status: http.StatusAccepted})
		w.Lose(late, sim.Attempt{Ago: 9 * time.Minute}) // timed out at GitHub, and arrived
		w.Lose(lost, sim.Attempt{Ago: 8 * time.Minute, Status: http.StatusBadGateway})
		for range 3 {
			w.swept()
			time.Sleep(5 * time.Minute)
		}
		got, err := w.store.Delivery(t.Context(), Name, lost.DeliveryID)
		must(t, err)
		if got.Event != "pull_request" || string(got.Body) != string(lost.Body) || got.Headers["X-Github-Event"] != "pull_request" || got.Status != state.DeliveryPending {
			t.Errorf("recovered as %+v with body %.80s", got.Headers, got.Body)
		}
		for name := range got.Headers {
			if strings.Contains(name, "Signature") {
				t.Errorf("%s is kept", name)
			}
		}
		if n := w.count(http.MethodGet, "/hook/deliveries/"); n != 1 {
			t.Errorf("%d deliveries were fetched", n)
		}
		if n := w.count(http.MethodPost, "/attempts"); n != 0 {
			t.Errorf("%d were asked for again", n)
		}
		if w.found["missed"] != 1 || w.found["fetched"] != 1 || w.logs.count("did not arrive") != 1 {
			t.Errorf("counted %v, logged %d times", w.found, w.logs.count("did not arrive"))
		}
	})
}

// What GitHub does not show is asked for again, and only once, whoever asks.
func TestADeliveryThatIsNotShownIsAskedForOnce(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*sweeping){
		"without a payload": func(*sweeping) {},
		"gone":              func(w *sweeping) { w.Fail(sim.Fault{PathPattern: "/app/hook/deliveries/*", Status: 404, Times: -1}) },
		"broken at GitHub":  func(w *sweeping) { w.Fail(sim.Fault{PathPattern: "/app/hook/deliveries/*", Status: 500, Times: -1}) },
		"broken, request too": func(w *sweeping) {
			w.Fail(sim.Fault{PathPattern: "/app/hook/deliveries/**", Skip: 1, Status: 500, Times: -1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newSweeping(t)
				w.Lose(w.Event(repoName, 1, "opened"), sim.Attempt{Ago: time.Hour, Status: 500, WithoutPayload: true})
				if name == "broken, request too" {
					w.swept() // asks
				}
				spoil(w)
				for range 6 {
					_ = w.sweep() // some say that the delivery cannot be fetched
					time.Sleep(5 * time.Minute)
				}
				if n := w.count(http.MethodPost, "/attempts"); n != 1 {
					t.Errorf("it was asked for %d times", n)
				}
				must(t, w.sweep())
			})
		})
	}
}

// A first start takes in what failed, and not what others may have answered.
func TestTheFirstSweepTakesWhatFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSweeping(t)
		answered, failed, young := w.Event(repoName, 1, "opened"), w.Event(repoName, 1, "edited"), w.Event(repoName, 1, "closed")
		w.Lose(answered, sim.Attempt{Ago: 2 * time.Hour, Status: http.StatusOK})
		w.Lose(failed, sim.Attempt{Ago: time.Hour, Status: http.StatusServiceUnavailable})
		w.Lose(young, sim.Attempt{Ago: 30 * time.Second})
		w.swept()
		if w.has(answered) || !w.has(failed) || w.has(young) {
			t.Errorf("answered elsewhere %t, failed %t, a moment ago %t", w.has(answered), w.has(failed), w.has(young))
		}
		time.Sleep(5 * time.Minute)
		w.swept()
		if !w.has(young) {
			t.Error("the one from a moment ago is still missing")
		}
		// Later on, what was acknowledged and is not here was lost with the store.
		acknowledged := w.Event(repoName, 1, "reopened")
		w.Lose(acknowledged, sim.Attempt{Status: http.StatusAccepted})
		time.Sleep(5 * time.Minute)
		w.swept()
		if !w.has(acknowledged) {
			t.Error("what the store lost is still missing")
		}
	})
}

// A long absence is said, with its length; what GitHub still has is taken in.
func TestALongAbsenceIsSaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSweeping(t)
		w.swept()
		gone := w.Event(repoName, 1, "opened")
		w.Lose(gone, sim.Attempt{})
		time.Sleep(4 * 24 * time.Hour)
		kept := w.Event(repoName, 1, "synchronize")
		w.Lose(kept, sim.Attempt{Ago: 2 * 24 * time.Hour})
		w.swept()
		if w.has(gone) || !w.has(kept) {
			t.Errorf("beyond GitHub's memory %t, within it %t", w.has(gone), w.has(kept))
		}
		if w.logs.count("away=96h1m0s") != 1 {
			t.Errorf("the log does not tell the length:\n%s", w.logs.text.String())
		}
	})
}

// A flood is taken in by several sweeps, each of a bounded size, and what was
// lost meanwhile as well.
func TestAFloodIsTakenInBySeveralSweeps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newSweeping(t)
		w.swept()
		time.Sleep(time.Hour)
		const flood = 450
		var all []sim.Webhook
		for range flood {
			hook := w.Event(repoName, 1, "edited")
			all = append(all, hook)
			w.Lose(hook, sim.Attempt{Ago: 30 * time.Minute, Status: 502})
		}
		w.swept()
		if n := w.found["fetched"]; n < maxSweepRecoveries || n >= maxSweepRecoveries+pageSize {
			t.Errorf("the first sweep took in %d", n)
		}
		meanwhile := w.Event(repoName, 1, "closed")
		w.Lose(meanwhile, sim.Attempt{})
		for range 3 {
			time.Sleep(5 * time.Minute)
			w.swept()
		}
		for _, hook := range append(all, meanwhile) {
			if !w.has(hook) {
				t.Fatal("one is still missing")
			}
		}
		if n := w.count(http.MethodGet, "/hook/deliveries/"); n != flood+1 {
			t.Errorf("%d were fetched, of %d", n, flood+1)
		}
	})
}

// Trouble ends a sweep without losing anything, and is logged once for a stretch.
func TestASweepThatFailsIsMadeUpFor(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sim.Fault{
		"signature refused": {PathPattern: "/app/**", Status: 401},
		"outage":            {PathPattern: "/app/**", DropConnection: true},
		"limit":             sim.TooManyRequests(time.Minute),
		"fetching fails":    {PathPattern: "/app/hook/deliveries/*", Status: 503},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newSweeping(t)
				lost := w.Event(repoName, 1, "opened")
				w.Lose(lost, sim.Attempt{Ago: time.Hour, Status: 502})
				fault.Times = 2
				w.Fail(fault)
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					w.channel.NewSweeper(SweepOptions{Inbox: w.store, Ledger: w.store, Dir: w.dir}).Run(ctx, 5*time.Minute)
				}()
				time.Sleep(11 * time.Minute)
				stop()
				<-done
				if !w.has(lost) {
					t.Error("it is still missing")
				}
				if n := w.logs.count("cannot be looked for"); n != 1 {
					t.Errorf("%d log lines of one stretch:\n%s", n, w.logs.text.String())
				}
			})
		})
	}
}

// One delivery that can never be fetched whole does not keep back those that came after it.
func TestADeliveryThatBreaksOffHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sim.Fault{
		"cut": {DropConnection: true}, "half an answer": {Status: 200, Body: `{"id": 1, "guid": "half`}, "answered too late": {Hang: true}, "502": {Status: 502},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newSweeping(t)
				bad, good := w.Event(repoName, 1, "opened"), w.Event(repoName, 1, "synchronize")
				id := w.Lose(bad, sim.Attempt{Ago: time.Hour, Status: 502})
				w.Lose(good, sim.Attempt{Ago: 50 * time.Minute, Status: 502})
				fault.PathPattern, fault.Times = fmt.Sprintf("/app/hook/deliveries/%d", id), -1
				w.Fail(fault)
				for range 5 {
					_ = w.sweep()
					time.Sleep(5 * time.Minute)
				}
				if !w.has(good) {
					t.Error("the other is still missing")
				}
				if n := w.count(http.MethodPost, "/attempts"); n != 1 {
					t.Errorf("%d times asked to send it again", n)
				}
			})
		})
	}
}

// Where little is left of the App's hour, sweeps stand back.
func TestSweepsStandBackWhenLittleIsLeft(t *testing.T) {
	t.Parallel()
	w := newSweeping(t)
	w.channel.app.quota.observe(appQuota, http.Header{
		"X-Ratelimit-Limit": {"5000"}, "X-Ratelimit-Remaining": {"10"}, "X-Ratelimit-Reset": {"4102444800"},
	})
	w.swept()
	if n := len(w.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// Where the last sweep ended is lost or damaged: it begins anew.
func TestAMarkThatIsDamagedIsNoMark(t *testing.T) {
	t.Parallel()
	w := newSweeping(t)
	must(t, os.WriteFile(filepath.Join(w.dir, markFile), []byte(`{"through":`), 0o600))
	w.swept()
	mark, err := readMark(w.dir)
	if err != nil || mark.Through.IsZero() {
		t.Errorf("got %+v, %v", mark, err)
	}
}

// A delivery is found by the id of an attempt and by its own.
func TestHookDeliveryByEitherID(t *testing.T) {
	t.Parallel()
	w := newSweeping(t)
	hook := w.Event(repoName, 1, "opened")
	id := w.Lose(hook, sim.Attempt{Ago: time.Hour})
	for range pageSize {
		w.Lose(w.Event(repoName, 1, "edited"), sim.Attempt{})
	}
	for _, name := range []string{hook.DeliveryID, strconv.FormatInt(id, 10)} {
		got, err := w.channel.HookDelivery(t.Context(), name)
		if err != nil || got.GUID != hook.DeliveryID || string(got.Body) != string(hook.Body) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := w.channel.HookDelivery(t.Context(), "no-such-delivery"); err == nil {
		t.Error("found one that was never sent")
	}
}
