package sim

import "fmt"

// QueuePullRequest puts a pull request into the merge queue of its base branch:
// a commit that merges it, on a branch of GitHub's own. It returns the commit.
func (g *GitHub) QueuePullRequest(repo string, number int) (headSHA string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustPull(repo, number)
	base := p.repo.branches[p.baseRef]
	merge := p.repo.net.addCommit(p.repo.net.commits[p.head].files,
		fmt.Sprintf("Merge pull request #%d from %s\n\n%s", p.number, p.branch, p.title), "", g.now(), base, p.head)
	p.repo.branches[queueBranch(p)] = merge.sha
	g.notify()
	return merge.sha
}

// DestroyMergeGroup takes a pull request's merge group away, with its commit,
// as when it was merged or left the queue.
func (g *GitHub) DestroyMergeGroup(repo string, number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustPull(repo, number)
	delete(p.repo.net.commits, p.repo.branches[queueBranch(p)])
	delete(p.repo.branches, queueBranch(p))
	g.notify()
}

func queueBranch(p *pull) string {
	return fmt.Sprintf("gh-readonly-queue/%s/pr-%d-%s", p.baseRef, p.number, p.repo.branches[p.baseRef])
}

// MergeGroupEvent returns the merge_group delivery of a queued pull request:
// "checks_requested", or "destroyed", which has to come before
// [GitHub.DestroyMergeGroup].
func (g *GitHub) MergeGroupEvent(repo string, number int, action string) Webhook {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustPull(repo, number)
	branch := queueBranch(p)
	commit := p.repo.net.commits[p.repo.branches[branch]]
	if commit == nil {
		panic(fmt.Sprintf("sim: %s#%d is not queued", repo, number))
	}
	o := g.envelope(p.repo, action, g.account("github-merge-queue[bot]"))
	o["merge_group"] = object{
		"head_sha": commit.sha, "head_ref": "refs/heads/" + branch, "base_sha": p.repo.branches[p.baseRef],
		"base_ref": "refs/heads/" + p.baseRef, "head_commit": g.simpleCommitJSON(commit),
	}
	if action == "destroyed" {
		o["reason"] = "merged"
	}
	return g.webhook("merge_group", o)
}
