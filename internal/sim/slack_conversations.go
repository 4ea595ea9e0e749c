package sim

import (
	"slices"
	"strings"
)

// historyMost is the largest page of messages.
// https://docs.slack.dev/reference/methods/conversations.history
const historyMost = 1000

// channelJSON is a conversation as the team of a call sees it.
func (s *Slack) channelJSON(c *slackChannel, team string) object {
	o := object{
		"id": c.ID, "created": s.opts.Now().Unix(), "is_archived": c.Archived, "context_team_id": team, "updated": s.opts.Now().UnixMilli(),
		"is_im": c.Kind == DirectChannel, "is_mpim": c.Kind == GroupDirect, "is_channel": c.Kind == PublicChannel,
		"is_group": c.Kind == PrivateChannel, "is_private": c.Kind != PublicChannel, "is_org_shared": false,
		"is_ext_shared": len(c.SharedWith) > 0, "is_shared": len(c.SharedWith) > 0, "is_pending_ext_shared": false,
	}
	bot := s.mustTeam(team).BotUser
	if c.Kind == DirectChannel {
		i := slices.IndexFunc(c.Members, func(u string) bool { return u != bot })
		if i >= 0 {
			o["user"] = c.Members[i]
		}
		return o
	}
	o["name"], o["name_normalized"], o["is_member"], o["is_general"] = c.Name, strings.ToLower(c.Name), c.has(bot), false
	o["is_read_only"] = c.ReadOnly
	o["topic"], o["purpose"] = object{"value": c.Topic, "creator": "", "last_set": 0}, object{"value": c.Purpose, "creator": "", "last_set": 0}
	if len(c.SharedWith) > 0 {
		o["shared_team_ids"] = append([]string{c.Team}, c.SharedWith...)
		o["connected_team_ids"], o["internal_team_ids"] = c.SharedWith, []string{c.Team}
		o["conversation_host_id"] = c.Team
	}
	return o
}

func (q *slackRequest) conversationInfo() object {
	c, refusal := q.seen("read")
	if refusal != nil {
		return refusal
	}
	o := q.s.channelJSON(c, q.team.ID)
	if q.flag("include_num_members") {
		o["num_members"] = len(c.Members)
	}
	return slackDone(object{"channel": o})
}

func (q *slackRequest) members() object {
	c, refusal := q.seen("read")
	if refusal != nil {
		return refusal
	}
	page, next, refusal := slackPage(q, c.Members, 100, historyMost)
	if refusal != nil {
		return refusal
	}
	return slackDone(object{"members": page, "response_metadata": object{"next_cursor": next}})
}

// bounds returns whether a time stamp lies in what a call asks for.
func (q *slackRequest) bounds() func(ts string) bool {
	oldest, latest, inclusive := q.args["oldest"], q.args["latest"], q.flag("inclusive")
	return func(ts string) bool {
		above := oldest == "" || lessTS(oldest, ts) || inclusive && microsOf(oldest) == microsOf(ts)
		below := latest == "" || lessTS(ts, latest) || inclusive && microsOf(latest) == microsOf(ts)
		return above && below
	}
}

// seen finds a channel of which the token may do something: "read" or "history".
// Each kind of conversation has scopes of its own.
func (q *slackRequest) seen(what string) (*slackChannel, object) {
	c, refusal := q.channel(q.args["channel"], false)
	if refusal != nil {
		return nil, refusal
	}
	prefix := map[ChannelKind]string{PublicChannel: "channels", PrivateChannel: "groups", DirectChannel: "im", GroupDirect: "mpim"}[c.Kind]
	return c, q.needs(prefix + ":" + what)
}

// readable finds a channel whose messages the bot may read.
func (q *slackRequest) readable() (*slackChannel, object) {
	c, refusal := q.seen("history")
	switch {
	case refusal != nil:
		return nil, refusal
	case !c.has(q.team.BotUser):
		return nil, slackFailed("not_in_channel")
	}
	return c, nil
}

// messagePage answers with a page of messages.
func (q *slackRequest) messagePage(c *slackChannel, all []*slackMessage) object {
	standard, most := 100, historyMost
	if q.s.opts.HistoryLimit > 0 {
		standard, most = q.s.opts.HistoryLimit, q.s.opts.HistoryLimit
	}
	page, next, refusal := slackPage(q, all, standard, most)
	if refusal != nil {
		return refusal
	}
	metadata := q.flag("include_all_metadata")
	o := object{
		"messages": rows(page, func(m *slackMessage) object { return q.s.messageJSON(c, m, metadata) }),
		"has_more": next != "",
	}
	if next != "" {
		o["response_metadata"] = object{"next_cursor": next}
	}
	return slackDone(o)
}

func (q *slackRequest) history() object {
	c, refusal := q.readable()
	if refusal != nil {
		return refusal
	}
	within := q.bounds()
	var all []*slackMessage
	for _, m := range slices.Backward(c.messages) {
		if m.seenBy == "" && (m.thread == "" || m.thread == m.ts || m.broadcast) && within(m.ts) {
			all = append(all, m)
		}
	}
	o := q.messagePage(c, all)
	o["pin_count"] = 0
	return o
}

// threadReplies answers with a thread, the root first whatever the bounds are.
// Asked for the ts of a reply, Slack answers with that reply alone.
func (q *slackRequest) threadReplies() object {
	c, refusal := q.readable()
	if refusal != nil {
		return refusal
	}
	root := c.find(q.args["ts"])
	if root == nil {
		return slackFailed("thread_not_found")
	}
	if root.thread != "" && root.thread != root.ts {
		return q.messagePage(c, []*slackMessage{root})
	}
	within := q.bounds()
	all := []*slackMessage{root}
	for _, m := range c.replies(root.ts) {
		if within(m.ts) {
			all = append(all, m)
		}
	}
	return q.messagePage(c, all)
}

func (q *slackRequest) openConversation() object {
	if id := q.args["channel"]; id != "" {
		c, refusal := q.channel(id, false)
		if refusal != nil {
			return refusal
		}
		return slackDone(object{"channel": object{"id": c.ID}})
	}
	users := strings.Split(q.args["users"], ",")
	if q.args["users"] == "" {
		return slackFailed("users_list_not_supplied")
	}
	for _, id := range users {
		switch u := q.s.users[id]; {
		case u == nil:
			return slackFailed("user_not_found")
		case u.Deleted:
			return slackFailed("user_disabled")
		}
	}
	if len(users) == 1 {
		if users[0] == q.team.BotUser {
			return slackFailed("cannot_dm_bot")
		}
		return slackDone(object{"channel": object{"id": q.s.direct(q.team.ID, users[0]).ID}})
	}
	members := append(slices.Clone(users), q.team.BotUser)
	slices.Sort(members)
	for _, id := range sortedKeys(q.s.channels) {
		c := q.s.channels[id]
		if c.Kind == GroupDirect && slices.Equal(slices.Sorted(slices.Values(c.Members)), members) {
			return slackDone(object{"channel": object{"id": id}})
		}
	}
	c := &slackChannel{SlackChannel: SlackChannel{ID: q.s.newID("G"), Team: q.team.ID, Kind: GroupDirect, Members: members}}
	q.s.channels[c.ID] = c
	return slackDone(object{"channel": object{"id": c.ID}})
}

func (q *slackRequest) join() object {
	c, refusal := q.channel(q.args["channel"], false)
	switch {
	case refusal != nil:
		return refusal
	case c.Archived:
		return slackFailed("is_archived")
	case c.Kind != PublicChannel:
		return slackFailed("method_not_supported_for_channel_type")
	}
	o := slackDone(object{"channel": q.s.channelJSON(c, q.team.ID)})
	if c.has(q.team.BotUser) {
		o["warning"] = "already_in_channel"
		o["response_metadata"] = object{"warnings": []string{"already_in_channel"}}
		return o
	}
	c.Members = append(c.Members, q.team.BotUser)
	return slackDone(object{"channel": q.s.channelJSON(c, q.team.ID)})
}

func (q *slackRequest) userConversations() object {
	user := q.args["user"]
	if user == "" {
		user = q.team.BotUser
	}
	kinds := strings.Split(q.args["types"], ",")
	var all []*slackChannel
	for _, id := range sortedKeys(q.s.channels) {
		c := q.s.channels[id]
		if !c.in(q.team.ID) || !c.has(user) || c.Kind != PublicChannel && !c.has(q.team.BotUser) || c.Archived && q.flag("exclude_archived") {
			continue
		}
		if slices.Contains(kinds, c.listed()) || q.args["types"] == "" && c.Kind == PublicChannel {
			all = append(all, c)
		}
	}
	page, next, refusal := slackPage(q, all, 100, 999)
	if refusal != nil {
		return refusal
	}
	return slackDone(object{
		"channels":          rows(page, func(c *slackChannel) object { return q.s.channelJSON(c, q.team.ID) }),
		"response_metadata": object{"next_cursor": next},
	})
}

// listed is the kind of a conversation as the types argument names it.
func (c *slackChannel) listed() string {
	switch c.Kind {
	case PublicChannel:
		return "public_channel"
	case PrivateChannel:
		return "private_channel"
	}
	return string(c.Kind)
}
