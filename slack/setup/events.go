package setup

// Event is something that Slack tells the app of.
// https://docs.slack.dev/reference/events
type Event struct {
	// Name is that of the subscription, such as "message.channels".
	Name string
	// Feature is what it is for.
	Feature string
}

// Events lists the events that the app subscribes to.
func Events() []Event {
	return []Event{
		{"app_mention", "Somebody mentions it."},
		{"message.channels", "Replies in its threads, watched channels, edits and deletions: in public channels,"},
		{"message.groups", "in private ones,"},
		{"message.im", "in direct messages,"},
		{"message.mpim", "and in those of several people."},
		{"app_home_opened", "Somebody looks at its home tab, or opens the messages with it."},
		{"agent_session_stopped", "Somebody presses Slack's own button to stop."},
		{"app_uninstalled", "Its sessions in the workspace end."},
		{"tokens_revoked", "The same."},
		{"member_left_channel", "It was removed from a channel: its sessions there end."},
		{"channel_left", "The same."},
		{"group_left", "The same."},
		{"channel_archive", "Sessions in the channel end."},
		{"group_archive", "The same."},
		{"channel_deleted", "The same."},
		{"group_deleted", "The same."},
		{"channel_id_changed", "Sessions under the old id end."},
	}
}
