package sim

import (
	"net/http"
	"slices"
	"strings"
)

// refusedReview is the 422 of reviews, whose errors are plain texts.
func refusedReview(why ...string) reply {
	rep := failed(http.StatusUnprocessableEntity, "Unprocessable Entity")
	rep.json.(object)["errors"] = why
	return rep
}

// reviewStates are the states that the events of a review lead to.
var reviewStates = map[string]string{"COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}

// createReview posts a review with its comments, all or nothing.
func (g *GitHub) createReview(c *call) reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	o, rep, good := c.decode()
	if !good {
		return rep
	}
	event, body, rep, good := readVerdict(o)
	if !good {
		return rep
	}
	commit, _ := o["commit_id"].(string)
	if commit == "" {
		commit = p.head
	}
	comments, rep, good := readComments(o)
	if !good {
		return rep
	}
	if why := g.refusal(p, event, body, commit, comments); len(why) > 0 {
		return refusedReview(why...)
	}
	state := "PENDING"
	if event != "" {
		state = reviewStates[event]
	}
	r := g.addReview(p, g.bot(), Review{State: state, Body: body, CommitID: commit})
	r.app = g.opts.AppID
	for _, k := range comments {
		k.CommitID = commit
		rc := g.addReviewComment(p, g.bot(), k)
		rc.app, rc.review = g.opts.AppID, r.id
	}
	return ok(g.reviewJSON(p, r))
}

// submitReview gives a pending review its verdict.
func (g *GitHub) submitReview(c *call) reply {
	p, r := c.review()
	if r == nil {
		return notFound()
	}
	o, rep, good := c.decode()
	if !good {
		return rep
	}
	event, body, rep, good := readVerdict(o)
	switch {
	case !good:
		return rep
	case event == "":
		return notSupplied("event")
	case r.State != "PENDING":
		return refusedReview("Can not submit a review that is not pending")
	}
	if body == "" {
		body = r.Body
	}
	if why := verdictRefusal(p, r.author, event, body); why != "" {
		return refusedReview(why)
	}
	r.State, r.Body, r.when = reviewStates[event], body, g.now()
	return ok(g.reviewJSON(p, r))
}

// deleteReview throws a pending review away, with its comments.
func (g *GitHub) deleteReview(c *call) reply {
	p, r := c.review()
	if r == nil {
		return notFound()
	}
	if r.State != "PENDING" {
		return refusedReview("Can not delete a non-pending pull request review")
	}
	o := g.reviewJSON(p, r)
	p.reviews = slices.DeleteFunc(p.reviews, func(other *review) bool { return other == r })
	p.reviewComments = slices.DeleteFunc(p.reviewComments, func(k *reviewComment) bool { return k.review == r.id })
	return ok(o)
}

// dismissReview takes a verdict back, which stays to be read.
func (g *GitHub) dismissReview(c *call) reply {
	p, r := c.review()
	if r == nil {
		return notFound()
	}
	o, rep, good := c.decode()
	if !good {
		return rep
	}
	message, isText := o["message"].(string)
	switch {
	case !isText:
		return notSupplied("message")
	case strings.TrimSpace(message) == "":
		return refusedReview("Message can't be blank")
	case r.State != "APPROVED" && r.State != "CHANGES_REQUESTED":
		return refusedReview("Can not dismiss a " + hookState(r.State) + " pull request review")
	}
	r.State, r.dismissal = "DISMISSED", message
	return ok(g.reviewJSON(p, r))
}
