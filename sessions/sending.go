package sessions

import (
	"cmp"
	"context"

	"github.com/liaison-bot/liaison/state"
)

// noteSending stores with a running turn that its run is about to be sent, or
// how the run is called. It is called by the turn's own goroutine and waits for
// the decision, at most until ctx ends.
func (e *Engine) noteSending(ctx context.Context, t state.Turn, s state.Sending) error {
	noted := make(chan error, 1)
	e.actors.post(t.SessionID, func(a *actor) {
		err := ErrTurnNotRunning // also when what follows panics
		defer func() { noted <- err }()
		err = a.noteSending(t.ID, s)
	})
	select {
	case err := <-noted:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// noteAgent stores with a running turn how its agent is called by the provider that
// runs it. It is called and ends as [Engine.noteSending] does.
func (e *Engine) noteAgent(ctx context.Context, t state.Turn, agentID string) error {
	_, err := ask(ctx, e, t.SessionID, func(a *actor) (struct{}, error) {
		return struct{}{}, a.decide(func(d *draft) error {
			if a.running == nil || a.running.row.ID != t.ID || a.running.row.Status != state.TurnRunning {
				return ErrTurnNotRunning
			}
			d.session().AgentID = agentID
			return nil
		})
	})
	return err
}

func (a *actor) noteSending(turnID string, s state.Sending) error {
	return a.decide(func(d *draft) error {
		if a.running == nil || a.running.row.ID != turnID || a.running.row.Status != state.TurnRunning {
			return ErrTurnNotRunning
		}
		s.Epoch = a.e.store.Epoch()
		row := d.turn(a.running.row)
		row.Sending, row.RunID = &s, cmp.Or(s.RunID, row.RunID)
		if s.RunID == "" {
			row.Outputs = nil // those of a run that is gone
		}
		return nil
	})
}
