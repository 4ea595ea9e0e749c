package sim

import "slices"

// SlackUserGroup is a group of people that can be mentioned.
type SlackUserGroup struct {
	// ID such as "S0DEPLOY" and Team are required. Handle, which follows the "@",
	// defaults to the id.
	ID, Team, Handle string
	// Users are the ids of who is in it.
	Users []string
}

// userGroupMethods tell of groups of people.
// https://docs.slack.dev/reference/methods/usergroups.users.list
func (s *Slack) userGroupMethods() map[string]slackMethod {
	read := []string{"usergroups:read"}
	return map[string]slackMethod{
		"usergroups.list": {
			token: "bot", scopes: read, args: "| include_count include_disabled include_users team_id", handle: (*slackRequest).listUserGroups,
		},
		"usergroups.users.list": {
			token: "bot", scopes: read, args: "usergroup | include_disabled team_id", handle: (*slackRequest).userGroupMembers,
		},
	}
}

// AddUserGroup adds a group, or puts another in the place of the one with its id.
func (s *Slack) AddUserGroup(g SlackUserGroup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g.ID == "" {
		panic("sim: a user group needs an id")
	}
	s.mustTeam(g.Team)
	if g.Handle == "" {
		g.Handle = g.ID
	}
	g.Users = slices.Clone(g.Users)
	s.groups[g.ID] = g
	s.notify()
}

func (q *slackRequest) listUserGroups() object {
	all := []object{}
	for _, id := range sortedKeys(q.s.groups) {
		if g := q.s.groups[id]; g.Team == q.team.ID {
			all = append(all, object{"id": g.ID, "team_id": g.Team, "is_usergroup": true, "name": g.Handle, "handle": g.Handle, "date_delete": 0})
		}
	}
	return slackDone(object{"usergroups": all})
}

func (q *slackRequest) userGroupMembers() object {
	g, found := q.s.groups[q.args["usergroup"]]
	if !found || g.Team != q.team.ID {
		return slackFailed("no_such_subteam")
	}
	return slackDone(object{"users": append([]string{}, g.Users...)})
}
