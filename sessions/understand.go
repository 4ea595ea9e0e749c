package sessions

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/state"
)

// mapDelivery asks the delivery's channel what it means. An error says why it
// cannot be understood.
func (e *Engine) mapDelivery(del state.StoredDelivery) (in Intent, err error) {
	c, ok := e.channels[del.Source]
	if !ok {
		return in, fmt.Errorf("no channel %q is configured", del.Source)
	}
	err = guard("Map of channel "+del.Source, e.redact, func() (err error) {
		in, err = c.Map(Delivery{
			Source: del.Source, ID: del.ID, Event: del.Event, Headers: del.Headers,
			Body: del.Body, ReceivedAt: del.ReceivedAt,
		})
		return err
	})
	e.logPanic("delivery", ref(del), err)
	if err != nil {
		return in, fmt.Errorf("cannot be understood: %w", err)
	}
	return understood(in)
}

// understood returns an intent of a channel that a decision can be built on.
func understood(in Intent) (Intent, error) {
	switch in.Action {
	case ActionIgnore:
		if in.Reason == "" {
			in.Reason = "means nothing here"
		}
	case ActionDecide:
		if in.Ballot == nil && !in.Weigh {
			return in, errors.New("cannot be understood: the channel asked to count a ballot and cast none")
		}
		in.Urgent = true
	case ActionRun, ActionArchive, ActionStop, ActionWake, ActionAmend, ActionNote:
	default:
		return in, fmt.Errorf("cannot be understood: the channel asked for unknown action %d", in.Action)
	}
	if err := storable(in); err != nil {
		return in, fmt.Errorf("cannot be understood: %w", err)
	}
	return in, nil
}

// storable refuses what no store can hold, before a decision is built on it.
func storable(in Intent) error {
	var ids []string
	if in.Key != "" || in.Action != ActionIgnore && in.Action != ActionDecide && len(in.KeyPrefixes) == 0 {
		ids = append(ids, in.Key)
	}
	ids = append(ids, in.Aliases...)
	if in.Fact != "" {
		ids = append(ids, in.Fact)
	}
	if in.MessageID != "" || in.Action == ActionAmend {
		ids = append(ids, in.MessageID)
	}
	if in.Action == ActionNote {
		ids = append(ids, in.Note.Event)
	}
	for _, b := range in.Budgets {
		ids = append(ids, b.Key)
		if b.Limit < 0 {
			return fmt.Errorf("the channel made an impossible budget: %d of %.80q", b.Limit, b.Key)
		}
	}
	for _, id := range ids {
		if !state.ValidID(id) {
			return fmt.Errorf("the channel made an impossible key, alias, fact, budget or name: %.80q", id)
		}
	}
	if len(in.Request) > 0 && !json.Valid(in.Request) {
		return errors.New("the channel made a request that is not JSON")
	}
	if len(in.Note.Data) > 0 && !json.Valid(in.Note.Data) {
		return errors.New("the channel made a note that is not JSON")
	}
	return errors.Join(sweepable(in), owable(in.Effects), owable(in.OverBudget))
}

// owable refuses effects that cannot be owed together.
func owable(effects []Effect) error {
	names := make(map[string]bool, len(effects))
	for _, f := range effects {
		if !state.ValidID(f.Name) || names[f.Name] || len(f.Payload) > 0 && !json.Valid(f.Payload) {
			return fmt.Errorf("the channel made an effect that cannot be stored, or two of one name: %.80q", f.Name)
		}
		names[f.Name] = true
	}
	return nil
}

// logPanic keeps the stack of a fault in foreign code for the operator.
func (e *Engine) logPanic(what, id string, err error) {
	var p *panicError
	if errors.As(err, &p) {
		e.logger.Error("panic", what, id, "error", p, "stack", p.stack)
	}
}

// settleDelivery records a decision that concerns the delivery alone.
func (e *Engine) settleDelivery(del state.StoredDelivery, status state.DeliveryStatus, decision string) {
	u := state.DeliveryUpdate{
		Seq: del.Seq, Status: status, Attempts: del.Attempts + 1, Decision: e.decisionText(del, decision),
	}
	if _, err := e.commit(e.actors.ctx, state.Change{Deliveries: []state.DeliveryUpdate{u}}); err != nil {
		e.logger.Error("delivery not settled; it will be decided again at the next start",
			"delivery", ref(del), "error", err)
		return
	}
	e.noteDelivery(del, u)
}

// noteDelivery logs what was decided about a delivery, and why: one line for
// each, at a level that is shown, since it answers why nothing happened.
func (e *Engine) noteDelivery(del state.StoredDelivery, u state.DeliveryUpdate) {
	e.metrics.DeliveryDecided(del.Source, string(u.Status), max(e.now().Sub(del.ReceivedAt), 0))
	log := e.logger.With("delivery", ref(del), "event", del.Event, "reason", u.Decision)
	if u.SessionID != "" {
		log = log.With("session", u.SessionID)
	}
	switch u.Status {
	case state.DeliveryDead:
		log.Warn("delivery given up")
	case state.DeliveryIgnored:
		log.Info("delivery ignored")
	default:
		log.Info("delivery taken up")
	}
}
