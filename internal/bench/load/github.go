package load

import "strconv"

// PullRequest is GitHub's pull_request delivery of a newly opened pull request,
// 24 KB. Each variant is another pull request of one repository.
func PullRequest() Hook {
	o := envelope("opened")
	pull := apiRoot + "/repos/" + repo + "/pulls/" + strconv.Itoa(markNumber)
	issue := apiRoot + "/repos/" + repo + "/issues/" + strconv.Itoa(markNumber)
	o["number"] = markNumber
	o["pull_request"] = object{
		"url": pull, "id": markID, "node_id": "PR_kwDOLeXampl", "html_url": webRoot + "/" + repo + "/pull/" + strconv.Itoa(markNumber),
		"diff_url": webRoot + "/" + repo + "/pull/" + strconv.Itoa(markNumber) + ".diff", "patch_url": webRoot + "/" + repo + "/pull/" + strconv.Itoa(markNumber) + ".patch",
		"issue_url": issue, "number": markNumber, "state": "open", "locked": false, "title": "Wait for the earlier payment " + markText,
		"user": user("mona-load", 90_002), "body": prose(650), "created_at": opened, "updated_at": opened, "closed_at": nil, "merged_at": nil,
		"merge_commit_sha": nil, "assignee": nil, "assignees": []object{}, "requested_reviewers": []object{user("hubot-load", 90_003)},
		"requested_teams": []object{}, "labels": []object{}, "milestone": nil, "draft": false, "commits_url": pull + "/commits",
		"review_comments_url": pull + "/comments", "review_comment_url": apiRoot + "/repos/" + repo + "/pulls/comments{/number}",
		"comments_url": issue + "/comments", "statuses_url": apiRoot + "/repos/" + repo + "/statuses/" + markSHA,
		"head": side("wait-for-earlier", markSHA), "base": side("main", "8d1f6a9be3c24750a1b2c3d4e5f60718293a4b5c"),
		"_links":             object{"self": object{"href": pull}, "issue": object{"href": issue}, "commits": object{"href": pull + "/commits"}},
		"author_association": "MEMBER", "auto_merge": nil, "active_lock_reason": nil, "merged": false, "mergeable": nil, "rebaseable": nil,
		"mergeable_state": "unknown", "merged_by": nil, "comments": 0, "review_comments": 0, "maintainer_can_modify": false,
		"commits": 2, "additions": 118, "deletions": 34, "changed_files": 6,
	}
	return gitHubHook("pull_request", o)
}

// IssueComment is GitHub's issue_comment delivery of a new comment on a pull
// request, 14 KB. Each variant is another comment.
func IssueComment() Hook {
	o := envelope("created")
	issue := apiRoot + "/repos/" + repo + "/issues/17"
	o["issue"] = object{
		"url": issue, "repository_url": apiRoot + "/repos/" + repo, "labels_url": issue + "/labels{/name}", "comments_url": issue + "/comments",
		"events_url": issue + "/events", "html_url": webRoot + "/" + repo + "/pull/17", "id": 3_100_000_017, "node_id": "PR_kwDOLeXampm",
		"number": 17, "title": "Wait for the earlier payment", "user": user("mona-load", 90_002), "labels": []object{}, "state": "open",
		"locked": false, "assignee": user("hubot-load", 90_003), "assignees": []object{user("hubot-load", 90_003)}, "milestone": nil,
		"comments": 3, "created_at": opened, "updated_at": opened, "closed_at": nil, "author_association": "MEMBER", "draft": false,
		"pull_request": object{"url": apiRoot + "/repos/" + repo + "/pulls/17", "html_url": webRoot + "/" + repo + "/pull/17", "merged_at": nil},
		"body":         prose(900), "reactions": object{"url": issue + "/reactions", "total_count": 0, "+1": 0, "-1": 0, "heart": 0},
		"timeline_url": issue + "/timeline", "performed_via_github_app": nil, "state_reason": nil,
	}
	comment := apiRoot + "/repos/" + repo + "/issues/comments/" + strconv.Itoa(markID)
	o["comment"] = object{
		"url": comment, "html_url": webRoot + "/" + repo + "/pull/17#issuecomment-" + strconv.Itoa(markID), "issue_url": issue, "id": markID,
		"node_id": "IC_kwDOLeXampl", "user": user("hubot-load", 90_003), "created_at": opened, "updated_at": opened,
		"author_association": "MEMBER", "body": markText + " " + prose(600), "performed_via_github_app": nil,
		"reactions": object{"url": comment + "/reactions", "total_count": 0, "+1": 0, "-1": 0, "heart": 0},
	}
	return gitHubHook("issue_comment", o)
}
