package github

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

func TestDecisionsInWords(t *testing.T) {
	t.Parallel()
	id := aprID(1)
	long := strings.Repeat("why ", 1000)
	for text, want := range map[string]command{
		"/approve " + id: {Verb: "approve", Argument: id},
		"/Approve " + id + "\r\nBecause it is right.\n\nReally.": {Verb: "approve", Argument: id, Reason: "Because it is right.\nReally."},
		"Well:\n\n/deny " + id + " not now":                      {Verb: "deny", Argument: id, Reason: "not now"},
		"/liaison approve " + id:                                 {Verb: "approve", Argument: id},
		"/liaison deny " + id + ".\n> quoted\n\n`code` no":       {Verb: "deny", Argument: id, Reason: "no"},
		"@liaison approve " + id:                                 {Verb: "approve", Argument: id},
		"/liaison approve":                                       {Verb: "approve"},
		"/liaison deny apr_x":                                    {Verb: "deny", Argument: "apr_x"},
		"/deny " + id + "\n" + long:                              {Verb: "deny", Argument: id, Reason: ellipsis(strings.TrimSpace(long), maxDecisionReason)},
		"/deny " + id + "\n/approve " + aprID(2):                 {Verb: "deny", Argument: id, Reason: "/approve " + aprID(2)},
		"/approve":                                               {},
		"/approve this":                                          {},
		"/lgtm " + id:                                            {},
		"approve " + id:                                          {},
		"yes":                                                    {},
		"> /approve " + id:                                       {},
		"`/approve " + id + "`":                                  {},
		"```\n/approve " + id + "\n```":                          {},
		"<!-- /approve " + id + " -->":                           {},
		"I would /approve " + id:                                 {},
		"- /approve " + id:                                       {},
		"/аpprove " + id:                                         {},
		"please @liaison approve " + id:                          {Verb: "ask"},
		"/liaison review\n/approve " + id:                        {Verb: "review"},
	} {
		got, _ := parseCommand(text, "liaison", true)
		if got.Verb != want.Verb || want.Verb != "ask" && (got.Argument != want.Argument || got.Reason != want.Reason) {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
}

func FuzzDecisions(f *testing.F) {
	for _, seed := range []string{"/approve " + aprID(1) + "\nwhy", "/liaison deny apr_", "@liaison approve " + aprID(2), "> /approve " + aprID(1)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		c, ok := parseCommand(body, "liaison", true)
		if !ok || c.Verb != verbApprove && c.Verb != verbDeny {
			return
		}
		if runes(c.Reason) > maxDecisionReason || strings.ContainsRune(c.Reason, unspoken) {
			t.Errorf("%q has the reason %q", body, c.Reason)
		}
		if approvals.ValidID(c.Argument) && !strings.Contains(body, c.Argument) {
			t.Errorf("%q decides about %s", body, c.Argument)
		}
	})
}

func TestButtonsThatMeanNothing(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	c.open(1, nil)
	foreign := c.AddCheckRun(repoName, c.pull.HeadSHA, sim.CheckRun{Name: "ci", ExternalID: aprID(1), Conclusion: "neutral"})
	for name, hook := range map[string]sim.Webhook{
		"another App's run with our external id": c.CheckRunEvent(foreign, "requested_action", "ann", "approve"),
		"a button that is none":                  c.CheckRunEvent(c.checkID(aprID(1)), "requested_action", "ann", "merge"),
	} {
		if in := c.mapped(hook); in.Action != sessions.ActionIgnore {
			t.Errorf("%s: %+v", name, in)
		}
	}
}

// Who decides is told by ids, and by what GitHub says of them now. What is not known
// counts against them (https://github.com/NousResearch/hermes-agent/issues/36848).
func TestWhoMayDecide(t *testing.T) {
	t.Parallel()
	nobody := func(r *approvals.Record) { r.Policy.Approvers = approvals.Approvers{} }
	only := func(a approvals.Approvers) func(*approvals.Record) {
		return func(r *approvals.Record) { r.Policy.Approvers = a }
	}
	for _, tt := range []struct {
		name, by string
		policy   func(*approvals.Record)
		prepare  func(*court)
		why      string // empty where it counts
	}{
		{name: "by login", by: "ann"},
		{name: "by the Slack user that they are", by: "ann", policy: only(approvals.Approvers{Slack: []string{"U0ANN"}})},
		{name: "by another's Slack user", by: "bob", policy: only(approvals.Approvers{Slack: []string{"U0ANN"}}), why: "not among"},
		{name: "an empty list", by: "ann", policy: nobody, why: "not among"},
		{name: "a reader who is on the list", by: "rob", policy: only(approvals.Approvers{GitHub: []string{"rob"}})},
		{name: "who may see nothing", by: "rob", policy: only(approvals.Approvers{GitHub: []string{"rob"}}),
			prepare: func(c *court) { c.SetPermission(repoName, "rob", "none") }, why: "another organisation"},
		{name: "who may read a public repository as everybody may", by: "rob", policy: only(approvals.Approvers{GitHub: []string{"rob"}}),
			prepare: func(c *court) { c.SetPermission(repoName, "rob", "") }, why: "another organisation"},
		{name: "nobody knows whether they are named there", by: "rob", policy: only(approvals.Approvers{GitHub: []string{"rob"}}),
			prepare: func(c *court) {
				c.Fail(sim.Fault{PathPattern: "/repos/*/*/collaborators/rob", Status: 500, Body: `{}`})
			}, why: "could not be made sure"},
		{name: "the author and requester", by: "mona", why: "yourself"},
		{name: "a bot", by: "other[bot]", policy: only(approvals.Approvers{GitHub: []string{"other[bot]", "other"}}), why: "silence"},
		{name: "a deleted account", by: "ann", prepare: func(c *court) { c.DeleteUser("ann") }, why: "does not exist"},
		{name: "nobody knows who", by: "ann", prepare: func(c *court) {
			c.Fail(sim.Fault{PathPattern: "/users/ann", Status: 500, Body: `{}`})
		}, why: "could not be made sure"},
		{name: "nobody knows what they may", by: "ann", prepare: func(c *court) {
			c.Fail(sim.Fault{PathPattern: "/repos/*/*/collaborators/ann/permission", Status: 500, Body: `{}`})
		}, why: "could not be made sure"},
		{name: "a login that is another account's now", by: "ann", prepare: func(c *court) {
			c.Fail(sim.Fault{PathPattern: "/users/ann", Status: 200, Body: `{"id":99,"login":"ann","type":"User"}`})
		}, why: "could not be made sure"},
		{name: "a team's member", by: "bob", policy: only(approvals.Approvers{GitHubTeams: []string{"Octo/security"}}),
			prepare: func(c *court) { c.grantMembers(); c.SetTeamMember("octo/security", "bob", "active") }},
		{name: "who is invited to a team", by: "bob", policy: only(approvals.Approvers{GitHubTeams: []string{"octo/security"}}),
			prepare: func(c *court) { c.grantMembers(); c.SetTeamMember("octo/security", "bob", "pending") }, why: "not among"},
		{name: "a team that cannot be seen", by: "bob", policy: only(approvals.Approvers{GitHubTeams: []string{"octo/security"}}),
			prepare: func(c *court) { c.SetTeamMember("octo/security", "bob", "active") }, why: "not among"},
		{name: "a team that GitHub fails to show", by: "bob", policy: only(approvals.Approvers{GitHubTeams: []string{"octo/security"}}),
			prepare: func(c *court) {
				c.grantMembers()
				c.SetTeamMember("octo/security", "bob", "active")
				c.Fail(sim.Fault{PathPattern: "/orgs/*/teams/*/memberships/*", Status: 502, Body: `{}`})
			}, why: "not among"},
		{name: "a code owner", by: "bob", policy: only(approvals.Approvers{CodeOwners: true}), prepare: func(c *court) { c.own("*.go @bob\n") }},
		{name: "a code owner of something else", by: "bob", policy: only(approvals.Approvers{CodeOwners: true}), prepare: func(c *court) { c.own("*.md @bob\n") }, why: "not among"},
		{name: "a code owner by a team", by: "bob", policy: only(approvals.Approvers{CodeOwners: true}), prepare: func(c *court) {
			c.own("* @octo/security\n")
			c.grantMembers()
			c.SetTeamMember("octo/security", "bob", "active")
		}},
		{name: "a code owner who may not write", by: "rob", policy: only(approvals.Approvers{CodeOwners: true}), prepare: func(c *court) { c.own("* @rob\n") }, why: "not among"},
		{name: "a repository without code owners", by: "bob", policy: only(approvals.Approvers{CodeOwners: true}), why: "not among"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCourt(t)
			id := c.open(1, tt.policy)
			in := c.wrote(tt.by, "/approve "+id) // before the account is gone
			if tt.prepare != nil {
				tt.prepare(c)
			}
			out := c.weigh(in)
			if tt.why == "silence" {
				if out.Action != sessions.ActionIgnore || len(out.Effects) > 0 {
					t.Errorf("a bot is answered: %+v", out)
				}
				return
			}
			err := c.judge(out)
			if tt.why == "" {
				must(t, err)
				if got := c.records[id]; got.State != approvals.Approved || got.Decision.By.GitHub != tt.by {
					t.Errorf("the record is %+v", got)
				}
				return
			}
			var refused *approvals.NotAllowedError
			if !errors.As(err, &refused) || !strings.Contains(refused.Why, tt.why) || c.records[id].State != approvals.Pending {
				t.Errorf("got %v, want a refusal because of %q", err, tt.why)
			}
		})
	}
}

func (c *court) grantMembers() {
	c.SetInstallationPermissions(installation, map[string]string{
		"contents": "read", "pull_requests": "write", "issues": "write", "checks": "write", "statuses": "read", "members": "read",
	})
}

// own commits a CODEOWNERS file to the base branch; another in the change itself,
// which names everybody, does not count.
func (c *court) own(rules string) {
	c.Commit(repoName, "main", map[string]sim.Change{".github/CODEOWNERS": sim.Write(rules)})
	c.Push(repoName, c.pull.Number, map[string]sim.Change{".github/CODEOWNERS": sim.Write("* @bob @rob @ann\n"), "main.go": sim.Write("package main\n\nvar x = 1\n")})
}

// The author of a change, whoever asked, and who wrote its head do not approve it as
// if it were another's; any of them may still deny what they asked for
// (https://github.com/runatlantis/atlantis/issues/201).
func TestTheAuthorDoesNotApproveTheirOwnChange(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	out := c.weigh(c.did("pull_request.opened", "bob", nil))
	if out.Action != sessions.ActionRun {
		t.Fatalf("it does not run: %s", out.Reason)
	}
	requester, authors, subject := c.channel.Requester(sessions.Turn{Request: out.Request, Principal: out.Principal})
	if requester.GitHub != "bob" || len(authors) != 2 || authors[0].GitHub != "mona" || authors[1].GitHub != "mona" || !strings.HasPrefix(subject, "octo/shop#") {
		t.Fatalf("requester %+v, authors %+v, subject %q", requester, authors, subject)
	}
	id := c.open(1, func(r *approvals.Record) { r.Requester, r.Authors, r.Request = requester, authors, out.Request })
	for _, who := range []string{"bob", "mona"} {
		if err := c.judge(c.press(id, who, "approve")); !errors.Is(err, approvals.ErrNotAllowed) {
			t.Errorf("%s: %v", who, err)
		}
	}
	must(t, c.judge(c.press(id, "bob", "deny")))
	if got := c.records[id].State; got != approvals.Denied {
		t.Errorf("it is %s", got)
	}
}

// Several cards on one pull request: a press is about its own, and an old card does
// not approve a newer request (https://github.com/vercel/eve/issues/2471).
func TestAPressIsAboutItsOwnCard(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	one, two, three := c.open(1, nil), c.open(2, nil), c.open(3, nil)
	swapped := c.press(two, "ann", "approve")
	swapped.Ballot.Ref = c.records[one].Cards[0].Ref
	if err := c.judge(swapped); !errors.Is(err, approvals.ErrUnknown) {
		t.Errorf("another card's press: %v", err)
	}
	must(t, c.judge(c.press(three, "ann", "approve")))
	must(t, c.judge(c.press(one, "bob", "deny")))
	for id, want := range map[string]approvals.State{one: approvals.Denied, two: approvals.Pending, three: approvals.Approved} {
		if got := c.records[id].State; got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}

// Fifty presses of two people, half for and half against: one outcome, and each of
// the others hears what it was (https://github.com/useautumn/autumn/pull/2903).
func TestFiftyPresses(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	id := c.open(1, nil)
	var all []sessions.Intent
	for i := range 50 {
		all = append(all, c.press(id, []string{"ann", "bob"}[i%2], []string{"approve", "deny"}[i/2%2]))
	}
	counted, late := 0, 0
	for _, in := range all {
		var decided *approvals.DecidedError
		switch err := c.judge(in); {
		case err == nil:
			counted++
		case errors.As(err, &decided):
			late++
		default:
			t.Error(err)
		}
	}
	if counted != 1 || late != 49 || c.check(id).Updates != 1 {
		t.Errorf("%d counted, %d late, %d edits", counted, late, c.check(id).Updates)
	}
	if answers := len(c.comments()); answers != 2 {
		t.Errorf("%d answers to two people", answers)
	}
}

// After a restart the first press still decides: nothing of it was in memory
// (https://github.com/NousResearch/hermes-agent/pull/100408).
func TestAPressAfterARestart(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	id := c.open(1, nil)
	hook, err := c.PressButton(c.checkID(id), "ann", "approve")
	must(t, err)
	restarted, err := New(Options{AppID: appID, Key: appKey(), APIURL: c.URL(), Transport: inProcess{c.GitHub}, Approval: c.channel.approval})
	must(t, err)
	c.channel = restarted
	must(t, c.judge(c.weigh(c.mapped(hook))))
	if got := c.records[id].State; got != approvals.Approved {
		t.Errorf("it is %s", got)
	}
}

// A press whose delivery says nothing of the approval is looked up by the check run.
func TestAPressWithoutAnExternalID(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	id := c.open(1, nil)
	hook, err := c.PressButton(c.checkID(id), "ann", "deny")
	must(t, err)
	hook.Body = []byte(strings.ReplaceAll(string(hook.Body), `"external_id":"`+id+`"`, `"external_id":null`))
	must(t, c.judge(c.weigh(c.mapped(hook))))
	if got := c.records[id].State; got != approvals.Denied {
		t.Errorf("it is %s", got)
	}
	other := c.AddCheckRun(repoName, c.pull.HeadSHA, sim.CheckRun{AppID: appID, Name: "Liaison", Conclusion: "neutral"})
	out := c.weigh(c.mapped(c.CheckRunEvent(other, "requested_action", "ann", "approve")))
	if out.Action != sessions.ActionIgnore || len(out.Effects) != 1 {
		t.Errorf("a run that is no card: %+v", out)
	}
}

// An approval is known where it was asked for, and nowhere else.
func TestAnApprovalOfAnotherPlaceIsNotKnown(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*court, *approvals.Record){
		"another repository": func(c *court, r *approvals.Record) { o := c.request(); o.Repository++; r.Request = o.encode() },
		"another pull request": func(c *court, r *approvals.Record) {
			o := c.request()
			o.Number++
			r.Request = o.encode()
		},
		"Slack":              func(_ *court, r *approvals.Record) { r.Channel = "slack" },
		"an unreadable one":  func(_ *court, r *approvals.Record) { r.Request = []byte(`{}`) },
		"none of that id":    func(c *court, _ *approvals.Record) { delete(c.records, aprID(1)) },
		"the record is gone": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCourt(t)
			id := c.open(1, nil)
			if record := c.records[id]; change != nil {
				change(c, &record)
				if _, there := c.records[id]; there {
					c.records[id] = record
				}
			} else {
				delete(c.records, id)
			}
			out := c.say("ann", "/approve "+id)
			must(t, c.judge(out))
			if out.Action != sessions.ActionIgnore || out.Ballot != nil {
				t.Errorf("got %+v", out)
			}
			if all := c.comments(); len(all) != 2 || !strings.Contains(all[1].Body, "No such approval is known here") || all[0].Reactions["confused"] != 1 {
				t.Errorf("the comments are %+v", all)
			}
		})
	}
}

// A decision in words is answered by a reaction, and a refusal in words, once for
// each reason however often it is tried.
func TestARefusedDecisionIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	id := c.open(1, nil)
	for range 3 {
		if err := c.judge(c.say("rob", "/approve "+id)); !errors.Is(err, approvals.ErrNotAllowed) {
			t.Fatal(err)
		}
	}
	answers := 0
	for _, comment := range c.comments() {
		if comment.AppID == appID {
			answers++
			if !strings.Contains(comment.Body, "not among those who may decide") {
				t.Errorf("the answer is %s", comment.Body)
			}
		} else if comment.Reactions["confused"] != 1 {
			t.Errorf("reactions %v", comment.Reactions)
		}
	}
	if answers != 1 {
		t.Errorf("%d answers", answers)
	}
	must(t, c.judge(c.say("ann", "/approve "+id+"\n\nGo on.")))
	if got := c.records[id].Decision; got == nil || got.Reason != "Go on." || got.Place != "github" {
		t.Errorf("the decision is %+v", got)
	}
	all := c.comments()
	if last := all[len(all)-1]; last.AppID == appID || last.Reactions["+1"] != 1 {
		t.Errorf("a decision that counts is answered by %+v", last)
	}
}

// What cannot be looked up now is weighed again, and never decided.
func TestADecisionWhileTheRecordsAreOutOfReach(t *testing.T) {
	t.Parallel()
	c := newCourt(t)
	id := c.open(1, nil)
	in := c.wrote("ann", "/approve "+id)
	_, err := c.channel.Weigh(t.Context(), in)
	must(t, err)
	c.channel.approval = nil
	if out := c.weigh(in); out.Action != sessions.ActionIgnore {
		t.Errorf("without records: %+v", out)
	}
	if n := c.count(http.MethodPost, "/"); n > 1 { // the token
		t.Errorf("weighing wrote %d times", n)
	}
}
