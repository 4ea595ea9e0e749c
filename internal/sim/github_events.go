package sim

import "fmt"

// Ping returns the delivery that GitHub sends when a hook is made.
func (g *GitHub) Ping() Webhook {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.webhook("ping", object{
		"zen": "Keep it logically awesome.", "hook_id": 500_000_001,
		"hook": object{
			"type": "App", "id": 500_000_001, "name": "web", "active": true, "events": []string{"pull_request"},
			"config":     object{"content_type": "json", "insecure_ssl": "0", "url": g.web("/hook")},
			"created_at": stamp(g.created), "updated_at": stamp(g.created), "app_id": g.opts.AppID,
		},
	})
}

// InstallationEvent returns the installation delivery of an action: created,
// deleted, suspend, unsuspend or new_permissions_accepted.
func (g *GitHub) InstallationEvent(installationID int64, action string) Webhook {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := g.mustInstallation(installationID)
	repos := []any{}
	for _, id := range sortedKeys(i.repos) {
		repos = append(repos, g.shortRepoJSON(g.repos[id]))
	}
	return g.webhook("installation", object{
		"action": action, "installation": g.installationJSON(i), "repositories": repos, "sender": g.userJSON(i.account),
	})
}

// InstallationRepositoriesEvent returns the delivery for repositories that
// were added to an installation or removed from it; action says which.
func (g *GitHub) InstallationRepositoriesEvent(installationID int64, action string, repos ...string) Webhook {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := g.mustInstallation(installationID)
	list := []any{}
	for _, name := range repos {
		list = append(list, g.shortRepoJSON(g.mustRepo(name)))
	}
	o := object{
		"action": action, "installation": g.installationJSON(i), "repository_selection": "selected",
		"repositories_added": []any{}, "repositories_removed": []any{}, "requester": nil, "sender": g.userJSON(i.account),
	}
	o["repositories_"+action] = list
	return g.webhook("installation_repositories", o)
}

func (g *GitHub) shortRepoJSON(r *repository) object {
	return object{"id": r.id, "node_id": nodeID("Repository", r.id), "name": r.name, "full_name": r.fullName, "private": true}
}

// CommentEvent returns the issue_comment delivery of a comment: created,
// edited or deleted.
func (g *GitHub) CommentEvent(commentID int64, action string) Webhook {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.comments[commentID]
	if k == nil {
		panic(fmt.Sprintf("sim: no comment %d", commentID))
	}
	o := g.envelope(k.pull.repo, action, k.author)
	o["issue"], o["comment"] = g.issueJSON(k.pull), g.commentJSON(k)
	if action == "edited" {
		o["changes"] = object{"body": object{"from": ""}}
	}
	return g.webhook("issue_comment", o)
}

// ReviewEvent returns the pull_request_review delivery of a review: submitted,
// edited or dismissed.
func (g *GitHub) ReviewEvent(repo string, number int, reviewID int64, action string) Webhook {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustPull(repo, number)
	for _, r := range p.reviews {
		if r.id == reviewID {
			o := g.envelope(p.repo, action, r.author)
			about := g.reviewJSON(p, r)
			about["state"] = hookState(r.State)
			o["review"], o["pull_request"] = about, g.pullJSON(p, true)
			return g.webhook("pull_request_review", o)
		}
	}
	panic(fmt.Sprintf("sim: no review %d", reviewID))
}

// ReviewCommentEvent returns the pull_request_review_comment delivery of a
// comment on a line: created, edited or deleted.
func (g *GitHub) ReviewCommentEvent(repo string, number int, commentID int64, action string) Webhook {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustPull(repo, number)
	for _, r := range p.reviewComments {
		if r.id == commentID {
			o := g.envelope(p.repo, action, r.author)
			o["comment"], o["pull_request"] = g.reviewCommentJSON(p, r), g.pullJSON(p, true)
			return g.webhook("pull_request_review_comment", o)
		}
	}
	panic(fmt.Sprintf("sim: no review comment %d", commentID))
}

// CheckRunEvent returns the check_run delivery of an action: created,
// completed, rerequested, or requested_action with the button's identifier.
func (g *GitHub) CheckRunEvent(checkID int64, action, sender, identifier string) Webhook {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.mustCheck(checkID)
	o := g.envelope(k.repo, action, g.account(sender))
	run := g.checkJSON(k)
	run["check_suite"] = g.suiteJSON(k)
	o["check_run"] = run
	if identifier != "" {
		o["requested_action"] = object{"identifier": identifier}
	}
	return g.webhook("check_run", o)
}

// CheckSuiteEvent returns the check_suite delivery of an action for the suite
// of a check run: "rerequested" is the button "Re-run all checks".
func (g *GitHub) CheckSuiteEvent(checkID int64, action, sender string) Webhook {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.mustCheck(checkID)
	o := g.envelope(k.repo, action, g.account(sender))
	o["check_suite"] = g.suiteJSON(k)
	return g.webhook("check_suite", o)
}

func (g *GitHub) mustCheck(id int64) *checkRun {
	k := g.checks[id]
	if k == nil {
		panic(fmt.Sprintf("sim: no check run %d", id))
	}
	return k
}

// RepositoryEvent returns the repository delivery of an action such as
// "renamed", with the name that it had before.
func (g *GitHub) RepositoryEvent(repo, action, oldName string) Webhook {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(repo)
	o := g.envelope(r, action, r.owner)
	if oldName != "" {
		o["changes"] = object{"repository": object{"name": object{"from": oldName}}}
	}
	return g.webhook("repository", o)
}
