package approvals

import "slices"

// maxNamed is how many people and groups a sentence names.
const maxNamed = 20

// WhoMayDecide says in one sentence who may decide now. Nobody is pinged by it as
// long as w pings nobody.
func (v View) WhoMayDecide(w Words) string {
	var names []string
	for _, a := range v.Deciders {
		names = append(names, a.names(w)...)
	}
	if v.Policy.OperatorMayDecide {
		names = append(names, w.person(Identity{Principal: OperatorPrincipal}))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	switch n := len(names); {
	case n == 0:
		return "Nobody may decide: no approvers are configured, so that it will expire."
	case n == 1 && v.Policy.OperatorMayDecide:
		return "No approvers are configured: only the operator may decide."
	case n > maxNamed:
		names = append(names[:maxNamed], "others")
	}
	return "May decide: " + series(names) + "."
}

func (a Approvers) names(w Words) []string {
	var names []string
	for _, id := range a.Slack {
		names = append(names, w.person(Identity{Slack: id}))
	}
	for _, login := range a.GitHub {
		names = append(names, w.person(Identity{GitHub: login}))
	}
	for _, id := range a.SlackGroups {
		names = append(names, w.group(Group{SlackGroup, id}))
	}
	for _, team := range a.GitHubTeams {
		names = append(names, w.group(Group{GitHubTeam, team}))
	}
	if a.CodeOwners {
		names = append(names, w.group(Group{Kind: CodeOwner}))
	}
	return names
}
