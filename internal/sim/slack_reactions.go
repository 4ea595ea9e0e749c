package sim

import (
	"regexp"
	"slices"
)

// emojiName is the form of a reaction's name, which has no colons around it.
var emojiName = regexp.MustCompile(`^[a-z0-9_+'-]+(::skin-tone-[2-6])?$`)

// reactionsMost is how many kinds of reactions a message takes, and a person
// gives to one message. https://docs.slack.dev/reference/methods/reactions.add
const reactionsMost = 50

// reacted finds the message that a reaction is about.
func (q *slackRequest) reacted() (*slackChannel, *slackMessage, object) {
	c, refusal := q.channel(q.args["channel"], false)
	if refusal != nil {
		return nil, nil, refusal
	}
	switch m := c.find(q.args["timestamp"]); {
	case !isTS(q.args["timestamp"]):
		return nil, nil, slackFailed("bad_timestamp")
	case m == nil:
		return nil, nil, slackFailed("message_not_found")
	default:
		return c, m, nil
	}
}

func (q *slackRequest) addReaction() object {
	c, m, refusal := q.reacted()
	switch {
	case refusal != nil:
		return refusal
	case c.Archived:
		return slackFailed("is_archived")
	case !c.has(q.team.BotUser):
		return slackFailed("not_in_channel")
	case !emojiName.MatchString(q.args["name"]):
		return slackFailed("invalid_name")
	}
	return q.s.react(c, m, q.team.BotUser, q.args["name"])
}

// react adds a reaction and tells the app of it. Callers hold the lock.
func (s *Slack) react(c *slackChannel, m *slackMessage, user, name string) object {
	i := slices.IndexFunc(m.reactions, func(r slackReaction) bool { return r.name == name })
	switch {
	case i >= 0 && slices.Contains(m.reactions[i].users, user):
		return slackFailed("already_reacted")
	case i < 0 && len(m.reactions) == reactionsMost:
		return slackFailed("too_many_emoji")
	case i < 0:
		m.reactions = append(m.reactions, slackReaction{name: name, users: []string{user}})
	default:
		m.reactions[i].users = append(m.reactions[i].users, user)
	}
	s.announceReaction(c, m, "reaction_added", user, name)
	return slackDone(nil)
}

func (q *slackRequest) removeReaction() object {
	c, m, refusal := q.reacted()
	if refusal != nil {
		return refusal
	}
	i := slices.IndexFunc(m.reactions, func(r slackReaction) bool { return r.name == q.args["name"] })
	if i < 0 || !slices.Contains(m.reactions[i].users, q.team.BotUser) {
		return slackFailed("no_reaction")
	}
	r := &m.reactions[i]
	r.users = slices.DeleteFunc(r.users, func(u string) bool { return u == q.team.BotUser })
	name := r.name
	if len(r.users) == 0 {
		m.reactions = slices.Delete(m.reactions, i, i+1)
	}
	q.s.announceReaction(c, m, "reaction_removed", q.team.BotUser, name)
	return slackDone(nil)
}

func (q *slackRequest) getReactions() object {
	c, m, refusal := q.reacted()
	if refusal != nil {
		return refusal
	}
	return slackDone(object{"type": "message", "channel": c.ID, "message": q.s.messageJSON(c, m, false)})
}
