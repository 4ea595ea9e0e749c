package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/sim"
)

// circle is a service on both platforms whose agent has tools that wait for people.
type circle struct {
	*world
	slack *sim.Slack
	env   []string
	p     *process
}

// newCircle returns a world with an agent's folder, of whose agent.yaml the policy
// is given beside the people: ann on both platforms, and bob.
func newCircle(t *testing.T, policy string) *circle {
	t.Helper()
	w := newWorld(t)
	s, acme := workspace(t)
	for _, login := range []string{"mona", "ann", "bob"} {
		w.hub.SetPermission(repo, login, "write")
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"agent.yaml":                 "approvals:\n  approvers:\n    slack: [" + slackAnn + ", " + slackBob + "]\n    github: [ann, bob]\n  holdFor: 0s\n" + policy,
		"instructions.md":            "Review.\n",
		"tools/set_labels/tool.yaml": "host: true\nneedsApproval: true\n",
		"tools/ship/tool.yaml": "description: Ship it.\nneedsApproval: true\ninputSchema: {type: object, properties: {service: {type: string}}}\n" +
			"dryRunResult: {shipped: false}\n",
		"tools/ship/run": "#!/bin/sh\necho \"$LIAISON_APPROVAL_ID $(cat)\" >> \"$LIAISON_TOOL_DIR/shipped\"\necho shipped\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return &circle{world: w, slack: s, env: []string{
		"SLACK_SIGNING_SECRET=" + webhookSecret, "SLACK_BOT_TOKEN=" + acme.BotToken, "SLACK_API_URL=" + s.URL(),
		"LIAISON_AGENT_DIR=" + dir, "LIAISON_PEOPLE=" + slackAnn + "=ann," + slackBob + "=bob",
	}}
}

// start starts the service, and has Slack tell it what happens.
func (c *circle) start(extra ...string) {
	c.t.Helper()
	c.p = c.serveAPI(append(slices.Clone(c.env), extra...)...)
	c.slack.SetTarget(c.p.url + "/webhooks/slack")
}

// asked is a call that waits for people: the label that a review asks for.
type asked struct {
	*circle
	pull *sim.PullRequest
	id   string
}

// opened opens a pull request of mona's that changes how software is deployed. The
// delivery may be lost.
func (c *circle) opened(branch string) (*sim.PullRequest, sim.Webhook) {
	pull := c.hub.OpenPullRequest(repo, sim.NewPullRequest{
		Title: "Deploy " + branch, Author: "mona", Branch: branch, Files: map[string]sim.Change{"Dockerfile": sim.Write("FROM scratch\n")},
	})
	return pull, c.hub.Event(repo, pull.Number, "opened")
}

// ask has a review ask for a label, and waits until everybody who may decide sees it.
func (c *circle) ask(branch string) asked {
	c.t.Helper()
	pull, hook := c.opened(branch)
	c.p.deliver(hook)
	a := asked{circle: c, pull: pull}
	c.wait("the card of "+branch, func() bool {
		a.id = a.check().ExternalID
		return a.id != ""
	})
	slackWait(c.t, c.slack, "the cards in Slack", func() bool { return a.direct(slackAnn).TS != "" && a.direct(slackBob).TS != "" })
	return a
}

// check is the card on GitHub, the zero value before it is there.
func (a asked) check() sim.CheckRun {
	runs := a.hub.CheckRuns(repo, a.pull.HeadSHA)
	i := slices.IndexFunc(runs, func(c sim.CheckRun) bool { return strings.HasPrefix(c.Name, "Liaison approval: ") })
	if i < 0 {
		return sim.CheckRun{}
	}
	return runs[i]
}

// direct is the card in the direct messages with somebody.
func (a asked) direct(user string) sim.SlackMessage {
	for _, m := range a.slack.Messages(a.slack.DirectChannelOf(user)) {
		if strings.Contains(m.Shown, a.id) {
			return m
		}
	}
	return sim.SlackMessage{}
}

// click has somebody press a button of their card in Slack.
func (a asked) click(user, action string) {
	a.slack.Click(a.slack.DirectChannelOf(user), a.direct(user).TS, user, action)
}

// record is what the service says of an approval.
type record struct {
	ID, SessionID string
	State         approvals.State
	Votes         []struct{ By, Place string }
	ExpiresAt     time.Time
}

func (p *process) approval(id string) (r record) {
	p.w.t.Helper()
	status, body := send(p.w.t, http.MethodGet, p.url+"/v1/approvals/"+id, "", map[string]string{"Authorization": "Bearer " + apiToken})
	answer := struct{ Approval *record }{&r}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK {
		p.w.t.Fatalf("%s: %d %s, %v", id, status, body, err)
	}
	return r
}

// operator has the operator decide over HTTP, and returns the status.
func (a asked) operator(decision string) int {
	status, _ := send(a.t, http.MethodPost, a.p.url+"/v1/session/"+a.p.approval(a.id).SessionID+"/approvals/"+a.id,
		`{"decision":"`+decision+`"}`, map[string]string{"Authorization": "Bearer " + apiToken, "Content-Type": "application/json"})
	return status
}

// ends are what the cards of approvals say that have ended: the check's conclusion,
// and a part of what people read everywhere.
var ends = map[approvals.State]struct{ conclusion, says string }{
	approvals.Done:       {"success", ", and done"},
	approvals.Failed:     {"failure", ", and failed"},
	approvals.Unknown:    {"failure", "whether it happened is not known"},
	approvals.Denied:     {"neutral", "Denied"},
	approvals.Expired:    {"timed_out", "Expired"},
	approvals.Cancelled:  {"cancelled", "Cancelled"},
	approvals.Superseded: {"cancelled", "Not wanted any more"},
}

// settled waits until an approval has ended and every card says so without a button,
// and judges what was done: the label is there if and only if the record says that
// it is, and was set once.
func (a asked) settled(want ...approvals.State) record {
	a.t.Helper()
	var r record
	eventually(a.t, func() bool {
		r = a.p.approval(a.id)
		return r.State.Ended()
	})
	if len(want) > 0 && !slices.Contains(want, r.State) {
		a.t.Errorf("%s is %s, not one of %s", a.id, r.State, want)
	}
	end, known := ends[r.State]
	if !known {
		a.t.Fatalf("%s ended as %s", a.id, r.State)
	}
	a.wait("the card on GitHub of "+a.id, func() bool {
		c := a.check()
		return c.Conclusion == end.conclusion && len(c.Actions) == 0 && strings.Contains(c.Summary, end.says)
	})
	slackWait(a.t, a.slack, "the cards in Slack of "+a.id, func() bool {
		for _, user := range []string{slackAnn, slackBob} {
			if m := a.direct(user); m.TS == "" || strings.Contains(string(m.Blocks), "liaison.") || !strings.Contains(m.Shown, end.says) {
				return false
			}
		}
		return true
	})
	written := 0
	for _, w := range a.hub.Requests() {
		if w.Method == http.MethodPost && strings.HasSuffix(w.Path, "/issues/"+itoa(a.pull.Number)+"/labels") && w.Status < 300 {
			written++
		}
	}
	has := slices.Contains(a.hub.Labels(repo, a.pull.Number), "deployment")
	if written > 1 || has != (written == 1) || r.State == approvals.Done && !has || has && r.State != approvals.Done && r.State != approvals.Unknown {
		a.t.Errorf("it is %s; the label was set %d times, and is there: %t", r.State, written, has)
	}
	cards := 0
	for _, c := range a.hub.CheckRuns(repo, a.pull.HeadSHA) {
		if c.ExternalID == a.id {
			cards++
		}
	}
	if cards != 1 {
		a.t.Errorf("there are %d cards on GitHub", cards)
	}
	return r
}
