package sim

import (
	"fmt"
	"net/http"
	"slices"
)

// talk finds the pull request or the issue of a path.
func (c *call) talk() *pull {
	if p := c.pull(); p != nil {
		return p
	}
	return c.repo.issues[int(c.number("number"))]
}

// noTalk is the answer where there is neither: an issue that was deleted is known
// to have been there.
func (c *call) noTalk() reply {
	if p, known := c.repo.issues[int(c.number("number"))]; known && p == nil {
		return failed(http.StatusGone, "This issue was deleted")
	}
	return notFound()
}

func (g *GitHub) getIssue(c *call) reply {
	p := c.talk()
	if p == nil {
		return c.noTalk()
	}
	return ok(g.issueJSON(p))
}

// listIssues lists issues and pull requests alike, the newest first, as GitHub does.
func (g *GitHub) listIssues(c *call) reply {
	state := c.r.URL.Query().Get("state")
	if state == "" {
		state = "open"
	}
	var all []*pull
	for number := c.repo.lastNumber; number > 0; number-- {
		p := c.repo.issues[number]
		if p == nil {
			p = c.repo.pulls[number]
		}
		if p != nil && (state == "all" || p.state == state) {
			all = append(all, p)
		}
	}
	return page(c, all, 0, g.issueJSON)
}

func (g *GitHub) listIssueLabels(c *call) reply {
	p := c.talk()
	if p == nil {
		return c.noTalk()
	}
	return page(c, p.labels, 0, labelJSON)
}

// listTimeline tells of the places that name an issue, and of nothing else.
func (g *GitHub) listTimeline(c *call) reply {
	p := c.talk()
	if p == nil {
		return c.noTalk()
	}
	return page(c, slices.Clone(p.mentions), 0, func(m mention) object {
		return object{
			"event": "cross-referenced", "actor": g.userJSON(m.from.author), "created_at": stamp(m.when), "updated_at": stamp(m.when),
			"source": object{"type": "issue", "issue": g.mentioningJSON(m.from)},
		}
	})
}

// mentioningJSON is the issue of a mention, which names its repository.
func (g *GitHub) mentioningJSON(p *pull) object {
	o := g.issueJSON(p)
	o["repository"] = g.repoJSON(p.repo)
	return o
}

// labelJSON is a label as issues carry it.
func labelJSON(name string) object {
	id := int64(len(name)) + 900_000_000
	return object{
		"id": id, "node_id": nodeID("Label", id), "name": name, "color": "ededed", "default": false, "description": nil,
		"url": fmt.Sprintf("https://api.github.com/labels/%s", escape(name)),
	}
}

// issueJSON is an issue, or a pull request seen as one.
func (g *GitHub) issueJSON(p *pull) object {
	path := g.api(fmt.Sprintf("/repos/%s/%s/issues/%d", escape(p.repo.owner.login), escape(p.repo.name), p.number))
	page := g.web(p.page())
	o := object{
		"id": p.id + 1_000_000_000_000, "node_id": nodeID("Issue", p.id), "number": p.number, "url": path, "html_url": page,
		"repository_url": g.api("/repos/" + escape(p.repo.owner.login) + "/" + escape(p.repo.name)),
		"labels_url":     path + "/labels{/name}", "comments_url": path + "/comments", "events_url": path + "/events",
		"title": p.title, "user": g.userJSON(p.author), "labels": rows(p.labels, labelJSON), "state": p.state, "locked": p.locked,
		"assignee": nil, "assignees": []any{}, "milestone": nil, "comments": len(g.commentsOf(p)), "body": nullable(p.body),
		"created_at": stamp(p.created), "updated_at": stamp(p.updated), "closed_at": stamp(p.closed),
		"author_association": p.association(), "active_lock_reason": nil, "state_reason": nil, "performed_via_github_app": nil,
		"reactions": reactionCounts(path, p.reactions),
	}
	if p.issue {
		if p.state == "closed" {
			o["state_reason"] = "completed"
		}
		return o
	}
	full := g.pullJSON(p, true)
	o["user"], o["draft"] = full["user"], p.draft
	o["pull_request"] = object{
		"url": full["url"], "html_url": page, "diff_url": page + ".diff", "patch_url": page + ".patch", "merged_at": full["merged_at"],
	}
	return o
}
