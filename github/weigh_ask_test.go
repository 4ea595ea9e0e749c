package github

import (
	"fmt"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/github/repoconfig"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

func TestAnswersToWhatIsWritten(t *testing.T) {
	t.Parallel()
	bare := "commands: {bare: true}\n"
	for _, tt := range []struct {
		name, config, by, text string
		change                 func(*world)
		kind                   kind
		runs                   bool
		because, answer        string // when it does not run; an empty answer is silence
	}{
		{name: "question", by: "mona", text: "@liaison why?", kind: kindAsk, runs: true},
		{name: "review", by: "mona", text: "/liaison review", runs: true},
		{name: "review of a draft", by: "mona", text: "/liaison review", change: (*world).draft, runs: true},
		{name: "review, filtered", config: "review: {on: [], labels: [look], bases: [x]}", by: "mona", text: "/liaison review", runs: true},
		{name: "review of a closed one", by: "mona", text: "/liaison review", change: (*world).closePull, because: "is closed", answer: "This pull request is closed"},
		{name: "question on a closed one", by: "mona", text: "@liaison why?", change: (*world).closePull, kind: kindAsk, runs: true},
		{name: "question by a reader", by: "rob", text: "@liaison why?", because: `"rob" may not: it needs write, and they have read`, answer: "Sorry, this needs the permission `write`"},
		{name: "question by a reader, allowed", config: "ask: {minimum: read}", by: "rob", text: "@liaison why?", kind: kindAsk, runs: true},
		{name: "review by a reader who may ask", config: "ask: {minimum: read}", by: "rob", text: "@liaison review", because: "it needs write", answer: "Sorry"},
		{name: "help", by: "mona", text: "/liaison help", because: "help is given", answer: "is a command"},
		{name: "help for a reader", by: "rob", text: "/liaison help", because: "may not", answer: "Sorry"},
		{name: "no such command", by: "mona", text: "/liaison merge now", because: `no command "merge"`, answer: "There is no command `merge`."},
		{name: "configuration", by: "mona", text: "/liaison config", because: "is shown", answer: "octo/shop@main"},
		{name: "configuration for a reader", by: "rob", text: "/liaison config", because: "may not", answer: "Sorry"},
		{name: "turned off", config: "enabled: false", by: "mona", text: "@liaison why?", because: "turned off", answer: "Liaison is turned off here"},
		{name: "turned off, help", config: "enabled: false", by: "mona", text: "/liaison help", because: "help is given", answer: "is a command"},
		{name: "broken", config: "enabld: true", by: "mona", text: "@liaison why?", because: "cannot be used", answer: `there is no key "enabld"`},
		{name: "broken, configuration", config: "enabld: true", by: "mona", text: "/liaison config", because: "is shown", answer: `there is no key "enabld"`},
		{name: "bare word, not configured", by: "mona", text: "/review", because: "not for us"},
		{name: "bare word by a reader, not configured", by: "rob", text: "/review", because: "not for us"},
		{name: "bare word", config: bare, by: "mona", text: "/review", runs: true},
		{name: "bare word by a reader", config: bare, by: "rob", text: "/review", because: "may not"},
		{name: "bare word, turned off", config: bare + "enabled: false\n", by: "mona", text: "/review", because: "turned off"},
		{name: "by a bot", by: "other[bot]", text: "@liaison why?", because: "not on the operator's list"},
		{name: "help for a bot", by: "other[bot]", text: "/liaison help", because: "not on the operator's list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := policyWorld(t, "checks: {failOn: never}\n"+tt.config)
			if tt.change != nil {
				tt.change(w)
			}
			in := w.wrote(tt.by, tt.text)
			if tt.runs {
				if r := w.weighed(in); r.Kind != tt.kind || r.Head != w.pull.HeadSHA || r.Comment == nil {
					t.Errorf("got %+v", r)
				}
				return
			}
			out := w.ignored(in, tt.because)
			if got := reply(t, out); (got == "") != (tt.answer == "") || !strings.Contains(got, tt.answer) {
				t.Errorf("answered %q, want %q", got, tt.answer)
			}
		})
	}
}

func (w *world) closePull() { w.ClosePullRequest(repoName, w.pull.Number) }

// Whoever may not is told so once on each pull request; help comes for each comment.
func TestARefusalIsSaidOnce(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "")
	first, second := w.weigh(w.wrote("rob", "@liaison why?")), w.weigh(w.wrote("rob", "@liaison why not?"))
	if first.Fact != second.Fact || first.Fact == "" {
		t.Errorf("facts %q and %q", first.Fact, second.Fact)
	}
	other := w.weigh(w.wrote("eve", "@liaison why?"))
	if other.Fact == first.Fact {
		t.Error("another person hears nothing")
	}
	w.pull = w.OpenPullRequest(repoName, sim.NewPullRequest{Title: "Other", Author: "rob", Branch: "other", Files: map[string]sim.Change{"y": {Content: "y\n"}}})
	if elsewhere := w.weigh(w.wrote("rob", "@liaison why?")); elsewhere.Fact == first.Fact {
		t.Error("they hear nothing on another pull request")
	}
	help, again := w.weigh(w.wrote("mona", "/liaison help")), w.weigh(w.wrote("mona", "/liaison help"))
	if help.Fact == again.Fact || help.Fact == "" {
		t.Errorf("facts of help %q and %q", help.Fact, again.Fact)
	}
	w.SetPermission(repoName, "rob", "write")
	w.channel.permissions.known = map[person]permitted{}
	if now := w.weigh(w.wrote("rob", "@liaison why?")); now.Action != sessions.ActionRun || now.Fact == first.Fact {
		t.Errorf("with the permission: %+v", now)
	}
}

// Two bots that mention each other would go on for ever, on somebody's bill.
func TestBotsThatMentionEachOther(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "ask: {minimum: read}\ncommands: {minimum: read, bare: true}\n")
	for i := range 20 {
		for _, text := range []string{"@liaison and you?", "/liaison review", "/liaison nonsense", "/review"} {
			out := w.weigh(w.wrote("other[bot]", fmt.Sprintf("%s\n\n%d", text, i)))
			if out.Action != sessions.ActionIgnore || len(out.Effects) > 0 || len(out.OverBudget) > 0 {
				t.Fatalf("%s: %+v", text, out)
			}
		}
	}
	if n := w.count("GET", "/"); n > 0 {
		t.Errorf("it cost %d requests", n)
	}
}

// A bot on the operator's list asks like a person, and gets no help or refusals,
// which it might answer.
func TestAnAllowedBot(t *testing.T) {
	t.Parallel()
	var allowed int64
	w := policyWorld(t, "")
	w.AddComment(repoName, w.pull.Number, "friend[bot]", "hello")
	allowed = w.somebody("friend[bot]").ID
	w.channel.bots[allowed] = true
	w.weighed(w.wrote("friend[bot]", "@liaison why?"))
	if out := w.ignored(w.wrote("friend[bot]", "/liaison nonsense"), "no command"); len(out.Effects) > 0 {
		t.Errorf("answered %+v", out.Effects)
	}
	w.ignored(w.wrote("friend2[bot]", "@liaison why?"), "not on the operator's list")
}

// What the payload says of an association with the repository is wrong for private
// members, in both directions
// (https://github.com/databricks/databricks-sql-python/pull/869).
func TestAssociationsAreNotTrusted(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "")
	claims := func(login, association string) sessions.Intent {
		_, hook := w.Comment(repoName, w.pull.Number, login, "/liaison review")
		body := changed(t, hook.Body, "comment.author_association", association)
		in, err := Map(sessions.Delivery{Source: Name, ID: hook.DeliveryID, Event: hook.Event, Body: body}, Self{AppID: appID})
		must(t, err)
		return in
	}
	for _, association := range []string{"OWNER", "MEMBER", "COLLABORATOR"} {
		w.ignored(claims("rob", association), "may not")
	}
	for _, association := range []string{"CONTRIBUTOR", "NONE", "MANNEQUIN"} {
		w.weighed(claims("mona", association))
	}
}

// A deleted account is nobody, whatever name it shows.
func TestAGhostIsAnOutsider(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "ask: {minimum: read}")
	in := w.wrote("mona", "@liaison why?")
	r, err := parseUnweighed(in.Request)
	must(t, err)
	r.Actor = account{Login: "mona"}
	in.Request = r.encode()
	if out := w.ignored(in, "nobody knows"); len(out.Effects) > 0 {
		t.Errorf("answered %+v", out.Effects)
	}
}

// A reply in a thread that we began is a question to us; one in another thread is not.
func TestRepliesInThreads(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "")
	w.channel.app.bot.Store(w.somebody("liaison[bot]").ID)
	ours := w.AddReviewComment(repoName, w.pull.Number, sim.ReviewComment{Author: "liaison[bot]", Body: "Look", Path: "main.go", Line: 3, Side: "RIGHT"})
	theirs := w.AddReviewComment(repoName, w.pull.Number, sim.ReviewComment{Author: "rob", Body: "Look", Path: "main.go", Line: 3, Side: "RIGHT"})
	says := func(thread int64, login, body string) sessions.Intent {
		_, hooks := w.ReplyToThread(thread, login, body)
		for _, h := range hooks {
			if h.Event == "pull_request_review_comment" {
				in, err := Map(sessions.Delivery{Source: Name, ID: h.DeliveryID, Event: h.Event, Body: h.Body}, Self{AppID: appID, Handle: "liaison"})
				must(t, err)
				return in
			}
		}
		t.Fatal("no event")
		return sessions.Intent{}
	}
	if r := w.weighed(says(ours, "mona", "Why?")); r.Kind != kindAsk || r.Command.Verb != verbAsk || r.Comment.Thread != ours {
		t.Errorf("got %+v", r)
	}
	w.ignored(says(theirs, "mona", "Why?"), "not for us")
	w.weighed(says(theirs, "mona", "@liaison why?"))
	if out := w.ignored(says(ours, "rob", "Why?"), "may not"); len(out.Effects) > 0 {
		t.Errorf("who did not name us is told off: %+v", out.Effects)
	}
	w.DeleteReviewComment(ours)
	w.ignored(says(theirs, "mona", "Hm"), "not for us")
}

// Stopping waits for nothing, but a bare word has to be ours.
func TestBareStop(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "")
	w.ignored(w.wrote("mona", "/stop"), "not for us")
	w = policyWorld(t, "commands: {bare: true}")
	if out := w.weigh(w.wrote("rob", "/stop")); out.Action != sessions.ActionStop || out.Key != w.request().key() {
		t.Errorf("got %+v", out)
	}
}

func TestIssues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, config, by string
		change           func(*request)
		because, answer  string
	}{
		{name: "mentioned in a comment", by: "mona", change: spoken("issue_comment", verbAsk)},
		{name: "mentioned in the issue", by: "mona", change: spoken("command:ask", verbAsk)},
		{name: "mentioned by a reader", by: "rob", change: spoken("command:ask", verbAsk), because: "may not", answer: "Sorry"},
		{name: "mention not listed", config: "issues: {on: [opened]}", by: "mona", change: spoken("command:ask", verbAsk), because: `does not list "mention"`},
		{name: "opened", by: "mona", change: issueEvent("opened", ""), because: `does not list "opened"`},
		{name: "opened, listed", config: "issues: {on: [opened]}", by: "mona", change: issueEvent("opened", "")},
		{name: "opened by a reader", config: "issues: {on: [opened]}", by: "rob", change: issueEvent("opened", ""), because: "may not"},
		{name: "opened, off", config: "enabled: false\nissues: {on: [opened]}", by: "mona", change: issueEvent("opened", ""), because: "turned off"},
		{name: "labelled", config: "issues: {on: [label], labels: [q]}", by: "mona", change: issueEvent("labeled", "q")},
		{name: "labelled with another", config: "issues: {on: [label], labels: [q]}", by: "mona", change: issueEvent("labeled", "r"), because: "starts nothing"},
		{name: "a review is asked for", by: "mona", change: func(r *request) { spoken("command:review", verbReview)(r); r.Kind = kindReview }, because: "is an issue", answer: "pull requests are reviewed"},
		{name: "help", by: "mona", change: spoken("command:help", verbHelp), because: "help is given", answer: "is a command"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := policyWorld(t, tt.config)
			in := w.did("", tt.by, func(r *request) {
				r.Issue, r.Kind, r.Head, r.Number = true, kindAsk, "", 40
				tt.change(r)
			})
			if tt.because == "" {
				if r := w.weighed(in); !r.Issue || r.Number != 40 {
					t.Errorf("got %+v", r)
				}
				return
			}
			out := w.ignored(in, tt.because)
			if got := reply(t, out); (got == "") != (tt.answer == "") || !strings.Contains(got, tt.answer) {
				t.Errorf("answered %q, want %q", got, tt.answer)
			}
		})
	}
}

func spoken(trigger, verb string) func(*request) {
	return func(r *request) {
		r.Trigger, r.Command = trigger, command{Verb: verb, Addressed: true}
	}
}

func issueEvent(action, label string) func(*request) {
	return func(r *request) {
		r.Trigger, r.Label = "issues."+action, label
		if label != "" {
			r.Labels = []string{label}
		}
	}
}

func TestTextsOfHelpAndConfiguration(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "")
	golden(t, "help/plain.md", helpText("", "", w.cfgOf().Config))
	w = policyWorld(t, "commands: {bare: true, minimum: triage}\nask: {minimum: read}")
	golden(t, "help/all.md", helpText("liaison", "me`rge", w.cfgOf().Config))
	golden(t, "help/refused.md", reply(t, w.weigh(w.wrote("eve", "@liaison review"))))
	w.configure("review: {on: [pushed]}\nenabled: maybe\n")
	golden(t, "help/broken.md", reply(t, policyWorldOf(w).weigh(w.wrote("mona", "/liaison config"))))
}

// cfgOf is the configuration that holds in the world.
func (w *world) cfgOf() configured {
	w.t.Helper()
	tgt, err := w.channel.app.target(w.request())
	must(w.t, err)
	cfg, err := w.channel.configuration(w.t.Context(), tgt, repoName, "main")
	must(w.t, err)
	return cfg
}

// policyWorldOf is the world after a restart that kept nothing.
func policyWorldOf(w *world) *world {
	w.channel.configs = repoconfig.NewReader(nil, w.channel.app.now)
	return w
}
