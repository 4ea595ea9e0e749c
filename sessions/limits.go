package sessions

import "time"

// Defaults of [Options].
const (
	// DefaultMaxRunningTurns is how many turns run at once over all sessions. It
	// equals the bridge client's own default bound.
	DefaultMaxRunningTurns = 4
	// DefaultTurnTimeout is how long one turn may take, evidence included.
	DefaultTurnTimeout = 30 * time.Minute
)

// Bounds of the dispatcher.
const (
	// maxDispatching is how many deliveries are decided at once. Their decisions
	// share synced transactions, so that more of them cost little.
	maxDispatching = 64
	// deliveryPage is how many bodies are in memory at once until they are mapped;
	// GitHub's reach 25 MB each.
	deliveryPage = 16
	// maxAside is how many deliveries are in hand besides, because they are weighed
	// or wait for one that is.
	maxAside = 128
	// maxWeighing is how many are weighed at once.
	maxWeighing = 16
	// weighTimeout is how long a channel may take to say what a delivery is worth.
	weighTimeout = 30 * time.Second
	// maxWeighings is how often a delivery is weighed at most while the tries count;
	// with the backoff below that is four to eight hours: a platform that answers
	// with errors for an hour must cost nobody a review.
	maxWeighings   = 40
	weighRetryBase = 5 * time.Second
	weighRetryMax  = 15 * time.Minute
	// maxDeadly is how often a delivery may take the process with it while it is
	// alone in hand, before it becomes a dead letter. A process that is killed by
	// somebody else while one is weighed, which takes seconds, counts against it too.
	maxDeadly = 5
	// maxConflicts is how often one decision is taken anew because a row changed
	// meanwhile. Sessions have one writer each, so one retry is already rare.
	maxConflicts = 10
)

// Bounds of what gives way to intake.
const (
	// paceShare is how much longer than they worked those who can wait rest
	// while deliveries are being received: they get a tenth of the time.
	paceShare = 9
	// paceMax is the longest rest, and paceLook how soon the end of a burst is noticed.
	paceMax  = 2 * time.Second
	paceLook = 5 * time.Millisecond
	// paceTurns is the time between two starts of turns, and between two claims of
	// effects, meanwhile.
	paceTurns = 50 * time.Millisecond
)

// Bounds of what is kept in memory and written to records.
const (
	// maxResting is how many sessions that have nothing to do now are remembered,
	// so that the next step of one needs no look at the store.
	maxResting = 128
	// recordAge is after which time at most a record is synced, when its session
	// does not settle before.
	recordAge = time.Minute
	// recordBatch is how many records are synced and confirmed together, and
	// recordSyncs how many at once.
	recordBatch = 64
	recordSyncs = 8
)

// Bounds of a turn.
const (
	// maxLost is how many times a turn may take the process with it before it is
	// given up as the likely cause: it runs again once.
	maxLost = 2
	// maxTurnRetries is how often a turn waits and starts anew when its channel
	// asks for it; with the backoff below that is two to three hours.
	maxTurnRetries = 12
	// turnRetryBase and turnRetryMax bound the backoff between those starts.
	turnRetryBase = 30 * time.Second
	turnRetryMax  = 30 * time.Minute
	// maxTurnWait is the longest wait that a provider of models may ask for. Some
	// windows last five hours; a review that comes a day late helps nobody.
	maxTurnWait = 6 * time.Hour
	// maxTurnJitter is by how much a wait that a provider asked for is made
	// longer at most, so that all who wait do not come back at once.
	maxTurnJitter = 30 * time.Second
)

// Bounds of the outbox.
const (
	// maxDelivering is how many effects are under way at once, one per session. Most
	// of a burst stand in the line of one installation, which lets in some thirty:
	// there has to be room for the others beside them. GitHub takes up to 100
	// requests at once.
	maxDelivering = 64
	// maxEffectFailures is how often an effect may fail before it becomes a dead
	// letter; with the backoff below that is four to seven hours, longer than a
	// turn is tried, so that its failure is still told.
	maxEffectFailures = 24
	// maxCardFailures is the same for cards of approvals, and about a week: people take
	// days to decide, often where the surface that is down is not needed, and a card
	// that is given up keeps buttons that do nothing.
	maxCardFailures = 400
	effectRetryBase = 2 * time.Second
	effectRetryMax  = 30 * time.Minute
	// maxEffectWait is longer than anything that an effect is put off by. The longest
	// is what GitHub asks for, which is two hours.
	maxEffectWait = 3 * time.Hour
	// deliverTimeout bounds one attempt at an effect.
	deliverTimeout = 2 * time.Minute
	// pausedRetry is the wait before a surface that refuses us altogether is
	// asked again. Nothing is lost by the wait: the surface tells us when it is back.
	pausedRetry = 15 * time.Minute
)

// Bounds of a stop. All of it fits into the 25 s in which the process must be gone.
const (
	// stopTurns is how long running turns may take to notice that we stop.
	stopTurns = 12 * time.Second
	// stopCalls is how long a call that people agreed to may still run.
	stopCalls = 8 * time.Second
	// stopEffects is how long an effect under way may go on before it is cut.
	stopEffects = 5 * time.Second
	// stopHard ends everything, counted from the wish to stop.
	stopHard = 18 * time.Second
)

// Backoff of a store that cannot take anything now.
const (
	storeRetryBase = 100 * time.Millisecond
	storeRetryMax  = 5 * time.Second
)

// Bounds of what is recorded of a run.
const (
	// appendEvery and appendBytes decide when gathered text becomes an event: a
	// reader sees text four times a second, and a fast model writes at most one
	// line per 4 KiB.
	appendEvery = 250 * time.Millisecond
	appendBytes = 4 << 10
	// maxMessageText bounds the text of one message or reasoning block on record.
	maxMessageText = 256 << 10
	// maxActionData bounds the arguments and the result of one action on record.
	maxActionData = 16 << 10
	// maxReasonText bounds a reason that people read.
	maxReasonText = 2 << 10
	// maxCodeText bounds a bridge's error code on record; those of the protocol
	// have some twenty characters.
	maxCodeText = 128
)
