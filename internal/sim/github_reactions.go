package sim

import (
	"slices"
	"time"
)

// reaction is one person's reaction to a comment.
type reaction struct {
	id      int64
	user    *user
	content string
	created time.Time
}

// reactionContents are the eight reactions.
var reactionContents = []string{"+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"}

// reactionCounts is the summary that comments and issues carry.
func reactionCounts(parent string, all []reaction) object {
	counts := object{"url": parent + "/reactions", "total_count": len(all)}
	for _, content := range reactionContents {
		counts[content] = 0
	}
	for _, r := range all {
		n, _ := counts[r.content].(int)
		counts[r.content] = n + 1
	}
	return counts
}

func (g *GitHub) reactionJSON(r reaction) object {
	return object{
		"id": r.id, "node_id": nodeID("Reaction", r.id), "user": g.userJSON(r.user), "content": r.content, "created_at": stamp(r.created),
	}
}

// countReactions sums reactions up by content.
func countReactions(all []reaction) map[string]int {
	counts := map[string]int{}
	for _, r := range all {
		counts[r.content]++
	}
	return counts
}

// reactable finds what a path puts reactions to; nil is nothing.
type reactable func(*call) *[]reaction

func ofComment(c *call) *[]reaction {
	if k := c.comment(); k != nil {
		return &k.reactions
	}
	return nil
}

func ofLineComment(c *call) *[]reaction {
	if k := c.lineComment(); k != nil {
		return &k.reactions
	}
	return nil
}

func ofIssue(c *call) *[]reaction {
	if p := c.talk(); p != nil {
		return &p.reactions
	}
	return nil
}

func (g *GitHub) listReactions(of reactable) func(*call) reply {
	return func(c *call) reply {
		all := of(c)
		if all == nil {
			return notFound()
		}
		content := c.r.URL.Query().Get("content")
		var list []reaction
		for _, r := range *all {
			if content == "" || r.content == content {
				list = append(list, r)
			}
		}
		return page(c, list, 0, g.reactionJSON)
	}
}

func (g *GitHub) createReaction(of reactable) func(*call) reply {
	return func(c *call) reply {
		all := of(c)
		if all == nil {
			return notFound()
		}
		o, rep, good := c.decode()
		if !good {
			return rep
		}
		content, _ := o["content"].(string)
		if !slices.Contains(reactionContents, content) {
			return invalidFields(fieldError{Resource: "Reaction", Code: "invalid", Field: "content"})
		}
		for _, r := range *all {
			if r.content == content && r.user == g.bot() {
				return ok(g.reactionJSON(r)) // the same reaction again is 200, not 201
			}
		}
		r := reaction{id: g.nextID(), user: g.bot(), content: content, created: g.now()}
		*all = append(*all, r)
		return created(g.reactionJSON(r))
	}
}

func (g *GitHub) deleteReaction(of reactable) func(*call) reply {
	return func(c *call) reply {
		all := of(c)
		if all == nil {
			return notFound()
		}
		before := len(*all)
		*all = slices.DeleteFunc(*all, func(r reaction) bool { return r.id == c.number("reaction") && r.user == g.bot() })
		if len(*all) == before {
			return notFound()
		}
		return noContent()
	}
}

// React puts a person's reaction under a comment, or under a comment on a line.
func (g *GitHub) React(commentID int64, author, content string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := reaction{id: g.nextID(), user: g.account(author), content: content, created: g.now()}
	if c := g.comments[commentID]; c != nil {
		c.reactions = append(c.reactions, r)
	} else {
		k := g.mustReviewComment(commentID)
		k.reactions = append(k.reactions, r)
	}
	g.notify()
}

// PullReactions returns the reactions to a pull request itself, by content.
func (g *GitHub) PullReactions(repo string, number int) map[string]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return countReactions(g.mustPull(repo, number).reactions)
}
