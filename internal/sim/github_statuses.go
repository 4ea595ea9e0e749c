package sim

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// Limits of commit statuses.
// https://docs.github.com/rest/commits/statuses#create-a-commit-status
const (
	maxStatusDescription = 140
	maxStatuses          = 1000 // of one commit and context
)

// Status is a commit status as people see it.
type Status struct {
	ID int64
	// State is error, failure, pending or success.
	State, Context         string
	Description, TargetURL string
	// Creator's login; empty in [GitHub.AddStatus] is a service called "ci[bot]".
	Creator string
	Created time.Time
}

// statusKey names the statuses of a commit in a repository.
type statusKey struct {
	repo int64
	sha  string
}

// Statuses returns the statuses of a commit, oldest first.
func (g *GitHub) Statuses(repo, sha string) []Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.statuses[statusKey{g.mustRepo(repo).id, sha}])
}

// AddStatus adds a status that a service set.
func (g *GitHub) AddStatus(repo, sha string, s Status) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(repo)
	if r.net.commits[sha] == nil {
		panic("sim: no commit " + sha + " in " + repo)
	}
	if s.Creator == "" {
		s.Creator = "ci[bot]"
	}
	g.addStatus(r, sha, s)
	g.notify()
}

func (g *GitHub) addStatus(r *repository, sha string, s Status) Status {
	s.ID, s.Created = g.nextID(), g.now()
	key := statusKey{r.id, sha}
	g.statuses[key] = append(g.statuses[key], s)
	return s
}

// StatusEvent returns the status delivery of a commit's newest status.
func (g *GitHub) StatusEvent(repo, sha string) Webhook {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(repo)
	list := g.statuses[statusKey{r.id, sha}]
	if len(list) == 0 {
		panic("sim: no status of " + sha + " in " + repo)
	}
	s := list[len(list)-1]
	o := g.envelope(r, "", g.account(s.Creator))
	delete(o, "action")
	for k, v := range (object{
		"id": s.ID, "sha": sha, "name": r.fullName, "avatar_url": nil, "target_url": nullable(s.TargetURL), "context": s.Context,
		"description": nullable(s.Description), "state": s.State, "commit": g.commitJSON(r, r.net.commits[sha]),
		"branches": []any{}, "created_at": stamp(s.Created), "updated_at": stamp(s.Created),
	}) {
		o[k] = v
	}
	return g.webhook("status", o)
}

func (g *GitHub) statusJSON(r *repository, sha string, s Status) object {
	return object{
		"id": s.ID, "node_id": nodeID("StatusContext", s.ID), "state": s.State, "description": nullable(s.Description),
		"target_url": nullable(s.TargetURL), "context": s.Context, "created_at": stamp(s.Created), "updated_at": stamp(s.Created),
		"avatar_url": nil, "creator": g.userJSON(g.account(s.Creator)),
		"url": g.api(fmt.Sprintf("/repos/%s/%s/statuses/%s", escape(r.owner.login), escape(r.name), sha)),
	}
}

func (g *GitHub) createStatus(c *call) reply {
	o, rep, good := c.decode()
	if !good {
		return rep
	}
	s := Status{Context: "default", Creator: g.opts.Slug + "[bot]"}
	for field, into := range map[string]*string{
		"state": &s.State, "context": &s.Context, "description": &s.Description, "target_url": &s.TargetURL,
	} {
		v, present := o[field]
		if !present || v == nil {
			continue
		}
		text, isText := v.(string)
		if !isText {
			return invalidRequest(fmt.Sprintf("For 'properties/%s', %v is not a string.", field, v))
		}
		*into = text
	}
	invalid := func(field, message string) reply {
		return invalidFields(fieldError{Resource: "Status", Code: "custom", Field: field, Message: message})
	}
	sha := c.vars["sha"]
	switch {
	case s.State == "":
		return notSupplied("state")
	case !slices.Contains([]string{"error", "failure", "pending", "success"}, s.State):
		return invalid("state", "state is not included in the list")
	case utf8.RuneCountInString(s.Description) > maxStatusDescription:
		return invalid("description", "description is too long (maximum is 140 characters)")
	case s.TargetURL != "" && !isURL(s.TargetURL):
		return invalid("target_url", "target_url must use http(s) scheme")
	case c.repo.net.commits[sha] == nil:
		return noCommit(sha)
	}
	same := 0
	for _, other := range g.statuses[statusKey{c.repo.id, sha}] {
		if other.Context == s.Context {
			same++
		}
	}
	if same >= maxStatuses {
		return invalid("", "This SHA and context has reached the maximum number of statuses.")
	}
	return created(g.statusJSON(c.repo, sha, g.addStatus(c.repo, sha, s)))
}

// listStatuses lists a commit's statuses, newest first.
func (g *GitHub) listStatuses(c *call) reply {
	commit := c.repo.commitOf(c.vars["ref"])
	if commit == nil {
		return notFound()
	}
	all := slices.Clone(g.statuses[statusKey{c.repo.id, commit.sha}])
	slices.Reverse(all)
	return page(c, all, 0, func(s Status) object { return g.statusJSON(c.repo, commit.sha, s) })
}

// combinedStatus answers with the newest status of each context.
func (g *GitHub) combinedStatus(c *call) reply {
	commit := c.repo.commitOf(c.vars["ref"])
	if commit == nil {
		return notFound()
	}
	newest := map[string]Status{}
	for _, s := range g.statuses[statusKey{c.repo.id, commit.sha}] {
		newest[s.Context] = s
	}
	state, seen := "success", map[string]bool{}
	var all []Status
	for _, name := range sortedKeys(newest) {
		all = append(all, newest[name])
		seen[newest[name].State] = true
	}
	switch {
	case seen["error"], seen["failure"]:
		state = "failure"
	case seen["pending"], len(all) == 0: // GitHub says so of a commit without any
		state = "pending"
	}
	base := g.api(fmt.Sprintf("/repos/%s/%s/commits/%s", escape(c.repo.owner.login), escape(c.repo.name), commit.sha))
	return pageIn(c, "statuses", all, object{
		"state": state, "sha": commit.sha, "repository": g.repoJSON(c.repo), "commit_url": base, "url": base + "/status",
	}, func(s Status) object {
		o := g.statusJSON(c.repo, commit.sha, s)
		delete(o, "creator") // the combined form does not say
		return o
	})
}
