package main_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
)

// A service that was down when GitHub called takes the delivery in when it is
// back, with nobody's help (https://github.com/kubernetes/test-infra/issues/2640).
func TestADeliveryThatWasMissedIsTakenInAtTheStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.open("A change")
	w.hub.Lose(w.hub.Event(repo, pull.Number, "opened"), sim.Attempt{Ago: time.Hour, Status: http.StatusBadGateway})
	w.serve()
	w.reviewed(pull.Number, pull.HeadSHA)
}

// A process that is killed, at work or at rest, and a push of which no delivery
// ever tells: the next process comes to the right end by itself
// (https://github.com/palantir/policy-bot/issues/960).
func TestWhatNoDeliveryToldOfIsFoundAfterAKill(t *testing.T) {
	t.Parallel()
	for _, atWork := range []bool{true, false} {
		w := newWorld(t)
		pull := w.open("A change")
		p := w.serve()
		if status := p.deliver(w.hub.Event(repo, pull.Number, "opened")); status != http.StatusAccepted {
			t.Fatalf("status %d", status)
		}
		if atWork {
			w.wait("a turn under way", func() bool { return len(w.hub.CheckRuns(repo, pull.HeadSHA)) == 1 })
		} else {
			w.reviewed(pull.Number, pull.HeadSHA)
		}
		p.kill()
		head := w.hub.Push(repo, pull.Number, map[string]sim.Change{"more.go": sim.Write("package main\n")})
		p = w.serve()
		w.reviewed(pull.Number, head)
		w.concluded(pull.HeadSHA, 1)
		p.kill()
	}
}
