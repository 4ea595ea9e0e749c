package sim

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"path"
	"strings"
)

// Limits of contents and blobs.
const (
	// maxInlineContent: above it, contents come empty with encoding "none".
	// https://docs.github.com/rest/repos/contents#get-repository-content
	maxInlineContent = 1 << 20
	// maxDirectoryEntries of a listing.
	maxDirectoryEntries = 1000
	// maxTreeEntries of a recursive tree; more are cut and "truncated" is true.
	// https://docs.github.com/rest/git/trees#get-a-tree
	maxTreeEntries = 100_000
)

func (g *GitHub) getContents(c *call) reply {
	ref := c.r.URL.Query().Get("ref")
	if ref == "" {
		ref = c.repo.defaultBranch
	}
	k := c.repo.commitOf(ref)
	if k == nil {
		return failed(http.StatusNotFound, "No commit found for the ref "+ref)
	}
	name := strings.Trim(c.vars["path"], "/")
	if e, isEntry := k.files[name]; isEntry {
		return g.contentsOf(c, k, name, e, ref)
	}
	return g.directory(c, k, name, ref)
}

// contentsOf answers a path that is not a directory.
func (g *GitHub) contentsOf(c *call, k *commit, name string, e entry, ref string) reply {
	o := g.contentJSON(c.repo, name, e, ref)
	data := c.repo.net.blobs[e.sha]
	switch e.mode {
	case modeSubmodule:
		o["type"], o["submodule_git_url"], o["download_url"] = "submodule", "https://github.example/submodule.git", nil
		return ok(o)
	case modeSymlink:
		target := path.Join(path.Dir(name), string(data))
		if t, isFile := k.files[target]; isFile && kind(t.mode) == "file" {
			// GitHub follows a link to a file of the repository and says nothing about it.
			data = c.repo.net.blobs[t.sha]
			break
		}
		o["type"], o["target"] = "symlink", string(data)
		return ok(o)
	}
	if accepts(c.r.Header, "raw") {
		raw := append([]byte{}, data...)
		return reply{status: http.StatusOK, raw: raw, ctype: "application/vnd.github.raw; charset=utf-8"}
	}
	o["content"], o["encoding"] = base64Lines(data), "base64"
	if len(data) > maxInlineContent {
		o["content"], o["encoding"] = "", "none"
	}
	return ok(o)
}

// directory lists what lies directly below a path.
func (g *GitHub) directory(c *call, k *commit, dir, ref string) reply {
	tree := k.tree
	if dir != "" {
		for _, part := range strings.Split(dir, "/") {
			next := ""
			for _, e := range c.repo.net.trees[tree] {
				if e.name == part && e.mode == modeTree {
					next = e.sha
				}
			}
			if next == "" {
				return notFound()
			}
			tree = next
		}
	}
	rows := []any{}
	for i, e := range c.repo.net.trees[tree] {
		if i == maxDirectoryEntries {
			break
		}
		o := g.contentJSON(c.repo, path.Join(dir, e.name), e.entry, ref)
		switch e.mode {
		case modeTree:
			o["type"], o["size"] = "dir", 0
		case modeSymlink:
			o["type"] = "symlink"
		}
		rows = append(rows, o) // a submodule is listed as a file, which GitHub keeps for old clients
	}
	return ok(rows)
}

func (g *GitHub) contentJSON(r *repository, name string, e entry, ref string) object {
	base := fmt.Sprintf("/repos/%s/%s", escape(r.owner.login), escape(r.name))
	self := g.api(base + "/contents/" + escapePath(name) + "?ref=" + escape(ref))
	sort := "blobs"
	if e.mode == modeTree {
		sort = "trees"
	}
	git := g.api(base + "/git/" + sort + "/" + e.sha)
	page := g.web("/" + r.fullName + "/blob/" + escapePath(ref) + "/" + escapePath(name))
	return object{
		"type": "file", "size": len(r.net.blobs[e.sha]), "name": path.Base(name), "path": name, "sha": e.sha, "url": self,
		"git_url": git, "html_url": page, "download_url": g.web("/raw/" + r.fullName + "/" + escapePath(ref) + "/" + escapePath(name)),
		"_links": object{"self": self, "git": git, "html": page},
	}
}

// base64Lines breaks base64 after 60 digits and ends in a newline, as GitHub does.
func base64Lines(data []byte) string {
	text := base64.StdEncoding.EncodeToString(data)
	var b strings.Builder
	for len(text) > 0 {
		n := min(60, len(text))
		b.WriteString(text[:n] + "\n")
		text = text[n:]
	}
	return b.String()
}

func (g *GitHub) getBlob(c *call) reply {
	data, known := c.repo.net.blobs[c.vars["sha"]]
	if !known {
		return notFound()
	}
	if accepts(c.r.Header, "raw") {
		return reply{status: http.StatusOK, raw: append([]byte{}, data...), ctype: "application/vnd.github.raw; charset=utf-8"}
	}
	sha := c.vars["sha"]
	return ok(object{
		"sha": sha, "node_id": nodeID("Blob", c.repo.id), "size": len(data), "content": base64Lines(data), "encoding": "base64",
		"url": g.api(fmt.Sprintf("/repos/%s/%s/git/blobs/%s", escape(c.repo.owner.login), escape(c.repo.name), sha)),
	})
}

func (g *GitHub) getTree(c *call) reply {
	sha := c.vars["sha"]
	if k := c.repo.commitOf(sha); k != nil {
		sha = k.tree
	}
	if _, known := c.repo.net.trees[sha]; !known {
		return notFound()
	}
	_, recursive := c.r.URL.Query()["recursive"] // any value counts, "0" and "false" too
	base := fmt.Sprintf("/repos/%s/%s/git/", escape(c.repo.owner.login), escape(c.repo.name))
	rows, truncated := []any{}, false
	var walk func(prefix, tree string)
	walk = func(prefix, tree string) {
		for _, e := range c.repo.net.trees[tree] {
			if len(rows) == maxTreeEntries {
				truncated = true
				return
			}
			row := object{"path": prefix + e.name, "mode": e.mode, "sha": e.sha}
			switch e.mode {
			case modeTree:
				row["type"], row["url"] = "tree", g.api(base+"trees/"+e.sha)
			case modeSubmodule:
				row["type"] = "commit"
			default:
				row["type"], row["size"], row["url"] = "blob", len(c.repo.net.blobs[e.sha]), g.api(base+"blobs/"+e.sha)
			}
			rows = append(rows, row)
			if recursive && e.mode == modeTree {
				walk(prefix+e.name+"/", e.sha)
			}
		}
	}
	walk("", sha)
	return ok(object{"sha": sha, "url": g.api(base + "trees/" + sha), "tree": rows, "truncated": truncated})
}
