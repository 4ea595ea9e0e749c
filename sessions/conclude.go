package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// conclude drafts what becomes of a turn whose goroutine has ended.
func (a *actor) conclude(d *draft, t state.Turn, out outcome) {
	if out.prepared && a.channelOf(t) == a.sess.Channel {
		d.unpause()
	}
	var superseded *SupersededError
	var unneeded *UnneededError
	var retry *RetryError
	finished := out.err == nil && out.result.Status == bridge.RunFinished
	t.RunID = cmp.Or(out.result.RunID, t.RunID)
	if out.result.Status.Ended() {
		// Otherwise the next attempt looks for a run: this one may not even have
		// come to do so, or left it running.
		t.Sending = nil
	}
	a.running.before.plus(out.spent).on(&t)
	var limit *limitError
	switch {
	case finished:
		a.complete(d, t, out)
	case errors.Is(out.cause, errHandOver), errors.Is(out.cause, errStopped):
		a.handOver(d, t)
	case errors.Is(out.cause, errTurnTimeout):
		a.fail(d, t, fmt.Sprintf("the turn took longer than %s and was stopped", a.running.timeout), "")
	case errors.Is(out.cause, errFinal):
		out.result.Text = a.running.ending.text()
		t.Sending = nil // its run goes nowhere any more
		a.complete(d, t, out)
	case errors.As(out.cause, &limit):
		a.fail(d, t, limit.Error(), "")
	case errors.As(out.err, &superseded):
		a.follow(d, t, superseded)
	case errors.As(out.err, &unneeded):
		d.interruptAs(t, Report{Reason: unneeded.Reason, Empty: unneeded.Empty})
		a.rest(d, EventSessionCompleted, unneeded.Reason)
	case errors.As(out.err, &retry):
		a.postpone(d, t, retry)
	case errors.Is(out.err, errActed):
		a.fail(d, t, notRepeated(t, "the turn was cut short, and "+errActed.Error()), "")
	case out.err != nil:
		a.logPanic(out.err)
		a.fail(d, t, out.err.Error(), errorCode(out.err))
	case out.result.Status == bridge.RunCancelled:
		d.interrupt(t, "the run was cancelled at the bridge", false)
		a.rest(d, EventSessionCompleted, "the run was cancelled at the bridge")
	default:
		a.fail(d, t, runFailure(out.result), out.result.ErrorCode)
	}
}

// handOver drafts what becomes of a turn that runs while the service stops: the
// next process goes on with it, unless it acted and its run is over.
func (a *actor) handOver(d *draft, t state.Turn) {
	const why = "the service stopped while it ran"
	if t.Acted != "" && t.Sending == nil {
		a.fail(d, t, notRepeated(t, why), "")
		return
	}
	d.requeue(t, why, time.Time{}, "")
}

// runFailure says why a run that did not finish ended.
func runFailure(r bridge.Result) string {
	reason := r.Reason
	if reason == "" && r.ErrorCode != "" {
		reason = "no reason but the code " + r.ErrorCode
	}
	switch {
	case r.Status == bridge.RunExpired:
		return "the agent's run expired: " + cmp.Or(reason, "no reason given")
	case r.Reason == "":
		return "the agent's run failed and gave " + cmp.Or(reason, "no reason")
	default:
		return reason
	}
}

// errorCode returns the bridge's own code for an error, if it gave one.
func errorCode(err error) string {
	var answer *bridge.Error
	if errors.As(err, &answer) {
		return answer.SDKCode
	}
	return ""
}

// complete drafts a good end. An answer that cannot be handed to the channel is a failure.
func (a *actor) complete(d *draft, t state.Turn, out outcome) {
	model := cmp.Or(out.result.Model, a.running.agent.Model)
	r := Report{
		Moment: MomentCompleted, Text: out.result.Text, Model: model,
		Duration: cmp.Or(out.result.Duration, out.took),
	}
	if err := d.owe(t, r); err != nil {
		a.logPanic(err)
		a.fail(d, t, "the answer could not be handed over: "+err.Error(), "")
		return
	}
	row := d.turn(t)
	row.Status, row.EndedAt, row.Model = state.TurnCompleted, a.e.now(), model
	d.event(EventTurnCompleted, t.ID, turnCompleted{
		Result: clip(a.e.redact(out.result.Text), maxMessageText),
		Usage:  t.Usage, ToolCalls: t.ToolCalls, CostUSD: t.CostUSD,
		Model: model, RunID: t.RunID, DurationMS: out.took.Milliseconds(),
	})
	a.rest(d, EventSessionCompleted, "")
}

// fail drafts a bad end, told to the world. The code is for the record.
func (a *actor) fail(d *draft, t state.Turn, reason, code string) {
	row := d.turn(t)
	row.Status, row.EndedAt, row.Sending = state.TurnFailed, a.e.now(), nil
	row.Reason = clip(a.e.redact(reason), maxReasonText)
	if err := d.owe(*row, Report{Moment: MomentFailed, Reason: row.Reason}); err != nil {
		a.e.logger.Error("a failed turn is not told to the world", "session", a.id, "turn", t.ID, "error", err)
	}
	d.event(EventTurnFailed, t.ID, turnFailed{
		Error: row.Reason, Code: clip(a.e.redact(code), maxCodeText), RunID: t.RunID,
		Usage: row.Usage, ToolCalls: row.ToolCalls, CostUSD: row.CostUSD,
	})
	a.rest(d, EventSessionFailed, row.Reason)
}

// rest drafts what a session does after a turn when no other is queued: a chat
// waits, and so does a task of which a call waits for people; otherwise it is over.
func (a *actor) rest(d *draft, taskEnd, reason string) {
	for _, q := range a.queued {
		if !d.ends(q.row.ID) {
			return
		}
	}
	if a.sess.Mode != state.ModeTask || a.awaits(d) {
		d.event(EventSessionWaiting, "", struct{}{})
		return
	}
	d.session().Status = state.SessionArchived
	d.event(taskEnd, "", sessionEnded{Reason: clip(a.e.redact(reason), maxReasonText)})
}

// follow drafts the end of a turn whose subject has moved on, and the turn that
// takes its place unless one is queued already.
func (a *actor) follow(d *draft, t state.Turn, s *SupersededError) {
	if s.Revision.ID == t.Revision.ID {
		a.fail(d, t, "the channel said that "+short(t.Revision.ID)+" is superseded by itself", "")
		return
	}
	d.interrupt(t, "superseded by "+short(s.Revision.ID), true)
	for _, q := range a.queued {
		if q.row.Revision.ID == s.Revision.ID {
			return
		}
	}
	d.supersede(s.Revision)
	sess := d.session()
	sess.Revision = newest(sess.Revision, s.Revision)
	if a.dealtWith(s.Revision) {
		// An old word came late, with a time that does not tell it from news.
		a.rest(d, EventSessionCompleted, "superseded by "+short(s.Revision.ID))
		return
	}
	request := s.Request
	if len(request) == 0 {
		request = t.Request
	}
	next := d.turn(state.Turn{
		ID: turnPrefix + a.e.newID(), SessionID: a.id, Status: state.TurnQueued,
		Channel: t.Channel, Principal: t.Principal, Preempts: t.Preempts,
		Message: t.Message, Gathered: t.Gathered, Request: request, Revision: s.Revision,
		DeliveryID: t.DeliveryID, QueuedAt: a.e.now(),
	})
	d.event(EventTurnQueued, next.ID, turnQueued{
		Position: a.position(d, *next), Reason: "takes the place of turn " + t.ID,
	})
}

// dealtWith reports whether the last turn that ended by itself was about this
// revision. Where that cannot be read it was not: another review is better than none.
func (a *actor) dealtWith(r state.Revision) bool {
	turns, err := read(a.e.actors.ctx, a.e, func(ctx context.Context) ([]state.Turn, error) {
		return a.e.store.Turns(ctx, a.id)
	})
	if err != nil {
		return false
	}
	for _, t := range slices.Backward(turns) {
		if t.Status == state.TurnCompleted || t.Status == state.TurnFailed {
			return t.Revision.ID == r.ID
		}
	}
	return false
}

// postpone drafts another try later, or the end when there were enough.
func (a *actor) postpone(d *draft, t state.Turn, retry *RetryError) {
	if t.Acted != "" && t.Sending == nil {
		a.fail(d, t, notRepeated(t, retry.Err.Error()), errorCode(retry))
		return
	}
	wait := max(retry.After, backoff(turnRetryBase, turnRetryMax, t.Retries+1, a.e.rand))
	switch {
	case retry.Paused:
		wait = max(retry.After, pausedRetry)
		d.pause(retry.Err.Error())
	case retry.Uncounted:
		wait = max(retry.After, outwait(turnRetryBase, pausedRetry, a.e.now().Sub(t.QueuedAt), a.e.rand))
	default:
		t.Retries++
	}
	switch {
	case t.Retries > maxTurnRetries:
		a.fail(d, t, fmt.Sprintf("gave up after %d tries: %v", t.Retries, retry.Err), errorCode(retry))
		return
	case retry.WaitsFor != "" && a.running.woken:
		d.requeue(t, retry.Error(), time.Time{}, "").WaitsFor = retry.WaitsFor
		return
	case retry.WaitsFor != "" && wait > maxTurnWait:
		a.fail(d, t, fmt.Sprintf("waiting for %s would take %s, and %s are the most: %v",
			retry.WaitsFor, wait.Round(time.Second), maxTurnWait, retry.Err), errorCode(retry))
		return
	case retry.WaitsFor != "":
		wait += time.Duration(a.e.rand() * float64(maxTurnJitter))
	}
	due := a.e.now().Add(wait)
	d.change.Timers = append(d.change.Timers, state.Timer{
		ID: retryTimerID(t.ID), SessionID: a.id, Due: due, Kind: timerTurnRetry,
		Payload: encoded(retryPayload{TurnID: t.ID}),
	})
	row := d.requeue(t, retry.Error(), due, retry.WaitsFor)
	if retry.WaitsFor != "" {
		row.WaitsFor = retry.WaitsFor
		r := Report{Moment: MomentWaiting, WaitsFor: retry.WaitsFor, Until: due, Reason: retry.Err.Error()}
		if err := d.owe(*row, r); err != nil {
			a.e.logger.Error("a waiting turn is not told to the world", "session", a.id, "turn", t.ID, "error", err)
		}
	}
}

// requeue drafts that a turn which was started stands in line again, at once or
// from notBefore on.
func (d *draft) requeue(t state.Turn, reason string, notBefore time.Time, waitsFor string) *state.Turn {
	row := d.turn(t)
	row.Status, row.NotBefore = state.TurnQueued, notBefore
	if run := d.a.running; run != nil && row.Sending != nil {
		run.before.on(row) // its run may be found again, and then tells all that it used
	}
	row.Reason = clip(d.a.e.redact(reason), maxReasonText)
	queued := turnQueued{Position: d.a.e.turns.ahead(d.a.id), Reason: row.Reason, WaitsFor: waitsFor}
	if !notBefore.IsZero() {
		queued.NotBefore = &notBefore
	}
	d.event(EventTurnQueued, t.ID, queued)
	return row
}

// pause drafts that the surface refuses us altogether; unpause that it does not.
func (d *draft) pause(reason string) {
	reason = clip(d.a.e.redact(reason), maxReasonText)
	if d.a.sess.Paused != reason {
		d.session().Paused = reason
	}
}

func (d *draft) unpause() {
	if d.a.sess.Paused != "" {
		d.session().Paused = ""
	}
}

// noticePause logs a change of the session's pause, once.
func (a *actor) noticePause(now string) {
	switch {
	case a.sess.Paused == "" && now != "":
		a.e.logger.Warn("session paused: its surface refuses us", "session", a.id, "reason", now)
	case a.sess.Paused != "" && now == "":
		a.e.logger.Info("session goes on: its surface answers again", "session", a.id)
	}
}

// logPanic keeps the stack of a fault in foreign code for the operator.
func (a *actor) logPanic(err error) { a.e.logPanic("session", a.id, err) }

func usageOf(u bridge.Usage) state.Usage {
	return state.Usage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
		CacheReadTokens: u.CacheReadTokens, CacheWriteTokens: u.CacheWriteTokens,
		TotalTokens: u.TotalTokens,
	}
}
