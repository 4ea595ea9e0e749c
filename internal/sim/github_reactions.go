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

func (g *GitHub) listReactions(c *call) reply {
	k := c.comment()
	if k == nil {
		return notFound()
	}
	return page(c, k.reactions, 0, g.reactionJSON)
}

func (g *GitHub) createReaction(c *call) reply {
	k := c.comment()
	if k == nil {
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
	for _, r := range k.reactions {
		if r.content == content && r.user == g.bot() {
			return ok(g.reactionJSON(r)) // the same reaction again is 200, not 201
		}
	}
	r := reaction{id: g.nextID(), user: g.bot(), content: content, created: g.now()}
	k.reactions = append(k.reactions, r)
	return created(g.reactionJSON(r))
}

func (g *GitHub) deleteReaction(c *call) reply {
	k := c.comment()
	if k == nil {
		return notFound()
	}
	before := len(k.reactions)
	k.reactions = slices.DeleteFunc(k.reactions, func(r reaction) bool { return r.id == c.number("reaction") && r.user == g.bot() })
	if len(k.reactions) == before {
		return notFound()
	}
	return noContent()
}
