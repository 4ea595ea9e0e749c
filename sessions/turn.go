package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// runningTurn is a turn with a goroutine of its own.
type runningTurn struct {
	row state.Turn
	// agent is what the turn is run with, and timeout how long this attempt may take.
	agent    Agent
	timeout  time.Duration
	cancel   context.CancelCauseFunc
	recorder *recorder
	meter    *meter
	ending   ending
	// before is what earlier attempts have used.
	before spent
	// acted is set once the turn has done something to the world.
	acted atomic.Bool
	// woken is set when what the turn may be about to wait for has happened. It is
	// the actor's own.
	woken bool
}

// Why a turn's context ended.
var (
	errInterrupted = errors.New("turn interrupted")
	errHandOver    = errors.New("the service is stopping")
	errTurnTimeout = errors.New("turn timeout")
)

// outcome is how a turn's goroutine ended.
type outcome struct {
	result bridge.Result
	// spent is what this attempt has used.
	spent spent
	err   error
	// cause says why the context ended before the turn did, if so.
	cause error
	// prepared is set when the channel reached its surface.
	prepared bool
	took     time.Duration
}

// start uses a granted place: it makes the first turn that may start run, or
// gives the place back.
func (a *actor) start() {
	if a.e.actors.isStopping() || a.running != nil || a.direct != nil {
		a.e.turns.release()
		return
	}
	agent := a.e.agent()
	var begun *state.Turn
	err := a.decide(func(d *draft) (err error) {
		begun, err = a.begin(d, agent)
		return err
	})
	if err != nil {
		a.e.turns.release()
		if !errors.Is(err, errNothingToStart) {
			a.e.logger.Error("turn not started", "session", a.id, "error", err)
			a.lookAgain()
		}
		return
	}
	a.launch(*begun, agent)
	// It may have been put in line again between the grant and now.
	a.schedule()
}

// errNothingToStart says that the turn was dropped before its place was granted.
var errNothingToStart = errors.New("nothing to start")

// begin drafts the start of the next turn.
func (a *actor) begin(d *draft, agent Agent) (*state.Turn, error) {
	q := a.next()
	if q == nil {
		return nil, errNothingToStart
	}
	t := d.turn(q.row)
	t.Status, t.Reason = state.TurnRunning, ""
	t.Attempts++
	t.Epoch = a.e.store.Epoch()
	t.StartedAt = a.e.now()
	if t.Sending == nil {
		t.Outputs = nil // otherwise the run that laid them down may be found again
	}
	if sess := d.session(); sess.AgentID == "" || isElsewhere(sess.AgentID) && agent.Cloud == nil {
		// The intention is stored before the agent is made, so that a crash in
		// between leaves no agent that nobody knows of.
		sess.AgentID = agentPrefix + a.e.newID()
	}
	moment := MomentStarted
	if t.WaitsFor != "" {
		moment, t.WaitsFor = MomentResumed, ""
	}
	if err := d.owe(*t, Report{Moment: moment}); err != nil {
		a.e.logger.Error("a started turn is not told to the world", "session", a.id, "turn", t.ID, "error", err)
	}
	d.event(EventTurnStarted, t.ID, turnStarted{Attempt: t.Attempts})
	return t, nil
}

// launch starts the goroutine of a turn that is running in the ledger.
func (a *actor) launch(t state.Turn, agent Agent) {
	ctx, cancel := context.WithCancelCause(a.e.actors.turns)
	rec := newRecorder(a.e, a.id, t.ID)
	run := &runningTurn{
		row: t, agent: agent, timeout: a.e.timeout, cancel: cancel, recorder: rec,
		meter: newMeter(a.e, t, agent, cancel), before: spentOn(t), ending: ending{cancel: cancel},
	}
	if agent.Timeout > 0 {
		run.timeout = min(run.timeout, agent.Timeout)
	}
	run.acted.Store(t.Acted != "")
	a.running = run
	view, channel := a.view(t), a.channelOf(t)
	request := RunRequest{
		SessionID: a.id, TurnID: t.ID, AgentID: a.sess.AgentID, Force: true, Sent: t.Sending,
		SentHere: t.Sending != nil && t.Sending.Epoch == a.e.store.Epoch(),
		Note:     func(ctx context.Context, s state.Sending) error { return a.e.noteSending(ctx, t, s) },
		Bound:    func(ctx context.Context, agentID string) error { return a.e.noteAgent(ctx, t, agentID) },
		Acted:    run.acted.Load,
	}
	a.show(ctx, channel, view)
	a.e.actors.run(func() {
		out := a.e.runTurn(ctx, channel, view, request, run)
		cancel(nil)
		a.e.actors.post(a.id, func(a *actor) { a.finish(out) })
	})
}

// runTurn prepares the evidence and runs the agent. It is the only part of a
// turn that takes long.
func (e *Engine) runTurn(ctx context.Context, channel string, t Turn, request RunRequest, run *runningTurn) (out outcome) {
	started, rec := e.now(), run.recorder
	ctx, cancel := context.WithTimeoutCause(ctx, run.timeout, errTurnTimeout)
	defer cancel()
	defer func() {
		out.took = e.now().Sub(started)
		out.cause = context.Cause(ctx)
	}()

	c, ok := e.channels[channel]
	if !ok {
		out.err = fmt.Errorf("channel %q is not configured any more", channel)
		return out
	}
	dir, err := e.makeWorkspace(t.SessionID)
	if err != nil {
		out.err = err
		return out
	}
	var brief Brief
	rec.stepStarted(stepEvidence)
	out.err = e.besideLayout(ctx, run.agent, dir, func() error {
		return guard("Prepare of channel "+channel, e.redact, func() (err error) {
			brief, err = c.Prepare(ctx, t, dir)
			return err
		})
	})
	if out.err != nil {
		return out
	}
	out.prepared = true
	note := e.redact(brief.Note)
	rec.stepCompleted(stepEvidence, note, e.now().Sub(started))
	e.logger.Info("turn prepared", "session", t.SessionID, "turn", t.ID, "note", note)
	if out.err = e.equip(ctx, &request, run, e.toolTurn(channel, t, dir)); out.err != nil {
		return out
	}
	request.Dir, request.Prompt, request.Images = dir, e.redact(brief.Prompt), brief.Images
	out.err = guard("Runner", e.redact, func() (err error) {
		out.result, err = e.runner.Run(ctx, request, func(ev bridge.Event) {
			rec.observe(ev)
			run.meter.observe(ev)
			run.ending.observe(ev)
		})
		return err
	})
	rec.finish()
	run.meter.end(out.result)
	out.spent = run.meter.sofar()
	return out
}

// finish settles a turn whose goroutine is gone and gives its place back.
func (a *actor) finish(out outcome) {
	defer a.e.turns.release()
	settled := false
	defer func() {
		if !settled { // a panic: the turn counts as lost, and its session goes on
			a.running = nil
			a.lookAgain()
		}
	}()
	var err error
	if a.running.row.Status.Ended() {
		a.correct(out)
	} else {
		err = a.decide(func(d *draft) error {
			a.conclude(d, a.running.row, out)
			return nil
		})
	}
	settled = true
	t := a.running.row
	a.running = nil
	switch {
	case err != nil:
		a.e.logger.Error("turn not settled; it counts as lost", "session", a.id, "turn", t.ID, "error", err)
		a.lookAgain()
	case t.Status == state.TurnQueued:
		a.queued = slices.Insert(a.queued, 0, &queuedTurn{row: t})
	}
	a.schedule()
}

// correct writes down what a turn that was interrupted has used in the end, where
// that is more than was known then.
func (a *actor) correct(out outcome) {
	total, known := a.running.before.plus(out.spent), spentOn(a.running.row)
	if total.usage == known.usage && total.calls == known.calls && total.cost == known.cost {
		return
	}
	err := a.decide(func(d *draft) error {
		total.on(d.turn(a.running.row))
		return nil
	})
	if err != nil {
		a.e.logger.Warn("what an interrupted turn has used is not stored", "session", a.id, "turn", a.running.row.ID, "error", err)
	}
}

// lookAgain has the actor start from what is stored, after a while, because
// the store did not take a decision that should have been possible.
func (a *actor) lookAgain() {
	as := a.e.actors
	go func() {
		select {
		case <-as.ctx.Done():
		case <-time.After(storeRetryMax):
			if as.isStopping() {
				return
			}
			as.post(a.id, func(a *actor) {
				a.stale = true
				a.resume()
			})
		}
	}()
}

// silence keeps the goroutine of a turn that was ended from recording more.
func (a *actor) silence() {
	if a.running != nil && a.running.row.Status.Ended() {
		a.running.recorder.close()
		a.running.cancel(errInterrupted)
	}
}
