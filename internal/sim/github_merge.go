package sim

import (
	"fmt"
	"net/http"
	"slices"
)

// SetMergeability says what GitHub thinks of merging a pull request: "clean",
// "unstable", "has_hooks", "behind", "blocked", "dirty" or "unknown", which is
// what it says before it has looked. why is its reason to refuse.
// https://docs.github.com/graphql/reference/enums#mergestatestatus
func (g *GitHub) SetMergeability(repo string, number int, state, why string) {
	g.editPull(repo, number, func(p *pull) { p.mergeState, p.mergeRefusal = state, why })
}

// mergeability is the pull request's fields "mergeable" and "mergeable_state".
func (p *pull) mergeability() (mergeable any, state string) {
	state = p.mergeState
	if p.draft && state != "" {
		state = "draft"
	}
	switch state {
	case "", "unknown":
		return nil, "unknown"
	case "dirty":
		return false, state
	}
	return true, state
}

// merge merges a pull request as GitHub does, or says why not.
// https://docs.github.com/rest/pulls/pulls#merge-a-pull-request
func (g *GitHub) merge(c *call) reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	o, rep, good := c.decode()
	if !good {
		return rep
	}
	method, _ := o["merge_method"].(string)
	sha, _ := o["sha"].(string)
	switch {
	case method != "" && !slices.Contains([]string{"merge", "squash", "rebase"}, method):
		return invalidRequest(fmt.Sprintf("For 'properties/merge_method', %s is not possible.", method))
	case p.state == "closed":
		return failed(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case p.draft:
		return failed(http.StatusMethodNotAllowed, "Pull Request is still a draft")
	case sha != "" && sha != p.head:
		return failed(http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	case p.mergeRefusal != "":
		return failed(http.StatusMethodNotAllowed, p.mergeRefusal)
	case p.mergeState == "dirty":
		return failed(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	}
	p.merge(g, g.bot())
	return ok(object{"sha": p.mergeSHA, "merged": true, "message": "Pull Request successfully merged"})
}

// merge merges into the base branch.
func (p *pull) merge(g *GitHub, by *user) {
	n := p.repo.net
	tip := p.repo.branches[p.baseRef]
	c := n.addCommit(n.commits[p.head].files, fmt.Sprintf("Merge pull request #%d", p.number), by.login, g.now(), tip, p.head)
	p.repo.branches[p.baseRef] = c.sha
	p.state, p.merged, p.closed, p.mergeSHA, p.mergedBy = "closed", true, g.now(), c.sha, by
	p.updated = g.now()
}
