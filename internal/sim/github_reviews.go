package sim

import (
	"fmt"
	"time"
)

// Review is a person's review of a pull request.
type Review struct {
	// Author's login; empty is a deleted account.
	Author string
	// State is APPROVED, CHANGES_REQUESTED, COMMENTED or DISMISSED.
	State string
	Body  string
	// CommitID that was reviewed; empty means the head.
	CommitID string
}

// ReviewComment is a person's comment on a line.
type ReviewComment struct {
	Author, Body, Path string
	// Line in the file at CommitID; 0 is a comment that has become outdated.
	Line     int
	CommitID string
	// ReplyTo is the id of the comment that this one answers, or 0.
	ReplyTo int64
}

type review struct {
	id     int64
	author *user
	when   time.Time
	Review
}

type reviewComment struct {
	id     int64
	author *user
	when   time.Time
	ReviewComment
}

// AddReview adds a review and returns its id.
func (g *GitHub) AddReview(repo string, number int, r Review) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustPull(repo, number)
	if r.CommitID == "" {
		r.CommitID = p.head
	}
	rv := &review{id: g.nextID(), author: g.account(r.Author), when: g.now(), Review: r}
	p.reviews = append(p.reviews, rv)
	p.updated = g.now()
	g.notify()
	return rv.id
}

// AddReviewComment adds a comment on a line and returns its id.
func (g *GitHub) AddReviewComment(repo string, number int, c ReviewComment) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustPull(repo, number)
	if c.CommitID == "" {
		c.CommitID = p.head
	}
	rc := &reviewComment{id: g.nextID(), author: g.account(c.Author), when: g.now(), ReviewComment: c}
	p.reviewComments = append(p.reviewComments, rc)
	p.updated = g.now()
	g.notify()
	return rc.id
}

func (g *GitHub) reviewJSON(p *pull, r *review) object {
	page := g.web(fmt.Sprintf("%s#pullrequestreview-%d", p.page(), r.id))
	pull := g.api(fmt.Sprintf("/repos/%s/%s/pulls/%d", escape(p.repo.owner.login), escape(p.repo.name), p.number))
	return object{
		"id": r.id, "node_id": nodeID("PullRequestReview", r.id), "user": g.userJSON(r.author), "body": r.Body, "state": r.State,
		"html_url": page, "pull_request_url": pull, "author_association": "CONTRIBUTOR", "submitted_at": stamp(r.when),
		"commit_id": r.CommitID, "_links": object{"html": object{"href": page}, "pull_request": object{"href": pull}},
	}
}

func (g *GitHub) reviewCommentJSON(p *pull, r *reviewComment) object {
	page := g.web(fmt.Sprintf("%s#discussion_r%d", p.page(), r.id))
	base := fmt.Sprintf("/repos/%s/%s/pulls/", escape(p.repo.owner.login), escape(p.repo.name))
	self := g.api(fmt.Sprintf("%scomments/%d", base, r.id))
	pull := g.api(fmt.Sprintf("%s%d", base, p.number))
	var line any
	if r.Line > 0 {
		line = r.Line
	}
	hunk := ""
	for _, f := range p.files() {
		if f.path == r.Path {
			hunk = f.hunks
		}
	}
	o := object{
		"id": r.id, "node_id": nodeID("PullRequestReviewComment", r.id), "pull_request_review_id": nil, "url": self,
		"diff_hunk": hunk, "path": r.Path, "position": line, "original_position": r.Line, "commit_id": r.CommitID,
		"original_commit_id": r.CommitID, "user": g.userJSON(r.author), "body": r.Body, "created_at": stamp(r.when),
		"updated_at": stamp(r.when), "html_url": page, "pull_request_url": pull, "author_association": "CONTRIBUTOR",
		"_links": object{"self": object{"href": self}, "html": object{"href": page}, "pull_request": object{"href": pull}},
		"line":   line, "original_line": r.Line, "start_line": nil, "original_start_line": nil, "side": "RIGHT", "start_side": nil,
		"subject_type": "line", "reactions": reactionCounts(self, nil),
	}
	if r.ReplyTo != 0 {
		o["in_reply_to_id"] = r.ReplyTo
	}
	return o
}

func (g *GitHub) listReviews(c *call) reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	return page(c, p.reviews, 0, func(r *review) object { return g.reviewJSON(p, r) })
}

func (g *GitHub) listReviewComments(c *call) reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	return page(c, p.reviewComments, 0, func(r *reviewComment) object { return g.reviewCommentJSON(p, r) })
}
