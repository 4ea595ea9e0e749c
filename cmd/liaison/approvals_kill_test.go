package main_test

import (
	"context"
	"net/http"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/sim"
)

// withFailpoints is the program that can be killed at a point of its own, built once.
var withFailpoints = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(binary), "liaison-failpoint")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	return path, exec.Command("go", "build", "-tags", "failpoint", "-o", path, ".").Run()
})

// The service is killed before and after each step of an approval. The next one
// brings it to its end: the label is set once, or not, as the record says, and every
// card says the same.
func TestKillAtEachStepOfAnApproval(t *testing.T) {
	t.Parallel()
	approve := func(a asked) sim.Webhook {
		_, hook := a.hub.Comment(repo, a.pull.Number, "ann", "/approve "+a.id)
		return hook
	}
	deny := func(a asked) sim.Webhook {
		_, hook := a.hub.Comment(repo, a.pull.Number, "ann", "/deny "+a.id+"\nNot today.")
		return hook
	}
	leave := func(a asked) sim.Webhook {
		a.hub.ClosePullRequest(repo, a.pull.Number)
		return a.hub.Event(repo, a.pull.Number, "closed")
	}
	refused := func(a asked) sim.Webhook {
		a.hub.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/issues/*/labels", Status: http.StatusForbidden,
			Body: `{"message":"Resource not accessible by integration"}`})
		return approve(a)
	}
	push := func(a asked) sim.Webhook {
		a.hub.Push(repo, a.pull.Number, map[string]sim.Change{"README.md": sim.Write("Run it.\n")})
		return a.hub.Event(repo, a.pull.Number, "synchronize")
	}
	for _, tt := range []struct {
		point, policy string
		decide        func(asked) sim.Webhook // nil lets the time run out
		want          []approvals.State
	}{
		{"approval.asked.storing", "", approve, []approvals.State{approvals.Done}},
		{"approval.asked.stored", "", approve, []approvals.State{approvals.Done}},
		{"approval.parked.storing", "", approve, []approvals.State{approvals.Done}},
		{"approval.parked.stored", "", approve, []approvals.State{approvals.Done}},
		{"approval.card.posted", "", approve, []approvals.State{approvals.Done}},
		// A card may be drawn while the call is made. Whether the label was set can then be
		// looked up; where it was not, that is not repeated.
		{"approval.card.posted:3", "", approve, []approvals.State{approvals.Done, approvals.Failed}},
		{"approval.card.posted:5", "", approve, []approvals.State{approvals.Done, approvals.Failed}},
		{"approval.card.storing", "", approve, []approvals.State{approvals.Done}},
		{"approval.card.stored:2", "", approve, []approvals.State{approvals.Done, approvals.Failed}},
		{"approval.approved.storing", "", approve, []approvals.State{approvals.Done}},
		{"approval.approved.stored", "", approve, []approvals.State{approvals.Done}},
		{"approval.executing.storing", "", approve, []approvals.State{approvals.Done}},
		{"approval.executing.stored", "", approve, []approvals.State{approvals.Done, approvals.Failed}},
		{"approval.ran", "", approve, []approvals.State{approvals.Done}},
		{"approval.done.storing", "", approve, []approvals.State{approvals.Done}},
		{"approval.done.stored", "", approve, []approvals.State{approvals.Done}},
		{"approval.voted.storing", "  minApprovals: 2\n", approve, []approvals.State{approvals.Done}},
		{"approval.voted.stored", "  minApprovals: 2\n", approve, []approvals.State{approvals.Done}},
		{"approval.denied.storing", "", deny, []approvals.State{approvals.Denied}},
		{"approval.denied.stored", "", deny, []approvals.State{approvals.Denied}},
		{"approval.failed.storing", "", refused, []approvals.State{approvals.Failed}},
		{"approval.failed.stored", "", refused, []approvals.State{approvals.Failed}},
		{"approval.superseded.storing", "", push, []approvals.State{approvals.Superseded}},
		{"approval.superseded.stored", "", push, []approvals.State{approvals.Superseded}},
		{"approval.cancelled.storing", "", leave, []approvals.State{approvals.Cancelled}},
		{"approval.cancelled.stored", "", leave, []approvals.State{approvals.Cancelled}},
		{"approval.reminded.storing", "  expiresAfter: 4s\n", nil, []approvals.State{approvals.Expired}},
		{"approval.reminded.stored", "  expiresAfter: 4s\n", nil, []approvals.State{approvals.Expired}},
		{"approval.expired.storing", "  expiresAfter: 4s\n", nil, []approvals.State{approvals.Expired}},
		{"approval.expired.stored", "  expiresAfter: 4s\n", nil, []approvals.State{approvals.Expired}},
	} {
		t.Run(tt.point, func(t *testing.T) {
			t.Parallel()
			c := newCircle(t, tt.policy)
			var err error
			if c.binary, err = withFailpoints(); err != nil {
				t.Fatalf("build the program with failpoints: %v", err)
			}
			c.start("LIAISON_FAILPOINT=" + tt.point)
			pull, hook := c.opened("topic")
			a := asked{circle: c, pull: pull}
			hooks := []sim.Webhook{hook}
			c.try(hook)
			decide := func() {
				if tt.decide == nil || len(hooks) > 1 {
					return
				}
				eventually(t, func() bool { // the card is there, or the process has ended
					a.id = a.check().ExternalID
					return a.id != "" && len(a.check().Actions) > 0 || c.isDead()
				})
				if a.id != "" && !c.isDead() {
					hooks = append(hooks, tt.decide(a))
					c.try(hooks[1])
				}
			}
			decide()
			c.dies()
			c.start()
			for _, again := range hooks { // as people do who saw that it failed
				c.try(again)
			}
			decide()
			if strings.Contains(tt.policy, "minApprovals") {
				eventually(t, func() bool { return len(a.p.approval(a.id).Votes) == 1 })
				a.p.says(pull.Number, "bob", "/approve "+a.id)
			}
			c.wait("the card", func() bool {
				a.id = a.check().ExternalID
				return a.id != ""
			})
			a.settled(tt.want...)
			if status := c.p.terminate(); status != 0 {
				t.Errorf("stopped with %d", status)
			}
		})
	}
}

// try posts a delivery to a process that may be dead.
func (c *circle) try(hook sim.Webhook) {
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	_, _ = c.hub.Deliver(ctx, c.p.url+"/webhooks/github", hook) // it is sent again
}

// dies waits until the process has come to its point.
func (c *circle) dies() {
	c.t.Helper()
	select {
	case <-c.p.done:
	case <-time.After(patience):
		c.t.Fatal("the process does not come to the point")
	}
}

// diesAtItsStart runs the service until it has come to a point, which may be before
// anybody can ask it anything.
func (c *circle) diesAtItsStart(point string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	service := exec.CommandContext(ctx, c.binary, "serve")
	service.Env = c.environment(append(slices.Clone(c.env), "LIAISON_API_TOKEN="+apiToken, "LIAISON_FAILPOINT="+point)...)
	service.Dir, service.Stderr, service.WaitDelay = c.t.TempDir(), c.log, 10*time.Second
	if err := service.Run(); ctx.Err() != nil || err == nil {
		c.t.Fatalf("the process does not come to the point: %v", err)
	}
}

func (c *circle) isDead() bool {
	select {
	case <-c.p.done:
		return true
	default:
		return false
	}
}
