package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/state"
)

// ErrTurnNotRunning says that nothing can be noted of a turn, because it has ended
// or was taken from this process.
var ErrTurnNotRunning = errors.New("the turn is not running any more")

// errActed ends an attempt at a turn whose run is gone: what it did to the world
// must not be done again.
var errActed = errors.New("its run cannot be found any more")

// NoteActed records that a running turn is about to do something to the world by
// a tool, named in a few words for a person, such as "push_branch". When it
// returns without an error that is durable, and the turn will never be run again
// by itself; otherwise the tool must not do it. What a turn did first is kept.
// It fails with [ErrTurnNotRunning] when the turn is not running here, with
// [state.ErrFenced] when another process has taken it over, and with ctx's error
// when that ends first, after which the turn may count as having acted.
func (e *Engine) NoteActed(ctx context.Context, sessionID, turnID, what string) error {
	_, err := ask(ctx, e, sessionID, func(a *actor) (struct{}, error) {
		return struct{}{}, a.noteActed(turnID, what)
	})
	if err != nil {
		return fmt.Errorf("note that turn %s acted: %w", turnID, err)
	}
	return nil
}

func (a *actor) noteActed(turnID, what string) error {
	err := a.decide(func(d *draft) error {
		if a.running == nil || a.running.row.ID != turnID || a.running.row.Status != state.TurnRunning {
			return ErrTurnNotRunning
		}
		if a.running.row.Acted != "" {
			return errNothingNew
		}
		d.turn(a.running.row).Acted = clip(a.e.redact(what), maxCodeText)
		return nil
	})
	if err != nil && !errors.Is(err, errNothingNew) {
		return err
	}
	a.running.acted.Store(true)
	return nil
}

// errNothingNew says that a decision would change nothing.
var errNothingNew = errors.New("nothing new")

// notRepeated is the reason of a turn that cannot go on and may not begin anew.
func notRepeated(t state.Turn, why string) string {
	return fmt.Sprintf("%s. It is not run again by itself, because it has called %s already, which must not happen twice", why, t.Acted)
}
