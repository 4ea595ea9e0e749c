package sim

import (
	"fmt"
	"net/http"
)

// Limits of the pull request endpoints.
const (
	// maxListedFiles: https://docs.github.com/rest/pulls/pulls#list-pull-requests-files
	maxListedFiles = 3000
	// maxListedCommits: https://docs.github.com/rest/pulls/pulls#list-commits-on-a-pull-request
	maxListedCommits = 250
	// Limits of a diff: https://docs.github.com/repositories/creating-and-managing-repositories/repository-limits
	maxDiffFiles = 300
	maxDiffLines = 20_000
	maxDiffBytes = 1 << 20
	maxFileLines = 20_000
	maxFileBytes = 500 << 10
)

// pull finds the pull request of a path.
func (c *call) pull() *pull { return c.repo.pulls[int(c.number("number"))] }

func (g *GitHub) getPull(c *call) reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	switch {
	case accepts(c.r.Header, "diff"):
		return g.diffReply(p, "diff")
	case accepts(c.r.Header, "patch"):
		return g.diffReply(p, "patch")
	}
	return ok(g.pullJSON(p, false))
}

// diffReply is the whole diff as text, or 406 above GitHub's limits.
func (g *GitHub) diffReply(p *pull, form string) reply {
	files := p.files()
	lines := 0
	for _, f := range files {
		lines += f.additions + f.deletions
	}
	tooLarge := func(limit string) reply {
		rep := failed(http.StatusNotAcceptable, "Sorry, the diff exceeded the maximum number of "+limit+". Consider using 'List pull requests files' API or locally cloning the repository instead.")
		rep.json.(object)["errors"] = []fieldError{{Resource: "PullRequest", Field: "diff", Code: "too_large"}}
		return rep.withDocs("rest/pulls/pulls#list-pull-requests-files")
	}
	switch {
	case p.quirks.DiffTooLarge || len(files) > maxDiffFiles:
		return tooLarge(fmt.Sprintf("files (%d)", maxDiffFiles))
	case lines > maxDiffLines:
		return tooLarge(fmt.Sprintf("lines (%d)", maxDiffLines))
	}
	text := diffText(files)
	if form == "patch" {
		text = patchText(p.repo.net, p.commits())
	}
	if len(text) > maxDiffBytes {
		return tooLarge(fmt.Sprintf("bytes (%d)", maxDiffBytes))
	}
	return reply{status: http.StatusOK, raw: []byte(text), ctype: "application/vnd.github.v3." + form + "; charset=utf-8"}
}

func (g *GitHub) listPulls(c *call) reply {
	state, head, base := c.r.URL.Query().Get("state"), c.r.URL.Query().Get("head"), c.r.URL.Query().Get("base")
	if state == "" {
		state = "open"
	}
	var all []*pull
	numbers := sortedKeys(c.repo.pulls)
	for i := len(numbers) - 1; i >= 0; i-- { // newest first
		p := c.repo.pulls[numbers[i]]
		if (state == "all" || p.state == state) && (base == "" || base == p.baseRef) &&
			(head == "" || head == p.headOwner+":"+p.branch) {
			all = append(all, p)
		}
	}
	return page(c, all, 0, g.shortPullJSON)
}

func (g *GitHub) listPullFiles(c *call) reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	return page(c, p.files(), maxListedFiles, func(f fileDiff) object { return g.fileJSON(p.repo, f, p.head, p.quirks) })
}

// fileJSON is a changed file. The patch is missing for binaries and for large
// files; both look alike to a client, which must not call them unchanged.
func (g *GitHub) fileJSON(r *repository, f fileDiff, head string, q Quirks) object {
	ref := head
	sha := f.new.sha
	if f.status == "removed" {
		sha = f.old.sha
	}
	path := escapePath(f.path)
	o := object{
		"sha": sha, "filename": f.path, "status": f.status, "additions": f.additions, "deletions": f.deletions,
		"changes": f.additions + f.deletions, "blob_url": g.web("/" + r.fullName + "/blob/" + ref + "/" + path),
		"raw_url":      g.web("/" + r.fullName + "/raw/" + ref + "/" + path),
		"contents_url": g.api(fmt.Sprintf("/repos/%s/%s/contents/%s?ref=%s", escape(r.owner.login), escape(r.name), path, ref)),
	}
	if f.from != "" {
		o["previous_filename"] = f.from
	}
	large := f.additions+f.deletions > maxFileLines || len(f.hunks) > maxFileBytes
	if f.hunks != "" && !large && !q.NoPatches {
		// GitHub's patches do not end in a newline.
		o["patch"] = f.hunks[:len(f.hunks)-1]
	}
	if q.ZeroCounts {
		o["additions"], o["deletions"], o["changes"] = 0, 0, 0
	}
	return o
}

func (g *GitHub) listPullCommits(c *call) reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	return page(c, p.commits(), maxListedCommits, func(k *commit) object { return g.commitJSON(p.repo, k) })
}
