package event

import "encoding/json"

// Message is what somebody wrote.
type Message struct {
	Channel string
	// ChannelType is "channel", "group", "im" or "mpim"; it is empty in app_mention.
	ChannelType string
	Subtype     string
	// TS names the message, and Thread the root of its thread, which may be itself; it
	// is empty outside a thread.
	TS     string
	Thread string
	// User wrote it, and UserTeam is where that account is at home. Bot (B…) and App
	// (A…) are set where an app wrote it.
	User     string
	UserTeam string
	Bot      string
	App      string
	// FromApp is set where an app wrote it, whether or not Slack says which.
	FromApp bool
	// Text is in Slack's notation: "&", "<" and ">" escaped, mentions and links in
	// angle brackets. Where the message has none it is that of its blocks, and of an
	// app's message what is attached.
	Text string
	// Attached is what is attached to it, in Slack's notation: with a person's message
	// that is what others wrote.
	Attached string
	// Edited is the time of the last edit.
	Edited string
	Files  []File
}

// File is something that was shared with a message.
type File struct {
	ID   string
	Name string
	MIME string
	// Size is in bytes; zero where Slack did not say it.
	Size int64
	// URL is where it is downloaded, with a token.
	URL string
	// External is set where the file is not at Slack.
	External bool
}

// maxFiles bounds the files of one message; people share at most ten at once.
const maxFiles = 20

// maxFileName bounds a file's name and its media type, in bytes.
const maxFileName = 255

// readMessage reads a message.
// Fields: https://docs.slack.dev/reference/events/message
func readMessage(o object) Message {
	profile := o.object("bot_profile")
	m := Message{
		Channel:     o.id("channel"),
		ChannelType: o.word("channel_type"),
		Subtype:     o.word("subtype"),
		TS:          o.time("ts"),
		Thread:      o.time("thread_ts"),
		User:        o.id("user"),
		UserTeam:    first(o.id("user_team"), o.id("source_team"), o.id("team")),
		Bot:         first(o.id("bot_id"), profile.id("id")),
		App:         first(o.id("app_id"), profile.id("app_id")),
		Text:        readOwnText(o),
		Attached:    readAttached(o),
		Edited:      o.object("edited").time("ts"),
		Files:       readFiles(o),
	}
	m.FromApp = m.Bot != "" || m.App != "" || profile != nil || m.Subtype == "bot_message"
	if m.FromApp {
		m.Text = first(m.Text, m.Attached) // alerts have all they say there
	}
	return m
}

// Content is what a message holds, whichever way it came to us.
type Content struct {
	// Text and Attached are in Slack's notation: what was written, and what is
	// attached to it.
	Text, Attached string
	Files          []File
}

// ReadContent reads what a message holds from its fields.
func ReadContent(message map[string]json.RawMessage) Content {
	o := object(message)
	return Content{Text: readOwnText(o), Attached: readAttached(o), Files: readFiles(o)}
}

// readFiles reads the files that are still there: lists have holes, and what was
// deleted or is not for us leaves a stone.
func readFiles(o object) []File {
	var files []File
	for _, f := range o.objects("files", maxFiles) {
		switch f.text("mode") {
		case "tombstone", "hidden_by_limit":
			continue
		}
		id := f.id("id")
		if id == "" {
			continue
		}
		files = append(files, File{
			ID: id, Name: clip(f.text("name"), maxFileName), MIME: clip(f.text("mimetype"), maxFileName), Size: max(f.number("size"), 0),
			URL: first(f.text("url_private_download"), f.text("url_private")), External: f.flag("is_external"),
		})
	}
	return files
}
