package sim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CheckRun is a check run as people see it.
type CheckRun struct {
	ID      int64
	Name    string
	HeadSHA string
	// AppID is the App that made it; 0 in [GitHub.AddCheckRun] is another App.
	AppID                int64
	Status               string
	Conclusion           string
	ExternalID           string
	DetailsURL           string
	Title, Summary, Text string
	Annotations          []Annotation
	Actions              []CheckAction
	Started, Completed   time.Time
	// Updates is how often it was changed after it was made.
	Updates int
}

// Annotation is a remark on lines of a file.
type Annotation struct {
	Path                   string
	StartLine, EndLine     int
	StartColumn, EndColumn int // 0 for none
	Level                  string
	Message                string
	Title, RawDetails      string
}

// CheckAction is a button on a completed check run.
type CheckAction struct{ Label, Description, Identifier string }

// checkRun is a check run in its repository and suite.
type checkRun struct {
	CheckRun
	repo  *repository
	suite int64
	app   string // the App's slug
}

// CheckRuns returns the check runs of a commit, oldest first, of every App.
func (g *GitHub) CheckRuns(repo, sha string) []CheckRun {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(repo)
	var list []CheckRun
	for _, k := range g.checksOf(r, sha) {
		v := k.CheckRun
		v.Annotations, v.Actions = slices.Clone(v.Annotations), slices.Clone(v.Actions)
		list = append(list, v)
	}
	return list
}

// AddCheckRun adds a check run of another App (slug "ci"), or of the App itself
// if AppID says so, and returns its id.
func (g *GitHub) AddCheckRun(repo, sha string, c CheckRun) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(repo)
	if r.commitOf(sha) == nil {
		panic("sim: no commit " + sha + " in " + repo)
	}
	slug := g.opts.Slug
	if c.AppID != g.opts.AppID {
		slug, c.AppID = "ci", g.otherApp("ci[bot]")
	}
	c.HeadSHA = sha
	if c.Started.IsZero() {
		c.Started = g.now()
	}
	if c.Status == "" {
		c.Status = "completed"
	}
	k := g.addCheck(r, slug, c)
	g.notify()
	return k.ID
}

func (g *GitHub) addCheck(r *repository, slug string, c CheckRun) *checkRun {
	c.ID = g.nextID()
	key := fmt.Sprintf("%d %d %s", c.AppID, r.id, c.HeadSHA)
	if g.suites[key] == 0 {
		g.suites[key] = g.nextID()
	}
	k := &checkRun{CheckRun: c, repo: r, suite: g.suites[key], app: slug}
	g.checks[k.ID] = k
	return k
}

// otherApp is the id of an App that is not ours.
func (g *GitHub) otherApp(bot string) int64 { return g.opts.AppID + g.account(bot).id }

func (g *GitHub) checksOf(r *repository, sha string) []*checkRun {
	var list []*checkRun
	for _, id := range sortedKeys(g.checks) {
		if k := g.checks[id]; k.repo == r && k.HeadSHA == sha {
			list = append(list, k)
		}
	}
	return list
}

func (g *GitHub) checkJSON(k *checkRun) object {
	base := fmt.Sprintf("/repos/%s/%s/check-runs/%d", escape(k.repo.owner.login), escape(k.repo.name), k.ID)
	page := g.web(fmt.Sprintf("/%s/runs/%d", k.repo.fullName, k.ID))
	details := k.DetailsURL
	if details == "" {
		details = page
	}
	pulls := []any{} // always empty for a fork's branch
	for _, n := range sortedKeys(k.repo.pulls) {
		if p := k.repo.pulls[n]; p.head == k.HeadSHA && p.headRepo == k.repo {
			pulls = append(pulls, g.pullRefJSON(p))
		}
	}
	return object{
		"id": k.ID, "node_id": nodeID("CheckRun", k.ID), "head_sha": k.HeadSHA, "external_id": k.ExternalID, "url": g.api(base),
		"html_url": page, "details_url": details, "status": k.Status, "conclusion": nullable(k.Conclusion),
		"started_at": stamp(k.Started), "completed_at": stamp(k.Completed), "name": k.Name,
		"output": object{
			"title": nullable(k.Title), "summary": nullable(k.Summary), "text": nullable(k.Text),
			"annotations_count": len(k.Annotations), "annotations_url": g.api(base + "/annotations"),
		},
		"check_suite": object{"id": k.suite}, "app": g.appJSON(k.AppID, k.app), "pull_requests": pulls,
	}
}

// pullRefJSON is the short form that checks carry.
func (g *GitHub) pullRefJSON(p *pull) object {
	side := func(r *repository, ref, sha string) object {
		return object{"ref": ref, "sha": sha, "repo": object{
			"id": r.id, "name": r.name, "url": g.api("/repos/" + escape(r.owner.login) + "/" + escape(r.name)),
		}}
	}
	return object{
		"id": p.id, "number": p.number,
		"url":  g.api(fmt.Sprintf("/repos/%s/%s/pulls/%d", escape(p.repo.owner.login), escape(p.repo.name), p.number)),
		"head": side(p.headRepo, p.branch, p.head), "base": side(p.repo, p.baseRef, p.base),
	}
}

func (g *GitHub) createCheckRun(c *call) reply {
	o, rep, good := c.decode()
	if !good {
		return rep
	}
	k := CheckRun{AppID: g.opts.AppID, Status: "queued", Started: g.now()}
	for _, field := range []string{"name", "head_sha"} {
		if _, present := o[field]; !present {
			return notSupplied(field)
		}
	}
	if rep, refused := g.applyCheck(&k, o); refused {
		return rep
	}
	sha, _ := o["head_sha"].(string)
	if c.repo.net.commits[sha] == nil {
		return noCommit(sha)
	}
	k.HeadSHA = sha
	run := g.addCheck(c.repo, g.opts.Slug, k)
	answer := g.checkJSON(run)
	return created(answer).set("Location", answer["url"].(string))
}

// check finds the check run of a path within the path's repository.
func (c *call) check() *checkRun {
	k := c.g.checks[c.number("id")]
	if k == nil || k.repo != c.repo {
		return nil
	}
	return k
}

func (g *GitHub) updateCheckRun(c *call) reply {
	k := c.check()
	if k == nil {
		return notFound()
	}
	if k.AppID != g.opts.AppID {
		return failed(http.StatusForbidden, fmt.Sprintf("Invalid app_id `%d` - check run can only be modified by the GitHub App that created it.", g.opts.AppID))
	}
	o, rep, good := c.decode()
	if !good {
		return rep
	}
	next := k.CheckRun
	next.Annotations = slices.Clone(next.Annotations)
	if rep, refused := g.applyCheck(&next, o); refused {
		return rep
	}
	next.Updates++
	k.CheckRun = next
	return ok(g.checkJSON(k))
}

func (g *GitHub) getCheckRun(c *call) reply {
	k := c.check()
	if k == nil {
		return notFound()
	}
	return ok(g.checkJSON(k))
}

func (g *GitHub) listAnnotations(c *call) reply {
	k := c.check()
	if k == nil {
		return notFound()
	}
	column := func(n int) any {
		if n == 0 {
			return nil
		}
		return n
	}
	return page(c, k.Annotations, 0, func(a Annotation) object {
		return object{
			"path": a.Path, "start_line": a.StartLine, "end_line": a.EndLine, "start_column": column(a.StartColumn),
			"end_column": column(a.EndColumn), "annotation_level": a.Level, "title": nullable(a.Title), "message": a.Message,
			"raw_details": nullable(a.RawDetails),
			"blob_href":   g.web("/" + k.repo.fullName + "/blob/" + k.HeadSHA + "/" + escapePath(a.Path)),
		}
	})
}

// listCheckRuns lists a commit's runs: by default only the newest of each name
// in each suite, newest first.
func (g *GitHub) listCheckRuns(c *call) reply {
	commit := c.repo.commitOf(c.vars["ref"])
	if commit == nil {
		return noCommit(c.vars["ref"])
	}
	q := c.r.URL.Query()
	seen := map[string]bool{}
	var all []*checkRun
	runs := g.checksOf(c.repo, commit.sha)
	slices.Reverse(runs)
	for _, k := range runs {
		key := fmt.Sprint(k.suite, " ", k.Name)
		older := seen[key]
		seen[key] = true
		switch {
		case older && q.Get("filter") != "all":
		case q.Get("check_name") != "" && q.Get("check_name") != k.Name:
		case q.Get("status") != "" && q.Get("status") != k.Status:
		case q.Get("app_id") != "" && q.Get("app_id") != strconv.FormatInt(k.AppID, 10):
		default:
			all = append(all, k)
		}
	}
	return pageIn(c, "check_runs", all, nil, g.checkJSON)
}

func (g *GitHub) listCheckSuites(c *call) reply {
	commit := c.repo.commitOf(c.vars["ref"])
	if commit == nil {
		return noCommit(c.vars["ref"])
	}
	var all []*checkRun
	seen := map[int64]bool{}
	for _, k := range g.checksOf(c.repo, commit.sha) {
		if !seen[k.suite] {
			seen[k.suite] = true
			all = append(all, k)
		}
	}
	return pageIn(c, "check_suites", all, nil, g.suiteJSON)
}

// suiteJSON is the suite of a run. A fork's branch is not known to it.
func (g *GitHub) suiteJSON(k *checkRun) object {
	var branch any
	pulls := []any{}
	for _, n := range sortedKeys(k.repo.pulls) {
		if p := k.repo.pulls[n]; p.head == k.HeadSHA && p.headRepo == k.repo {
			branch = p.branch
			pulls = append(pulls, g.pullRefJSON(p))
		}
	}
	base := fmt.Sprintf("/repos/%s/%s/check-suites/%d", escape(k.repo.owner.login), escape(k.repo.name), k.suite)
	return object{
		"id": k.suite, "node_id": nodeID("CheckSuite", k.suite), "head_branch": branch, "head_sha": k.HeadSHA,
		"status": k.Status, "conclusion": nullable(k.Conclusion), "url": g.api(base), "before": nil, "after": k.HeadSHA,
		"pull_requests": pulls, "app": g.appJSON(k.AppID, k.app), "created_at": stamp(k.Started), "updated_at": stamp(k.Started),
		"latest_check_runs_count": 1, "check_runs_url": g.api(base + "/check-runs"),
		"head_commit": g.simpleCommitJSON(k.repo.net.commits[k.HeadSHA]), "repository": g.repoJSON(k.repo),
	}
}

func (g *GitHub) simpleCommitJSON(k *commit) object {
	person := object{"name": k.name, "email": k.email}
	return object{
		"id": k.sha, "tree_id": k.tree, "message": k.message, "timestamp": stamp(k.when), "author": person,
		"committer": person,
	}
}

// isURL accepts what GitHub accepts as details_url.
func isURL(s string) bool { return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") }
