package sim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxTokenRepositories is how many repositories one token may be narrowed to.
// https://docs.github.com/rest/apps/apps#create-an-installation-access-token-for-an-app
const maxTokenRepositories = 500

// defaultPermissions are those of the project's manifest: what it needs, no more.
func defaultPermissions() map[string]string {
	return map[string]string{
		"metadata": "read", "contents": "read", "pull_requests": "write", "checks": "write", "issues": "write",
		"statuses": "read", "actions": "read", "merge_queues": "read",
	}
}

// defaultEvents are those that the project's App subscribes to.
func defaultEvents() []string {
	return []string{
		"pull_request", "issue_comment", "pull_request_review", "pull_request_review_comment", "issues", "check_run",
		"check_suite", "status", "workflow_run", "merge_group", "repository",
	}
}

// installation is the App on one account.
type installation struct {
	id          int64
	account     *user
	repos       map[int64]bool
	permissions map[string]string
	suspended   time.Time
	removed     bool
	created     time.Time
}

// Install puts the App on an account, with access to the named repositories,
// which must exist. A second call adds repositories.
func (g *GitHub) Install(installationID int64, account string, repos ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	inst, known := g.installations[installationID]
	if !known || inst.removed {
		inst = &installation{
			id: installationID, account: g.account(account), repos: map[int64]bool{},
			permissions: defaultPermissions(), created: g.now(),
		}
		g.installations[installationID] = inst
	}
	for _, name := range repos {
		inst.repos[g.mustRepo(name).id] = true
	}
	g.notify()
}

// SetInstallationPermissions replaces what the installation granted, such as
// {"checks": "write"}. "metadata: read" is always granted. Tokens that exist
// keep what they have, as on GitHub.
func (g *GitHub) SetInstallationPermissions(installationID int64, permissions map[string]string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	granted := map[string]string{"metadata": "read"}
	for k, v := range permissions {
		granted[k] = v
	}
	g.mustInstallation(installationID).permissions = granted
	g.notify()
}

// RemoveRepository takes a repository out of an installation.
func (g *GitHub) RemoveRepository(installationID int64, repo string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.mustInstallation(installationID).repos, g.mustRepo(repo).id)
	g.notify()
}

// Suspend makes every call of an installation fail with 403 until [GitHub.Unsuspend].
func (g *GitHub) Suspend(installationID int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mustInstallation(installationID).suspended = g.now()
	g.notify()
}

// Unsuspend ends a suspension.
func (g *GitHub) Unsuspend(installationID int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mustInstallation(installationID).suspended = time.Time{}
	g.notify()
}

// Remove uninstalls the App: the installation is 404, its tokens are 401.
func (g *GitHub) Remove(installationID int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mustInstallation(installationID).removed = true
	g.notify()
}

// RevokeTokens makes every installation token that exists invalid, as a key
// incident or a change of permissions does.
func (g *GitHub) RevokeTokens() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.tokens)
	g.notify()
}

func (g *GitHub) mustInstallation(id int64) *installation {
	inst, known := g.installations[id]
	if !known {
		panic(fmt.Sprintf("sim: no installation %d", id))
	}
	return inst
}

func (g *GitHub) appJSON(id int64, slug string) object {
	return object{
		"id": id, "slug": slug, "node_id": nodeID("App", id), "client_id": "Iv23" + digest(slug)[:16],
		"owner": g.userJSON(g.account("liaison-owner")), "name": slug, "description": "", "external_url": g.web("/"),
		"html_url": g.web("/apps/" + slug), "created_at": stamp(g.created), "updated_at": stamp(g.created),
		"permissions": defaultPermissions(), "events": defaultEvents(),
	}
}

func (g *GitHub) installationJSON(i *installation) object {
	page := g.web("/settings/installations/" + strconv.FormatInt(i.id, 10))
	path := "/app/installations/" + strconv.FormatInt(i.id, 10)
	var by any
	if !i.suspended.IsZero() {
		by = g.userJSON(i.account)
	}
	return object{
		"id": i.id, "account": g.userJSON(i.account), "repository_selection": "selected",
		"access_tokens_url": g.api(path + "/access_tokens"), "repositories_url": g.api("/installation/repositories"),
		"html_url": page, "app_id": g.opts.AppID, "app_slug": g.opts.Slug, "target_id": i.account.id,
		"target_type": i.account.kind, "permissions": i.permissions, "events": defaultEvents(),
		"created_at": stamp(i.created), "updated_at": stamp(i.created), "single_file_name": nil,
		"has_multiple_single_files": false, "single_file_paths": []string{}, "suspended_by": by, "suspended_at": stamp(i.suspended),
	}
}

func (g *GitHub) getApp(*call) reply {
	o := g.appJSON(g.opts.AppID, g.opts.Slug)
	o["installations_count"] = len(g.installations)
	return ok(o)
}

func (g *GitHub) listInstallations(c *call) reply {
	var all []*installation
	for _, id := range sortedKeys(g.installations) {
		if i := g.installations[id]; !i.removed {
			all = append(all, i)
		}
	}
	return page(c, all, 0, g.installationJSON)
}

func (g *GitHub) getInstallation(c *call) reply {
	i, known := g.installations[c.number("id")]
	if !known || i.removed {
		return notFound()
	}
	return ok(g.installationJSON(i))
}

func (g *GitHub) getRepoInstallation(c *call) reply {
	r, _, _ := g.resolve([]string{"repos", c.vars["owner"], c.vars["name"]})
	if r == nil {
		return notFound()
	}
	for _, id := range sortedKeys(g.installations) {
		if i := g.installations[id]; i.repos[r.id] && !i.removed {
			return ok(g.installationJSON(i))
		}
	}
	return notFound()
}

// createToken mints an installation token, narrowed as asked.
func (g *GitHub) createToken(c *call) reply {
	inst, known := g.installations[c.number("id")]
	if !known || inst.removed {
		return notFound()
	}
	if !inst.suspended.IsZero() {
		return failed(http.StatusForbidden, "This installation has been suspended")
	}
	t := &token{inst: inst, permissions: inst.permissions, expires: g.now().Add(installationTokenLife)}
	if text := strings.TrimSpace(string(c.body)); text != "" && text != "null" { // clients without wishes send null
		o, rep, good := c.decode()
		if !good {
			return rep
		}
		if rep, refused := g.narrow(t, o); refused {
			return rep
		}
	}
	t.value = "ghs_" + digest("token", strconv.FormatInt(g.nextID(), 10))[:36]
	g.tokens[t.value] = t
	answer := object{
		"token": t.value, "expires_at": stamp(t.expires), "permissions": t.permissions, "repository_selection": "selected",
	}
	if t.repos != nil {
		answer["repositories"] = rows(t.repos, func(id int64) object { return g.repoJSON(g.repos[id]) })
	}
	return created(answer)
}

// narrow limits a token to the repositories and permissions of the request.
func (g *GitHub) narrow(t *token, o object) (reply, bool) {
	const unreachable = "There is at least one repository that does not exist or is not accessible to the parent installation."
	names, _ := o["repositories"].([]any)
	ids, _ := o["repository_ids"].([]any)
	if len(names)+len(ids) > maxTokenRepositories {
		return failed(http.StatusUnprocessableEntity, "The number of repositories must not exceed 500"), true
	}
	for _, n := range names {
		// Names come without an owner: the account of the installation owns them.
		id, known := g.names[strings.ToLower(t.inst.account.login+"/"+fmt.Sprint(n))]
		if !known || !t.inst.repos[id] {
			return failed(http.StatusUnprocessableEntity, unreachable), true
		}
		t.repos = append(t.repos, id)
	}
	for _, n := range ids {
		id, err := strconv.ParseInt(fmt.Sprint(n), 10, 64)
		if err != nil || !t.inst.repos[id] {
			return failed(http.StatusUnprocessableEntity, unreachable), true
		}
		if !slices.Contains(t.repos, id) {
			t.repos = append(t.repos, id)
		}
	}
	wanted, _ := o["permissions"].(object)
	if len(wanted) == 0 {
		return reply{}, false
	}
	t.permissions = map[string]string{"metadata": "read"}
	for name, level := range wanted {
		l, isText := level.(string)
		if !isText || !atLeast(l, "read") {
			return invalidRequest("For 'properties/" + name + "', " + fmt.Sprint(level) + " is not a possible value."), true
		}
		if !atLeast(t.inst.permissions[name], l) {
			return failed(http.StatusUnprocessableEntity, "The permissions requested are not granted to this installation."), true
		}
		t.permissions[name] = l
	}
	return reply{}, false
}

func (g *GitHub) revokeToken(c *call) reply {
	delete(g.tokens, c.token.value)
	return noContent()
}

func (g *GitHub) listInstallationRepos(c *call) reply {
	var all []*repository
	for _, id := range sortedKeys(g.repos) {
		if c.token.covers(id) {
			all = append(all, g.repos[id])
		}
	}
	return pageIn(c, "repositories", all, object{"repository_selection": "selected"}, g.repoJSON)
}
