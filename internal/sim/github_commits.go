package sim

import (
	"fmt"
	"net/http"
	"strings"
)

// commitJSON renders a commit as lists do.
func (g *GitHub) commitJSON(r *repository, k *commit) object {
	base := fmt.Sprintf("/repos/%s/%s", escape(r.owner.login), escape(r.name))
	page := "/" + r.fullName + "/commit/"
	person := object{"name": k.name, "email": k.email, "date": stamp(k.when)}
	parents := []any{}
	for _, p := range k.parents {
		parents = append(parents, object{"sha": p, "url": g.api(base + "/commits/" + p), "html_url": g.web(page + p)})
	}
	author := g.userJSON(g.account(k.author))
	return object{
		"sha": k.sha, "node_id": "C_" + k.sha, "url": g.api(base + "/commits/" + k.sha),
		"html_url": g.web(page + k.sha), "comments_url": g.api(base + "/commits/" + k.sha + "/comments"),
		"commit": object{
			"url": g.api(base + "/git/commits/" + k.sha), "author": person, "committer": person, "message": k.message,
			"tree": object{"sha": k.tree, "url": g.api(base + "/git/trees/" + k.tree)}, "comment_count": 0,
			"verification": object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil},
		},
		"author": author, "committer": author, "parents": parents,
	}
}

func noCommit(ref string) reply {
	return failed(http.StatusUnprocessableEntity, "No commit found for SHA: "+ref)
}

func (g *GitHub) getCommit(c *call) reply {
	k := c.repo.commitOf(c.vars["ref"])
	if k == nil {
		return noCommit(c.vars["ref"])
	}
	parent := ""
	if len(k.parents) > 0 {
		parent = k.parents[0]
	}
	files := c.repo.net.compare(parent, k.sha)
	if accepts(c.r.Header, "sha") {
		return reply{status: http.StatusOK, raw: []byte(k.sha), ctype: "application/vnd.github.v3.sha; charset=utf-8"}
	}
	if accepts(c.r.Header, "diff") {
		return reply{status: http.StatusOK, raw: []byte(diffText(files)), ctype: "application/vnd.github.v3.diff; charset=utf-8"}
	}
	o := g.commitJSON(c.repo, k)
	g.addFiles(o, c.repo, files, k.sha)
	return ok(o)
}

// addFiles puts up to 300 changed files and their totals into a commit.
func (g *GitHub) addFiles(o object, r *repository, files []fileDiff, head string) {
	additions, deletions := 0, 0
	for _, f := range files {
		additions, deletions = additions+f.additions, deletions+f.deletions
	}
	o["files"] = rows(files[:min(len(files), maxDiffFiles)], func(f fileDiff) object { return g.fileJSON(r, f, head, Quirks{}) })
	o["stats"] = object{"additions": additions, "deletions": deletions, "total": additions + deletions}
}

func (g *GitHub) compare(c *call) reply {
	left, right, found := strings.Cut(c.vars["basehead"], "...")
	if !found {
		return notFound()
	}
	base, head := c.repo.commitOf(ownRef(left)), c.repo.commitOf(ownRef(right))
	if base == nil || head == nil {
		return notFound()
	}
	n := c.repo.net
	common := n.mergeBase(base.sha, head.sha)
	if common == "" {
		return failed(http.StatusNotFound, fmt.Sprintf("No common ancestor between %s and %s.", left, right))
	}
	files := n.compare(common, head.sha)
	if accepts(c.r.Header, "diff") {
		return reply{status: http.StatusOK, raw: []byte(diffText(files)), ctype: "application/vnd.github.v3.diff; charset=utf-8"}
	}
	ahead, behind := n.between(base.sha, head.sha), n.between(head.sha, base.sha)
	status := "diverged"
	switch {
	case base.sha == head.sha:
		status = "identical"
	case len(behind) == 0:
		status = "ahead"
	case len(ahead) == 0:
		status = "behind"
	}
	path := fmt.Sprintf("/repos/%s/%s/compare/%s...%s", escape(c.repo.owner.login), escape(c.repo.name), base.sha, head.sha)
	page := g.web("/" + c.repo.fullName + "/compare/" + base.sha + "..." + head.sha)
	o := object{
		"url": g.api(path), "html_url": page, "permalink_url": page, "diff_url": page + ".diff", "patch_url": page + ".patch",
		"base_commit": g.commitJSON(c.repo, base), "merge_base_commit": g.commitJSON(c.repo, n.commits[common]),
		"status": status, "ahead_by": len(ahead), "behind_by": len(behind), "total_commits": len(ahead), "commits": rows(ahead[:min(len(ahead), maxListedCommits)], func(k *commit) object { return g.commitJSON(c.repo, k) }),
	}
	g.addFiles(o, c.repo, files, head.sha)
	delete(o, "stats")
	return ok(o)
}

// ownRef drops the "owner:" of a cross-fork reference; the network is shared.
func ownRef(ref string) string {
	if _, branch, found := strings.Cut(ref, ":"); found {
		return branch
	}
	return ref
}

func (g *GitHub) listCommitPulls(c *call) reply {
	var all []*pull
	for _, n := range sortedKeys(c.repo.pulls) {
		p := c.repo.pulls[n]
		for _, k := range p.commits() {
			if k.sha == c.vars["ref"] {
				all = append(all, p)
			}
		}
	}
	return page(c, all, 0, g.shortPullJSON)
}
