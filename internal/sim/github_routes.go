package sim

import "net/http"

// rootRoutes are the endpoints that are not below a repository.
func (g *GitHub) rootRoutes() []route {
	const get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
	return []route{
		{get, "app", authApp, nil, "rest/apps/apps#get-the-authenticated-app", g.getApp},
		{get, "app/hook/deliveries", authApp, nil, "rest/apps/webhooks#list-deliveries-for-an-app-webhook", g.listHookDeliveries},
		{get, "app/hook/deliveries/:id", authApp, nil, "rest/apps/webhooks#get-a-delivery-for-an-app-webhook", g.getHookDelivery},
		{post, "app/hook/deliveries/:id/attempts", authApp, nil, "rest/apps/webhooks#redeliver-a-delivery-for-an-app-webhook", g.redeliver},
		{get, "app/installations", authApp, nil, "rest/apps/apps#list-installations-for-the-authenticated-app", g.listInstallations},
		{get, "app/installations/:id", authApp, nil, "rest/apps/apps#get-an-installation-for-the-authenticated-app", g.getInstallation},
		{post, "app/installations/:id/access_tokens", authApp, nil, "rest/apps/apps#create-an-installation-access-token-for-an-app", g.createToken},
		{get, "repos/:owner/:name/installation", authApp, nil, "rest/apps/apps#get-a-repository-installation-for-the-authenticated-app", g.getRepoInstallation},
		{get, "installation/repositories", authInstallation, nil, "rest/apps/installations#list-repositories-accessible-to-the-app-installation", g.listInstallationRepos},
		{del, "installation/token", authInstallation, nil, "rest/apps/installations#revoke-an-installation-access-token", g.revokeToken},
		{get, "rate_limit", authAny, nil, "rest/rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user", g.getRateLimit},
		{get, "app/hook/config", authApp, nil, "rest/apps/webhooks#get-a-webhook-configuration-for-an-app", g.getHookConfig},
		{post, "app-manifests/:code/conversions", authPublic, nil, "rest/apps/apps#create-a-github-app-from-a-manifest", g.convertManifest},
		{post, "settings/apps/new", authPublic, nil, "apps/sharing-github-apps/registering-a-github-app-from-a-manifest", g.takeManifest},
		{post, "organizations/:org/settings/apps/new", authPublic, nil, "apps/sharing-github-apps/registering-a-github-app-from-a-manifest", g.takeManifest},
		{get, "orgs/:org/teams/:team/memberships/:user", authInstallation, []string{"members:read"}, "rest/teams/members#get-team-membership-for-a-user", g.getTeamMembership},
		{get, "users/:user", authPublic, nil, "rest/users/users#get-a-user", g.getUser},
	}
}

// repoRoutes are the endpoints below /repos/:owner/:name and /repositories/:id.
func (g *GitHub) repoRoutes() []route {
	const get, post, put, patch, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete
	const inst = authInstallation
	var (
		readCode  = []string{"contents:read"}
		readPulls = []string{"pull_requests:read"}
		pulls     = []string{"pull_requests:write"}
		readTalk  = []string{"issues:read", "pull_requests:read"}
		talk      = []string{"issues:write", "pull_requests:write"}
		readCheck = []string{"checks:read"}
		check     = []string{"checks:write"}
		readState = []string{"statuses:read"}
		meta      = []string{"metadata:read"}
	)
	return []route{
		{get, "", inst, meta, "rest/repos/repos#get-a-repository", g.getRepo},
		{get, "collaborators/:user", inst, meta, "rest/collaborators/collaborators#check-if-a-user-is-a-repository-collaborator", g.getCollaborator},
		{get, "collaborators/:user/permission", inst, meta, "rest/collaborators/collaborators#get-repository-permissions-for-a-user", g.getPermission},

		{get, "pulls", inst, readPulls, "rest/pulls/pulls#list-pull-requests", g.listPulls},
		{get, "pulls/:number", inst, readPulls, "rest/pulls/pulls#get-a-pull-request", g.getPull},
		{get, "pulls/:number/files", inst, readPulls, "rest/pulls/pulls#list-pull-requests-files", g.listPullFiles},
		{get, "pulls/:number/commits", inst, readPulls, "rest/pulls/pulls#list-commits-on-a-pull-request", g.listPullCommits},
		{get, "pulls/:number/reviews", inst, readPulls, "rest/pulls/reviews#list-reviews-for-a-pull-request", g.listReviews},
		{post, "pulls/:number/reviews", inst, pulls, "rest/pulls/reviews#create-a-review-for-a-pull-request", g.createReview},
		{get, "pulls/:number/reviews/:id", inst, readPulls, "rest/pulls/reviews#get-a-review-for-a-pull-request", g.getReview},
		{del, "pulls/:number/reviews/:id", inst, pulls, "rest/pulls/reviews#delete-a-pending-review-for-a-pull-request", g.deleteReview},
		{get, "pulls/:number/reviews/:id/comments", inst, readPulls, "rest/pulls/reviews#list-comments-for-a-pull-request-review", g.listCommentsOfReview},
		{post, "pulls/:number/reviews/:id/events", inst, pulls, "rest/pulls/reviews#submit-a-review-for-a-pull-request", g.submitReview},
		{put, "pulls/:number/reviews/:id/dismissals", inst, pulls, "rest/pulls/reviews#dismiss-a-review-for-a-pull-request", g.dismissReview},

		{put, "pulls/:number/merge", inst, []string{"contents:write"}, "rest/pulls/pulls#merge-a-pull-request", g.merge},
		{get, "pulls/:number/requested_reviewers", inst, readPulls, "rest/pulls/review-requests#get-all-requested-reviewers-for-a-pull-request", g.listRequestedReviewers},
		{post, "pulls/:number/requested_reviewers", inst, pulls, "rest/pulls/review-requests#request-reviewers-for-a-pull-request", g.requestReviewers},

		{get, "pulls/comments/:id", inst, readPulls, "rest/pulls/comments#get-a-review-comment-for-a-pull-request", g.getReviewComment},
		{patch, "pulls/comments/:id", inst, pulls, "rest/pulls/comments#update-a-review-comment-for-a-pull-request", g.updateReviewComment},
		{del, "pulls/comments/:id", inst, pulls, "rest/pulls/comments#delete-a-review-comment-for-a-pull-request", g.deleteReviewComment},
		{get, "pulls/comments/:id/reactions", inst, readPulls, "rest/reactions/reactions#list-reactions-for-a-pull-request-review-comment", g.listReactions(ofLineComment)},
		{post, "pulls/comments/:id/reactions", inst, pulls, "rest/reactions/reactions#create-reaction-for-a-pull-request-review-comment", g.createReaction(ofLineComment)},
		{del, "pulls/comments/:id/reactions/:reaction", inst, pulls, "rest/reactions/reactions#delete-a-pull-request-comment-reaction", g.deleteReaction(ofLineComment)},
		{get, "pulls/:number/comments", inst, readPulls, "rest/pulls/comments#list-review-comments-on-a-pull-request", g.listReviewComments},
		{post, "pulls/:number/comments/:id/replies", inst, pulls, "rest/pulls/comments#create-a-reply-for-a-review-comment", g.createReply},

		{get, "issues", inst, readTalk, "rest/issues/issues#list-repository-issues", g.listIssues},
		{get, "issues/:number", inst, readTalk, "rest/issues/issues#get-an-issue", g.getIssue},
		{get, "issues/:number/labels", inst, readTalk, "rest/issues/labels#list-labels-for-an-issue", g.listIssueLabels},
		{post, "issues/:number/labels", inst, talk, "rest/issues/labels#add-labels-to-an-issue", g.addLabels},
		{del, "issues/:number/labels/:label", inst, talk, "rest/issues/labels#remove-a-label-from-an-issue", g.removeLabel},
		{get, "labels/:label", inst, readTalk, "rest/issues/labels#get-a-label", g.getLabel},
		{get, "issues/:number/timeline", inst, readTalk, "rest/issues/timeline#list-timeline-events-for-an-issue", g.listTimeline},
		{get, "issues/:number/comments", inst, readTalk, "rest/issues/comments#list-issue-comments", g.listComments},
		{post, "issues/:number/comments", inst, talk, "rest/issues/comments#create-an-issue-comment", g.createComment},
		{get, "issues/comments/:id", inst, readTalk, "rest/issues/comments#get-an-issue-comment", g.getComment},
		{patch, "issues/comments/:id", inst, talk, "rest/issues/comments#update-an-issue-comment", g.updateComment},
		{del, "issues/comments/:id", inst, talk, "rest/issues/comments#delete-an-issue-comment", g.deleteComment},
		{get, "issues/comments/:id/reactions", inst, readTalk, "rest/reactions/reactions#list-reactions-for-an-issue-comment", g.listReactions(ofComment)},
		{post, "issues/comments/:id/reactions", inst, talk, "rest/reactions/reactions#create-reaction-for-an-issue-comment", g.createReaction(ofComment)},
		{del, "issues/comments/:id/reactions/:reaction", inst, talk, "rest/reactions/reactions#delete-an-issue-comment-reaction", g.deleteReaction(ofComment)},
		{get, "issues/:number/reactions", inst, readTalk, "rest/reactions/reactions#list-reactions-for-an-issue", g.listReactions(ofIssue)},
		{post, "issues/:number/reactions", inst, talk, "rest/reactions/reactions#create-reaction-for-an-issue", g.createReaction(ofIssue)},
		{del, "issues/:number/reactions/:reaction", inst, talk, "rest/reactions/reactions#delete-an-issue-reaction", g.deleteReaction(ofIssue)},

		{post, "check-runs", inst, check, "rest/checks/runs#create-a-check-run", g.createCheckRun},
		{get, "check-runs/:id", inst, readCheck, "rest/checks/runs#get-a-check-run", g.getCheckRun},
		{patch, "check-runs/:id", inst, check, "rest/checks/runs#update-a-check-run", g.updateCheckRun},
		{get, "check-runs/:id/annotations", inst, readCheck, "rest/checks/runs#list-check-run-annotations", g.listAnnotations},
		{get, "commits/*ref/check-runs", inst, readCheck, "rest/checks/runs#list-check-runs-for-a-git-reference", g.listCheckRuns},
		{get, "commits/*ref/check-suites", inst, readCheck, "rest/checks/suites#list-check-suites-for-a-git-reference", g.listCheckSuites},
		{post, "statuses/:sha", inst, []string{"statuses:write"}, "rest/commits/statuses#create-a-commit-status", g.createStatus},
		{get, "commits/*ref/statuses", inst, readState, "rest/commits/statuses#list-commit-statuses-for-a-reference", g.listStatuses},
		{get, "commits/*ref/status", inst, readState, "rest/commits/statuses#get-the-combined-status-for-a-specific-reference", g.combinedStatus},
		{get, "commits/*ref/pulls", inst, readPulls, "rest/commits/commits#list-pull-requests-associated-with-a-commit", g.listCommitPulls},
		{get, "commits/*ref", inst, readCode, "rest/commits/commits#get-a-commit", g.getCommit},
		{get, "compare/*basehead", inst, readCode, "rest/commits/commits#compare-two-commits", g.compare},

		{get, "contents", inst, readCode, "rest/repos/contents#get-repository-content", g.getContents},
		{get, "contents/*path", inst, readCode, "rest/repos/contents#get-repository-content", g.getContents},
		{get, "git/blobs/:sha", inst, readCode, "rest/git/blobs#get-a-blob", g.getBlob},
		{get, "git/trees/*sha", inst, readCode, "rest/git/trees#get-a-tree", g.getTree},
	}
}
