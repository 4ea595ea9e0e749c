package slack

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// A listed person approves by a click, which their own card confirms.
func TestApproveByAClick(t *testing.T) {
	t.Parallel()
	w := newBook(t, with(func(s *Settings) { s.People = map[string]string{bob: "bobcat"} }))
	r := w.asks(`{}`)
	in := w.click(r.ID, bob, actionApprove)
	w.wantState(r.ID, approvals.Approved)
	got := w.record(r.ID).Decision
	if got.By != (approvals.Identity{Principal: "slack:user:T0ACME:U0BOB", Slack: bob, GitHub: "bobcat"}) || got.Place != Name {
		t.Errorf("decided by %+v", got)
	}
	if !in.Urgent || in.Ballot.Channel != Name || in.Ballot.Ref != r.Cards[0].Ref {
		t.Errorf("the ballot is %+v", in.Ballot)
	}
	if heard := w.hears(general, bob); len(heard) != 0 {
		t.Errorf("beside the card, Bob is told %q", heard)
	}
}

// Deny asks for a reason, and decides nothing before that was sent.
func TestDenyByAWindow(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(`{}`)
	w.click(r.ID, bob, actionDeny)
	view, open := w.View(bob)
	if !open || view.Title != "Deny" || !strings.Contains(view.PrivateMetadata, r.ID) {
		t.Fatalf("the window is %+v", view)
	}
	w.CloseView(bob)
	w.wantState(r.ID, approvals.Pending)
	w.click(r.ID, bob, actionDeny)
	w.Submit(bob, map[string]map[string]any{inputReason: {inputReason: "not on a Friday"}})
	w.decide(w.last("view_submission"))
	w.wantState(r.ID, approvals.Denied)
	if got := w.record(r.ID).Decision; got.Reason != "not on a Friday" {
		t.Errorf("the reason is %q", got.Reason)
	}
	w.drawCards(r.ID)
	wantIn(t, "card", w.cardMessage(r.ID, 0).Shown, "not on a Friday")
}

// A reason is optional.
func TestDenyWithoutAReason(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(`{}`)
	w.click(r.ID, bob, actionDeny)
	w.Submit(bob, nil)
	w.decide(w.last("view_submission"))
	w.wantState(r.ID, approvals.Denied)
}

// "Show all" shows everything with the whole hash, and approves.
func TestApproveInTheWindow(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(argument(5000))
	if blocks := string(w.cardMessage(r.ID, 0).Blocks); strings.Contains(blocks, actionApprove) {
		t.Errorf("what cannot be read can be approved: %s", blocks)
	}
	w.click(r.ID, bob, actionShow)
	view, open := w.View(bob)
	if !open || view.Submit != "Approve" {
		t.Fatalf("the window is %+v", view)
	}
	wantIn(t, "window", view.Shown, r.InputHash)
	w.Submit(bob, nil)
	w.decide(w.last("view_submission"))
	w.wantState(r.ID, approvals.Approved)
	w.click(r.ID, bob, actionShow)
	if view, _ := w.View(bob); view.Submit != "" {
		t.Errorf("what is decided can be approved again: %+v", view)
	}
}

// Who may not decide hears why, alone, whatever they are; the card stays open.
func TestWhoMayNotDecide(t *testing.T) {
	t.Parallel()
	all := []string{bob, cleo, gus, solo, gone, otto, robot, ann}
	for user, why := range map[string]string{
		gus: "Guests", solo: "Guests", gone: "does not exist", otto: "another organisation", robot: "Only people", ann: "You asked for it yourself",
		"U0DEE": "not among those who may decide. May decide:",
	} {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			w := newBook(t)
			w.people()
			w.AddUser(sim.SlackUser{ID: "U0DEE", Team: team})
			w.EditChannel(general, func(c *sim.SlackChannel) {
				c.SharedWith, c.Members = []string{"T0OTHER"}, append(c.Members, gus, solo, gone, otto, robot, "U0DEE")
			})
			r := w.asks(`{}`, func(r *approvals.Record) { r.Policy.Approvers.Slack = all })
			w.click(r.ID, user, actionApprove)
			w.wantState(r.ID, approvals.Pending)
			w.wantTold(user, why)
		})
	}
}

// An empty list lets nobody decide.
func TestNobodyIsListed(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(`{}`, func(r *approvals.Record) { r.Policy.Approvers = approvals.Approvers{} })
	w.click(r.ID, bob, actionApprove)
	w.wantState(r.ID, approvals.Pending)
	w.wantTold(bob, "You are not among those who may decide.", "only the operator")
}

// What Slack does not tell lets nobody decide; once it does, the same click counts.
func TestWhoDecidesCannotBeFoundOut(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(`{}`, func(r *approvals.Record) { r.Policy.Approvers = approvals.Approvers{SlackGroups: []string{"S0DEPLOY"}} })
	w.AddUserGroup(sim.SlackUserGroup{ID: "S0DEPLOY", Team: team, Handle: "deployers", Users: []string{bob}})
	for _, method := range []string{"users.info", "usergroups.users.list"} {
		w.Fail(sim.SlackFault{Method: method, Error: "internal_error"})
		w.click(r.ID, bob, actionApprove)
		w.wantState(r.ID, approvals.Pending)
	}
	for _, heard := range w.hears(general, bob) {
		wantIn(t, "what Bob is told", heard, "It could not be made sure who you are")
	}
	w.click(r.ID, bob, actionApprove)
	w.wantState(r.ID, approvals.Approved)
}

// A user group decides by its members, who may change.
func TestUserGroupsDecide(t *testing.T) {
	t.Parallel()
	w := newBook(t, unhurried)
	group := sim.SlackUserGroup{ID: "S0DEPLOY", Team: team, Handle: "deployers", Users: []string{cleo}}
	w.AddUserGroup(group)
	r := w.asks(`{}`, func(r *approvals.Record) { r.Policy.Approvers = approvals.Approvers{SlackGroups: []string{"S0DEPLOY"}} })
	wantIn(t, "card", w.cardMessage(r.ID, 0).Shown, "user group deployers")
	w.click(r.ID, bob, actionApprove)
	w.wantState(r.ID, approvals.Pending)
	group.Users = []string{bob}
	w.AddUserGroup(group)
	for range 3 {
		w.channel.now() // two minutes pass
	}
	w.click(r.ID, bob, actionApprove)
	w.wantState(r.ID, approvals.Approved)
}

// Without the scope, groups decide nothing and people still do.
func TestUserGroupsWithoutTheScope(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(`{}`, func(r *approvals.Record) {
		r.Policy.Approvers = approvals.Approvers{Slack: []string{bob}, SlackGroups: []string{"S0DEPLOY"}}
	})
	w.Fail(sim.SlackFault{Method: "usergroups.*", Error: "missing_scope", Times: -1})
	w.click(r.ID, cleo, actionApprove)
	w.wantState(r.ID, approvals.Pending)
	w.click(r.ID, bob, actionApprove)
	w.wantState(r.ID, approvals.Approved)
}

// Two distinct people are needed where the policy says so.
func TestTwoPeople(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(`{}`, func(r *approvals.Record) { r.Policy.Approvers.Slack, r.Policy.MinApprovals = []string{bob, cleo}, 2 })
	w.click(r.ID, bob, actionApprove)
	w.wantTold(bob, "Your approval counts. 1 more person must approve")
	w.wantState(r.ID, approvals.Approving)
	w.drawCards(r.ID)
	w.click(r.ID, bob, actionApprove)
	w.wantState(r.ID, approvals.Approving)
	if heard := w.hears(general, bob); !strings.HasPrefix(heard[len(heard)-1], "Your own approval counts already") {
		t.Errorf("Bob is told %q", heard)
	}
	w.click(r.ID, cleo, actionApprove)
	w.wantState(r.ID, approvals.Approved)
}

// Fifty clicks at once have one outcome, and everybody else hears what that was.
func TestManyClicksAtOnce(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(`{}`, func(r *approvals.Record) { r.Policy.Approvers.Slack = []string{bob, cleo} })
	m := w.cardMessage(r.ID, 0)
	var (
		clicks  sync.WaitGroup
		mu      sync.Mutex
		answers []string
	)
	for i := range 50 {
		user, verdict := bob, approvals.Approve
		if i%2 == 1 {
			user, verdict = cleo, approvals.Deny
		}
		w.Click(m.Channel, m.TS, user, actionApprove)
		in := w.weigh(w.last("block_actions"))
		in.Ballot.Verdict = verdict
		clicks.Go(func() {
			for _, e := range w.cast(in) {
				mu.Lock()
				answers = append(answers, string(e.Payload))
				mu.Unlock()
			}
		})
	}
	clicks.Wait()
	if len(answers) != 49 {
		t.Errorf("%d people are told something", len(answers))
	}
	for _, a := range answers {
		if !strings.Contains(a, "Already ") {
			t.Errorf("somebody is told %s", a)
		}
	}
	w.drawCards(r.ID)
	if n := len(w.Calls("chat.update")); n != 1 {
		t.Errorf("the card was edited %d times", n)
	}
}

// Of several cards in a thread each decides its own call, also where they are the same.
func TestSeveralCards(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	one, two, three := w.asks(`{}`), w.asks(`{}`), w.asks(`{}`)
	first := w.cardMessage(one.ID, 0)
	w.Click(first.Channel, w.cardMessage(two.ID, 0).TS, bob, actionApprove)
	d := w.last("block_actions")
	d.Payload = []byte(strings.ReplaceAll(string(d.Payload), w.cardMessage(two.ID, 0).TS, first.TS))
	w.decide(d)
	for _, r := range []approvals.Record{one, two, three} {
		w.wantState(r.ID, approvals.Pending)
	}
	w.wantTold(bob, "No such approval is known here")
	w.click(three.ID, bob, actionApprove)
	w.wantState(three.ID, approvals.Approved)
	w.click(one.ID, bob, actionApprove)
	w.wantState(one.ID, approvals.Approved)
	w.wantState(two.ID, approvals.Pending)
}

// A click outlives the process that posted the card, and says so where the record
// does not; a window cannot be opened long after a click.
func TestClicksAfterARestart(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(`{}`)
	var err error
	w.channel, err = New(Options{
		Workspaces: tokens{w.team}, OneToken: true, Settings: defaults(), APIURL: w.URL(), Transport: w.transport,
		Approval: w.channel.approval,
	})
	must(t, err)
	w.Fail(sim.SlackFault{Method: "views.open", Error: "expired_trigger_id"})
	w.click(r.ID, bob, actionDeny)
	w.wantTold(bob, "/liaison deny "+r.ID)
	w.click(r.ID, bob, actionApprove)
	w.wantState(r.ID, approvals.Approved)
}

func TestClickAboutNothing(t *testing.T) {
	t.Parallel()
	for _, action := range []string{actionApprove, actionDeny, actionShow} {
		w := newBook(t)
		r := w.asks(`{}`)
		delete(w.records, r.ID)
		m := w.answers()[0]
		w.Click(m.Channel, m.TS, bob, action)
		w.decide(w.last("block_actions"))
		w.wantTold(bob, "No such approval is known here")
	}
}

// Who clicks late learns how it ended.
func TestClickThatIsTooLate(t *testing.T) {
	t.Parallel()
	for _, action := range []string{actionApprove, actionDeny} {
		w := newBook(t)
		r := w.asks(`{}`)
		s, _ := r.Expire(r.ExpiresAt)
		w.step(s)
		w.click(r.ID, bob, action)
		w.wantTold(bob, "It expired at")
	}
}

// What answers a click may be used up or broken: the person is told all the same, and
// the card is settled by other means.
func TestAnswersOfClicksThatDoNotArrive(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sim.SlackFault{
		"expired":   {Error: "expired_url", Status: http.StatusNotFound},
		"not found": {Status: http.StatusNotFound},
		"not ok":    {Error: "something"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBook(t)
			r := w.asks(`{}`)
			fault.Method, fault.Times = "response_url", -1
			w.Fail(fault)
			w.click(r.ID, cleo, actionApprove)
			w.wantTold(cleo, "You are not among those who may decide.")
			w.click(r.ID, bob, actionApprove)
			w.drawCards(r.ID)
			if m := w.cardMessage(r.ID, 0); strings.Contains(string(m.Blocks), `"actions"`) {
				t.Errorf("the card is not settled: %s", m.Blocks)
			}
		})
	}
}

// Words decide nothing, whoever says them.
func TestWordsDecideNothing(t *testing.T) {
	t.Parallel()
	w := newBook(t, with(func(s *Settings) { s.MentionInThreads, s.Bots = false, []string{robotApp} }))
	w.people()
	w.EditChannel(general, func(c *sim.SlackChannel) { c.Members = append(c.Members, robot) })
	r := w.asks(`{}`, func(r *approvals.Record) { r.Policy.Approvers.Slack = []string{bob, robot} })
	for _, user := range []string{bob, robot} {
		for _, text := range []string{"yes", "approve", "approve " + r.ID, "/liaison approve " + r.ID, "approve REQ"} {
			for _, say := range []func(){
				func() { w.Reply(general, w.root.TS, user, text) },
				func() { w.MentionIn(general, w.root.TS, user, text) },
			} {
				say()
				if in := w.weigh(w.last("message", "app_mention")); in.Action == sessions.ActionDecide {
					t.Errorf("%s decides by %q", user, text)
				}
			}
		}
	}
	w.wantState(r.ID, approvals.Pending)
}

// An approval belongs to the workspace that asked, and its button to the app's message.
func TestClicksFromElsewhere(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(`{}`)
	m := w.cardMessage(r.ID, 0)
	w.Click(m.Channel, m.TS, bob, actionApprove)
	genuine := string(w.last("block_actions").Payload)
	for name, forged := range map[string][2]string{
		"another workspace":     {`"id":"T0ACME"`, `"id":"T0OTHER"`},
		"nobody":                {`"user":{"id":"U0BOB"`, `"user":null,"was":{"id":"U0BOB"`},
		"an empty user":         {`"user":{"id":"U0BOB"`, `"user":{},"was":{"id":"U0BOB"`},
		"no id":                 {`"user":{"id":"U0BOB"`, `"user":{"id":""`},
		"at home elsewhere":     {`,"team_id":"T0ACME","username"`, `,"team_id":"T0OTHER","username"`},
		"no approval":           {r.ID, "apr_1"},
		"another app's message": {`"message":{"app_id":"A0LIAISON"`, `"message":{"app_id":"A0OTHER"`},
	} {
		d := w.last("block_actions")
		d.Payload = []byte(strings.ReplaceAll(genuine, forged[0], forged[1]))
		if string(d.Payload) == genuine {
			t.Fatalf("%s: nothing is forged in %s", name, genuine)
		}
		in, err := w.tryWeigh(d)
		var again *sessions.RetryError
		if err != nil && !errors.As(err, &again) {
			t.Fatal(err)
		}
		if in.Action == sessions.ActionDecide {
			w.cast(in)
		}
		if w.record(r.ID).State != approvals.Pending {
			t.Fatalf("%s decides", name)
		}
	}
}

// What waits for somebody is shown to them alone, with buttons that work.
func TestListOfApprovals(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	mine := w.asks(`{}`)
	w.asks(`{}`, func(r *approvals.Record) {
		r.Policy.Approvers.Slack, r.Tool = []string{cleo}, "secret_tool"
		r.Requester = approvals.Identity{Principal: principal(team, cleo), Slack: cleo}
	})
	w.Command(general, bob, "/liaison", "approvals")
	w.decide(w.last("/liaison"))
	var list sim.SlackMessage
	for _, m := range w.Messages(general) {
		if m.EphemeralTo == bob {
			list = m
		}
	}
	wantIn(t, "list", list.Shown, "deploy")
	if strings.Contains(list.Shown, "secret_tool") || strings.Contains(string(list.Blocks), actionApprove) {
		t.Errorf("the list is %s", list.Blocks)
	}
	w.Click(general, list.TS, bob, actionShow)
	w.decide(w.last("block_actions"))
	w.Submit(bob, nil)
	w.decide(w.last("view_submission"))
	w.wantState(mine.ID, approvals.Approved)
}

func TestListOfNothing(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	w.asks(`{}`)
	w.Command(general, cleo, "/liaison", "approvals")
	w.decide(w.last("/liaison"))
	w.wantTold(cleo, noneOpen)
}

// The home tab has what waits for whoever looks at it.
func TestHomeTabWithApprovals(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(`{}`)
	for user, want := range map[string]bool{bob: true, ann: true, cleo: false} {
		w.perform(w.weigh(w.OpenHome(user, "home")))
		view, _ := w.Home(user)
		if strings.Contains(view.Shown, r.ID) != want {
			t.Errorf("%s sees %s", user, view.Shown)
		}
	}
	w.ClickHome(bob, actionDeny)
	w.decide(w.last("block_actions"))
	w.Submit(bob, nil)
	w.decide(w.last("view_submission"))
	w.wantState(r.ID, approvals.Denied)
}

// Commands decide too, and whoever entered one is told what came of it.
func TestDecideByACommand(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	for text, want := range map[string]approvals.State{
		"approve ": approvals.Approved,
		"deny ":    approvals.Denied,
		"Deny: ":   approvals.Denied,
	} {
		r := w.asks(`{}`)
		w.Command(general, bob, "/liaison", text+r.ID+" not on a Friday")
		w.decide(w.last("/liaison"))
		w.wantState(r.ID, want)
		if got := w.record(r.ID).Decision.Reason; got != "not on a Friday" {
			t.Errorf("the reason is %q", got)
		}
	}
	if heard := w.hears(general, bob); len(heard) != 3 {
		t.Errorf("Bob is told %q", heard)
	}
	w.Command(general, bob, "/liaison", "approve the change in principle")
	if in := w.mapped(w.last("/liaison")); in.Action != sessions.ActionRun {
		t.Errorf("a question is %v: %s", in.Action, in.Reason)
	}
}

// A record's deadline is its own: a decision days later counts, and one after it does not.
func TestDecideDaysLater(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(`{}`, func(r *approvals.Record) { r.Policy.ExpiresAfter = 30 * 24 * time.Hour })
	m := w.cardMessage(r.ID, 0)
	w.Click(m.Channel, m.TS, bob, actionApprove)
	in := w.weigh(w.last("block_actions"))
	if _, err := r.Cast(*in.Ballot, r.CreatedAt.Add(72*time.Hour)); err != nil {
		t.Error(err)
	}
	if _, err := r.Cast(*in.Ballot, r.ExpiresAt); !errors.Is(err, approvals.ErrDecided) {
		t.Errorf("after the deadline: %v", err)
	}
}
