package sim

import "strings"

// SetTeamMember makes somebody a member of a team such as "octo/security", with
// the state "active" or "pending"; an empty state takes them out.
func (g *GitHub) SetTeamMember(team, login, state string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	org, slug := splitName(team)
	key := teamKey(org, slug)
	if g.teams[key] == nil {
		g.teams[key] = map[string]string{}
	}
	g.account(login)
	g.teams[key][strings.ToLower(login)] = state
	g.notify()
}

func teamKey(org, slug string) string { return strings.ToLower(org + "/" + slug) }

// getTeamMembership answers for the organisation that the token's installation is on.
// https://docs.github.com/rest/teams/members#get-team-membership-for-a-user
func (g *GitHub) getTeamMembership(c *call) reply {
	org, slug, login := c.vars["org"], c.vars["team"], strings.ToLower(c.vars["user"])
	if !strings.EqualFold(c.inst.account.login, org) {
		return notFound()
	}
	state := g.teams[teamKey(org, slug)][login]
	if state == "" {
		return notFound()
	}
	return ok(object{
		"url": g.api("/organizations/1/team/" + escape(slug) + "/memberships/" + escape(login)), "role": "member", "state": state,
	})
}
