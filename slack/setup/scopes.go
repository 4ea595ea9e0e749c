package setup

import "slices"

// Scope is something that the app's bot token may do.
// https://docs.slack.dev/reference/scopes
type Scope struct {
	// Name is Slack's word, such as "chat:write".
	Name string
	// Feature is what it is for, and Lost what happens where it is not granted.
	Feature, Lost string
	// Essential is set where nothing works without it.
	Essential bool
	// Methods of the Web API need it. Where several scopes name the same method,
	// each is for one kind of conversation.
	Methods []string
}

// Scopes lists what the app asks for, sorted by name.
func Scopes() []Scope {
	// Each kind of conversation has scopes of its own.
	reading := []string{"conversations.history", "conversations.replies"}
	learning := []string{"conversations.info"}
	return []Scope{
		{Name: "app_mentions:read", Essential: true,
			Feature: "Hears when somebody mentions it.",
			Lost:    "Mentions are not heard."},
		{Name: "assistant:write", Methods: []string{"assistant.threads.setStatus", "assistant.threads.setSuggestedPrompts", "assistant.threads.setTitle"},
			Feature: "Is an agent: shows what it does below a thread, names the thread, offers something to ask.",
			Lost:    "Nobody sees that it works until the answer is there; threads have no title."},
		{Name: "channels:history", Methods: reading,
			Feature: "Reads what was said before in a thread of a public channel, and hears replies there.",
			Lost:    "In public channels it hears mentions only and knows nothing of the thread."},
		{Name: "channels:read", Methods: learning,
			Feature: "Learns the name of a public channel, and that it is shared with others or archived.",
			Lost:    "Questions in public channels cannot be judged and wait."},
		{Name: "chat:write", Essential: true,
			Methods: []string{"agents.sessions.setStatus", "chat.appendStream", "chat.delete", "chat.postEphemeral", "chat.postMessage", "chat.startStream", "chat.stopStream", "chat.update"},
			Feature: "Writes answers, where it was invited, and corrects its own.",
			Lost:    "Nothing is answered."},
		{Name: "commands",
			Feature: "Has the command /liaison and the message shortcut.",
			Lost:    "There is no /liaison and no shortcut."},
		{Name: "files:read",
			Feature: "Reads the files that are shared with a question.",
			Lost:    "Questions are answered without their files."},
		{Name: "files:write", Methods: []string{"files.completeUploadExternal", "files.getUploadURLExternal"},
			Feature: "Adds what is too long for messages as a file.",
			Lost:    "Very long answers end with a note."},
		{Name: "groups:history", Methods: reading,
			Feature: "As channels:history, for private channels that it was invited to.",
			Lost:    "In private channels it hears mentions only and knows nothing of the thread."},
		{Name: "groups:read", Methods: learning,
			Feature: "As channels:read, for private channels.",
			Lost:    "Questions in private channels cannot be judged and wait."},
		{Name: "im:history", Methods: reading,
			Feature: "Hears direct messages, and reads what was said before.",
			Lost:    "Direct messages are not heard."},
		{Name: "im:read", Methods: learning,
			Feature: "Learns who a direct message is with.",
			Lost:    "Direct messages cannot be judged and wait."},
		{Name: "im:write", Methods: []string{"conversations.open"},
			Feature: "Writes to somebody directly, where an answer for one person has no other place.",
			Lost:    "Answers that have no place in a channel any more are dropped."},
		{Name: "mpim:history", Methods: reading,
			Feature: "As im:history, for direct messages of several people.",
			Lost:    "In direct messages of several people it hears mentions only and knows nothing of the thread."},
		{Name: "mpim:read", Methods: learning,
			Feature: "As im:read, for direct messages of several people.",
			Lost:    "Questions in direct messages of several people cannot be judged and wait."},
		{Name: "reactions:write", Methods: []string{"reactions.add", "reactions.remove"},
			Feature: "Marks a message as seen, and then how it went.",
			Lost:    "There are no reactions."},
		{Name: "usergroups:read", Methods: []string{"usergroups.list", "usergroups.users.list"},
			Feature: "Learns who is in the user groups that may decide about an action.",
			Lost:    "User groups decide about nothing; people who are named one by one still do."},
		{Name: "users:read", Essential: true, Methods: []string{"bots.info", "users.info"},
			Feature: "Learns names, and who is a guest, a stranger, an app or an administrator.",
			Lost:    "Nobody can be judged, and every question waits."},
	}
}

// ScopeNames lists the names of [Scopes], as an installation asks for them.
func ScopeNames() []string {
	var names []string
	for _, s := range Scopes() {
		names = append(names, s.Name)
	}
	return names
}

// Missing returns the scopes that are not among those that were granted.
func Missing(granted []string) []Scope {
	return slices.DeleteFunc(Scopes(), func(s Scope) bool { return slices.Contains(granted, s.Name) })
}
