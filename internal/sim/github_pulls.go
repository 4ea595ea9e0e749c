package sim

import (
	"fmt"
	"time"
)

// NewPullRequest describes a pull request to open.
type NewPullRequest struct {
	Title string
	// Body may be empty; GitHub then sends null.
	Body string
	// Author's login. Empty is a deleted account: user is null.
	Author string
	// HeadRepo is the full name of the repository that the branch is in: the
	// base itself or a fork, which is made if needed. Empty means the base,
	// unless HeadDeleted is set.
	HeadRepo string
	// HeadDeleted is a fork that is gone: head.repo is null.
	HeadDeleted bool
	// Branch of the head; any name that git allows. Empty means "topic".
	Branch string
	// Base branch; empty means the default branch.
	Base   string
	Files  map[string]Change
	Draft  bool
	Labels []string
	// Message of the commit; empty means the title.
	Message string
}

// PullRequest is what a caller learns about a pull request: a copy, made when asked.
type PullRequest struct {
	ID              int64
	Number          int
	Repo            string
	HeadSHA         string
	BaseSHA         string
	State           string
	Draft, Merged   bool
	HTMLURL         string
	Additions       int
	Deletions       int
	ChangedFiles    int
	HeadRef, Author string
}

// Quirks are ways in which GitHub answers less than it knows.
type Quirks struct {
	// ZeroCounts sends additions, deletions and changes as 0 for every file.
	ZeroCounts bool
	// NoPatches leaves the patch out of every file.
	NoPatches bool
	// DiffTooLarge answers the diff with 406, whatever its size.
	DiffTooLarge bool
	// NullUser sends the author as null although the account exists in commits.
	NullUser bool
}

// pull is a pull request.
type pull struct {
	id             int64
	number         int
	repo           *repository
	headRepo       *repository // nil if deleted
	headOwner      string
	branch         string
	baseRef        string
	base, head     string
	title, body    string
	author         *user
	state          string
	draft, merged  bool
	locked         bool
	labels         []string
	reviewers      []*user
	reviewTeams    []string
	mergeState     string // as SetMergeability has it
	mergeRefusal   string
	mergedBy       *user
	created        time.Time
	updated        time.Time
	closed         time.Time
	mergeSHA       string
	before         string // head before the last push
	quirks         Quirks
	reviews        []*review
	reviewComments []*reviewComment
	reactions      []reaction
	// issue is set when it is an issue and no pull request; mentions are the places
	// that name it.
	issue    bool
	mentions []mention
}

// OpenPullRequest opens a pull request and returns it. It sends no webhook;
// see [GitHub.Event].
func (g *GitHub) OpenPullRequest(repo string, p NewPullRequest) *PullRequest {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(repo)
	head := r
	if p.HeadRepo != "" && p.HeadRepo != r.fullName {
		head = g.fork(r, p.HeadRepo)
	}
	if p.Branch == "" {
		p.Branch = "topic"
	}
	if p.Base == "" {
		p.Base = r.defaultBranch
	}
	if p.Message == "" {
		p.Message = p.Title
	}
	base := r.branches[p.Base]
	if base == "" {
		panic("sim: no branch " + p.Base + " in " + repo)
	}
	if _, exists := head.branches[p.Branch]; !exists {
		head.branches[p.Branch] = base
	}
	sha := g.commit(head, p.Branch, p.Author, p.Message, p.Files)
	r.lastNumber++
	pr := &pull{
		id: g.nextID(), number: r.lastNumber, repo: r, headRepo: head, headOwner: head.owner.login, branch: p.Branch,
		baseRef: p.Base, base: base, head: sha, title: p.Title, body: p.Body, author: g.account(p.Author),
		state: "open", draft: p.Draft, labels: p.Labels, created: g.now(), updated: g.now(),
	}
	if p.HeadDeleted {
		pr.headRepo = nil
	}
	r.pulls[pr.number] = pr
	g.notify()
	return g.pullView(pr)
}

// PullRequest returns a pull request as it is now.
func (g *GitHub) PullRequest(repo string, number int) *PullRequest {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pullView(g.mustPull(repo, number))
}

// Push adds a commit to the pull request's branch and returns the new head.
func (g *GitHub) Push(repo string, number int, files map[string]Change) (headSHA string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustPull(repo, number)
	c := p.repo.net.addCommit(p.repo.net.change(p.repo.net.commits[p.head].files, files), "Change the branch", login(p.author), g.now(), p.head)
	g.moveHead(p, c.sha)
	return c.sha
}

// ForcePush replaces the pull request's commits by one on top of the base.
func (g *GitHub) ForcePush(repo string, number int, files map[string]Change) (headSHA string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustPull(repo, number)
	base := p.repo.branches[p.baseRef]
	c := p.repo.net.addCommit(p.repo.net.change(p.repo.net.commits[base].files, files), "Rewrite the branch", login(p.author), g.now(), base)
	g.moveHead(p, c.sha)
	return c.sha
}

func (g *GitHub) moveHead(p *pull, sha string) {
	p.before, p.head = p.head, sha
	p.base = p.repo.branches[p.baseRef]
	if p.headRepo != nil {
		p.headRepo.branches[p.branch] = sha
	}
	p.updated = g.now()
	g.notify()
}

// EditPullRequest changes title and body.
func (g *GitHub) EditPullRequest(repo string, number int, title, body string) {
	g.editPull(repo, number, func(p *pull) { p.title, p.body = title, body })
}

// ClosePullRequest closes a pull request without merging it.
func (g *GitHub) ClosePullRequest(repo string, number int) {
	g.editPull(repo, number, func(p *pull) { p.state, p.closed = "closed", g.now() })
}

// MergePullRequest merges a pull request into its base branch.
func (g *GitHub) MergePullRequest(repo string, number int) {
	g.editPull(repo, number, func(p *pull) { p.merge(g, p.repo.owner) })
}

// ReopenPullRequest opens a closed pull request again.
func (g *GitHub) ReopenPullRequest(repo string, number int) {
	g.editPull(repo, number, func(p *pull) { p.state, p.closed = "open", time.Time{} })
}

// MarkReady ends a pull request's time as a draft.
func (g *GitHub) MarkReady(repo string, number int) {
	g.editPull(repo, number, func(p *pull) { p.draft = false })
}

// ConvertToDraft makes a pull request a draft.
func (g *GitHub) ConvertToDraft(repo string, number int) {
	g.editPull(repo, number, func(p *pull) { p.draft = true })
}

// LockPullRequest refuses new comments with 403.
func (g *GitHub) LockPullRequest(repo string, number int) {
	g.editPull(repo, number, func(p *pull) { p.locked = true })
}

// DeleteHeadRepository makes head.repo null, as a deleted fork does.
func (g *GitHub) DeleteHeadRepository(repo string, number int) {
	g.editPull(repo, number, func(p *pull) { p.headRepo = nil })
}

// SetQuirks replaces the quirks of a pull request.
func (g *GitHub) SetQuirks(repo string, number int, q Quirks) {
	g.editPull(repo, number, func(p *pull) { p.quirks = q })
}

func (g *GitHub) editPull(repo string, number int, edit func(*pull)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustPull(repo, number)
	edit(p)
	p.updated = g.now()
	g.notify()
}

func (g *GitHub) mustPull(repo string, number int) *pull {
	p := g.mustRepo(repo).pulls[number]
	if p == nil {
		panic(fmt.Sprintf("sim: no pull request %s#%d", repo, number))
	}
	return p
}

// files lists what the pull request changes since it left its base.
func (p *pull) files() []fileDiff {
	n := p.repo.net
	return n.compare(n.mergeBase(p.base, p.head), p.head)
}

func (p *pull) commits() []*commit { return p.repo.net.between(p.base, p.head) }

func (p *pull) totals() (additions, deletions, files int) {
	all := p.files()
	for _, f := range all {
		additions += f.additions
		deletions += f.deletions
	}
	return additions, deletions, len(all)
}

func (g *GitHub) pullView(p *pull) *PullRequest {
	v := &PullRequest{
		ID: p.id, Number: p.number, Repo: p.repo.fullName, HeadSHA: p.head, BaseSHA: p.base, State: p.state, Draft: p.draft,
		Merged: p.merged, HTMLURL: g.web(p.page()), HeadRef: p.branch, Author: login(p.author),
	}
	v.Additions, v.Deletions, v.ChangedFiles = p.totals()
	return v
}

func (p *pull) page() string {
	if p.issue {
		return fmt.Sprintf("/%s/issues/%d", p.repo.fullName, p.number)
	}
	return fmt.Sprintf("/%s/pull/%d", p.repo.fullName, p.number)
}

func login(u *user) string {
	if u == nil {
		return ""
	}
	return u.login
}
