package sim

import (
	"fmt"
	"time"
)

// pullJSON renders a pull request, the same for REST and webhooks. The short
// form is that of lists, which leave out counts and merge state.
func (g *GitHub) pullJSON(p *pull, short bool) object {
	path := fmt.Sprintf("/repos/%s/%s/pulls/%d", escape(p.repo.owner.login), escape(p.repo.name), p.number)
	issue := fmt.Sprintf("/repos/%s/%s/issues/%d", escape(p.repo.owner.login), escape(p.repo.name), p.number)
	statuses := fmt.Sprintf("/repos/%s/%s/statuses/%s", escape(p.repo.owner.login), escape(p.repo.name), p.head)
	page := g.web(p.page())
	author := g.userJSON(p.author)
	if p.quirks.NullUser {
		author = nil
	}
	labels := []any{}
	for _, l := range p.labels {
		labels = append(labels, object{
			"id": 1, "node_id": nodeID("Label", 1), "url": g.api(path + "/labels/" + escape(l)),
			"name": l, "color": "ededed", "default": false, "description": "",
		})
	}
	links := object{}
	for name, href := range map[string]string{
		"self": g.api(path), "html": page, "issue": g.api(issue), "comments": g.api(issue + "/comments"),
		"review_comments": g.api(path + "/comments"), "review_comment": g.api(path + "/comments{/number}"),
		"commits": g.api(path + "/commits"), "statuses": g.api(statuses),
	} {
		links[name] = object{"href": href}
	}
	var mergedAt time.Time
	if p.merged {
		mergedAt = p.closed
	}
	o := object{
		"url": g.api(path), "id": p.id, "node_id": nodeID("PullRequest", p.id), "html_url": page,
		"diff_url": page + ".diff", "patch_url": page + ".patch", "issue_url": g.api(issue), "number": p.number,
		"state": p.state, "locked": p.locked, "title": p.title, "user": author, "body": nullable(p.body),
		"created_at": stamp(p.created), "updated_at": stamp(p.updated), "closed_at": stamp(p.closed),
		"merged_at": stamp(mergedAt), "merge_commit_sha": nullable(p.mergeSHA), "assignee": nil, "assignees": []any{},
		"requested_reviewers": g.reviewersJSON(p), "requested_teams": g.reviewTeamsJSON(p), "labels": labels, "milestone": nil, "draft": p.draft,
		"commits_url": g.api(path + "/commits"), "review_comments_url": g.api(path + "/comments"),
		"review_comment_url": g.api(path + "/comments{/number}"), "comments_url": g.api(issue + "/comments"),
		"statuses_url": g.api(statuses), "head": g.headJSON(p), "base": g.sideJSON(p.repo.owner, p.repo, p.baseRef, p.base),
		"_links": links, "author_association": p.association(), "auto_merge": nil, "active_lock_reason": nil,
	}
	if short {
		return o
	}
	additions, deletions, files := p.totals()
	mergeable, mergeState := p.mergeability()
	more := object{
		"merged": p.merged, "mergeable": mergeable, "rebaseable": nil, "mergeable_state": mergeState, "merged_by": nil,
		"comments": len(g.commentsOf(p)), "review_comments": len(p.reviewComments), "maintainer_can_modify": false,
		"commits": len(p.commits()), "additions": additions, "deletions": deletions, "changed_files": files,
	}
	if p.merged {
		more["merged_by"] = g.userJSON(p.mergedBy)
	}
	for k, v := range more {
		o[k] = v
	}
	return o
}

func (g *GitHub) shortPullJSON(p *pull) object { return g.pullJSON(p, true) }

// headJSON renders the head. A deleted fork leaves the branch and the SHA.
func (g *GitHub) headJSON(p *pull) object {
	if p.headRepo == nil {
		o := g.sideJSON(g.account(p.headOwner), nil, p.branch, p.head)
		o["label"] = "unknown repository"
		o["user"] = nil
		return o
	}
	return g.sideJSON(p.headRepo.owner, p.headRepo, p.branch, p.head)
}

func (g *GitHub) sideJSON(owner *user, r *repository, ref, sha string) object {
	o := object{"label": owner.login + ":" + ref, "ref": ref, "sha": sha, "user": g.userJSON(owner), "repo": nil}
	if r != nil {
		o["repo"] = g.repoJSON(r)
	}
	return o
}

// association is what GitHub calls the author: CONTRIBUTOR even for private
// members of an organisation, so it proves nothing.
func (p *pull) association() string {
	switch p.author {
	case nil:
		return "NONE"
	case p.repo.owner:
		return "OWNER"
	}
	return "CONTRIBUTOR"
}
