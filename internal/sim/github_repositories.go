package sim

import (
	"strconv"
	"strings"
	"time"
)

// Repository is what a caller learns about a repository: a copy, made when asked.
type Repository struct {
	ID            int64
	FullName      string
	DefaultBranch string
	// HeadSHA is the tip of the default branch.
	HeadSHA string
}

// repository is a repository and its pull requests.
type repository struct {
	id            int64
	owner         *user
	name          string
	fullName      string
	defaultBranch string
	fork          bool
	created       time.Time
	net           *network
	branches      map[string]string
	pulls         map[int]*pull
	issues        map[int]*pull // nil for one that was deleted
	lastNumber    int
	permissions   map[string]string
	labels        []string
}

// CreateRepository makes a private repository whose branch main holds files by
// path. CODEOWNERS and configuration are files like any other.
func (g *GitHub) CreateRepository(fullName string, files map[string]string) *Repository {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.addRepo(fullName, newNetwork())
	changes := map[string]Change{}
	for p, text := range files {
		changes[p] = Write(text)
	}
	c := r.net.addCommit(r.net.change(nil, changes), "Initial commit", r.owner.login, g.now())
	r.branches[r.defaultBranch] = c.sha
	g.notify()
	return r.view()
}

// addRepo registers a repository. A repository with a known name panics.
func (g *GitHub) addRepo(fullName string, n *network) *repository {
	owner, name := splitName(fullName)
	key := strings.ToLower(fullName)
	if _, taken := g.names[key]; taken {
		panic("sim: repository exists: " + fullName)
	}
	r := &repository{
		id: g.nextID(), owner: g.account(owner), name: name, fullName: fullName, defaultBranch: "main",
		created: g.now(), net: n, branches: map[string]string{}, pulls: map[int]*pull{}, issues: map[int]*pull{}, permissions: map[string]string{},
	}
	g.repos[r.id] = r
	g.names[key] = r.id
	delete(g.oldNames, key) // a new repository takes the name back from a redirect
	return r
}

// fork returns the fork of that name, making it if needed.
func (g *GitHub) fork(base *repository, fullName string) *repository {
	if id, known := g.names[strings.ToLower(fullName)]; known {
		return g.repos[id]
	}
	r := g.addRepo(fullName, base.net)
	r.fork = true
	r.branches[r.defaultBranch] = base.branches[base.defaultBranch]
	return r
}

// Commit adds a commit to a branch of a repository, made from the default
// branch if it does not exist, and returns its SHA. Open pull requests keep
// the base that they have, as on GitHub.
func (g *GitHub) Commit(repo, branch string, files map[string]Change) (sha string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(repo)
	sha = g.commit(r, branch, r.owner.login, "Change "+branch, files)
	g.notify()
	return sha
}

func (g *GitHub) commit(r *repository, branch, author, message string, files map[string]Change) string {
	parent, known := r.branches[branch]
	if !known {
		parent = r.branches[r.defaultBranch]
	}
	c := r.net.addCommit(r.net.change(r.net.commits[parent].files, files), message, author, g.now(), parent)
	r.branches[branch] = c.sha
	return c.sha
}

// Rename gives a repository a new full name. The old one redirects until
// another repository takes it.
func (g *GitHub) Rename(repo, newFullName string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(repo)
	owner, name := splitName(newFullName)
	delete(g.names, strings.ToLower(r.fullName))
	g.oldNames[strings.ToLower(r.fullName)] = r.id
	r.owner, r.name, r.fullName = g.account(owner), name, newFullName
	g.names[strings.ToLower(newFullName)] = r.id
	delete(g.oldNames, strings.ToLower(newFullName))
	g.notify()
}

// Repository returns a repository by its name or an earlier one.
func (g *GitHub) Repository(repo string) *Repository {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mustRepo(repo).view()
}

func (r *repository) view() *Repository {
	return &Repository{ID: r.id, FullName: r.fullName, DefaultBranch: r.defaultBranch, HeadSHA: r.branches[r.defaultBranch]}
}

// mustRepo finds a repository by its name or an earlier one.
func (g *GitHub) mustRepo(name string) *repository {
	owner, short := splitName(name)
	r, _, _ := g.resolve([]string{"repos", owner, short})
	if r == nil {
		panic("sim: no repository " + name)
	}
	return r
}

// commitOf resolves a branch, a tag-like name or a full SHA.
func (r *repository) commitOf(ref string) *commit {
	name := strings.TrimPrefix(strings.TrimPrefix(ref, "refs/"), "heads/")
	if sha, isBranch := r.branches[name]; isBranch {
		return r.net.commits[sha]
	}
	if number, isPull := strings.CutPrefix(name, "pull/"); isPull {
		n, _ := strconv.Atoi(strings.TrimSuffix(number, "/head"))
		if p := r.pulls[n]; p != nil {
			return r.net.commits[p.head]
		}
	}
	return r.net.commits[ref]
}

func (g *GitHub) repoJSON(r *repository) object {
	path := "/repos/" + escape(r.owner.login) + "/" + escape(r.name)
	page := g.web("/" + r.fullName)
	o := object{
		"id": r.id, "node_id": nodeID("Repository", r.id), "name": r.name, "full_name": r.fullName, "private": true,
		"owner": g.userJSON(r.owner), "html_url": page, "description": nil, "fork": r.fork, "url": g.api(path),
		"created_at": stamp(r.created), "updated_at": stamp(r.created), "pushed_at": stamp(r.created),
		"git_url": "git://github.example/" + r.fullName + ".git", "ssh_url": "git@github.example:" + r.fullName + ".git",
		"clone_url": page + ".git", "svn_url": page, "homepage": nil, "size": 1, "stargazers_count": 0, "watchers_count": 0,
		"language": nil, "has_issues": true, "has_projects": true, "has_downloads": true, "has_wiki": true, "has_pages": false,
		"has_discussions": false, "forks_count": 0, "mirror_url": nil, "archived": false, "disabled": false,
		"open_issues_count": len(r.pulls), "license": nil, "allow_forking": true, "is_template": false,
		"web_commit_signoff_required": false, "topics": []string{}, "visibility": "private", "forks": 0,
		"open_issues": len(r.pulls), "watchers": 0, "default_branch": r.defaultBranch,
	}
	for key, suffix := range map[string]string{
		"forks_url": "/forks", "keys_url": "/keys{/key_id}", "collaborators_url": "/collaborators{/collaborator}",
		"teams_url": "/teams", "hooks_url": "/hooks", "issue_events_url": "/issues/events{/number}", "events_url": "/events",
		"assignees_url": "/assignees{/user}", "branches_url": "/branches{/branch}", "tags_url": "/tags",
		"blobs_url": "/git/blobs{/sha}", "git_tags_url": "/git/tags{/sha}", "git_refs_url": "/git/refs{/sha}",
		"trees_url": "/git/trees{/sha}", "statuses_url": "/statuses/{sha}", "languages_url": "/languages",
		"stargazers_url": "/stargazers", "contributors_url": "/contributors", "subscribers_url": "/subscribers",
		"subscription_url": "/subscription", "commits_url": "/commits{/sha}", "git_commits_url": "/git/commits{/sha}",
		"comments_url": "/comments{/number}", "issue_comment_url": "/issues/comments{/number}",
		"contents_url": "/contents/{+path}", "compare_url": "/compare/{base}...{head}", "merges_url": "/merges",
		"archive_url": "/{archive_format}{/ref}", "downloads_url": "/downloads", "issues_url": "/issues{/number}",
		"pulls_url": "/pulls{/number}", "milestones_url": "/milestones{/number}",
		"notifications_url": "/notifications{?since,all,participating}", "labels_url": "/labels{/name}",
		"releases_url": "/releases{/id}", "deployments_url": "/deployments",
	} {
		o[key] = g.api(path + suffix)
	}
	return o
}

func (g *GitHub) getRepo(c *call) reply {
	o := g.repoJSON(c.repo)
	o["network_count"], o["subscribers_count"] = 0, 0
	return ok(o)
}
