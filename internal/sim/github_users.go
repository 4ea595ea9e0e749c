package sim

import (
	"net/http"
	"strings"
)

// user is an account: a person, an organisation or an App's bot.
type user struct {
	id    int64
	login string
	kind  string // User, Organization or Bot
	gone  bool
}

// account returns the user of a login, creating it at first sight. An empty
// login is a deleted account and gives nil. Callers hold the lock.
func (g *GitHub) account(login string) *user {
	if login == "" {
		return nil
	}
	key := strings.ToLower(login)
	if u, known := g.users[key]; known {
		return u
	}
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	u := &user{id: g.nextID(), login: login, kind: kind}
	g.users[key] = u
	return u
}

// CreateOrganization makes a login an organisation; every other login is a
// person or, if it ends in "[bot]", an App.
func (g *GitHub) CreateOrganization(login string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.account(login).kind = "Organization"
	g.notify()
}

// DeleteUser deletes an account: what it wrote is shown without an author.
func (g *GitHub) DeleteUser(login string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.account(login).gone = true
	g.notify()
}

// bot is the account under which the App writes.
func (g *GitHub) bot() *user { return g.account(g.opts.Slug + "[bot]") }

// userJSON renders a user; a deleted account is null, as GitHub sends it.
func (g *GitHub) userJSON(u *user) any {
	if u == nil || u.gone {
		return nil
	}
	path := "/users/" + escape(u.login)
	page := g.web("/" + u.login)
	if u.kind == "Bot" {
		page = g.web("/apps/" + strings.TrimSuffix(u.login, "[bot]"))
	}
	return object{
		"login": u.login, "id": u.id, "node_id": nodeID("User", u.id),
		"avatar_url": g.web("/avatars/" + escape(u.login)), "gravatar_id": "",
		"url": g.api(path), "html_url": page,
		"followers_url": g.api(path + "/followers"), "following_url": g.api(path + "/following{/other_user}"),
		"gists_url": g.api(path + "/gists{/gist_id}"), "starred_url": g.api(path + "/starred{/owner}{/repo}"),
		"subscriptions_url": g.api(path + "/subscriptions"), "organizations_url": g.api(path + "/orgs"),
		"repos_url": g.api(path + "/repos"), "events_url": g.api(path + "/events{/privacy}"),
		"received_events_url": g.api(path + "/received_events"),
		"type":                u.kind, "user_view_type": "public", "site_admin": false,
	}
}

// SetPermission says what a person may do in a repository: admin, maintain,
// write, triage, read or none. Unset people read.
func (g *GitHub) SetPermission(repo, login, permission string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(repo)
	g.account(login)
	r.permissions[strings.ToLower(login)] = permission
	g.notify()
}

func (g *GitHub) getPermission(c *call) reply {
	login := c.vars["user"]
	u, known := g.users[strings.ToLower(login)]
	if !known || u.gone || u.kind != "User" {
		return failed(http.StatusNotFound, login+" is not a user")
	}
	role := c.repo.permissions[strings.ToLower(login)]
	if role == "" {
		role = "read"
	}
	// The old field knows four words only; the two others map to their neighbours.
	coarse := map[string]string{"maintain": "write", "triage": "read"}[role]
	if coarse == "" {
		coarse = role
	}
	person := g.userJSON(u).(object)
	person["permissions"] = object{
		"admin": role == "admin", "maintain": role == "admin" || role == "maintain",
		"push": coarse == "admin" || coarse == "write", "triage": coarse != "none" && role != "read", "pull": role != "none",
	}
	person["role_name"] = role
	return ok(object{"permission": coarse, "role_name": role, "user": person})
}

// getCollaborator knows those whose permission was set: everybody else may read the
// repository only because it is public.
func (g *GitHub) getCollaborator(c *call) reply {
	login := strings.ToLower(c.vars["user"])
	u, known := g.users[login]
	if role := c.repo.permissions[login]; !known || u.gone || role == "" || role == "none" {
		return notFound()
	}
	return noContent()
}

func (g *GitHub) getUser(c *call) reply {
	g.bot() // the App's account exists from the day the App does
	u, known := g.users[strings.ToLower(c.vars["user"])]
	if !known || u.gone {
		return notFound()
	}
	o := g.userJSON(u).(object)
	for _, empty := range []string{"name", "company", "email", "location", "hireable", "bio"} {
		o[empty] = nil
	}
	o["blog"], o["created_at"], o["updated_at"] = "", stamp(g.created), stamp(g.created)
	o["public_repos"], o["public_gists"], o["followers"], o["following"] = 0, 0, 0, 0
	return ok(o)
}
