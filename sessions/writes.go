package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/tools"
)

const (
	// maxWrites is how many calls that wrote a turn remembers. The oldest go: a
	// repetition follows its call soon.
	maxWrites = 512
	// maxKeptAnswer bounds what is kept of the answer to one, and maxKeptAnswers of all that a
	// turn remembers, in bytes.
	maxKeptAnswer  = 8 << 10
	maxKeptAnswers = 64 << 10
)

// keptAnswer is what is kept of an answer, with secrets masked.
type keptAnswer struct {
	Text    string `json:"text"`
	IsError bool   `json:"isError,omitempty"`
}

// noteWrite records that a call of a running turn is about to do something to the
// world, as [Engine.NoteActed] does, and tells the audit log in the same transaction.
// For one that is on record already, by whichever process, it fails with a
// [*tools.RepeatedError]; a call without an id never is.
func (e *Engine) noteWrite(ctx context.Context, c tools.Call, tool string) error {
	_, err := ask(ctx, e, c.SessionID, func(a *actor) (struct{}, error) { return struct{}{}, a.noteWrite(c, tool) })
	if err != nil {
		return fmt.Errorf("note that turn %s calls %s: %w", c.TurnID, tool, err)
	}
	return nil
}

func (a *actor) noteWrite(c tools.Call, tool string) error {
	key := c.Key(tool)
	err := a.decide(func(d *draft) error {
		if a.running == nil || a.running.row.ID != c.TurnID || a.running.row.Status != state.TurnRunning {
			return ErrTurnNotRunning
		}
		for _, w := range a.running.row.Writes {
			if key != "" && w.Key == key {
				return repeated(w)
			}
		}
		t := d.turn(a.running.row)
		if t.Acted == "" {
			t.Acted = clip(a.e.redact(tool), maxCodeText)
		}
		if key != "" {
			t.Writes = append(slices.Clone(t.Writes), state.Write{Key: key})
			t.Writes = t.Writes[max(0, len(t.Writes)-maxWrites):]
		}
		d.change.Audit = append(d.change.Audit, a.e.auditEntry(callEntry(c, tool, c.Channel, approvals.ActionCalled, a.e.now())))
		return nil
	})
	if err != nil {
		return err
	}
	a.running.acted.Store(true)
	return nil
}

func repeated(w state.Write) error {
	var kept keptAnswer
	if w.Answer == nil || json.Unmarshal(w.Answer, &kept) != nil {
		return &tools.RepeatedError{}
	}
	return &tools.RepeatedError{Answer: &tools.Result{Text: kept.Text, IsError: kept.IsError}}
}

// keepAnswer keeps what a call that wrote has answered, as far as there is room. For
// other calls it does nothing.
func (e *Engine) keepAnswer(ctx context.Context, c tools.Call, tool string, r tools.Result) error {
	key := c.Key(tool)
	if key == "" {
		return nil
	}
	answer := encoded(keptAnswer{tools.Cut(e.redact(r.Text), maxKeptAnswer, "\n[cut here: the rest was not kept]"), r.IsError})
	_, err := ask(ctx, e, c.SessionID, func(a *actor) (struct{}, error) { return struct{}{}, a.keepAnswer(c.TurnID, key, answer) })
	if err != nil {
		return fmt.Errorf("keep what %s answered in turn %s: %w", tool, c.TurnID, err)
	}
	return nil
}

func (a *actor) keepAnswer(turnID, key string, answer json.RawMessage) error {
	err := a.decide(func(d *draft) error {
		if a.running == nil || a.running.row.ID != turnID || a.running.row.Status != state.TurnRunning {
			return ErrTurnNotRunning
		}
		writes := slices.Clone(a.running.row.Writes)
		at := slices.IndexFunc(writes, func(w state.Write) bool { return w.Key == key })
		if at < 0 {
			return errNothingNew
		}
		writes[at].Answer = answer
		size := 0
		for i := len(writes) - 1; i >= 0; i-- {
			if size += len(writes[i].Answer); size > maxKeptAnswers {
				writes[i].Answer = nil
			}
		}
		d.turn(a.running.row).Writes = writes
		return nil
	})
	if errors.Is(err, errNothingNew) {
		return nil
	}
	return err
}
