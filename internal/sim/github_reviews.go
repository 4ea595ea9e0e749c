package sim

import (
	"fmt"
	"strings"
	"time"
)

// Review is a review of a pull request.
type Review struct {
	// Author's login; empty is a deleted account.
	Author string
	// State is APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED or PENDING.
	State string
	Body  string
	// CommitID that was reviewed; empty means the head.
	CommitID string

	// What follows is told by [GitHub.Reviews] and ignored where a review is added.

	ID int64
	// AppID is the App that wrote it, 0 for a person.
	AppID int64
	// Dismissal is the message with which the review was dismissed.
	Dismissal string
}

type review struct {
	id        int64
	author    *user
	app       int64
	when      time.Time
	dismissal string
	Review
}

// AddReview adds a review and returns its id.
func (g *GitHub) AddReview(repo string, number int, r Review) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustPull(repo, number)
	rv := g.addReview(p, g.account(r.Author), r)
	if rv.author != nil && rv.author.kind == "Bot" {
		rv.app = g.otherApp(r.Author)
	}
	g.notify()
	return rv.id
}

// Reviews returns the reviews of a pull request as they are now, oldest first,
// pending ones included.
func (g *GitHub) Reviews(repo string, number int) []Review {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []Review
	for _, r := range g.mustPull(repo, number).reviews {
		v := r.Review
		v.ID, v.Author, v.AppID, v.Dismissal = r.id, login(r.author), r.app, r.dismissal
		list = append(list, v)
	}
	return list
}

func (g *GitHub) addReview(p *pull, author *user, r Review) *review {
	if r.CommitID == "" {
		r.CommitID = p.head
	}
	rv := &review{id: g.nextID(), author: author, when: g.now(), Review: r}
	p.reviews = append(p.reviews, rv)
	p.updated = g.now()
	return rv
}

// review finds the review of a path. A pending one is seen by its author alone.
func (c *call) review() (*pull, *review) {
	p := c.pull()
	if p == nil {
		return nil, nil
	}
	for _, r := range p.reviews {
		if r.id == c.number("id") && c.g.seen(r) {
			return p, r
		}
	}
	return p, nil
}

func (g *GitHub) seen(r *review) bool { return r.State != "PENDING" || r.author == g.bot() }

func (g *GitHub) reviewJSON(p *pull, r *review) object {
	page := g.web(fmt.Sprintf("%s#pullrequestreview-%d", p.page(), r.id))
	pull := g.api(fmt.Sprintf("/repos/%s/%s/pulls/%d", escape(p.repo.owner.login), escape(p.repo.name), p.number))
	o := object{
		"id": r.id, "node_id": nodeID("PullRequestReview", r.id), "user": g.userJSON(r.author), "body": r.Body, "state": r.State,
		"html_url": page, "pull_request_url": pull, "author_association": "CONTRIBUTOR",
		"commit_id": r.CommitID, "_links": object{"html": object{"href": page}, "pull_request": object{"href": pull}},
	}
	if r.State != "PENDING" {
		o["submitted_at"] = stamp(r.when)
	}
	return o
}

// hookState is a review's state as webhooks spell it.
func hookState(state string) string { return strings.ToLower(state) }

func (g *GitHub) listReviews(c *call) reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	var all []*review
	for _, r := range p.reviews {
		if g.seen(r) {
			all = append(all, r)
		}
	}
	return page(c, all, 0, func(r *review) object { return g.reviewJSON(p, r) })
}

func (g *GitHub) getReview(c *call) reply {
	p, r := c.review()
	if r == nil {
		return notFound()
	}
	return ok(g.reviewJSON(p, r))
}

func (g *GitHub) listCommentsOfReview(c *call) reply {
	p, r := c.review()
	if r == nil {
		return notFound()
	}
	var all []*reviewComment
	for _, k := range p.reviewComments {
		if k.review == r.id {
			all = append(all, k)
		}
	}
	return page(c, all, 0, func(k *reviewComment) object {
		o := g.reviewCommentJSON(p, k)
		for _, absent := range []string{"subject_type"} { // the older of GitHub's two forms of a comment
			delete(o, absent)
		}
		return o
	})
}
