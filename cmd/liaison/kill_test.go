package main_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
)

// kill -9 during the second review, with all that can be in its way: the
// comment is still edited in place, and each head has one concluded check.
func TestKillDuringTheSecondReview(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	moment := func(most time.Duration) time.Duration { return time.Duration(random.Int64N(int64(most))) }
	for i := range soakOr(1, 25) {
		for _, tt := range []struct {
			name              string
			twice, lost, slow bool
		}{
			{name: "once"},
			{name: "twice", twice: true},
			{name: "lost answers", lost: true},
			{name: "slow", slow: true},
			{name: "everything", twice: true, lost: true, slow: true},
		} {
			after, again := moment(time.Second), moment(500*time.Millisecond)
			t.Run(fmt.Sprintf("%s %d seed %d after %s and %s", tt.name, i, seed, after, again), func(t *testing.T) {
				w := newWorld(t)
				p := w.serve()
				pull := w.open("Survive")
				p.deliver(w.hub.Event(repo, pull.Number, "opened"))
				_, first := w.reviewed(pull.Number, pull.HeadSHA)
				if tt.lost {
					for _, path := range []string{"/repos/*/*/check-runs", "/repos/*/*/check-runs/*", "/repos/*/*/issues/comments/*"} {
						w.hub.Fail(sim.Fault{Method: http.MethodPost, PathPattern: path, Status: http.StatusBadGateway, AfterEffect: true})
						w.hub.Fail(sim.Fault{Method: http.MethodPatch, PathPattern: path, Status: http.StatusBadGateway, AfterEffect: true})
					}
				}
				if tt.slow {
					w.hub.Fail(sim.Fault{Times: -1, Hook: func(sim.RecordedRequest) { <-time.After(20 * time.Millisecond) }})
				}
				head := w.hub.Push(repo, pull.Number, map[string]sim.Change{"more.go": sim.Write("package main\n\nvar more = 1\n")})
				p.deliver(w.hub.Event(repo, pull.Number, "synchronize"))
				<-time.After(after)
				p.kill()
				if tt.twice {
					p = w.serve()
					<-time.After(again)
					p.kill()
				}
				p = w.serve()
				_, second := w.reviewed(pull.Number, head)
				p.terminate()
				w.once(pull.Number, head)
				w.once(pull.Number, pull.HeadSHA)
				if second.ID != first.ID {
					t.Errorf("comment %d became %d", first.ID, second.ID)
				}
				orphans(t, w.dir)
			})
		}
	}
}

// The bridge is killed whenever it shows. The review comes, or the check says
// what happened and how to run it again.
func TestKilledBridgeEndsVisibly(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("children are found in /proc")
	}
	for i := range soakOr(2, 30) {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			w := newWorld(t)
			p := w.serve()
			pull := w.open("Without a bridge")
			stop := make(chan struct{})
			var killer sync.WaitGroup
			killer.Go(func() {
				for tick := time.NewTicker(time.Duration(1+10*i%100) * time.Millisecond); ; {
					select {
					case <-stop:
						return
					case <-tick.C:
						p.killChildren()
					}
				}
			})
			p.deliver(w.hub.Event(repo, pull.Number, "opened"))
			check := w.concluded(pull.HeadSHA, 1)
			close(stop)
			killer.Wait()
			if check.Conclusion == "failure" && (!strings.Contains(check.Summary, "bridge") || !strings.Contains(check.Summary, "To run it again")) {
				t.Errorf("the check says %s", check.Summary)
			}
			// And the next one is reviewed.
			head := w.hub.Push(repo, pull.Number, map[string]sim.Change{"more.go": sim.Write("package main\n\nvar more = 1\n")})
			p.deliver(w.hub.Event(repo, pull.Number, "synchronize"))
			w.reviewed(pull.Number, head)
			p.terminate()
			orphans(t, w.dir)
		})
	}
}

// killChildren kills what the service has started.
func (p *process) killChildren() {
	parent := fmt.Sprintf("\nPPid:\t%d\n", p.Process.Pid)
	paths, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, path := range paths {
		status, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(status), parent) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			if child, err := os.FindProcess(pid); err == nil {
				_ = child.Kill()
			}
		}
	}
}

// Bridges that are none: the check says what is wrong and how to run it again.
func TestBrokenBridgesEndVisibly(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the bridges are shell scripts")
	}
	for name, tt := range map[string]struct {
		script string
		reason string
	}{
		"no program":      {"not a program\n", "exec format error"},
		"leaves at once":  {"#!/bin/sh\necho the licence has run out >&2\nexit 3\n", "the licence has run out"},
		"prints rubbish":  {"#!/bin/sh\nhead -c 300000 /dev/urandom >&2\nexit 4\n", "exit status 4"},
		"never ready":     {"#!/bin/sh\nexec sleep 1000\n", "longer than 3s"},
		"talks for ever":  {"#!/bin/sh\nwhile :; do echo nonsense >&2; sleep 0.1; done\n", "longer than 3s"},
		"ignores SIGTERM": {"#!/bin/sh\ntrap '' TERM INT\nwhile :; do sleep 0.1; done\n", "longer than 3s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			bin := filepath.Join(t.TempDir(), "bridge")
			if err := os.WriteFile(bin, []byte(tt.script), 0o755); err != nil {
				t.Fatal(err)
			}
			p := w.serve("CURSOR_SDK_BRIDGE_BIN="+bin, "LIAISON_TURN_TIMEOUT=3s")
			pull := w.open("Without a bridge")
			p.deliver(w.hub.Event(repo, pull.Number, "opened"))
			check := w.concluded(pull.HeadSHA, 1)
			if check.Conclusion != "failure" || !strings.Contains(check.Summary, tt.reason) || !strings.Contains(check.Summary, "To run it again") {
				t.Errorf("%s: %s", check.Conclusion, check.Summary)
			}
			if status := p.terminate(); status != 0 {
				t.Errorf("stopped with %d", status)
			}
			orphans(t, w.dir)
		})
	}
}

// What was acknowledged before or during a stop is reviewed after it.
func TestStopWhileDeliveriesArrive(t *testing.T) {
	t.Parallel()
	for i := range soakOr(1, 20) {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			w := newWorld(t)
			p := w.serve()
			pulls := w.openMany(24)
			acknowledged := make([]bool, len(pulls))
			some := make(chan struct{}, len(pulls))
			var senders sync.WaitGroup
			for k, pull := range pulls {
				senders.Go(func() {
					<-time.After(time.Duration(k) * 15 * time.Millisecond)
					ctx, cancel := context.WithTimeout(context.Background(), patience)
					defer cancel()
					status, err := w.hub.Deliver(ctx, p.url+"/webhooks/github", w.hub.Event(repo, pull.Number, "opened"))
					acknowledged[k] = err == nil && status == http.StatusAccepted
					some <- struct{}{}
				})
			}
			for range 1 + i%len(pulls) {
				<-some
			}
			if status := p.terminate(); status != 0 {
				t.Errorf("stopped with %d", status)
			}
			senders.Wait()
			p = w.serve()
			for k, pull := range pulls {
				if acknowledged[k] {
					w.reviewed(pull.Number, pull.HeadSHA)
				}
			}
			p.terminate()
			orphans(t, w.dir)
		})
	}
}

// openMany opens pull requests that differ in one file each.
func (w *world) openMany(n int) []*sim.PullRequest {
	var pulls []*sim.PullRequest
	for i := range n {
		pulls = append(pulls, w.hub.OpenPullRequest(repo, sim.NewPullRequest{
			Title: "One of many", Author: "mona", Branch: fmt.Sprintf("topic-%d", i),
			Files: map[string]sim.Change{fmt.Sprintf("f%d.go", i): sim.Write("package main\n")},
		}))
	}
	return pulls
}
