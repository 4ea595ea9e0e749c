package approvals

import (
	"slices"
	"strings"
)

// may says whether somebody may say this about the record.
func (r Record) may(b Ballot) error {
	p := b.By
	if p.Operator {
		switch {
		case !r.Policy.OperatorMayDecide:
			return &NotAllowedError{"The operator decides about no calls of this tool."}
		case b.Verdict == Approve && r.Policy.MinApprovals > 1:
			// Nobody knows who holds the token: it may be whoever approves next.
			return &NotAllowedError{"Several people have to approve, and the operator's token stands for none of them."}
		}
		return nil
	}
	switch p.Standing {
	case Member:
	case Guest:
		return &NotAllowedError{"Guests of a workspace cannot decide."}
	case Stranger:
		return &NotAllowedError{"People of another organisation cannot decide."}
	case Bot:
		return &NotAllowedError{"Only people can decide."}
	case Gone:
		return &NotAllowedError{"This account does not exist any more."}
	default:
		return &NotAllowedError{"It could not be made sure who you are, so that you cannot decide now."}
	}
	requester := r.Requester.Is(p.Identity)
	author := slices.ContainsFunc(r.Authors, func(a Identity) bool { return a.Is(p.Identity) })
	switch {
	case b.Verdict == Deny && requester:
		return nil
	case !r.listed(p):
		return &NotAllowedError{"You are not among those who may decide."}
	case b.Verdict == Approve && requester && !r.Policy.SelfApproval:
		return &NotAllowedError{"You asked for it yourself: another person has to approve."}
	case b.Verdict == Approve && author && !r.Policy.SelfApproval:
		return &NotAllowedError{"It is about your own change: another person has to approve."}
	}
	return nil
}

// listed reports whether the policy names somebody, now.
func (r Record) listed(p Person) bool {
	return slices.ContainsFunc(r.Deciders(), func(a Approvers) bool { return a.has(p) })
}

// Deciders are the groups of people who may decide now: the first, and those that
// the call has been escalated to.
func (r Record) Deciders() []Approvers {
	all := []Approvers{r.Policy.Approvers}
	return append(all, r.Policy.Escalation[:min(r.Level, len(r.Policy.Escalation))]...)
}

func (a Approvers) has(p Person) bool {
	if p.Slack != "" && slices.Contains(a.Slack, p.Slack) {
		return true
	}
	if p.GitHub != "" && slices.ContainsFunc(a.GitHub, func(login string) bool { return strings.EqualFold(login, p.GitHub) }) {
		return true
	}
	return slices.ContainsFunc(p.Groups, func(g Group) bool {
		switch g.Kind {
		case SlackGroup:
			return slices.Contains(a.SlackGroups, g.Name)
		case GitHubTeam:
			return slices.ContainsFunc(a.GitHubTeams, func(team string) bool { return strings.EqualFold(team, g.Name) })
		case CodeOwner:
			return a.CodeOwners
		}
		return false
	})
}
