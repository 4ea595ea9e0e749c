package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// request is what a turn carries from the event to the work.
type request struct {
	address
	// Trigger says what asked.
	Trigger trigger `json:"trigger"`
	// ChannelType is "channel", "group", "im" or "mpim", where the event said so.
	ChannelType string `json:"channelType,omitempty"`
	// TS is the message that asks; empty where none does, as with a command. It is
	// a name, not a number.
	TS string `json:"ts,omitempty"`
	// User asks, and UserTeam is where that account is at home: another workspace
	// than Team for guests of a shared channel. App is the app that wrote, if one did.
	User     string `json:"user"`
	UserTeam string `json:"userTeam,omitempty"`
	App      string `json:"app,omitempty"`
	// Shared is set where other organisations are in the channel.
	Shared bool `json:"shared,omitempty"`
	// Text is what was written, as Slack has it, without the mention that it began
	// with. [event.Plain] makes it readable.
	Text  string `json:"text,omitempty"`
	Files []file `json:"files,omitempty"`
	// Forwards is set where something is attached, such as a message of somebody
	// else. Those are not the words of who asks.
	Forwards bool `json:"forwards,omitempty"`
	// Verb is that of a command, and Argument what stands behind it, a stranger's text.
	Verb     verb   `json:"verb,omitempty"`
	Argument string `json:"argument,omitempty"`
	// ResponseURL answers a click or a command, for 30 minutes and five times. It is
	// a credential.
	ResponseURL string `json:"responseUrl,omitempty"`
	// TriggerID opens one view within 3 s.
	TriggerID string `json:"triggerId,omitempty"`
	// Value is what the button that was clicked carries, or what a view has as its
	// private metadata, and Inputs what was written into a view's fields.
	Value  string            `json:"value,omitempty"`
	Inputs map[string]string `json:"inputs,omitempty"`
	// MessageTS is the message on which was clicked or that a shortcut is about.
	MessageTS string `json:"messageTs,omitempty"`
	// At is when the app was taken away, where it was.
	At time.Time `json:"at,omitzero"`
}

// trigger is what a request came from.
type trigger string

// The triggers.
const (
	byMention    trigger = "mention"
	byDirect     trigger = "direct message"
	byReply      trigger = "reply"   // in a thread, without a mention
	byWatch      trigger = "watched" // in a watched channel, without a mention
	byCommand    trigger = "command"
	byShortcut   trigger = "shortcut"
	byClick      trigger = "click"
	bySubmit     trigger = "submission"
	byHome       trigger = "home"
	byAssistant  trigger = "assistant thread"
	byStopEvent  trigger = "stop event"
	byWithdrawal trigger = "withdrawn"   // deleted, or edited so that it asks no more
	byUninstall  trigger = "uninstalled" // or its tokens were revoked
	byOutcome    trigger = "outcome"     // of a call that somebody decided about
	byAnswer     trigger = "answer"      // to a question of the agent's
)

// verb is what a command asks for.
type verb string

// The verbs, of "/liaison" and of whole messages to us.
const (
	verbAsk    verb = "ask"
	verbStatus verb = "status"
	verbStop   verb = "stop"
	verbHelp   verb = "help"
	verbReview verb = "review"
	// Those about approvals. A message never decides: they come by clicks and commands.
	verbApprovals verb = "approvals"
	verbApprove   verb = "approve"
	verbDeny      verb = "deny"
	verbShow      verb = "show"
)

// The ids of actions and views that are ours, in what we post. What begins with
// another word is not.
const (
	actionStop     = "liaison.stop"
	actionFeedback = "liaison.feedback"
	actionAsk      = "liaison.ask"
	actionOpen     = "liaison.open" // a link; Slack tells of the click all the same
	viewAsk        = "liaison.ask"
	shortcutAsk    = "liaison.ask"
	actionPrefix   = "liaison."
)

// The ids of the inputs of [viewAsk].
const (
	inputQuestion = "liaison.question"
	inputChannel  = "liaison.channel" // where it is asked, if the metadata does not say it
)

// viewPlace is what [viewAsk] carries as its private metadata: where the question
// belongs, and the message that it is about.
type viewPlace struct {
	address
	MessageTS string `json:"messageTs,omitempty"`
}

// file is something that was shared with a message.
type file struct {
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	MIME     string `json:"mime,omitempty"`
	Size     int64  `json:"size,omitempty"`
	URL      string `json:"url,omitempty"` // needs a token, which goes to Slack's hosts only
	External bool   `json:"external,omitempty"`
}

func parseRequest(raw json.RawMessage) (request, error) {
	var r request
	if err := json.Unmarshal(raw, &r); err != nil {
		// The cause is hidden: in an answer of Slack's it would be worth another try.
		return r, errors.New("read the turn's request: " + err.Error())
	}
	if r.Team == "" && r.Enterprise == "" {
		return r, fmt.Errorf("the turn's request names no workspace")
	}
	return r, nil
}

func (r request) encode() json.RawMessage { return encode(r) }

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, numbers and times always encode
	}
	return raw
}
