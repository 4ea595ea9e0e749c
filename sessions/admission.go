package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/liaison-bot/liaison/state"
)

// admit decides about one delivery, in one commit that also settles it, and
// calls settled once nothing more will happen to it in this process.
func (a *actor) admit(d state.StoredDelivery, in Intent, settled func()) {
	if in.Action == ActionStop {
		a.heedStop(d, in, settled)
		return
	}
	defer settled()
	if in.Action == ActionDecide {
		a.settleBallot(d, in)
		return
	}
	a.settleBy(d, in, func(dr *draft) error { return a.consider(dr, d, in) })
}

// settleBy commits what build decides about a delivery, with what is owed for it
// whatever the decision is, and makes a decision of its own where that is impossible.
func (a *actor) settleBy(d state.StoredDelivery, in Intent, build func(*draft) error) {
	var decided []state.DeliveryUpdate
	err := a.decide(func(dr *draft) error {
		if err := build(dr); err != nil {
			return err
		}
		if !dr.unclaimed {
			dr.change.Facts = factOf(d, in)
		}
		dr.oweTo(owedFor(d, in), d.Source, in.Effects)
		decided = dr.change.Deliveries
		return nil
	})
	var claimed *state.FactClaimedError
	var spent *state.BudgetError
	switch {
	case err == nil:
		for _, u := range decided {
			a.e.noteDelivery(d, u)
		}
		a.schedule()
	case errors.As(err, &claimed):
		a.e.settleDelivery(d, state.DeliveryIgnored, "duplicate of "+claimed.By)
	case errors.As(err, &spent):
		a.overBudget(d, in, spent)
	case errors.Is(err, state.ErrUnavailable) || a.e.actors.ctx.Err() != nil:
		a.e.logger.Warn("delivery not decided; it will be at the next start", "delivery", ref(d), "error", err)
	default:
		a.e.settleDelivery(d, state.DeliveryDead, "could not be decided: "+err.Error())
	}
}

// consider drafts what becomes of an intent.
func (a *actor) consider(d *draft, del state.StoredDelivery, in Intent) error {
	by := asked{
		channel: del.Source, principal: in.Principal, text: in.Message, request: in.Request,
		revision: in.Revision, deliveryID: ref(del), reason: in.Reason, preempts: in.Admission == AdmitPreempt,
		messageID: in.MessageID, quiet: in.Quiet,
	}
	if a.sess.Version == 0 {
		switch in.Action {
		case ActionArchive:
			d.settle(del, state.DeliveryIgnored, "no session to archive: "+in.Reason, "")
			return nil
		case ActionWake, ActionAmend, ActionNote:
			d.settle(del, state.DeliveryIgnored, noSuchSession+in.Reason, "")
			return nil
		}
		if in.Existing {
			d.unclaimed = true // what begins the session may speak of the same thing
			d.settle(del, state.DeliveryIgnored, noSuchSession+in.Reason, "")
			return nil
		}
		d.create(state.Session{
			Channel: del.Source, Key: in.Key, Title: in.Title, Mode: in.Mode,
			Principal: in.Principal, Revision: in.Revision,
		}, in.Aliases...)
		a.admitted(d, del, in, by)
		return nil
	}
	switch in.Action {
	case ActionWake:
		a.wake(d, del, in)
		return nil
	case ActionAmend:
		return a.amend(d, del, in)
	case ActionNote:
		return a.note(d, del, in)
	}
	reason, err := a.unwanted(in)
	if err != nil {
		return err
	}
	if reason != "" {
		if a.sess.Mode != state.ModeTask && in.Revision.ID == a.sess.Revision.ID && !overtaken(in.Revision, a.sess.Revision) {
			// The subject was heard of, if only to say what is known: a late
			// word from before this one must not count as news.
			a.refresh(d, in)
		}
		d.settle(del, state.DeliveryIgnored, reason+": "+in.Reason, "")
		return nil
	}
	if err := a.linkAliases(d, in); err != nil {
		return err
	}
	d.supersede(in.Revision)
	a.refresh(d, in)
	if in.Action == ActionArchive {
		a.archive(d, in.Reason)
		d.settle(del, state.DeliveryDone, "archived: "+in.Reason, "")
		return nil
	}
	by.inherited = a.preempt(d, by)
	a.admitted(d, del, in, by)
	return nil
}

// admitted drafts the turn of a delivery that is wanted.
func (a *actor) admitted(d *draft, del state.StoredDelivery, in Intent, by asked) {
	d.count(in)
	at := a.enqueue(d, by)
	d.settle(del, state.DeliveryDone, at.String()+": "+by.reason, at.turnID)
}

// create drafts a session with its names, begun from what is known of it.
func (d *draft) create(s state.Session, aliases ...string) {
	a := d.a
	s.ID, s.Status, s.Title = a.id, state.SessionActive, a.e.redact(s.Title)
	if s.Mode == "" {
		s.Mode = state.ModeChat
	}
	s.CreatedAt = a.e.now()
	s.UpdatedAt = s.CreatedAt
	d.sess = &s
	d.change.Keys = append(d.change.Keys, state.KeyLink{Key: s.Key, SessionID: a.id})
	for _, alias := range aliases {
		d.change.Keys = append(d.change.Keys, state.KeyLink{Key: alias, SessionID: a.id, Alias: true})
	}
	d.event(EventSessionStarted, "", startedData(s, false))
}

// reopen drafts that an archived session goes on.
func (d *draft) reopen() {
	if row := d.session(); row.Status == state.SessionArchived {
		row.Status = state.SessionActive
		d.event(EventSessionStarted, "", startedData(*row, true))
	}
}

// unwanted says why an intent changes nothing, or "" when it does.
func (a *actor) unwanted(in Intent) (string, error) {
	known := a.sess.Revision
	switch {
	case in.Action == ActionRun && a.sess.Mode == state.ModeTask:
		return "the session is a task and takes no follow-up", nil
	case in.Revision.ID == "" || known.ID == "":
		return "", nil
	case overtaken(in.Revision, known):
		return fmt.Sprintf("about %s, which is older than %s", short(in.Revision.ID), short(known.ID)), nil
	case in.Force || in.Action != ActionRun || in.Revision.ID != known.ID:
		return "", nil
	}
	// The revision is known. It is done with unless every turn about it was
	// interrupted, as when the subject was closed meanwhile and is open again.
	turns, err := read(a.e.actors.ctx, a.e, func(ctx context.Context) ([]state.Turn, error) {
		return a.e.store.Turns(ctx, a.id)
	})
	if err != nil {
		return "", fmt.Errorf("read turns of session %s: %w", a.id, err)
	}
	for _, t := range slices.Backward(turns) {
		if t.Revision.ID == known.ID && t.Status != state.TurnInterrupted {
			return fmt.Sprintf("%s is %s already, as turn %s", short(known.ID), t.Status, t.ID), nil
		}
	}
	return "", nil
}

// refresh drafts what every accepted intent says of the session.
func (a *actor) refresh(d *draft, in Intent) {
	row := d.session()
	row.Revision = newest(row.Revision, in.Revision)
	if in.Title != "" && (row.Title == "" || !in.NameOnce) {
		row.Title = a.e.redact(in.Title)
	}
	if in.Action == ActionRun {
		d.reopen()
	}
}

// linkAliases drafts the aliases that do not name this session yet.
func (a *actor) linkAliases(d *draft, in Intent) error {
	for _, alias := range in.Aliases {
		s, err := read(a.e.actors.ctx, a.e, func(ctx context.Context) (state.Session, error) {
			return a.e.store.SessionByKey(ctx, alias)
		})
		if err != nil && !errors.Is(err, state.ErrNotFound) {
			return fmt.Errorf("find session of alias %s: %w", alias, err)
		}
		if s.ID != a.id {
			d.change.Keys = append(d.change.Keys, state.KeyLink{Key: alias, SessionID: a.id, Alias: true})
		}
	}
	return nil
}

// archive drafts the end of the session, until its key is heard of again.
func (a *actor) archive(d *draft, reason string) {
	a.interruptDirect("", true)
	for _, t := range a.open() {
		d.interrupt(t, reason, false)
	}
	d.cancelApprovals(reason, "", nil)
	row := d.session()
	if row.Status != state.SessionArchived {
		row.Status = state.SessionArchived
		d.event(EventSessionCompleted, "", sessionEnded{Reason: a.e.redact(reason), Archived: true})
	}
}

// open returns the turns that have not ended, in the order in which they run.
func (a *actor) open() []state.Turn {
	var turns []state.Turn
	if a.running != nil && !a.running.row.Status.Ended() {
		turns = append(turns, a.running.row)
	}
	for _, q := range a.queued {
		turns = append(turns, q.row)
	}
	return turns
}

// settle drafts what became of a delivery.
func (d *draft) settle(del state.StoredDelivery, status state.DeliveryStatus, decision, turnID string) {
	u := state.DeliveryUpdate{
		Seq: del.Seq, Status: status, Attempts: del.Attempts + 1,
		Decision: d.a.e.decisionText(del, decision), TurnID: turnID,
	}
	if d.a.sess.Version > 0 || d.sess != nil {
		u.SessionID = d.a.id
	}
	d.change.Deliveries = append(d.change.Deliveries, u)
}

// decisionText is a decision as it is kept with its delivery.
func (e *Engine) decisionText(del state.StoredDelivery, decision string) string {
	if del.Replays > 0 {
		decision = fmt.Sprintf("replay %d: %s", del.Replays, decision)
	}
	return clip(e.redact(decision), maxReasonText)
}

// interrupt drafts the end of a turn that was stopped or overtaken.
func (d *draft) interrupt(t state.Turn, reason string, superseded bool) {
	d.interruptAs(t, Report{Reason: reason, Superseded: superseded})
}

// interruptAs is interrupt for who can say more of why.
func (d *draft) interruptAs(t state.Turn, r Report) {
	a := d.a
	row := d.turn(t)
	row.Status, row.EndedAt, row.Sending = state.TurnInterrupted, a.e.now(), nil
	row.Reason = clip(a.e.redact(r.Reason), maxReasonText)
	if run := a.running; run != nil && run.row.ID == t.ID && t.Status == state.TurnRunning {
		run.before.plus(run.meter.sofar()).on(row)
	}
	if t.Status == state.TurnQueued && (t.Attempts > 0 || !t.NotBefore.IsZero()) {
		d.change.CancelTimers = append(d.change.CancelTimers, retryTimerID(t.ID))
	}
	r.Moment, r.Reason = MomentInterrupted, row.Reason
	if t.Attempts == 0 {
		r.Moment = MomentDropped
	}
	if err := d.owe(*row, r); err != nil {
		a.e.logger.Error("an interrupted turn is not told to the world", "session", a.id, "turn", t.ID, "error", err)
	}
	d.event(EventTurnFailed, t.ID, turnFailed{
		Error: interruptedText, Reason: row.Reason, Interrupted: true, Superseded: r.Superseded,
		RunID: row.RunID, Usage: row.Usage, ToolCalls: row.ToolCalls, CostUSD: row.CostUSD,
	})
}

// ends reports whether the draft ends the turn.
func (d *draft) ends(turnID string) bool {
	return slices.ContainsFunc(d.turns, func(t *state.Turn) bool { return t.ID == turnID && t.Status.Ended() })
}

// ref names a delivery to people and in claims.
func ref(d state.StoredDelivery) string { return d.Source + ":" + d.ID }
