package sim

import (
	"fmt"
	"slices"
	"time"
)

// NewIssue describes an issue to open.
type NewIssue struct {
	Title string
	// Body may be empty; GitHub then sends null.
	Body string
	// Author's login. Empty is a deleted account: user is null.
	Author string
	Labels []string
}

// Issue is what a caller learns about an issue: a copy, made when asked.
type Issue struct {
	ID      int64
	Number  int
	Repo    string
	State   string
	HTMLURL string
	Labels  []string
	Author  string
}

// mention is a place that names an issue.
type mention struct {
	from *pull
	when time.Time
}

// OpenIssue opens an issue, which shares its numbers with pull requests, and
// returns it with the delivery that tells of it. Its comments are those of
// [GitHub.Comments] and [GitHub.Comment].
func (g *GitHub) OpenIssue(repo string, i NewIssue) (*Issue, Webhook) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(repo)
	r.lastNumber++
	p := &pull{
		id: g.nextID(), number: r.lastNumber, repo: r, title: i.Title, body: i.Body, author: g.account(i.Author),
		state: "open", labels: slices.Clone(i.Labels), created: g.now(), updated: g.now(), issue: true,
	}
	r.issues[p.number] = p
	g.notify()
	return g.issueView(p), g.issueEvent(p, "opened", p.author)
}

// Issue returns an issue as it is now.
func (g *GitHub) Issue(repo string, number int) *Issue {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.issueView(g.mustIssue(repo, number))
}

func (g *GitHub) issueView(p *pull) *Issue {
	return &Issue{
		ID: p.id, Number: p.number, Repo: p.repo.fullName, State: p.state, HTMLURL: g.web(p.page()),
		Labels: slices.Clone(p.labels), Author: login(p.author),
	}
}

// LabelIssue puts a label on an issue as a person does, and returns the delivery
// that tells of it.
func (g *GitHub) LabelIssue(repo string, number int, author, label string) Webhook {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustIssue(repo, number)
	if !slices.Contains(p.labels, label) {
		p.labels = append(p.labels, label)
	}
	p.updated = g.now()
	g.notify()
	o := g.issueEnvelope(p, "labeled", g.account(author))
	o["label"] = labelJSON(label)
	return g.webhook("issues", o)
}

// EditIssue changes title and body, and CloseIssue closes an issue.
func (g *GitHub) EditIssue(repo string, number int, title, body string) {
	g.editIssue(repo, number, func(p *pull) { p.title, p.body = title, body })
}

// CloseIssue closes an issue as completed.
func (g *GitHub) CloseIssue(repo string, number int) {
	g.editIssue(repo, number, func(p *pull) { p.state, p.closed = "closed", g.now() })
}

// MentionIssue has a pull request name an issue, which its timeline then tells of.
func (g *GitHub) MentionIssue(repo string, number, pullRequest int) {
	from := func() *pull {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.mustPull(repo, pullRequest)
	}()
	g.editIssue(repo, number, func(p *pull) { p.mentions = append(p.mentions, mention{from: from, when: g.now()}) })
}

func (g *GitHub) editIssue(repo string, number int, edit func(*pull)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustIssue(repo, number)
	edit(p)
	p.updated = g.now()
	g.notify()
}

// DeleteIssue removes an issue for good: the API answers 410 then.
func (g *GitHub) DeleteIssue(repo string, number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustIssue(repo, number)
	p.repo.issues[number] = nil
	for _, c := range g.commentsOf(p) {
		delete(g.comments, c.id)
	}
	g.notify()
}

func (g *GitHub) mustIssue(repo string, number int) *pull {
	p := g.mustRepo(repo).issues[number]
	if p == nil {
		panic(fmt.Sprintf("sim: no issue %s#%d", repo, number))
	}
	return p
}

// mustTalk finds a pull request or an issue: both have a conversation.
func (g *GitHub) mustTalk(repo string, number int) *pull {
	if p := g.mustRepo(repo).issues[number]; p != nil {
		return p
	}
	return g.mustPull(repo, number)
}

func (g *GitHub) issueEvent(p *pull, action string, sender *user) Webhook {
	return g.webhook("issues", g.issueEnvelope(p, action, sender))
}

func (g *GitHub) issueEnvelope(p *pull, action string, sender *user) object {
	o := g.envelope(p.repo, action, sender)
	o["issue"] = g.issueJSON(p)
	return o
}
