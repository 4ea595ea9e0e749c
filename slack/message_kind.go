package slack

// speaks reports whether messages of a subtype are somebody saying something.
// "bot_message" is how some apps say it.
func speaks(subtype string) bool {
	switch subtype {
	case "", "file_share", "thread_broadcast", "me_message", "bot_message":
		return true
	}
	return false
}

// silentKind says why messages of a subtype are none to us. The kinds that are
// known are told from those that Slack made since
// (https://docs.slack.dev/reference/events/message#subtypes).
func silentKind(subtype string) string {
	switch subtype {
	case "assistant_app_thread", "tombstone", "message_replied", "reply_broadcast",
		"channel_archive", "channel_convert_to_private", "channel_convert_to_public", "channel_join", "channel_leave",
		"channel_name", "channel_posting_permissions", "channel_purpose", "channel_topic", "channel_unarchive",
		"channel_canvas_updated", "tabbed_canvas_updated",
		"group_archive", "group_join", "group_leave", "group_name", "group_purpose", "group_topic", "group_unarchive",
		"app_conversation_join", "app_conversation_leave", "bot_add", "bot_enable", "bot_disable", "bot_remove",
		"document_comment_root", "document_mention", "ekm_access_denied", "file_comment", "file_mention",
		"huddle_thread", "joiner_notification", "joiner_notification_for_inviter", "pinned_item", "unpinned_item",
		"reminder_add", "reminder_delete", "sh_room_created", "sh_room_shared", "slackbot_response":
		return "messages of this kind say nothing to us"
	}
	return "an unknown kind of message"
}
