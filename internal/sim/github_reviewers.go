package sim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// RequestedReviewers returns the people and the teams whose review of a pull
// request was asked for.
func (g *GitHub) RequestedReviewers(repo string, number int) (people, teams []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.mustPull(repo, number)
	for _, u := range p.reviewers {
		people = append(people, u.login)
	}
	return people, slices.Clone(p.reviewTeams)
}

// requestReviewers asks for reviews of collaborators; the author is none.
// https://docs.github.com/rest/pulls/review-requests
func (g *GitHub) requestReviewers(c *call) reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	o, rep, good := c.decode()
	if !good {
		return rep
	}
	strangers := func() reply {
		return failed(http.StatusUnprocessableEntity, fmt.Sprintf("Reviews may only be requested from collaborators. "+
			"One or more of the users or teams you specified is not a collaborator of the %s repository.", c.repo.fullName))
	}
	reviewers, teams := slices.Clone(p.reviewers), slices.Clone(p.reviewTeams)
	for _, v := range listOf(o["reviewers"]) {
		login, _ := v.(string)
		u := g.users[strings.ToLower(login)]
		switch {
		case u != nil && u == p.author:
			return failed(http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
		case u == nil || u.gone || c.repo.permissions[strings.ToLower(login)] == "" || c.repo.permissions[strings.ToLower(login)] == "none":
			return strangers()
		}
		if !slices.Contains(reviewers, u) {
			reviewers = append(reviewers, u)
		}
	}
	for _, v := range listOf(o["team_reviewers"]) {
		slug, _ := v.(string)
		if g.teams[teamKey(c.repo.owner.login, slug)] == nil {
			return strangers()
		}
		if !slices.Contains(teams, slug) {
			teams = append(teams, slug)
		}
	}
	p.reviewers, p.reviewTeams, p.updated = reviewers, teams, g.now()
	return created(g.pullJSON(p, true))
}

func (g *GitHub) listRequestedReviewers(c *call) reply {
	p := c.pull()
	if p == nil {
		return notFound()
	}
	return ok(object{"users": g.reviewersJSON(p), "teams": g.reviewTeamsJSON(p)})
}

func (g *GitHub) reviewersJSON(p *pull) []any {
	list := []any{}
	for _, u := range p.reviewers {
		list = append(list, g.userJSON(u))
	}
	return list
}

func (g *GitHub) reviewTeamsJSON(p *pull) []any {
	list := []any{}
	for _, slug := range p.reviewTeams {
		id := int64(len(slug)) + 800_000_000
		path := "/organizations/1/team/" + escape(slug)
		list = append(list, object{
			"id": id, "node_id": nodeID("Team", id), "url": g.api(path), "members_url": g.api(path + "/members{/member}"),
			"name": slug, "description": nil, "permission": "pull", "privacy": "closed", "notification_setting": "notifications_enabled",
			"html_url": g.web("/orgs/" + p.repo.owner.login + "/teams/" + slug), "repositories_url": g.api(path + "/repos"),
			"slug": slug, "parent": nil, "type": "organization",
		})
	}
	return list
}

// listOf is a JSON list, and nothing where there is none.
func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}
