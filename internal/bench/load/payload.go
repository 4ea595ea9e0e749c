package load

import "strings"

// object is a JSON object in the making.
type object = map[string]any

const (
	apiRoot = "https://api.github.com"
	webRoot = "https://github.com"
	owner   = "octo-load"
	repo    = owner + "/storefront-services"
	opened  = "2026-03-02T09:15:27Z"
)

// user is an account as GitHub's payloads carry it: some 1 KB of URLs.
func user(login string, id int) object {
	o := object{
		"login": login, "id": id, "node_id": "U_kgDOB" + strings.Repeat("a", 5), "gravatar_id": "", "type": "User",
		"user_view_type": "public", "site_admin": false, "avatar_url": "https://avatars.githubusercontent.com/u/" + login + "?v=4",
		"url": apiRoot + "/users/" + login, "html_url": webRoot + "/" + login,
	}
	for name, path := range map[string]string{
		"followers": "", "following": "{/other_user}", "gists": "{/gist_id}", "starred": "{/owner}{/repo}", "subscriptions": "",
		"organizations": "", "repos": "", "events": "{/privacy}", "received_events": "",
	} {
		o[name+"_url"] = apiRoot + "/users/" + login + "/" + name + path
	}
	return o
}

// repository is a repository as GitHub's payloads carry it: some 6 KB.
func repository() object {
	o := object{
		"id": 770_123_456, "node_id": "R_kgDOLeXampl", "name": "storefront-services", "full_name": repo, "private": true,
		"owner": user(owner, 90_001), "html_url": webRoot + "/" + repo, "description": "Services behind the storefront", "fork": false,
		"url": apiRoot + "/repos/" + repo, "created_at": "2024-01-09T08:00:00Z", "updated_at": "2026-02-27T16:41:03Z", "pushed_at": opened,
		"git_url": "git://github.com/" + repo + ".git", "ssh_url": "git@github.com:" + repo + ".git", "clone_url": webRoot + "/" + repo + ".git",
		"homepage": nil, "size": 48_213, "stargazers_count": 12, "watchers_count": 12, "language": "Go", "has_issues": true, "has_projects": true,
		"has_downloads": true, "has_wiki": false, "has_pages": false, "has_discussions": false, "forks_count": 3, "mirror_url": nil,
		"archived": false, "disabled": false, "open_issues_count": 41, "license": nil, "allow_forking": true, "is_template": false,
		"web_commit_signoff_required": false, "topics": []string{"go", "payments", "storefront"}, "visibility": "private", "forks": 3,
		"open_issues": 41, "watchers": 12, "default_branch": "main", "allow_squash_merge": true, "allow_merge_commit": false,
		"allow_rebase_merge": true, "allow_auto_merge": true, "delete_branch_on_merge": true, "allow_update_branch": true,
	}
	for name, path := range map[string]string{
		"archive": "/{archive_format}{/ref}", "assignees": "{/user}", "blobs": "{/sha}", "branches": "{/branch}", "collaborators": "{/collaborator}",
		"comments": "{/number}", "commits": "{/sha}", "compare": "/{base}...{head}", "contents": "/{+path}", "contributors": "", "deployments": "",
		"downloads": "", "events": "", "forks": "", "git_commits": "{/sha}", "git_refs": "{/sha}", "git_tags": "{/sha}", "hooks": "",
		"issue_comment": "{/number}", "issue_events": "{/number}", "issues": "{/number}", "keys": "{/key_id}", "labels": "{/name}", "languages": "",
		"merges": "", "milestones": "{/number}", "notifications": "{?since,all,participating}", "pulls": "{/number}", "releases": "{/id}",
		"stargazers": "", "statuses": "/{sha}", "subscribers": "", "subscription": "", "tags": "", "teams": "", "trees": "{/sha}",
	} {
		o[name+"_url"] = apiRoot + "/repos/" + repo + "/" + strings.ReplaceAll(name, "_", "/") + path
	}
	return o
}

// side is the head or the base of a pull request.
func side(ref, sha string) object {
	return object{"label": owner + ":" + ref, "ref": ref, "sha": sha, "user": user(owner, 90_001), "repo": repository()}
}

// envelope is what every delivery of an App on a repository carries.
func envelope(action string) object {
	return object{
		"action": action, "repository": repository(), "sender": user("mona-load", 90_002),
		"organization": object{"login": owner, "id": 90_001, "url": apiRoot + "/orgs/" + owner, "description": ""},
		"installation": object{"id": 55_000_001, "node_id": "MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9uNTU="},
	}
}

// prose is text of about n bytes that compresses as prose does, and not as a
// repeated line would.
func prose(n int) string {
	words := strings.Fields("the retry of a payment now waits for its predecessor so that a slow bank is not asked twice and every " +
		"caller learns what became of its order before the basket is emptied timeouts are taken from settings tests cover partial " +
		"refunds currencies without decimals clock changes duplicate callbacks and a ledger which cannot be reached for some hours")
	var b strings.Builder
	for i := uint64(1); b.Len() < n; i++ {
		b.WriteString(words[scatter(i)%uint64(len(words))])
		switch scatter(i+1_000_000) % 11 {
		case 0:
			b.WriteString(". ")
		case 1:
			b.WriteString(",\n")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()[:n]
}
