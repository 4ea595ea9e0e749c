package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
)

// Channel is a surface that talks to people. One implementation exists per
// platform; the engine calls it and never the other way round.
type Channel interface {
	// Name is the channel's word, such as "github"; deliveries with this source are its own.
	Name() string

	// Map reads one delivery and says what it asks for. It is pure: the same
	// delivery gives the same intent, and nothing outside is asked. A delivery
	// that means nothing is an intent with ActionIgnore and a reason. An error
	// means that the delivery cannot be understood; it becomes a dead letter.
	Map(d Delivery) (Intent, error)

	// Prepare writes the evidence of a turn below dir, which exists and may hold
	// what an earlier attempt left, and returns what the agent is told. It may
	// fail with [*SupersededError], [*UnneededError] or [*RetryError]; any other
	// error fails the turn, with its text shown to people.
	Prepare(ctx context.Context, t Turn, dir string) (Brief, error)

	// Effects says what the world shall be told at a moment of a turn. It is pure.
	Effects(t Turn, r Report) ([]Effect, error)

	// Deliver performs one owed effect. When item.Attempts is above one, the
	// effect may have happened already; Deliver looks for its mark before it
	// repeats. It may fail with [*RetryError]; any other error gives the item up.
	Deliver(ctx context.Context, item Item) (Receipt, error)
}

// Delivery is one verified inbound webhook as a channel sees it.
type Delivery struct {
	Source     string
	ID         string
	Event      string
	Headers    map[string]string
	Body       []byte
	ReceivedAt time.Time
}

// Action is what an intent asks the engine to do.
type Action int

// The actions of an intent.
const (
	// ActionIgnore does nothing; Reason is recorded with the delivery.
	ActionIgnore Action = iota + 1
	// ActionRun queues a turn in the session that Key names, which is created if need be.
	ActionRun
	// ActionArchive interrupts the session's turn, drops what is queued and
	// archives it. A session that does not exist is left so.
	ActionArchive
	// ActionStop interrupts the running turn and drops what is queued, if the
	// principal may; see [StopAuthorizer]. A session that does not exist is left so.
	ActionStop
	// ActionWake lets turns go on at once that wait for what the channel named in
	// [RetryError.WaitsFor], of the intent's revision if it has one. A session that
	// does not exist is left so.
	ActionWake
	// ActionAmend gives the message named by MessageID another text, or withdraws it
	// where Message is empty, if its turn has not begun. Afterwards it changes nothing.
	ActionAmend
	// ActionNote adds Note to the session's record and does nothing else. A session
	// that does not exist is left so.
	ActionNote
	// ActionDecide casts Ballot about a call that waits for a person; Key is not
	// looked at. Whoever cast it is told by [DecisionWitness].
	ActionDecide
)

// Admission says what a new message does to a turn that is under way.
type Admission int

// The admissions.
const (
	// AdmitPreempt interrupts the running turn and runs next. A message with a new
	// revision drops the turns about older ones; what else is queued stays.
	AdmitPreempt Admission = iota + 1
	// AdmitCoalesce leaves the running turn alone. What comes meanwhile is
	// gathered into one turn.
	AdmitCoalesce
)

// Intent is what one delivery asks for.
type Intent struct {
	Action Action
	// Reason is one line for a person: why it is ignored, or what started it.
	Reason string
	// Key is the continuation key; Aliases are names that also find the session.
	Key     string
	Aliases []string
	// KeyPrefixes, with ActionArchive, name many sessions at once: every one of the
	// channel whose key begins with one of them is archived, and Key, which some
	// sessions may have, only tells the order among deliveries.
	KeyPrefixes []string
	// Fact is the delivery's meaning; a second delivery with the same fact changes
	// nothing, and is not weighed if it comes after the decision about the first.
	Fact string
	// Title names the session. NameOnce keeps the title that it has already.
	Title     string
	NameOnce  bool
	Principal string
	Mode      state.Mode
	Admission Admission
	// Revision is the state of the subject that the delivery speaks of. An
	// intent with an older one than the session's, or with the same one under
	// ActionRun, changes nothing.
	Revision state.Revision
	// Force runs even when the session's revision is this one already, as after a
	// re-run. An older one changes nothing all the same.
	Force bool
	// Message is what is asked, in plain text.
	Message string
	// Request is given back to the channel with the turn.
	Request json.RawMessage
	// Weigh asks for [Weigher.Weigh] before anything is decided.
	Weigh bool
	// Urgent is weighed and decided ahead of all that waits, in no order with it:
	// somebody looks at a screen. It is not for ActionRun in a session that may exist.
	Urgent bool
	// Existing, with ActionRun, asks for a turn only in a session that is there.
	Existing bool
	// MessageID names the message in its session, for ActionAmend.
	MessageID string
	// TurnID, with ActionStop, is the turn that whoever asks saw at work: once that
	// has ended, nothing is stopped. Empty stops whatever there is.
	TurnID string
	// Quiet, with ActionRun, is how long nobody may have said more before the turn
	// begins; each message that is gathered into it begins the time anew, for at
	// most [MaxQuiet] in all.
	Quiet time.Duration
	// Note is what ActionNote records.
	Note Note
	// Ballot is what ActionDecide casts.
	Ballot *approvals.Ballot
	// Effects are owed with the decision, whatever it is, once for each fact.
	// Their names are unique within the delivery.
	Effects []Effect
	// Budgets are counted when the message is taken up. Where one is used up it
	// is not, and OverBudget is owed, once for each budget's key.
	Budgets    []Budget
	OverBudget []Effect
}

// Budget bounds how many messages are taken up under one name.
type Budget struct {
	// Key names what is counted and the time that it is counted for, such as
	// "github:2026-11-30:actor:42".
	Key string
	// Limit is the most that are taken up; zero takes up none.
	Limit int
	// Expires is when the count can be forgotten.
	Expires time.Time
	// What says to a person what it bounds, such as "reviews a day in one repository".
	What string
}

// Weigher is implemented by channels that have to ask their platform before
// they can say what a delivery is worth: who may, what a repository's
// configuration says, which pull request a commit belongs to.
type Weigher interface {
	// Weigh is asked about an intent with Weigh set, and returns the one that is
	// decided about, which may be any other: ignored with a reason, under another
	// key, with effects. Intents of one key are weighed and decided in the order in
	// which they came, except that [ActionStop] waits for nobody. It may take 30 s.
	// After a [*RetryError] the delivery is weighed again later, for some hours
	// where the tries count, and others of its key may overtake it meanwhile; any
	// other error makes it a dead letter. What can be weighed in no way is refused: nothing may
	// be taken up because something could not be read.
	Weigh(ctx context.Context, in Intent) (Intent, error)
}

// Turn is a turn as a channel sees it.
type Turn struct {
	ID        string
	SessionID string
	// Key is empty where it is a credential, as with [ChannelHTTP].
	Key string
	// QueuedAt is when its message was taken up.
	QueuedAt time.Time
	// Attempt counts from 1; above one the turn was started before.
	Attempt  int
	Message  string
	Request  json.RawMessage
	Revision state.Revision
	// Principal is who asked, with Message.
	Principal string
	// Gathered are messages that came after it, to be answered with it, in order.
	Gathered []state.Gathered
	// Mode is the session's.
	Mode state.Mode
	// SessionChannel is the surface that the session is on. It is another one than
	// the turn's where somebody talks into it directly.
	SessionChannel string
	// DryRun is set when nothing shall be written to the world by a tool.
	DryRun bool
	// Outputs is what tools laid down in this turn, by their names.
	Outputs map[string]json.RawMessage
	// Surface is what the channel asked to remember of the session.
	Surface map[string]string
}

// Messages returns everything that was asked, in order.
func (t Turn) Messages() []string {
	all := []string{t.Message}
	for _, g := range t.Gathered {
		all = append(all, g.Message)
	}
	return all
}

// Brief is what the agent is told.
type Brief struct {
	// Prompt is the user message of the run. Text of strangers in it is fenced.
	Prompt string
	// Images are shown to the model with the prompt, where it sees any: at most
	// [MaxImages]. What they show is a stranger's too.
	Images []Image
	// Note is one line for the record: what was prepared, and what was left out.
	Note string
}

// Moment is a point of a turn at which the world may be told something.
type Moment int

// The moments of a turn. One of completed, failed, interrupted and dropped ends it.
const (
	// MomentStarted comes before the evidence is prepared. It may come again
	// after a crash; effects of one turn and name are owed once all the same.
	MomentStarted Moment = iota + 1
	// MomentWaiting means that the turn stands in line again until Report.Until,
	// because of Report.WaitsFor; MomentResumed that it goes on after such a wait.
	// Both may come several times, each in another attempt.
	MomentWaiting
	MomentResumed
	MomentCompleted
	MomentFailed
	// MomentInterrupted means stopped or overtaken; Report.Reason says which.
	MomentInterrupted
	// MomentAccepted comes before all others, with the decision that takes a
	// message up: for a turn's own, and again for each that is gathered into it.
	// Report.Request says which. The names of its effects must tell them apart.
	MomentAccepted
	// MomentDropped is [MomentInterrupted] for a turn that never began: the world
	// has heard of it no more than MomentAccepted told.
	MomentDropped
)

// Report is what happened to a turn.
type Report struct {
	Moment Moment
	// Text is the agent's final text, for MomentCompleted.
	Text string
	// Reason says why, for MomentWaiting, MomentFailed, MomentInterrupted and MomentDropped.
	Reason string
	// WaitsFor and Until are what is waited for, in a few words, and about when
	// the turn goes on, for MomentWaiting.
	WaitsFor string
	Until    time.Time
	// Request is that of the message that was taken up, and Behind is set when it
	// has to wait for another one, for MomentAccepted.
	Request json.RawMessage
	Behind  bool
	// Superseded is set when a newer revision took the turn's place, and a turn
	// about that answers those who asked for this one; Stopped is set when a
	// person stopped it, and Empty when there was nothing to do; see [UnneededError].
	Superseded bool
	Stopped    bool
	Empty      bool
	// Withdrawn is set, with MomentDropped, when everything that was asked was taken back.
	Withdrawn bool
	// Model is the model that answered, where known.
	Model string
	// Duration is how long the agent ran.
	Duration time.Duration
}

// Effect is one write that a channel wants done.
type Effect struct {
	// Name is unique within the turn; the outbox item's id is made of both.
	Name    string
	Kind    string
	Payload json.RawMessage
	// Channel is the one that delivers it; empty means the channel that made it.
	Channel string
}

// Item is an owed effect on its way out.
type Item struct {
	ID        string
	SessionID string
	TurnID    string
	Key       string
	Kind      string
	Payload   json.RawMessage
	// Attempts counts this one.
	Attempts int
	// Surface is what the channel asked to remember of the session.
	Surface map[string]string
	// Approval is the record as it is now, and Card the one of its cards that is to be
	// drawn, for [KindApprovalCard]; otherwise nil.
	Approval *approvals.View
	Card     *approvals.Card
}

// Receipt says how an effect ended.
type Receipt struct {
	// Card is what became of the card that was drawn, for [KindApprovalCard]: its Ref,
	// the version it shows, and whether it is gone for good.
	Card *approvals.Card
	// Note is one line for a person: what was written, or why it was left out.
	Note string
	// Remember is merged into the session's surface; an empty value removes its key.
	Remember map[string]string
}

// SupersededError says that the subject has moved on: the turn ends as
// interrupted, and another is queued for Revision.
type SupersededError struct {
	Revision state.Revision
	// Request replaces the turn's request in the new turn.
	Request json.RawMessage
}

// Error implements error.
func (e *SupersededError) Error() string {
	return "superseded by " + e.Revision.ID
}

// UnneededError says that there is nothing left to do, for example because the
// pull request was closed: the turn ends as interrupted.
type UnneededError struct {
	Reason string
	// Empty is set when the subject was looked at and holds nothing to do, which is
	// a result; otherwise it is not wanted any more.
	Empty bool
}

// Error implements error.
func (e *UnneededError) Error() string { return e.Reason }

// RetryError says that trying again later can help.
type RetryError struct {
	// After is the least time to wait. Zero leaves it to the caller's backoff.
	After time.Duration
	// Paused is set when the surface refuses us altogether (a suspended
	// installation): the wait does not count as an attempt, and the session shows it.
	Paused bool
	// Uncounted is set when the failure says nothing about this turn or effect:
	// the surface is out of reach, or limits everybody. The wait does not count
	// as an attempt, so that no outage uses them up. Paused implies it.
	Uncounted bool
	// WaitsFor is what people are told that a turn waits for, in a few words of
	// ours, such as "the model's rate limit". When empty, nobody is told.
	WaitsFor string
	Err      error
}

// Error implements error.
func (e *RetryError) Error() string {
	if e.After > 0 {
		return fmt.Sprintf("%v (again in %s)", e.Err, e.After)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *RetryError) Unwrap() error { return e.Err }
