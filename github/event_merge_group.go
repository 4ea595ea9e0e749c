package github

import (
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/sessions"
)

// mapMergeGroup maps the event merge_group. What the queue would merge was
// reviewed as pull requests, so that its check is concluded at once.
// Fields: https://docs.github.com/webhooks/webhook-events-and-payloads#merge_group
func mapMergeGroup(e event) (sessions.Intent, error) {
	switch e.Action {
	case "checks_requested":
	case "destroyed":
		return ignore("merge_group.destroyed: its check was concluded when it was asked for"), nil
	default:
		return e.pointless()
	}
	r, err := e.origin()
	if err != nil {
		return sessions.Intent{}, err
	}
	if !validSHA(e.MergeGroup.HeadSHA) {
		return sessions.Intent{}, missing("merge_group.head_sha")
	}
	r.Kind = kindMergeGroup
	r.Head = e.MergeGroup.HeadSHA
	r.Base = oneLine(strings.TrimPrefix(e.MergeGroup.BaseRef, "refs/heads/"))
	if base, number, ok := parseQueueRef(e.MergeGroup.HeadRef); ok {
		r.Number = number
		if r.Base == "" {
			r.Base = oneLine(base)
		}
	}
	in := e.intent(sessions.ActionIgnore, r)
	in.Reason += ": its check is concluded, and no agent runs"
	in.Effects = mergeGroupEffects(r)
	in.Fact = fmt.Sprintf("github:merge_group:%d:%s", r.Repository, r.Head)
	return in, nil
}
