package main_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
)

// Deliveries of many pull requests come all at once, twice and in any order:
// each ends with its newest head reviewed, once.
func TestDisorder(t *testing.T) {
	t.Parallel()
	pulls, pushes := soakOr(12, 50), soakOr(4, 19)
	var behind atomic.Int64 // GitHub dates what happens to the second
	behind.Store(int64(pushes))
	w := newWorldAt(t, func() time.Time { return time.Now().Add(-time.Duration(behind.Load()) * time.Second) })
	p := w.serve("LIAISON_MAX_RUNNING_TURNS=4")
	opened := w.openMany(pulls)
	var hooks []sim.Webhook
	for _, pull := range opened {
		hooks = append(hooks, w.hub.Event(repo, pull.Number, "opened"))
	}
	for i := range pushes {
		behind.Add(-1)
		for _, pull := range opened {
			w.hub.Push(repo, pull.Number, map[string]sim.Change{"more.go": sim.Write(fmt.Sprintf("package main\n\nvar more = %d\n", i))})
			hooks = append(hooks, w.hub.Event(repo, pull.Number, "synchronize"))
		}
	}
	hooks = append(hooks, hooks...)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(hooks), func(i, j int) { hooks[i], hooks[j] = hooks[j], hooks[i] })
	var senders sync.WaitGroup
	places := make(chan struct{}, 32)
	for _, hook := range hooks {
		places <- struct{}{}
		senders.Go(func() {
			defer func() { <-places }()
			if status := p.deliver(hook); status != http.StatusAccepted {
				t.Errorf("status %d", status)
			}
		})
	}
	senders.Wait()
	for _, pull := range opened {
		w.reviewed(pull.Number, w.hub.PullRequest(repo, pull.Number).HeadSHA)
	}
	p.terminate()
	for _, pull := range opened {
		w.once(pull.Number, w.hub.PullRequest(repo, pull.Number).HeadSHA)
	}
}

// What people do to a pull request while it is reviewed.
func TestMeanwhile(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(w *world, p *process, pull *sim.PullRequest, goOn func()){
		"closed, then reopened": func(w *world, p *process, pull *sim.PullRequest, goOn func()) {
			w.hub.ClosePullRequest(repo, pull.Number)
			p.deliver(w.hub.Event(repo, pull.Number, "closed"))
			if c := w.concluded(pull.HeadSHA, 1); c.Conclusion != "cancelled" {
				w.t.Errorf("closed: %s", c.Conclusion)
			}
			goOn()
			if n := len(w.hub.Comments(repo, pull.Number)); n != 0 {
				w.t.Errorf("%d comments on a closed pull request", n)
			}
			w.hub.ReopenPullRequest(repo, pull.Number)
			p.deliver(w.hub.Event(repo, pull.Number, "reopened"))
			if c := w.concluded(pull.HeadSHA, 2); c.Conclusion == "cancelled" {
				w.t.Errorf("reopened: %s", c.Conclusion)
			}
		},
		"made a draft, then ready": func(w *world, p *process, pull *sim.PullRequest, goOn func()) {
			w.hub.ConvertToDraft(repo, pull.Number)
			p.deliver(w.hub.Event(repo, pull.Number, "converted_to_draft"))
			if c := w.concluded(pull.HeadSHA, 1); c.Conclusion != "cancelled" {
				w.t.Errorf("made a draft: %s", c.Conclusion)
			}
			goOn()
			w.hub.MarkReady(repo, pull.Number)
			p.deliver(w.hub.Event(repo, pull.Number, "ready_for_review"))
			w.concluded(pull.HeadSHA, 2)
		},
		"force push": func(w *world, p *process, pull *sim.PullRequest, goOn func()) {
			head := w.hub.ForcePush(repo, pull.Number, map[string]sim.Change{"main.go": sim.Write("package main\n\nvar other = 1\n")})
			p.deliver(w.hub.Event(repo, pull.Number, "synchronize"))
			if c := w.concluded(pull.HeadSHA, 1); c.Conclusion != "cancelled" {
				w.t.Errorf("the old head: %s", c.Conclusion)
			}
			goOn()
			w.reviewed(pull.Number, head)
		},
		"tokens revoked": func(w *world, _ *process, pull *sim.PullRequest, goOn func()) {
			w.hub.RevokeTokens()
			goOn()
			w.reviewed(pull.Number, pull.HeadSHA)
		},
		"head repository deleted": func(w *world, _ *process, pull *sim.PullRequest, goOn func()) {
			w.hub.DeleteHeadRepository(repo, pull.Number)
			goOn()
			w.reviewed(pull.Number, pull.HeadSHA)
		},
		"renamed": func(w *world, _ *process, pull *sim.PullRequest, goOn func()) {
			const moved = "octo/store"
			w.hub.Rename(repo, moved)
			goOn()
			w.wait("the review under the new name", func() bool {
				checks := w.hub.CheckRuns(moved, pull.HeadSHA)
				return len(checks) == 1 && checks[0].Status == "completed" && len(w.hub.Comments(moved, pull.Number)) == 1
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			gate := make(chan struct{})
			w.hub.Fail(sim.Fault{Method: http.MethodGet, PathPattern: "/repos/*/*/pulls/*/files", Gate: gate})
			p := w.serve()
			pull := w.open("Meanwhile")
			p.deliver(w.hub.Event(repo, pull.Number, "opened"))
			w.wait("the check", func() bool { return len(w.hub.CheckRuns(repo, pull.HeadSHA)) == 1 })
			do(w, p, pull, func() { close(gate) })
			if status := p.terminate(); status != 0 {
				t.Errorf("stopped with %d", status)
			}
			orphans(t, w.dir)
		})
	}
}
