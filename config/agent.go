package config

import (
	"path/filepath"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// Agent says which agent runs, and who decides about its calls where it names nobody.
type Agent struct {
	// Dir is the agent's folder, absolute; empty for the one that is built in.
	Dir string
	// Approvers hold where the agent's own settings name nobody.
	Approvers Approvers
}

// Approvers are people who may decide, by ids that nobody can take over.
type Approvers struct {
	// Slack are ids of people, SlackGroups of user groups.
	Slack, SlackGroups []string
	// GitHub are logins, GitHubTeams are "organisation/team".
	GitHub, GitHubTeams []string
}

// slackGroups is what ids of user groups begin with.
const slackGroups = "S"

// teamPattern is what GitHub makes of a team's name, behind its organisation's.
// https://docs.github.com/rest/teams/teams#get-a-team-by-name
var teamPattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,38}/[A-Za-z0-9._-]{1,100}$`)

// loginPattern is GitHub's; one of an enterprise's managed users ends with "_" and the
// enterprise's short code.
// https://docs.github.com/enterprise-cloud@latest/admin/managing-iam/iam-configuration-reference/username-considerations-for-external-authentication
var loginPattern = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:_[A-Za-z0-9]{1,8})?$`)

func buildAgent(v *values, p *problems) Agent {
	var a Agent
	if dir := v.textOf(EnvAgentDir); dir != "" {
		var err error
		if a.Dir, err = filepath.Abs(dir); err != nil {
			p.add(EnvAgentDir, "cannot be made absolute: %v", err)
		}
	}
	for _, id := range ids(v, p, EnvApproversSlack, slackPeople+slackGroups, "a person (U0123456789) or a user group (S0123456789); names change, ids do not") {
		if strings.HasPrefix(id, slackGroups) {
			a.Approvers.SlackGroups = append(a.Approvers.SlackGroups, id)
		} else {
			a.Approvers.Slack = append(a.Approvers.Slack, id)
		}
	}
	names, _ := v.list(EnvApproversGitHub)
	for _, name := range names {
		name = strings.TrimPrefix(name, "@")
		switch {
		case loginPattern.MatchString(name):
			a.Approvers.GitHub = append(a.Approvers.GitHub, name)
		case teamPattern.MatchString(name):
			a.Approvers.GitHubTeams = append(a.Approvers.GitHubTeams, name)
		default:
			p.add(EnvApproversGitHub, "%q is neither a login of GitHub's nor organisation/team", name)
		}
	}
	return a
}
