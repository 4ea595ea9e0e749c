package github

// Operation is one call that we make to GitHub's API.
type Operation struct {
	Method string
	// Path is below the REST root, with names in braces as in GitHub's reference;
	// {repo} stands for owner and name.
	Path string
	// Needs are permissions of which any one is enough, such as "checks: write".
	// Empty is a call with the App's own signature, or one that anybody may make.
	Needs []string
	// Feature is what it is for.
	Feature string
}

// Operations lists every call that we make, and the permission that allows it.
// The package's tests hold it to the calls that they see.
// https://docs.github.com/rest/authentication/permissions-required-for-github-apps
func Operations() []Operation {
	var (
		meta       = []string{"metadata: read"}
		readCode   = []string{"contents: read"}
		readPulls  = []string{"pull_requests: read"}
		writePulls = []string{"pull_requests: write"}
		readTalk   = []string{"issues: read", "pull_requests: read"}
		writeTalk  = []string{"issues: write", "pull_requests: write"}
		merges     = []string{"contents: write"}
		readTeam   = []string{"members: read"}
		readCheck  = []string{"checks: read"}
		writeCheck = []string{"checks: write"}
	)
	const (
		get, post, patch, put, del = "GET", "POST", "PATCH", "PUT", "DELETE"

		identity   = "Who the App is, and where it is installed"
		deliveries = "Deliveries that did not arrive"
		evidence   = "The evidence of a review"
		check      = "The check run and its annotations"
		waiting    = "Reviews that wait for checks"
		issues     = "Questions on issues"
		fallback   = "A commit status where there is no check run"
		summary    = "The summary comment, and answers in a conversation"
		inline     = "Reviews with comments on lines"
		reactions  = "Reactions to what was asked"
		threads    = "Resolving its own threads"
		people     = "Who may ask"
		approval   = "Calls that people decide about"
		acting     = "Tools of the host"
		handed     = "Reviews that are asked for on another channel"
	)
	return []Operation{
		{get, "app", nil, identity},
		{get, "app/installations/{id}", nil, identity},
		{post, "app/installations/{id}/access_tokens", nil, identity},
		{get, "repos/{repo}/installation", nil, identity},
		{get, "users/{login}", nil, identity},
		{get, "app/hook/deliveries", nil, deliveries},
		{get, "app/hook/deliveries/{id}", nil, deliveries},
		{post, "app/hook/deliveries/{id}/attempts", nil, deliveries},
		{get, "repositories/{id}", meta, identity},
		{get, "repos/{repo}", meta, handed},
		{get, "repos/{repo}/collaborators/{login}/permission", meta, people},
		{get, "repos/{repo}/collaborators/{login}", meta, approval},

		{get, "repos/{repo}/contents/{path}", readCode, evidence},
		{get, "repos/{repo}/git/blobs/{sha}", readCode, evidence},
		{get, "repos/{repo}/git/trees/{sha}", readCode, evidence},
		{get, "repos/{repo}/compare/{basehead}", readCode, evidence},
		{get, "repos/{repo}/commits/{sha}/pulls", readPulls, evidence},
		{get, "repos/{repo}/pulls/{number}", readPulls, evidence},
		{get, "repos/{repo}/pulls/{number}/files", readPulls, evidence},
		{get, "repos/{repo}/pulls/{number}/commits", readPulls, evidence},
		{get, "repos/{repo}/pulls/{number}/reviews", readPulls, inline},
		{get, "repos/{repo}/pulls/{number}/comments", readPulls, inline},
		{get, "repos/{repo}/pulls/comments/{id}", readPulls, inline},

		{post, "repos/{repo}/check-runs", writeCheck, check},
		{patch, "repos/{repo}/check-runs/{id}", writeCheck, check},
		{get, "repos/{repo}/check-runs/{id}", readCheck, check},
		{get, "repos/{repo}/check-runs/{id}/annotations", readCheck, check},
		{get, "repos/{repo}/commits/{sha}/check-runs", readCheck, check},
		{post, "repos/{repo}/statuses/{sha}", []string{"statuses: write"}, fallback},
		{get, "repos/{repo}/commits/{sha}/statuses", []string{"statuses: read"}, fallback},

		{get, "repos/{repo}/commits/{sha}/status", []string{"statuses: read"}, waiting},

		{get, "repos/{repo}/issues/{number}", readTalk, issues},
		{get, "repos/{repo}/issues/{number}/comments", readTalk, summary},
		{post, "repos/{repo}/issues/{number}/comments", writeTalk, summary},
		{patch, "repos/{repo}/issues/comments/{id}", writeTalk, summary},
		{post, "repos/{repo}/pulls/{number}/comments/{id}/replies", writePulls, inline},
		{post, "repos/{repo}/pulls/{number}/reviews", writePulls, inline},
		{del, "repos/{repo}/pulls/{number}/reviews/{id}", writePulls, inline},
		{put, "repos/{repo}/pulls/{number}/reviews/{id}/dismissals", writePulls, inline},

		{get, "repos/{repo}/issues/{number}/reactions", readTalk, reactions},
		{post, "repos/{repo}/issues/{number}/reactions", writeTalk, reactions},
		{del, "repos/{repo}/issues/{number}/reactions/{id}", writeTalk, reactions},
		{get, "repos/{repo}/issues/comments/{id}/reactions", readTalk, reactions},
		{post, "repos/{repo}/issues/comments/{id}/reactions", writeTalk, reactions},
		{del, "repos/{repo}/issues/comments/{id}/reactions/{id}", writeTalk, reactions},
		{get, "repos/{repo}/pulls/comments/{id}/reactions", readPulls, reactions},
		{post, "repos/{repo}/pulls/comments/{id}/reactions", writePulls, reactions},
		{del, "repos/{repo}/pulls/comments/{id}/reactions/{id}", writePulls, reactions},

		{get, "orgs/{org}/teams/{team}/memberships/{login}", readTeam, approval},
		{get, "repos/{repo}/commits/{sha}", readCode, approval},
		{get, "repos/{repo}/labels/{name}", readTalk, acting},
		{post, "repos/{repo}/issues/{number}/labels", writeTalk, acting},
		{del, "repos/{repo}/issues/{number}/labels/{name}", writeTalk, acting},
		{get, "repos/{repo}/pulls/{number}/requested_reviewers", readPulls, acting},
		{post, "repos/{repo}/pulls/{number}/requested_reviewers", writePulls, acting},
		{put, "repos/{repo}/pulls/{number}/merge", merges, acting},

		{post, "graphql", []string{"contents: write"}, threads},
	}
}
