package sim

import "slices"

// postArgs are the arguments of the methods that write messages.
const postArgs = " | text blocks attachments markdown_text thread_ts reply_broadcast metadata mrkdwn parse link_names" +
	" unfurl_links unfurl_media username icon_url icon_emoji as_user"

// methodTable lists the methods. Scopes are those of bot tokens.
// https://docs.slack.dev/reference/methods
func (s *Slack) methodTable() map[string]slackMethod {
	assistant := []string{"chat:write", "assistant:write"} // the second is the older one
	table := map[string]slackMethod{
		"api.test":   {args: "| error foo", handle: func(*slackRequest) object { return slackDone(nil) }},
		"auth.test":  {token: "bot", handle: (*slackRequest).authTest},
		"users.info": {token: "bot", scopes: []string{"users:read"}, args: "user | include_locale", handle: (*slackRequest).usersInfo},
		"bots.info":  {token: "bot", scopes: []string{"users:read"}, args: "| bot", handle: (*slackRequest).botsInfo},
		"team.info":  {token: "bot", scopes: []string{"team:read"}, args: "| team domain", handle: (*slackRequest).teamInfo},

		"chat.postMessage":   {token: "bot", scopes: []string{"chat:write"}, args: "channel" + postArgs, handle: (*slackRequest).postMessage},
		"chat.postEphemeral": {token: "bot", scopes: []string{"chat:write"}, args: "channel user" + postArgs, handle: (*slackRequest).postEphemeral},
		"chat.update":        {token: "bot", scopes: []string{"chat:write"}, args: "channel ts" + postArgs + " file_ids", handle: (*slackRequest).updateMessage},
		"chat.delete":        {token: "bot", scopes: []string{"chat:write"}, args: "channel ts | as_user", handle: (*slackRequest).deleteMessage},
		"chat.getPermalink":  {token: "bot", args: "channel message_ts", handle: (*slackRequest).permalink},

		"reactions.add":    {token: "bot", scopes: []string{"reactions:write"}, args: "channel timestamp name", handle: (*slackRequest).addReaction},
		"reactions.remove": {token: "bot", scopes: []string{"reactions:write"}, args: "channel timestamp name", handle: (*slackRequest).removeReaction},
		"reactions.get":    {token: "bot", scopes: []string{"reactions:read"}, args: "channel timestamp | full", handle: (*slackRequest).getReactions},

		"assistant.threads.setStatus": {
			token: "bot", scopes: assistant,
			args: "channel_id | thread_ts status loading_messages username icon_url icon_emoji", handle: (*slackRequest).setStatus,
		},
		"assistant.threads.setTitle": {
			token: "bot", scopes: assistant, args: "channel_id title | thread_ts", handle: (*slackRequest).setTitle,
		},
		"assistant.threads.setSuggestedPrompts": {
			token: "bot", scopes: assistant, args: "channel_id prompts | thread_ts title", handle: (*slackRequest).setPrompts,
		},
		"agents.sessions.setStatus": {
			token: "bot", scopes: assistant,
			args:   "status channel_id | thread_ts title initiator_user_id icon_emoji icon_url username",
			handle: (*slackRequest).setSessionStatus,
		},
		"agents.sessions.rename": {
			token: "bot", scopes: assistant, args: "title channel_id | thread_ts", handle: (*slackRequest).renameSession,
		},
	}
	for _, more := range []map[string]slackMethod{
		s.conversationMethods(), s.streamMethods(), s.fileMethods(), s.viewMethods(), s.oauthMethods(), s.appMethods(), s.userGroupMethods(),
	} {
		for name, m := range more {
			table[name] = m
		}
	}
	return table
}

// conversationMethods read conversations. A bot needs one scope for each kind of
// conversation, which the methods check.
func (s *Slack) conversationMethods() map[string]slackMethod {
	read := []string{"channels:read", "groups:read", "im:read", "mpim:read"}
	history := []string{"channels:history", "groups:history", "im:history", "mpim:history"}
	return map[string]slackMethod{
		"conversations.info": {
			token: "bot", scopes: read, args: "channel | include_locale include_num_members", handle: (*slackRequest).conversationInfo,
		},
		"conversations.members": {token: "bot", scopes: read, args: "channel | cursor limit", handle: (*slackRequest).members},
		"conversations.history": {
			token: "bot", scopes: history, args: "channel | cursor limit oldest latest inclusive include_all_metadata",
			handle: (*slackRequest).history,
		},
		"conversations.replies": {
			token: "bot", scopes: history, args: "channel ts | cursor limit oldest latest inclusive include_all_metadata",
			handle: (*slackRequest).threadReplies,
		},
		"conversations.open": {
			token: "bot", scopes: []string{"im:write", "mpim:write"}, args: "| users channel return_im prevent_creation",
			handle: (*slackRequest).openConversation,
		},
		"conversations.join": {token: "bot", scopes: []string{"channels:join"}, args: "channel", handle: (*slackRequest).join},
		"users.conversations": {
			token: "bot", scopes: read, args: "| user cursor limit types exclude_archived", handle: (*slackRequest).userConversations,
		},
	}
}

// allScopes are those that any method asks for, sorted.
func (s *Slack) allScopes() []string {
	all := []string{"app_mentions:read", "commands"}
	for _, m := range s.methods {
		all = append(all, m.scopes...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
