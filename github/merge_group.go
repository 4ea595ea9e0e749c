package github

import (
	"fmt"
	"strconv"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
	"github.com/liaison-bot/liaison/sessions"
)

// queueRef is the branch that a merge queue makes for a group. It names the last
// pull request of the group; the base may have slashes of its own.
var queueRef = lazyregexp.New(`^(?:refs/heads/)?gh-readonly-queue/(.+)/pr-([0-9]{1,9})-[0-9a-f]{7,64}$`)

// parseQueueRef returns the base branch and the last pull request of a merge
// group, by the name of its branch.
func parseQueueRef(ref string) (base string, number int, ok bool) {
	m := queueRef.FindStringSubmatch(ref)
	if m == nil {
		return "", 0, false
	}
	number, err := strconv.Atoi(m[2])
	return m[1], number, err == nil && number > 0
}

// mergeGroupEffects are owed for a merge group at once: a required check that
// stays away keeps a merge queue waiting until it gives up
// (https://github.com/palantir/policy-bot/issues/548,
// https://github.com/Ezard/semantic-prs/issues/406). What the group is made of
// was reviewed on the pull requests.
func mergeGroupEffects(r request) []sessions.Effect {
	what, into := "the pull requests in this merge group", ""
	if r.Number > 0 {
		what = fmt.Sprintf("#%d and of what is queued before it", r.Number)
	}
	if r.Base != "" {
		into = " into " + code(ellipsis(r.Base, maxBranch))
	}
	title := "Reviewed on the pull request"
	if r.Number > 0 {
		title = fmt.Sprintf("Reviewed on #%d", r.Number)
	}
	return []sessions.Effect{effect("check-merge-group", kindCheck, checkPayload{
		Request:    r,
		Conclusion: concludedSuccess,
		Title:      title,
		Summary: fmt.Sprintf("Liaison reviews pull requests, and not the groups in which they are merged%s. "+
			"The reviews of %s stand on the pull requests themselves; this check holds nothing up.", into, what),
	})}
}
