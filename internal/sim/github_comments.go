package sim

import (
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// maxCommentBody is the most characters of a comment. The API's own error names it.
const maxCommentBody = 65_536

// Comment is a comment on a pull request as people see it.
type Comment struct {
	ID int64
	// Author's login; empty is a deleted account.
	Author string
	Body   string
	// AppID is the App that wrote it, 0 for a person.
	AppID            int64
	HTMLURL          string
	Created, Updated time.Time
	// Edits is how often it was changed after it was posted.
	Edits int
	// Reactions by content, such as "eyes".
	Reactions map[string]int
}

// comment is an issue comment.
type comment struct {
	id               int64
	pull             *pull
	author           *user
	app              int64
	body             string
	created, updated time.Time
	edits            int
	reactions        []reaction
}

// Comments returns the comments of a pull request or an issue, oldest first.
func (g *GitHub) Comments(repo string, number int) []Comment {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []Comment
	for _, c := range g.commentsOf(g.mustTalk(repo, number)) {
		v := Comment{
			ID: c.id, Author: login(c.author), Body: c.body, AppID: c.app, HTMLURL: g.web(c.page()),
			Created: c.created, Updated: c.updated, Edits: c.edits, Reactions: countReactions(c.reactions),
		}
		list = append(list, v)
	}
	return list
}

// AddComment posts a comment as a person and returns its id. An empty author is
// a deleted account; a name that ends in "[bot]" is another App.
func (g *GitHub) AddComment(repo string, number int, author, body string) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustTalk(repo, number)
	c := g.addComment(p, g.account(author), body, 0)
	if c.author != nil && c.author.kind == "Bot" {
		c.app = g.otherApp(author)
	}
	g.notify()
	return c.id
}

// EditComment changes a comment, as its author or a maintainer may.
func (g *GitHub) EditComment(id int64, body string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.comments[id]
	if c == nil {
		panic(fmt.Sprintf("sim: no comment %d", id))
	}
	c.body, c.updated = body, g.now()
	c.edits++
	g.notify()
}

// DeleteComment removes a comment, as a maintainer may.
func (g *GitHub) DeleteComment(id int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.comments, id)
	g.notify()
}

func (g *GitHub) addComment(p *pull, author *user, body string, app int64) *comment {
	c := &comment{id: g.nextID(), pull: p, author: author, app: app, body: body, created: g.now(), updated: g.now()}
	g.comments[c.id] = c
	p.updated = g.now()
	return c
}

func (g *GitHub) commentsOf(p *pull) []*comment {
	var list []*comment
	for _, id := range sortedKeys(g.comments) {
		if c := g.comments[id]; c.pull == p {
			list = append(list, c)
		}
	}
	return list
}

func (c *comment) page() string {
	return fmt.Sprintf("%s#issuecomment-%d", c.pull.page(), c.id)
}

func (g *GitHub) commentJSON(c *comment) object {
	base := fmt.Sprintf("/repos/%s/%s/issues/", escape(c.pull.repo.owner.login), escape(c.pull.repo.name))
	self := g.api(fmt.Sprintf("%scomments/%d", base, c.id))
	association := "CONTRIBUTOR"
	if c.author == nil || c.app != 0 {
		association = "NONE"
	}
	o := object{
		"url": self, "html_url": g.web(c.page()), "issue_url": g.api(fmt.Sprintf("%s%d", base, c.pull.number)), "id": c.id,
		"node_id": nodeID("IssueComment", c.id), "user": g.userJSON(c.author), "created_at": stamp(c.created),
		"updated_at": stamp(c.updated), "author_association": association, "body": c.body, "reactions": reactionCounts(self, c.reactions),
		"performed_via_github_app": nil,
	}
	if c.app != 0 {
		o["performed_via_github_app"] = g.appJSON(c.app, strings.TrimSuffix(login(c.author), "[bot]"))
	}
	return o
}

func (g *GitHub) listComments(c *call) reply {
	p := c.talk()
	if p == nil {
		return c.noTalk()
	}
	since, _ := time.Parse(time.RFC3339, c.r.URL.Query().Get("since")) // an unreadable date filters nothing
	var all []*comment
	for _, k := range g.commentsOf(p) {
		if !k.updated.Before(since) {
			all = append(all, k)
		}
	}
	return page(c, all, 0, g.commentJSON)
}

// commentBody reads and checks the body of a comment.
func commentBody(c *call) (string, reply, bool) {
	o, rep, good := c.decode()
	if !good {
		return "", rep, false
	}
	v, present := o["body"]
	if !present {
		return "", notSupplied("body"), false
	}
	body, isText := v.(string)
	if !isText {
		return "", invalidRequest(fmt.Sprintf("For 'properties/body', %v is not a string.", v)), false
	}
	if strings.TrimSpace(body) == "" {
		return "", invalidFields(fieldError{Resource: "IssueComment", Code: "unprocessable", Field: "data", Message: "Body cannot be blank"}), false
	}
	if utf8.RuneCountInString(body) > maxCommentBody {
		return "", invalidFields(fieldError{
			Resource: "IssueComment", Code: "unprocessable", Field: "data", Message: "Body is too long (maximum is 65536 characters)",
		}), false
	}
	return body, reply{}, true
}

func (g *GitHub) createComment(c *call) reply {
	p := c.talk()
	if p == nil {
		return c.noTalk()
	}
	body, rep, good := commentBody(c)
	if !good {
		return rep
	}
	if p.locked {
		return failed(http.StatusForbidden, "Unable to create comment because issue is locked.")
	}
	k := g.addComment(p, g.bot(), body, g.opts.AppID)
	o := g.commentJSON(k)
	return created(o).set("Location", o["url"].(string))
}

// comment finds the comment of a path within the path's repository.
func (c *call) comment() *comment {
	k := c.g.comments[c.number("id")]
	if k == nil || k.pull.repo != c.repo {
		return nil
	}
	return k
}

func (g *GitHub) getComment(c *call) reply {
	k := c.comment()
	if k == nil {
		return notFound()
	}
	return ok(g.commentJSON(k))
}

func (g *GitHub) updateComment(c *call) reply {
	k := c.comment()
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
	if body != k.body {
		k.edits++
	}
	k.body, k.updated = body, g.now()
	return ok(g.commentJSON(k))
}

func (g *GitHub) deleteComment(c *call) reply {
	k := c.comment()
	if k == nil {
		return notFound()
	}
	if k.app != g.opts.AppID {
		return notAccessible()
	}
	delete(g.comments, k.id)
	return noContent()
}
