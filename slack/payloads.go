package slack

import "time"

// The kinds of what we owe Slack; see the payloads below.
const (
	kindPost      = "post"
	kindEphemeral = "ephemeral"
	kindReaction  = "reaction"
	kindStatus    = "status"
	kindRest      = "rest"
	kindHome      = "home"
	kindPrompts   = "prompts"
	kindTitle     = "title"
	kindReview    = "review"
	kindNote      = "approval.note"
)

// postPayload is a message in a thread, or several where it is long.
type postPayload struct {
	To address `json:"to"`
	// Key is unique in the session. Together with the session's id it marks the
	// message, so that it is found again before it is repeated.
	Key string `json:"key"`
	// Mention is the id of a person who is told first.
	Mention string `json:"mention,omitempty"`
	// Call are further people who are told.
	Call []string `json:"call,omitempty"`
	// Markdown is a text that may be a model's or a stranger's.
	Markdown string `json:"markdown"`
	// User asked; they are told by a direct message where To is gone. Since is the ts
	// of what they asked, before which no message of ours is looked for.
	User  string `json:"user,omitempty"`
	Since string `json:"since,omitempty"`
	// Turn is set on the answer of a turn, which takes the place of what was shown
	// of it meanwhile. Failed says that it is the reason why there is none.
	Turn   string `json:"turn,omitempty"`
	Failed bool   `json:"failed,omitempty"`
	// Feedback asks what people think of it.
	Feedback bool          `json:"feedback,omitempty"`
	Model    string        `json:"model,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
	// Link leads to more, such as a pull request, under the name LinkText.
	Link     string `json:"link,omitempty"`
	LinkText string `json:"linkText,omitempty"`
}

// ephemeralPayload is a message that one person sees, once, if at all.
type ephemeralPayload struct {
	To   address `json:"to"`
	User string  `json:"user"`
	// Markdown may hold a stranger's text.
	Markdown string `json:"markdown"`
	// Approvals shows, in the place of a text, what waits for a decision of theirs.
	// UserTeam is where their account is at home then.
	Approvals bool   `json:"approvals,omitempty"`
	UserTeam  string `json:"userTeam,omitempty"`
	// Names are ids of people in the text in whose place their names are shown.
	Names []string `json:"names,omitempty"`
	// ResponseURL answers where we may not be in the channel; it is tried first.
	ResponseURL string `json:"responseUrl,omitempty"`
}

// reactionPayload puts a reaction of ours on a message and takes another away.
type reactionPayload struct {
	To     address `json:"to"`
	TS     string  `json:"ts"`
	Add    string  `json:"add,omitempty"`
	Remove string  `json:"remove,omitempty"`
}

// statusPayload says what the agent does, below a thread; an empty text clears it.
type statusPayload struct {
	To   address `json:"to"`
	Text string  `json:"text"`
	// Turn is whose status it is.
	Turn string `json:"turn,omitempty"`
}

// restPayload says that a call of a turn waits for no person any more.
type restPayload struct {
	To       address `json:"to"`
	Turn     string  `json:"turn"`
	Approval string  `json:"approval"`
	// User asked for the turn.
	User string `json:"user"`
}

// notePayload is a message about an approval that calls people.
type notePayload struct {
	To  cardAddress `json:"to"`
	Key string      `json:"key"`
	// Users are called, and some of the members of Groups.
	Users  []string `json:"users,omitempty"`
	Groups []string `json:"groups,omitempty"`
	// Names are ids of people in the text in whose place their names are shown.
	Names []string `json:"names,omitempty"`
	// Markdown may hold a stranger's text. Since is the ts before which no message of
	// ours is looked for.
	Markdown string `json:"markdown"`
	Since    string `json:"since"`
}

// homePayload shows somebody their sessions.
type homePayload struct {
	To   address `json:"to"` // the workspace
	User string  `json:"user"`
}

// promptsPayload offers something to ask in an empty assistant thread.
type promptsPayload struct {
	To address `json:"to"`
}

// titlePayload names an assistant thread.
type titlePayload struct {
	To    address `json:"to"`
	Title string  `json:"title"`
}

// reviewPayload hands the review of a pull request over to GitHub's side, on
// behalf of somebody there.
type reviewPayload struct {
	// From is where the outcome is told.
	From address `json:"from"`
	// URL is the pull request as it was written, Login who asks, at GitHub.
	URL   string `json:"url"`
	Login string `json:"login"`
	User  string `json:"user"`
}
