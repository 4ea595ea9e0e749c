package sessions

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// Bounds of what one turn gathers; what comes then waits in another turn.
const (
	maxGathered      = 50
	maxGatheredBytes = 256 << 10
)

// asked is one message on its way to a turn, whichever way it came.
type asked struct {
	channel, principal string
	text               string
	request            json.RawMessage
	// messageID is the channel's name for it, and quiet how long nobody may have
	// said more before it is answered.
	messageID          string
	quiet              time.Duration
	revision           state.Revision
	deliveryID, reason string
	// preempts is set when it shall run before what waits.
	preempts bool
	// inherited are messages of turns that it takes the place of.
	inherited []state.Gathered
}

// place is where a message ended up.
type place struct {
	turnID string
	// gathered is set when that turn was queued before.
	gathered bool
	position int
	// behind is the running turn that has to end first, if there is one.
	behind string
}

// String says it to a person.
func (p place) String() string {
	text := "queued as turn " + p.turnID + ", behind "
	if p.gathered {
		text = "gathered into turn " + p.turnID + ", queued behind "
	}
	switch {
	case p.behind != "":
		return text + "turn " + p.behind
	case p.position == 1:
		return text + "one other"
	case p.position > 1:
		return fmt.Sprintf("%s%d others", text, p.position)
	case p.gathered:
		return "gathered into turn " + p.turnID
	default:
		return "queued as turn " + p.turnID
	}
}

// enqueue drafts the turn that a message asks for, or gathers the message into
// one that waits.
func (a *actor) enqueue(d *draft, m asked) place {
	received := messageReceived{
		Text: a.e.redact(m.text), Principal: m.principal, Channel: m.channel,
		DeliveryID: m.deliveryID, Reason: a.e.redact(m.reason),
	}
	at := place{}
	if a.running != nil {
		at.behind = a.running.row.ID
	}
	if q := a.gatherer(m); q != nil {
		row := d.turn(q.row)
		row.Gathered = append(slices.Clone(row.Gathered), state.Gathered{
			Message: received.Text, MessageID: m.messageID, Principal: m.principal, DeliveryID: m.deliveryID,
			Request: m.request, At: a.e.now(),
		})
		d.hush(row, m.quiet)
		at.turnID, at.gathered, at.position = row.ID, true, a.position(d, q.row)
		received.Gathered = true
		d.event(EventMessageReceived, row.ID, received)
		a.acknowledge(d, *row, m, at)
		return at
	}
	t := d.turn(state.Turn{
		ID: turnPrefix + a.e.newID(), SessionID: a.id, Status: state.TurnQueued,
		Channel: m.channel, Principal: m.principal, Preempts: m.preempts,
		Message: received.Text, MessageID: m.messageID, Request: m.request, Revision: m.revision,
		DeliveryID: m.deliveryID, QueuedAt: a.e.now(), Gathered: m.inherited,
	})
	d.hush(t, m.quiet)
	at.turnID, at.position = t.ID, a.position(d, *t)
	d.event(EventMessageReceived, t.ID, received)
	queued := turnQueued{Position: at.position}
	if !t.NotBefore.IsZero() {
		queued.NotBefore = &t.NotBefore
	}
	d.event(EventTurnQueued, t.ID, queued)
	a.acknowledge(d, *t, m, at)
	return at
}

// acknowledge drafts what the world is told of a message that is taken up.
func (a *actor) acknowledge(d *draft, t state.Turn, m asked, at place) {
	ends := a.running != nil && (a.running.row.Status.Ended() || d.ends(a.running.row.ID))
	behind := at.position > 1 || at.position == 1 && !ends
	err := d.owe(t, Report{Moment: MomentAccepted, Request: m.request, Behind: behind})
	if err != nil {
		a.logPanic(err)
		a.e.logger.Error("an accepted message is not told to the world", "session", a.id, "turn", t.ID, "error", err)
	}
}

// gatherer returns the queued turn that a message is answered with: the last one
// of its channel, about the same revision, that was never started and that
// nothing can drop before it has run. It is nil when there is none, or no room.
func (a *actor) gatherer(m asked) *queuedTurn {
	if m.preempts {
		return nil
	}
	for _, q := range slices.Backward(a.queued) {
		t := q.row
		if t.Attempts > 0 || t.Preempts || tellsOutcome(t) || t.Revision.ID != m.revision.ID || a.channelOf(t) != m.channel {
			continue
		}
		size := len(m.text) + len(m.request)
		for _, g := range t.Gathered {
			size += len(g.Message) + len(g.Request)
		}
		if len(t.Gathered) >= maxGathered || size > maxGatheredBytes {
			return nil // an earlier one would put it before what was said before
		}
		return q
	}
	return nil
}

// preempt drafts the end of what a message takes the place of, if it preempts,
// and returns the messages that its turn has to answer instead.
//
// A message interrupts the turn that was started, and drops those of its own
// channel that were asked to run before the others; what gathered meanwhile
// stays queued and comes after it, and so does a queued turn about a revision,
// of which the message knows nothing. A new revision ends every turn about an
// older one; questions that are about none are not outdated by it: the one that
// runs ends first, and the others come after it.
func (a *actor) preempt(d *draft, m asked) []state.Gathered {
	if !m.preempts {
		return nil
	}
	var inherited []state.Gathered
	for _, t := range a.open() {
		started := t.Status == state.TurnRunning || t.Attempts > 0
		switch {
		case m.revision.ID != "" && t.Revision.ID == "":
		case m.revision.ID != "" && m.revision.ID != t.Revision.ID:
			inherited = append(inherited, a.promised(t)...)
			d.interrupt(t, "superseded by "+short(m.revision.ID), true)
		case m.revision.ID != "", started, t.Preempts && t.Revision.ID == "" && a.channelOf(t) == m.channel:
			inherited = append(inherited, heardOf(t)...)
			d.interrupt(t, "a newer message took its place", false)
		}
	}
	return inherited[:min(len(inherited), maxGathered)]
}

// promised returns those of a turn's messages whose senders were told that they
// are taken up, and so wait to be told the end.
func (a *actor) promised(t state.Turn) []state.Gathered {
	own := state.Gathered{Message: t.Message, MessageID: t.MessageID, Principal: t.Principal, DeliveryID: t.DeliveryID, Request: t.Request, At: t.QueuedAt}
	var kept []state.Gathered
	for _, g := range append([]state.Gathered{own}, t.Gathered...) {
		told, err := a.effects(viewIn(a.sess, t), a.channelOf(t), Report{Moment: MomentAccepted, Request: g.Request})
		if err == nil && len(told) > 0 {
			kept = append(kept, g)
		}
	}
	return kept
}

// position is how many turns come before one that this draft queues, or that is
// queued already.
func (a *actor) position(d *draft, t state.Turn) int {
	n := a.e.turns.ahead(a.id)
	for _, q := range a.queued {
		if q.row.ID == t.ID {
			break
		}
		if !d.ends(q.row.ID) && (q.row.Preempts || !t.Preempts) {
			n++
		}
	}
	if a.running != nil {
		n = max(n, 1)
	}
	return n
}

// channelOf returns the channel that asked for a turn, and is told of it.
func (a *actor) channelOf(t state.Turn) string {
	if t.Channel != "" {
		return t.Channel
	}
	return a.sess.Channel
}
