package main_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
	client "github.com/liaison-bot/liaison/gen/api"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Wherever somebody who may decide does, what waited is done once, and every card
// says so; also of approvals that an earlier process asked for.
func TestEverySurfaceDecides(t *testing.T) {
	t.Parallel()
	c := newCircle(t, "")
	c.start()
	for i, tt := range []struct {
		name   string
		decide func(a asked)
	}{
		{"a click in Slack", func(a asked) { a.click(slackAnn, "liaison.approve") }},
		{"a button on GitHub", func(a asked) { a.press("bob", "approve") }},
		{"a comment on GitHub", func(a asked) { a.p.says(a.pull.Number, "ann", "/approve "+a.id) }},
		{"the operator over HTTP", func(a asked) {
			if status := a.operator("approve"); status != http.StatusOK {
				t.Errorf("answered %d", status)
			}
		}},
		{"the command line", func(a asked) {
			cmd := exec.CommandContext(t.Context(), binary, "approvals", "approve", a.id, "--url", a.p.url)
			cmd.Env = append(os.Environ(), "LIAISON_API_TOKEN="+apiToken)
			if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), a.id+" is ") {
				t.Errorf("it prints %s, %v", out, err)
			}
		}},
		{"a click after a restart", func(a asked) {
			c.p.kill()
			c.start()
			a.click(slackBob, "liaison.approve")
		}},
		{"a button after a restart", func(a asked) {
			c.p.kill()
			c.start()
			a.press("ann", "approve")
		}},
	} {
		a := c.ask("topic-" + itoa(i))
		a.circle = c
		tt.decide(a)
		a.settled(approvals.Done)
		if status := a.operator("deny"); status != http.StatusConflict {
			t.Errorf("%s: the opposite is answered %d afterwards", tt.name, status)
		}
		a.settled(approvals.Done)
		c.answer(a.pull.Number, "The call of `set_labels` was approved")
	}
	// Who is not named decides nothing.
	a := c.ask("refused")
	a.press("mona", "approve")
	a.p.says(a.pull.Number, "mona", "/approve "+a.id)
	a.press("ann", "deny")
	a.settled(approvals.Denied)
	if status := c.p.terminate(); status != 0 {
		t.Errorf("stopped with %d", status)
	}
}

// press has somebody press a button of the check.
func (a asked) press(login, button string) {
	a.t.Helper()
	hook, err := a.hub.PressButton(a.check().ID, login, button)
	if err != nil {
		a.t.Fatal(err)
	}
	a.p.deliver(hook)
}

// Two people have to approve: one of them on two platforms is one.
func TestTheSecondPersonDecidesWhereverTheyAre(t *testing.T) {
	t.Parallel()
	c := newCircle(t, "  minApprovals: 2\n")
	c.start()
	a := c.ask("topic")
	a.press("ann", "approve")
	c.wait("the first approval", func() bool { return strings.Contains(a.check().Summary, "1 of 2") })
	slackWait(t, c.slack, "the first approval in Slack", func() bool { return strings.Contains(a.direct(slackAnn).Shown, "Approved by") })
	a.click(slackAnn, "liaison.approve")
	slackWait(t, c.slack, "the answer to Ann's second", func() bool {
		for _, m := range c.slack.Messages(c.slack.DirectChannelOf(slackAnn)) {
			if m.EphemeralTo == slackAnn {
				return true
			}
		}
		return false
	})
	if r := c.p.approval(a.id); r.State != approvals.Approving || len(r.Votes) != 1 {
		t.Errorf("one person on two platforms: it is %s with %d votes", r.State, len(r.Votes))
	}
	a.click(slackBob, "liaison.approve")
	if r := a.settled(approvals.Done); len(r.Votes) != 2 {
		t.Errorf("it has %d votes", len(r.Votes))
	}
	c.p.terminate()
}

// What nobody needs any more is not asked of people.
func TestWhatIsOverIsCancelled(t *testing.T) {
	t.Parallel()
	c := newCircle(t, "")
	c.start()
	closed := c.ask("closed")
	c.hub.ClosePullRequest(repo, closed.pull.Number)
	c.p.deliver(c.hub.Event(repo, closed.pull.Number, "closed"))
	closed.settled(approvals.Cancelled)
	stopped := c.ask("stopped")
	c.p.says(stopped.pull.Number, "ann", "/liaison stop")
	stopped.settled(approvals.Cancelled)
	c.p.terminate()
}

// An executable of the agent's folder runs once a person has agreed, with the input
// that they saw, and in a dry run not at all.
func TestAnExecutableWaitsForAPerson(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the tool is a shell script")
	}
	c := newShipping(t)
	c.start()
	dry := true
	started, err := c.p.as(apiToken).StartSessionWithResponse(t.Context(), client.StartRequest{Message: "ship it", DryRun: &dry})
	if err != nil || started.JSON200 == nil {
		t.Fatalf("start: %v, %s", err, started.Body)
	}
	said := fmt.Sprint(c.p.follow(apiToken, started.JSON200.SessionId, 0, "session.waiting"))
	if !strings.Contains(said, "stubbed") || strings.Contains(said, "approval_id") {
		t.Errorf("a dry run says %s", said)
	}
	root, card := c.askToShip()
	if done := c.shipped(); done != "" {
		t.Errorf("before anybody has decided: %s", done)
	}
	c.p.kill()
	c.start()
	c.slack.Click(slackChannel, card, slackAnn, "liaison.approve")
	slackWait(t, c.slack, "what the agent says of it", func() bool {
		for _, m := range c.slack.Thread(slackChannel, root) {
			if m.ByApp && strings.Contains(m.Shown, "It is out.") {
				return true
			}
		}
		return false
	})
	if done := c.shipped(); strings.Count(done, "\n") != 1 || !strings.HasPrefix(done, "apr_") || !strings.Contains(done, `{"service":"shop"}`) {
		t.Errorf("it ran with %q", done)
	}
	c.p.terminate()
}

// Nobody knows what an executable did whose end was not stored. It is not run again,
// and its card says so.
func TestAnExecutableCutShortIsNotRepeated(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the tool is a shell script")
	}
	for _, again := range []string{"", "approval.unknown.storing", "approval.unknown.stored"} {
		t.Run(again, func(t *testing.T) {
			t.Parallel()
			cutShort(t, again)
		})
	}
}

// cutShort kills the service while an executable runs, and the next one at a point
// of its own, if any.
func cutShort(t *testing.T, again string) {
	c := newShipping(t)
	var err error
	if c.binary, err = withFailpoints(); err != nil {
		t.Fatalf("build the program with failpoints: %v", err)
	}
	c.start("LIAISON_FAILPOINT=approval.ran")
	root, card := c.askToShip()
	c.slack.Click(slackChannel, card, slackAnn, "liaison.approve")
	c.dies()
	if again != "" {
		c.diesAtItsStart(again)
	}
	c.start()
	slackWait(t, c.slack, "the card that says so", func() bool {
		for _, m := range c.slack.Thread(slackChannel, root) {
			if m.TS == card {
				return strings.Contains(m.Shown, "not repeated") && !strings.Contains(string(m.Blocks), "liaison.approve")
			}
		}
		return false
	})
	if done := c.shipped(); strings.Count(done, "\n") != 1 {
		t.Errorf("it ran with %q", done)
	}
	c.p.terminate()
}

// newShipping is a circle whose agent ships what it is asked to.
func newShipping(t *testing.T) *circle {
	c := newCircle(t, "")
	model := chattest.Start(t)
	model.Decide(func(asked chattest.Request) chattest.Turn {
		switch last := asked.Last(); {
		case strings.Contains(last.Text(), "was approved by"):
			return chattest.Say("It is out.")
		case last.Role == "user":
			return chattest.Call("ship", `{"service":"shop"}`)
		default:
			return chattest.Say("Heard: " + last.Text())
		}
	})
	c.env = append(c.env, "OPENAI_BASE_URL="+model.URL, "OPENAI_API_KEY="+chattest.Key)
	return c
}

// askToShip returns the thread that asks, and the card in it.
func (c *circle) askToShip() (root, card string) {
	root = c.slack.Mention(slackChannel, slackBob, "ship it").TS
	slackWait(c.t, c.slack, "the card", func() bool {
		for _, m := range c.slack.Thread(slackChannel, root) {
			if strings.Contains(string(m.Blocks), "liaison.approve") {
				card = m.TS
			}
		}
		return card != ""
	})
	return root, card
}

// shipped is what the tool wrote down each time that it ran.
func (c *circle) shipped() string {
	found, err := filepath.Glob(filepath.Join(c.dir, "tools", "*", "shipped"))
	if err != nil || len(found) == 0 {
		return ""
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		c.t.Error(err)
	}
	return string(data)
}
