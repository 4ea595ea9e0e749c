package sim

import (
	"slices"
	"strings"
)

func (q *slackRequest) authTest() object {
	o := object{
		"url": "https://" + q.team.Domain + ".slack.com/", "team": q.team.Name, "user": q.s.opts.BotName,
		"team_id": q.team.ID, "user_id": q.team.BotUser, "bot_id": q.team.BotID, "is_enterprise_install": q.token.enterprise != "",
		"app_id": q.s.opts.AppID,
	}
	if q.team.Enterprise != "" {
		o["enterprise_id"] = q.team.Enterprise
	}
	return slackDone(o)
}

func (q *slackRequest) usersInfo() object {
	u := q.s.users[q.args["user"]]
	if u == nil || !q.s.knows(q.team, u) {
		return slackFailed("user_not_found")
	}
	return slackDone(object{"user": q.s.userJSON(u, q.team.ID, slices.Contains(q.token.scopes, "users:read.email"))})
}

// knows reports whether a team sees a user: its own, or one of a team that it
// shares a channel with. Callers hold the lock.
func (s *Slack) knows(t *workspace, u *slackUser) bool {
	if u.Team == t.ID {
		return true
	}
	if other := s.workspaces[u.Team]; other != nil && t.Enterprise != "" && other.Enterprise == t.Enterprise {
		return true
	}
	for _, c := range s.channels {
		if c.in(t.ID) && c.has(u.ID) {
			return true
		}
	}
	return false
}

// userJSON is a user as a team sees it: people of others are strangers there.
func (s *Slack) userJSON(u *slackUser, team string, email bool) object {
	profile := object{
		"real_name": u.RealName, "real_name_normalized": u.RealName, "display_name": u.Name, "display_name_normalized": u.Name,
		"team": u.Team, "avatar_hash": digest(u.ID)[:12],
	}
	if email && u.Email != "" {
		profile["email"] = u.Email
	}
	o := object{
		"id": u.ID, "team_id": u.Team, "name": u.Name, "real_name": u.RealName, "deleted": u.Deleted, "profile": profile,
		"is_bot": u.Bot, "is_app_user": false, "updated": s.opts.Now().Unix(), "tz": "Europe/Berlin", "tz_label": "Central European Time", "tz_offset": 3600,
	}
	if u.Bot {
		profile["bot_id"], profile["api_app_id"] = u.BotID, u.AppID
	}
	if u.Deleted { // Slack leaves the roles of a deleted account out
		return o
	}
	o["is_admin"], o["is_owner"], o["is_primary_owner"] = u.Admin, u.Owner, false
	o["is_restricted"], o["is_ultra_restricted"] = u.Guest || u.SingleChannelGuest, u.SingleChannelGuest
	o["is_email_confirmed"] = !u.Unconfirmed && !u.Bot
	if u.Locale != "" {
		o["locale"] = u.Locale
	}
	w := s.workspaces[u.Team]
	if w != nil && w.Enterprise != "" {
		o["enterprise_user"] = object{
			"id": u.ID, "enterprise_id": w.Enterprise, "enterprise_name": w.Enterprise, "is_admin": false, "is_owner": false, "teams": []string{u.Team},
		}
	}
	if u.Team != team {
		o["is_stranger"] = w == nil || w.Enterprise == "" || w.Enterprise != s.workspaces[team].Enterprise
	}
	return o
}

func (q *slackRequest) botsInfo() object {
	id := q.args["bot"]
	if id == "" {
		id = q.team.BotID
	}
	for _, name := range sortedKeys(q.s.users) {
		if u := q.s.users[name]; u.Bot && u.BotID == id {
			return slackDone(object{"bot": object{
				"id": u.BotID, "deleted": u.Deleted, "name": u.Name, "updated": q.s.opts.Now().Unix(), "app_id": u.AppID, "user_id": u.ID,
			}})
		}
	}
	return slackFailed("bot_not_found")
}

func (q *slackRequest) teamInfo() object {
	t := q.team
	if id := q.args["team"]; id != "" && id != t.ID {
		other := q.s.workspaces[id]
		if other == nil || !q.s.sharesChannel(t.ID, id) {
			return slackFailed("team_not_found")
		}
		t = other
	}
	o := object{"id": t.ID, "name": t.Name, "domain": t.Domain, "email_domain": "", "icon": object{"image_default": true}}
	if t.Enterprise != "" {
		o["enterprise_id"], o["enterprise_name"] = t.Enterprise, strings.ToLower(t.Enterprise)
	}
	return slackDone(object{"team": o})
}

func (s *Slack) sharesChannel(a, b string) bool {
	for _, c := range s.channels {
		if c.in(a) && c.in(b) {
			return true
		}
	}
	return false
}
