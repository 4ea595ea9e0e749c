package sessions

import "encoding/json"

// Note is something that people said about a session, without asking for
// anything: what they thought of an answer.
type Note struct {
	// Event is the type of the event that records it, such as [EventFeedbackReceived].
	Event string
	// TurnID is the turn that it is about; empty where it is about none.
	TurnID string
	Data   json.RawMessage
}

// EventFeedbackReceived records that somebody judged an answer. Its data is a [Feedback].
const EventFeedbackReceived = "feedback.received"

// Feedback is what somebody thought of a turn's answer.
type Feedback struct {
	Principal string `json:"principal"`
	// Verdict is "good" or "bad".
	Verdict string `json:"verdict"`
}
