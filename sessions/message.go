package sessions

import (
	"encoding/json"
	"errors"

	"github.com/liaison-bot/liaison/state"
)

// Message is what somebody sends into a session directly, not by a webhook.
type Message struct {
	// Channel is the surface by which it comes, such as "http".
	Channel string
	// SessionID names the session to continue; empty starts one.
	SessionID string
	// Token is the session's continuation key as the sender knows it. It must be
	// the present one for a follow-up, and is ignored for a start.
	Token string
	// Principal is who sends. Only a session's owner may continue it, or an operator.
	Principal string
	Operator  bool
	// Text is what is asked.
	Text string
	// Title, Mode and DryRun describe a session that is started.
	Title  string
	Mode   state.Mode
	DryRun bool
	// Admission is [AdmitPreempt] when zero.
	Admission Admission
	// Request is given back to the channel with the turn.
	Request json.RawMessage
}

// Sent is an accepted message. It is durable.
type Sent struct {
	SessionID string
	TurnID    string
	// Token continues the session; it replaces the one that was sent.
	Token string
	// Position is how many turns come first; 0 starts at once.
	Position int
}

// StopRequest asks for the end of what a session does.
type StopRequest struct {
	SessionID string
	// Principal is who asks: a session's owner or the one who asked for its turn
	// may stop it, or an operator.
	Principal string
	Operator  bool
	// Reason is one line for the record; "stopped by <principal>" when empty.
	Reason string
}

// Stopped says what a stop ended.
type Stopped struct {
	// Interrupted is the turn that was running; empty when none was.
	Interrupted string
	// Dropped are the turns that waited.
	Dropped []string
	// Cancelled are the approvals about which nobody can decide any more.
	Cancelled []string
}

// The refusals of a message or a stop, besides [state.ErrNotFound] for a session
// that does not exist and [state.ErrUnavailable] when nothing can be taken now.
var (
	// ErrStaleToken means that the session was continued since: its token is another one.
	ErrStaleToken = errors.New("the continuation token is not the session's present one")
	// ErrTask means that the session is a task, which takes no follow-up.
	ErrTask = errors.New("the session is a task and takes no follow-up")
	// ErrNotAllowed means that the session is somebody else's.
	ErrNotAllowed = errors.New("the session belongs to somebody else")
)
