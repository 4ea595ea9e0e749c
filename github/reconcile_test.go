package github

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// reconciling is a world with sessions on file.
type reconciling struct {
	*sweeping
	r *Reconciler
}

func newReconciling(t *testing.T) *reconciling {
	t.Helper()
	w := &reconciling{sweeping: newSweeping(t)}
	w.r = w.channel.NewReconciler(ReconcileOptions{Sessions: w.store, Inbox: w.store})
	return w
}

// session stores a session about the world's pull request as it is now, with a
// turn that has ended.
func (w *reconciling) session(n int, change func(*state.Session, *state.Turn)) {
	w.t.Helper()
	r := w.request()
	s := state.Session{
		ID: fmt.Sprintf("ses_%04d", n), Channel: Name, Key: fmt.Sprintf("%s:%d", r.key(), n), Status: state.SessionActive,
		Revision: state.Revision{ID: r.Head, At: time.Now()}, CreatedAt: time.Now(), UpdatedAt: time.Now(),
	}
	turn := state.Turn{
		ID: fmt.Sprintf("trn_%04d", n), SessionID: s.ID, Channel: Name, Status: state.TurnCompleted, Request: r.encode(),
		Attempts: 1, EndedAt: time.Now(),
	}
	if change != nil {
		change(&s, &turn)
	}
	_, err := w.store.Commit(w.t.Context(), state.Change{
		Sessions: []state.Session{s}, Turns: []state.Turn{turn}, Keys: []state.KeyLink{{Key: s.Key, SessionID: s.ID}},
	})
	must(w.t, err)
}

func (w *reconciling) pass() {
	w.t.Helper()
	must(w.t, w.r.Pass(w.t.Context()))
}

// told are the deliveries that were made up for.
func (w *reconciling) told() []state.StoredDelivery {
	w.t.Helper()
	all, err := w.store.Pending(w.t.Context(), 0, 1000)
	must(w.t, err)
	return all
}

// https://github.com/palantir/policy-bot/issues/960: what nobody told of stays
// as it was until somebody looks.
func TestAPushWithoutADeliveryIsFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newReconciling(t)
		w.session(1, nil)
		w.pass()
		if got := w.told(); len(got) != 0 {
			t.Fatalf("nothing happened, and it is told of: %+v", got)
		}
		before := w.pull.HeadSHA
		head := w.Push(repoName, w.pull.Number, map[string]sim.Change{"b": {Content: "b\n"}})
		w.pass()
		if got := w.told(); len(got) != 0 {
			t.Fatal("its delivery may be on its way, and it is told of")
		}
		time.Sleep(eventsLate)
		w.pass()
		w.pass()
		got := w.told()
		if len(got) != 1 {
			t.Fatalf("%d deliveries", len(got))
		}
		d := sessions.Delivery{Source: got[0].Source, ID: got[0].ID, Event: got[0].Event, Body: got[0].Body, ReceivedAt: got[0].ReceivedAt}
		in, err := Map(d, w.channel.app.self())
		must(t, err)
		r := w.request()
		if in.Action != sessions.ActionRun || in.Key != r.key() || in.Revision.ID != head || in.Revision.Previous != before {
			t.Errorf("it means %+v", in)
		}
		req, err := parseRequest(in.Request)
		if err != nil || req.Installation != installation || req.FullName != repoName || req.Head != head {
			t.Errorf("it asks for %+v, %v", req, err)
		}
		// The delivery that comes late all the same means the same.
		late := w.Event(repoName, w.pull.Number, "synchronize")
		again, err := Map(sessions.Delivery{Source: Name, ID: late.DeliveryID, Event: late.Event, Body: late.Body}, w.channel.app.self())
		must(t, err)
		if again.Fact != in.Fact {
			t.Errorf("told as %s, known as %s", in.Fact, again.Fact)
		}
	})
}

func TestACloseWithoutADeliveryIsFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newReconciling(t)
		w.session(1, nil)
		w.session(2, func(s *state.Session, _ *state.Turn) { s.Status = state.SessionArchived })
		w.ClosePullRequest(repoName, w.pull.Number)
		w.pass() // the first: there was nobody to take a delivery
		got := w.told()
		if len(got) != 1 {
			t.Fatalf("%d deliveries", len(got))
		}
		in, err := Map(sessions.Delivery{Source: Name, ID: got[0].ID, Event: got[0].Event, Body: got[0].Body}, w.channel.app.self())
		must(t, err)
		if in.Action != sessions.ActionArchive {
			t.Errorf("it means %+v", in)
		}
	})
}

// Comparing costs nothing of the hour while nothing changes, and stands back
// where little of it is left.
func TestComparingIsCheap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newReconciling(t)
		w.session(1, nil)
		w.pass()
		used := w.used()
		for range 5 {
			w.pass()
		}
		if more := w.used() - used; more != 0 {
			t.Errorf("%d requests count against the limit", more)
		}
		asked := len(w.Requests())
		w.SetRateLimit(100, time.Now().Add(time.Hour))
		w.pass() // learns how little is left
		w.ForgetRequests()
		w.pass()
		if asked == 0 || len(w.Requests()) != 0 {
			t.Errorf("%d requests although little is left", len(w.Requests()))
		}
	})
}

// A pass is bounded, and the next one goes on where it ended; what cannot be
// compared holds up nothing.
func TestManySessionsAreComparedInSeveralPasses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newReconciling(t)
		const all = maxReconciled + 50
		for n := range all {
			w.session(n, func(s *state.Session, turn *state.Turn) {
				if n%10 == 0 {
					turn.Request = []byte(`{}`)
				}
				if n == 3 {
					s.UpdatedAt = time.Now().Add(-reconcileRecent - time.Hour)
				}
			})
		}
		w.pass()
		first := w.count(http.MethodGet, "/pulls/")
		w.pass()
		both := w.count(http.MethodGet, "/pulls/")
		if first != maxReconciled*9/10 || both != all*9/10-1 {
			t.Errorf("%d pull requests in the first pass, %d in both", first, both)
		}
	})
}

// A check that a turn left in progress is ended, once nobody else will.
func TestACheckThatWasLeftInProgressIsEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change     func(*state.Session, *state.Turn)
		owed       bool
		conclusion string // empty: it is left alone
	}{
		"failed":     {func(_ *state.Session, turn *state.Turn) { turn.Status, turn.Reason = state.TurnFailed, "no model" }, false, "failure"},
		"completed":  {func(*state.Session, *state.Turn) {}, false, "cancelled"},
		"still owed": {func(*state.Session, *state.Turn) {}, true, ""},
		"a moment ago": {func(_ *state.Session, turn *state.Turn) {
			turn.EndedAt = time.Now().Add(time.Hour)
		}, false, ""},
		"still running": {func(_ *state.Session, turn *state.Turn) {
			turn.Status, turn.EndedAt = state.TurnQueued, time.Time{}
		}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newReconciling(t)
				turn := w.turn("trn_0001")
				w.mustDeliver(w.items(turn, started)...)
				w.session(1, func(s *state.Session, turn *state.Turn) {
					s.Surface = w.surface
					c.change(s, turn)
				})
				if c.owed {
					_, err := w.store.Commit(t.Context(), state.Change{Outbox: []state.OutboxItem{{ID: "trn_0001/check-ended", SessionID: "ses_0001", TurnID: "trn_0001", Channel: Name, Kind: kindCheck}}})
					must(t, err)
				}
				time.Sleep(leftOpen)
				w.pass()
				w.pass()
				got := w.checks()
				want := "in_progress"
				if c.conclusion != "" {
					want = "completed"
				}
				if len(got) != 1 || got[0].Status != want || got[0].Conclusion != c.conclusion {
					t.Errorf("got %+v", got)
				}
				if n := w.count(http.MethodPatch, "/check-runs/"); c.conclusion != "" && n != 1 {
					t.Errorf("it was written %d times", n)
				}
				// Another process remembers nothing, and sees it ended.
				w.r = w.channel.NewReconciler(w.r.ReconcileOptions)
				w.ForgetRequests()
				w.pass()
				if n := w.count(http.MethodPatch, "/check-runs/"); n != 0 {
					t.Error("it was ended again")
				}
			})
		})
	}
}

// A mark that is not a check run's id is nobody's check.
func TestAMarkOfSomethingElseIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newReconciling(t)
		w.session(1, func(s *state.Session, _ *state.Turn) {
			s.Surface = map[string]string{rememberCheck: strings.Repeat("x ", 5)}
		})
		time.Sleep(leftOpen)
		w.pass()
		if n := w.count("", "check-runs"); n != 0 {
			t.Errorf("%d requests about checks", n)
		}
	})
}
