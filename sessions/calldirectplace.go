package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/liaison-bot/liaison/internal/removal"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/tools"
)

// scratchTurn stands for the turn of a call outside of sessions.
func (e *Engine) scratchTurn(c ToolCall) tools.Turn {
	return tools.Turn{
		TurnID: turnPrefix + e.newID(), Channel: ChannelHTTP, Principal: c.Principal,
		Mode: string(state.ModeTask), DryRun: c.DryRun,
	}
}

// sessionTurn stands for the turn of a call in a session. What the session is about
// is what the newest turn of its own surface was about.
func (e *Engine) sessionTurn(ctx context.Context, s state.Session, c ToolCall) (Turn, tools.Turn, error) {
	turns, err := e.store.Turns(ctx, s.ID)
	if err != nil {
		return Turn{}, tools.Turn{}, fmt.Errorf("read turns of session %s: %w", s.ID, err)
	}
	asked := state.Turn{ID: turnPrefix + e.newID(), SessionID: s.ID, Channel: s.Channel, Principal: c.Principal}
	for _, past := range slices.Backward(turns) {
		if cmp.Or(past.Channel, s.Channel) == s.Channel && len(past.Request) > 0 {
			asked.Request, asked.Revision = past.Request, past.Revision
			break
		}
	}
	view := viewIn(s, asked)
	t := e.toolTurn(s.Channel, view, e.Workspace(s.ID))
	t.Attempt, t.DryRun = 0, s.DryRun || c.DryRun
	return view, t, nil
}

// beginDirect begins a call in the actor's session, which it has for itself until
// its end.
func (a *actor) beginDirect(c ToolCall) (<-chan directAnswer, error) {
	var call *directCall
	err := a.decideAtOnce(func(d *draft) error {
		switch {
		case a.sess.Version == 0:
			return state.ErrNotFound
		case !c.Operator && !a.owns(c.Principal):
			return ErrNotAllowed
		case a.sess.Mode == state.ModeTask:
			return ErrTask
		case a.running != nil || a.direct != nil || len(a.queued) > 0:
			return ErrSessionBusy
		}
		view, turn, err := a.e.sessionTurn(a.e.actors.ctx, a.sess, c)
		if err == nil {
			call, err = a.e.newDirect(turn, c)
		}
		if err != nil {
			return err
		}
		call.view = view
		d.event(EventActionsRequested, turn.TurnID, call.requested())
		return nil
	})
	if err != nil {
		return nil, err
	}
	dir, err := a.e.makeWorkspace(a.id)
	if err != nil {
		a.settleDirect(call, directAnswer{err: err})
		return nil, err
	}
	a.direct = call
	return call.launch(dir, func(got directAnswer) {
		done := make(chan struct{})
		a.e.actors.post(a.id, func(a *actor) {
			defer close(done)
			a.settleDirect(call, got)
		})
		<-done
	}), nil
}

// settleDirect records the end of a direct call and lets turns go on. What a call
// that waits for a person comes to is recorded when it is known.
func (a *actor) settleDirect(call *directCall, got directAnswer) {
	defer func() {
		a.direct = nil
		a.schedule()
	}()
	if got.Approval != nil {
		return
	}
	err := a.decide(func(d *draft) error {
		d.event(EventActionResult, call.call.TurnID, call.result(got))
		d.change.Audit = append(d.change.Audit, call.ended(got)...)
		return nil
	})
	if err != nil {
		a.e.logger.Error("the end of a direct call is not on record", "session", a.id, "call", call.call.CallID, "error", err)
	}
}

// interruptDirect stops a direct call for who may: its caller, or who may stop all.
func (a *actor) interruptDirect(principal string, all bool) {
	if a.direct != nil && (all || principal != "" && principal == a.direct.call.Principal) {
		a.direct.cancel(errors.New("the call was stopped"))
	}
}

// scratches is where calls outside of sessions work.
func (e *Engine) scratches() string { return filepath.Join(e.dir, "tool-calls") }

// beginScratch begins a call outside of sessions, in a directory of its own.
func (e *Engine) beginScratch(c ToolCall) (<-chan directAnswer, error) {
	call, err := e.newDirect(e.scratchTurn(c), c)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(e.scratches(), call.call.CallID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a directory for the call: %w", err)
	}
	return call.launch(dir, func(got directAnswer) {
		if entries := call.ended(got); len(entries) > 0 {
			if _, err := e.commit(e.actors.ctx, state.Change{Audit: entries}); err != nil {
				e.logger.Error("the end of a direct call is not in the audit log", "call", call.call.CallID, "error", err)
			}
		}
		if err := removal.Tree(dir); err != nil {
			e.logger.Warn("what a direct call left could not be removed", "dir", dir, "error", err)
		}
	}), nil
}

// clearScratches removes what calls of an earlier process left.
func (e *Engine) clearScratches() {
	if err := removal.Tree(e.scratches()); err != nil {
		e.logger.Warn("what direct calls left could not be removed", "dir", e.scratches(), "error", err)
	}
}

// openHome opens a session for a call outside of any that has to wait for a
// person, so that its record has a place and people can see it.
func (d *directCall) openHome(ctx context.Context) error {
	token, err := d.e.newToken(ChannelHTTP)
	if err != nil {
		return err
	}
	id := sessionPrefix + d.e.newID()
	_, err = ask(ctx, d.e, id, func(a *actor) (struct{}, error) {
		return struct{}{}, a.decideAtOnce(func(dr *draft) error {
			dr.create(state.Session{
				Channel: ChannelHTTP, Key: token, Title: "call " + d.tool.Name, Mode: state.ModeTask,
				Principal: d.call.Principal, DryRun: d.call.DryRun,
			})
			dr.event(EventActionsRequested, d.call.TurnID, d.requested())
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("open a session for the call: %w", err)
	}
	d.call.SessionID = id
	if d.call.Dir, err = d.e.makeWorkspace(id); err != nil {
		return err
	}
	return d.e.layOut(ctx, d.agent, d.call.Dir)
}
