package slack

import "time"

// Settings say when the agent is woken and how it answers: the part "slack:" of
// the operator's file, and "people:".
type Settings struct {
	// MentionInThreads asks for a mention also in a thread that the agent is part of.
	MentionInThreads bool
	// DirectIsOne makes all top-level direct messages of one person one session;
	// otherwise each begins its own.
	DirectIsOne bool
	Reply       Reply
	Watch       []Watch
	// AllowGuests and AllowExternal let guests of the workspace, and people of other
	// organisations in shared channels, start and steer turns.
	AllowGuests   bool
	AllowExternal bool
	// Channels and Users, by id, are all that may; empty means everybody. Bots are
	// the ids of apps that are answered like people; no other bot is.
	Channels []string
	Users    []string
	Bots     []string
	// Reactions acknowledge a message by a reaction of ours.
	Reactions bool
	// People maps a Slack user's id to a GitHub login.
	People map[string]string
}

// Reply is how an answer appears.
type Reply string

// The ways to answer: one message at the end, a native stream, or a message that
// is edited while the answer grows.
const (
	ReplyMessage Reply = "message"
	ReplyStream  Reply = "stream"
	ReplyEdit    Reply = "edit"
)

// Watch is a channel in which messages wake the agent without a mention.
type Watch struct {
	Channel string
	// All takes replies in threads too; otherwise only what begins one.
	All bool
	// Debounce is how long nobody may have said more before the turn begins.
	Debounce time.Duration
}
