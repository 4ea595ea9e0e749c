package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// ReviewComment is a comment on a line.
type ReviewComment struct {
	Author, Body, Path string
	// Line in the file at CommitID; 0 is a comment that has become outdated.
	Line int
	// StartLine is the first line where the comment is about several, else 0.
	StartLine int
	// Side is RIGHT, also when empty, or LEFT.
	Side     string
	CommitID string
	// ReplyTo is the id of the comment that this one answers, or 0.
	ReplyTo int64

	// What follows is told by [GitHub.ReviewComments] and ignored where a comment
	// is added. Line is then the one at the head, 0 if it is outdated.

	ID int64
	// AppID is the App that wrote it, 0 for a person.
	AppID int64
	// Review is the id of the review that it belongs to, 0 for none.
	Review int64
	// Edits is how often it was changed after it was posted.
	Edits int
	// Reactions by content, such as "eyes".
	Reactions map[string]int
	// Resolved is set for each comment of a resolved thread.
	Resolved bool
}

type reviewComment struct {
	id        int64
	pull      *pull
	author    *user
	app       int64
	review    int64
	when      time.Time
	updated   time.Time
	edits     int
	reactions []reaction
	resolved  bool // of the thread; kept with its first comment
	ReviewComment
}

// AddReviewComment adds a comment on a line and returns its id.
func (g *GitHub) AddReviewComment(repo string, number int, c ReviewComment) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustPull(repo, number)
	rc := g.addReviewComment(p, g.account(c.Author), c)
	if rc.author != nil && rc.author.kind == "Bot" {
		rc.app = g.otherApp(c.Author)
	}
	g.notify()
	return rc.id
}

// ReviewComments returns the comments on a pull request's lines as they are
// now, oldest first.
func (g *GitHub) ReviewComments(repo string, number int) []ReviewComment {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []ReviewComment
	for _, k := range g.mustPull(repo, number).reviewComments {
		v := k.ReviewComment
		v.ID, v.Author, v.AppID, v.Review, v.Edits = k.id, login(k.author), k.app, k.review, k.edits
		v.Line, v.Resolved, v.Reactions = k.lineNow(), k.thread().resolved, countReactions(k.reactions)
		list = append(list, v)
	}
	return list
}

// DeleteReviewComment removes a comment on a line, as a maintainer may. Answers
// to it stay.
func (g *GitHub) DeleteReviewComment(id int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.mustReviewComment(id)
	k.pull.removeReviewComment(k)
	g.notify()
}

// ResolveThread settles the thread of a comment on a line, as a person may.
func (g *GitHub) ResolveThread(commentID int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mustReviewComment(commentID).thread().resolved = true
	g.notify()
}

func (g *GitHub) addReviewComment(p *pull, author *user, c ReviewComment) *reviewComment {
	c.CommitID, c.Side = cmp.Or(c.CommitID, p.head), cmp.Or(c.Side, "RIGHT")
	k := &reviewComment{id: g.nextID(), pull: p, author: author, when: g.now(), updated: g.now(), ReviewComment: c}
	p.reviewComments = append(p.reviewComments, k)
	p.updated = g.now()
	return k
}

func (p *pull) removeReviewComment(k *reviewComment) {
	p.reviewComments = slices.DeleteFunc(p.reviewComments, func(other *reviewComment) bool { return other == k })
}

// reviewComment finds a comment on a line by its id, in any repository.
func (g *GitHub) reviewComment(id int64) *reviewComment {
	for _, r := range g.repos {
		for _, p := range r.pulls {
			for _, k := range p.reviewComments {
				if k.id == id {
					return k
				}
			}
		}
	}
	return nil
}

func (g *GitHub) mustReviewComment(id int64) *reviewComment {
	k := g.reviewComment(id)
	if k == nil {
		panic(fmt.Sprintf("sim: no review comment %d", id))
	}
	return k
}

// thread is the first comment of the thread that this one is in, or what is
// left of it.
func (k *reviewComment) thread() *reviewComment {
	if k.ReplyTo == 0 {
		return k
	}
	for _, other := range k.pull.reviewComments {
		if other.id == k.ReplyTo || other.ReplyTo == k.ReplyTo {
			return other
		}
	}
	return k
}

// lineNow is the line at the head, 0 once the line was changed or its file is
// not part of the diff any more.
func (k *reviewComment) lineNow() int {
	if k.ReplyTo != 0 && k.thread() != k {
		return k.thread().lineNow()
	}
	p := k.pull
	if k.Line == 0 || !slices.ContainsFunc(p.files(), func(f fileDiff) bool { return f.path == k.Path }) {
		return 0
	}
	was, now := p.repo.net.commits[k.CommitID], p.repo.net.commits[p.head]
	if k.Side == "LEFT" || was == nil || now == nil {
		return k.Line
	}
	return trackLine(p.repo.net.content(was.files[k.Path]), p.repo.net.content(now.files[k.Path]), k.Line)
}

func (g *GitHub) reviewCommentJSON(p *pull, r *reviewComment) object {
	page := g.web(fmt.Sprintf("%s#discussion_r%d", p.page(), r.id))
	base := fmt.Sprintf("/repos/%s/%s/pulls/", escape(p.repo.owner.login), escape(p.repo.name))
	self := g.api(fmt.Sprintf("%scomments/%d", base, r.id))
	pull := g.api(fmt.Sprintf("%s%d", base, p.number))
	var line, start, originalStart, startSide, review any
	commit := r.CommitID
	if now := r.lineNow(); now > 0 {
		line, commit = now, p.head // GitHub moves the comment along with the head
		if r.StartLine > 0 {
			start = r.StartLine + now - r.Line
		}
	}
	if r.StartLine > 0 {
		originalStart, startSide = r.StartLine, r.Side
	}
	if r.review != 0 {
		review = r.review
	}
	hunk := ""
	for _, f := range p.files() {
		if f.path == r.Path {
			hunk = f.hunks
		}
	}
	o := object{
		"id": r.id, "node_id": nodeID("PullRequestReviewComment", r.id), "pull_request_review_id": review, "url": self,
		"diff_hunk": hunk, "path": r.Path, "position": line, "original_position": r.Line, "commit_id": commit,
		"original_commit_id": r.CommitID, "user": g.userJSON(r.author), "body": r.Body, "created_at": stamp(r.when),
		"updated_at": stamp(r.updated), "html_url": page, "pull_request_url": pull, "author_association": "CONTRIBUTOR",
		"_links": object{"self": object{"href": self}, "html": object{"href": page}, "pull_request": object{"href": pull}},
		"line":   line, "original_line": r.Line, "start_line": start, "original_start_line": originalStart, "side": r.Side, "start_side": startSide,
		"subject_type": "line", "reactions": reactionCounts(self, r.reactions),
	}
	if r.ReplyTo != 0 {
		o["in_reply_to_id"] = r.ReplyTo
	}
	return o
}

func (g *GitHub) listReviewComments(c *call) reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	since, _ := time.Parse(time.RFC3339, c.r.URL.Query().Get("since")) // an unreadable date filters nothing
	var all []*reviewComment
	for _, k := range p.reviewComments {
		if g.shown(k) && !k.updated.Before(since) {
			all = append(all, k)
		}
	}
	return page(c, all, 0, func(r *reviewComment) object { return g.reviewCommentJSON(p, r) })
}

// shown reports whether a comment's review was submitted.
func (g *GitHub) shown(k *reviewComment) bool {
	return !slices.ContainsFunc(k.pull.reviews, func(r *review) bool { return r.id == k.review && r.State == "PENDING" })
}

// lineComment finds the comment on a line that a path names.
func (c *call) lineComment() *reviewComment {
	k := c.g.reviewComment(c.number("id"))
	if k == nil || k.pull.repo != c.repo || !c.g.shown(k) {
		return nil
	}
	return k
}

func (g *GitHub) getReviewComment(c *call) reply {
	k := c.lineComment()
	if k == nil {
		return notFound()
	}
	return ok(g.reviewCommentJSON(k.pull, k))
}

func (g *GitHub) updateReviewComment(c *call) reply {
	k := c.lineComment()
	if k == nil {
		return notFound()
	}
	if k.app != g.opts.AppID {
		return notAccessible()
	}
	body, rep, good := commentBody(c)
	if !good {
		return rep
	}
	if body != k.Body {
		k.edits++
	}
	k.Body, k.updated = body, g.now()
	return ok(g.reviewCommentJSON(k.pull, k))
}

func (g *GitHub) deleteReviewComment(c *call) reply {
	k := c.lineComment()
	if k == nil {
		return notFound()
	}
	if k.app != g.opts.AppID {
		return notAccessible()
	}
	k.pull.removeReviewComment(k)
	return noContent()
}

// createReply answers in a thread. Like each comment on a line it comes in a
// review of its own, without a body.
func (g *GitHub) createReply(c *call) reply {
	p, k := c.pull(), c.lineComment()
	if p == nil || k == nil || k.pull != p {
		return notFound()
	}
	body, rep, good := commentBody(c)
	switch {
	case !good:
		return rep
	case p.locked:
		return refusedReview("lock prevents review")
	case k.ReplyTo != 0: // "replies to replies are not supported"
		return refusedReview("in_reply_to can't be a reply itself")
	}
	return created(g.reviewCommentJSON(p, g.replyIn(k, g.bot(), g.opts.AppID, body)))
}

// replyIn adds an answer to a thread, in a review of its own.
func (g *GitHub) replyIn(first *reviewComment, author *user, app int64, body string) *reviewComment {
	p := first.pull
	rv := g.addReview(p, author, Review{State: "COMMENTED"})
	rv.app = app
	k := g.addReviewComment(p, author, ReviewComment{
		Body: body, Path: first.Path, Line: first.Line, StartLine: first.StartLine, Side: first.Side,
		CommitID: first.CommitID, ReplyTo: first.id,
	})
	k.app, k.review = app, rv.id
	return k
}
