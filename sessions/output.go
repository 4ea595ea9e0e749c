package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/liaison-bot/liaison/state"
)

// MaxOutput bounds what the tools of one turn lay down together, names included,
// in bytes.
const MaxOutput = 256 << 10

// ErrOutputTooLarge says that a turn's outputs would exceed [MaxOutput].
var ErrOutputTooLarge = fmt.Errorf("the outputs of a turn have %d bytes at most", MaxOutput)

// KeepOutput lays down what a tool has to say to the turn's channel, in place of
// what has this name already. When it returns without an error that is durable,
// and comes with the turn to [Channel.Effects] as [Turn.Outputs], with secrets
// masked. It stays when a run is found again after a crash, and is gone when the
// turn begins anew.
//
// It fails with [ErrTurnNotRunning] when the turn is not running here, with
// [ErrOutputTooLarge], with [state.ErrInvalid] for a name or data that no store
// can hold, and with ctx's error when that ends first, after which the output
// may have been kept all the same.
func (e *Engine) KeepOutput(ctx context.Context, sessionID, turnID, name string, data json.RawMessage) error {
	text, ok := masked(data, e.redact)
	var err error
	switch {
	case !state.ValidID(name):
		err = fmt.Errorf("its name %.80q: %w", name, state.ErrInvalid)
	case len(data) > MaxOutput || len(text) > MaxOutput:
		err = ErrOutputTooLarge
	case !ok:
		err = fmt.Errorf("it is not one JSON value: %w", state.ErrInvalid)
	default:
		_, err = ask(ctx, e, sessionID, func(a *actor) (struct{}, error) {
			return struct{}{}, a.keepOutput(turnID, name, json.RawMessage(text))
		})
	}
	if err != nil {
		return fmt.Errorf("keep output %.80q of turn %s: %w", name, turnID, err)
	}
	return nil
}

func (a *actor) keepOutput(turnID, name string, data json.RawMessage) error {
	return a.decide(func(d *draft) error {
		if a.running == nil || a.running.row.ID != turnID || a.running.row.Status != state.TurnRunning {
			return ErrTurnNotRunning
		}
		outputs := maps.Clone(a.running.row.Outputs)
		if outputs == nil {
			outputs = make(map[string]json.RawMessage, 1)
		}
		outputs[name] = data
		size := 0
		for name, data := range outputs {
			size += len(name) + len(data)
		}
		if size > MaxOutput {
			return ErrOutputTooLarge
		}
		d.turn(a.running.row).Outputs = outputs
		return nil
	})
}
