package sessions

import (
	"time"

	"github.com/liaison-bot/liaison/state"
)

// The vocabulary of a session's record. Readers skip types that they do not know.
const (
	// EventSessionStarted opens a session's record, or opens it again.
	EventSessionStarted = "session.started"
	// EventExperimentAssigned records the arm of an experiment that a session is in.
	EventExperimentAssigned = "ab.assigned"
	// EventSessionWaiting says that a chat is ready for a follow-up.
	EventSessionWaiting = "session.waiting"
	// EventSessionCompleted and EventSessionFailed end a session's record: a task
	// that is over, or a session that was archived.
	EventSessionCompleted = "session.completed"
	EventSessionFailed    = "session.failed"
	// EventAgentBound gives the address of an agent's conversation elsewhere.
	EventAgentBound = "agent.bound"
	// EventMessageReceived records what was asked.
	EventMessageReceived = "message.received"
	// EventMessageAmended says that a message which nobody has answered yet was
	// changed, or taken back.
	EventMessageAmended = "message.amended"
	// EventFeedbackReceived records that somebody judged an answer.
	EventFeedbackReceived = "feedback.received"
	// EventTurnQueued gives a turn's position; it comes again when a turn has to wait once more.
	EventTurnQueued  = "turn.queued"
	EventTurnStarted = "turn.started"
	// EventTurnCompleted has the result and the usage.
	EventTurnCompleted = "turn.completed"
	// EventTurnFailed also records interruptions, with the error "turn interrupted".
	EventTurnFailed = "turn.failed"
	// EventStepStarted and EventStepCompleted are the bounds of one step: of the
	// host, which prepares the evidence before the model runs, or of the model.
	EventStepStarted   = "step.started"
	EventStepCompleted = "step.completed"
	// EventReasoningAppended and EventReasoningCompleted are the agent's reasoning.
	EventReasoningAppended  = "reasoning.appended"
	EventReasoningCompleted = "reasoning.completed"
	// EventMessageAppended and EventMessageCompleted are the agent's answer, in
	// pieces and then whole.
	EventMessageAppended  = "message.appended"
	EventMessageCompleted = "message.completed"
	// EventActionsRequested and EventActionResult pair by callId.
	EventActionsRequested = "actions.requested"
	EventActionResult     = "action.result"
	// EventApprovalRequested and EventApprovalResolved are a parked action and its decision.
	EventApprovalRequested = "action.approval_requested"
	EventApprovalResolved  = "action.approval_resolved"
	// EventSubagentCalled and EventSubagentCompleted are delegated work.
	EventSubagentCalled    = "subagent.called"
	EventSubagentCompleted = "subagent.completed"
	// EventArtifactTagged records a durable artifact.
	EventArtifactTagged = "artifact.tagged"
)

// interruptedText is the error of a turn that was stopped or overtaken.
const interruptedText = "turn interrupted"

// The data of each event. Texts are redacted and bounded.
type (
	sessionStarted struct {
		Channel string `json:"channel"`
		// Key is left out where it is a credential.
		Key       string     `json:"continuationKey,omitempty"`
		Title     string     `json:"title,omitempty"`
		Mode      state.Mode `json:"mode"`
		Principal string     `json:"principal,omitempty"`
		// Reopened is set when an archived session is heard of again.
		Reopened bool `json:"reopened,omitempty"`
		// DryRun is set when tools that write are only acknowledged.
		DryRun bool `json:"dryRun,omitempty"`
	}
	sessionEnded struct {
		Reason   string `json:"reason,omitempty"`
		Archived bool   `json:"archived,omitempty"`
	}
	messageReceived struct {
		Text       string `json:"text"`
		Principal  string `json:"principal,omitempty"`
		Channel    string `json:"channel"`
		DeliveryID string `json:"deliveryId,omitempty"`
		// Reason is why a delivery asks for something.
		Reason string `json:"reason,omitempty"`
		// Gathered is set when it is answered with a turn that was queued before.
		Gathered bool `json:"gathered,omitempty"`
	}
	messageAmended struct {
		// Text is the new text; it is empty where the message was taken back.
		Text       string `json:"text,omitempty"`
		Withdrawn  bool   `json:"withdrawn,omitempty"`
		Principal  string `json:"principal,omitempty"`
		DeliveryID string `json:"deliveryId,omitempty"`
	}
	turnQueued struct {
		// Position is how many turns come first; 0 starts at once.
		Position int `json:"position"`
		// Reason says why a turn stands in line again.
		Reason    string     `json:"reason,omitempty"`
		NotBefore *time.Time `json:"notBefore,omitempty"`
		// WaitsFor is what people are told that it waits for.
		WaitsFor string `json:"waitsFor,omitempty"`
	}
	turnStarted struct {
		Attempt int `json:"attempt"`
	}
	agentBound struct {
		AgentID string `json:"agentId"`
		URL     string `json:"url"`
	}
	stepStarted struct {
		// Step is "evidence" or "model".
		Step string `json:"step"`
	}
	stepCompleted struct {
		Step string `json:"step"`
		// Note says what was done, and what was left out.
		Note       string `json:"note,omitempty"`
		DurationMS int64  `json:"durationMs"`
	}
	turnCompleted struct {
		Result string      `json:"result"`
		Usage  state.Usage `json:"usage"`
		// ToolCalls, Usage and CostUSD are those of all attempts.
		ToolCalls int `json:"toolCalls"`
		// CostUSD is an estimate; it is left out where no price is known.
		CostUSD    float64 `json:"costUsd,omitempty"`
		Model      string  `json:"model,omitempty"`
		RunID      string  `json:"runId,omitempty"`
		DurationMS int64   `json:"durationMs"`
	}
	turnFailed struct {
		Error string `json:"error"`
		// Code is the bridge's own, where it gave one.
		Code        string      `json:"code,omitempty"`
		RunID       string      `json:"runId,omitempty"`
		Reason      string      `json:"reason,omitempty"`
		Interrupted bool        `json:"interrupted,omitempty"`
		Superseded  bool        `json:"superseded,omitempty"`
		Usage       state.Usage `json:"usage"`
		ToolCalls   int         `json:"toolCalls"`
		CostUSD     float64     `json:"costUsd,omitempty"`
	}
	textAppended struct {
		Text string `json:"text"`
	}
	textCompleted struct {
		Text       string `json:"text"`
		DurationMS int64  `json:"durationMs,omitempty"`
	}
	subagentReported struct {
		Status string `json:"status,omitempty"`
		Text   string `json:"text,omitempty"`
	}
)

func startedData(s state.Session, reopened bool) sessionStarted {
	d := sessionStarted{
		Channel: s.Channel, Key: s.Key, Title: s.Title, Mode: s.Mode,
		Principal: s.Principal, Reopened: reopened, DryRun: s.DryRun,
	}
	if s.Channel == ChannelHTTP {
		d.Key = ""
	}
	return d
}
