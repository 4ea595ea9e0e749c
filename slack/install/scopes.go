package install

// Scopes are what the app's bot asks for
// (https://docs.slack.dev/reference/scopes). The manifests ask for the same.
func Scopes() []string {
	return []string{
		"app_mentions:read", // messages that mention the bot
		"assistant:write",   // status, titles and prompts of threads, and streams
		"channels:history",  // what a thread in a public channel said before
		"channels:read",     // names and kinds of channels
		"chat:write",        // answers
		"commands",          // /liaison and shortcuts
		"files:read",        // files that are attached to a question
		"files:write",       // what is too long for a message
		"groups:history",    // as for channels, where the bot was invited
		"groups:read",
		"im:history", // direct messages
		"im:read",
		"im:write", // to write to somebody first
		"mpim:history",
		"mpim:read",
		"reactions:write", // that a message was seen, and what came of it
		"users:read",      // names, and who is a guest
	}
}
