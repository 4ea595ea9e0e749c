package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/state"
)

// owedFor begins the ids of what is owed for a delivery: its meaning, where it has
// one, so that it is owed once however often it is heard of.
func owedFor(del state.StoredDelivery, in Intent) string {
	switch {
	case in.Fact != "":
		return "fact:" + in.Fact
	case del.Replays > 0:
		return fmt.Sprintf("delivery:%s#%d", ref(del), del.Replays)
	default:
		return "delivery:" + ref(del)
	}
}

// owedItems are outbox items for effects that belong to no turn, and perhaps to
// no session.
func (e *Engine) owedItems(owner, channel, sessionID string, effects []Effect) []state.OutboxItem {
	items := make([]state.OutboxItem, 0, len(effects))
	for _, f := range effects {
		id := owner + "/" + f.Name
		if len(id) > state.MaxID {
			sum := sha256.Sum256([]byte(id))
			id = "sha256:" + hex.EncodeToString(sum[:])
		}
		items = append(items, e.owedItem(id, channel, sessionID, "", f))
	}
	return items
}

// owedItem is one effect as it is stored. What another channel delivers stands in
// no line with the session's own: neither shall hold up the other.
func (e *Engine) owedItem(id, channel, sessionID, turnID string, f Effect) state.OutboxItem {
	if f.Channel != "" && f.Channel != channel {
		channel, sessionID = f.Channel, ""
	}
	return state.OutboxItem{
		ID: id, SessionID: sessionID, TurnID: turnID, Channel: channel,
		Kind: f.Kind, Payload: f.Payload, CreatedAt: e.now(),
	}
}

// oweTo drafts effects that belong to the session if it exists, or will by this
// draft, and is on the channel.
func (d *draft) oweTo(owner, channel string, effects []Effect) {
	id := ""
	if d.sess != nil && d.sess.Channel == channel || d.a.sess.Version > 0 && d.a.sess.Channel == channel {
		id = d.a.id
	}
	d.change.Outbox = append(d.change.Outbox, d.a.e.owedItems(owner, channel, id, effects)...)
}

// settleApart commits a decision that concerns no more of a session than what is
// owed to its surface.
func (e *Engine) settleApart(del state.StoredDelivery, in Intent, status state.DeliveryStatus, decision string) {
	if in.Fact == "" && len(in.Effects) == 0 {
		e.settleDelivery(del, status, decision)
		return
	}
	ctx := e.actors.ctx
	u := state.DeliveryUpdate{
		Seq: del.Seq, Status: status, Attempts: del.Attempts + 1, Decision: e.decisionText(del, decision),
	}
	if in.Key != "" {
		s, err := read(ctx, e, func(ctx context.Context) (state.Session, error) { return e.store.SessionByKey(ctx, in.Key) })
		if err != nil && !errors.Is(err, state.ErrNotFound) {
			e.logger.Error("delivery not settled; it will be decided again at the next start", "delivery", ref(del), "error", err)
			return
		}
		u.SessionID = s.ID
	}
	_, err := e.commit(ctx, state.Change{
		Facts: factOf(del, in), Deliveries: []state.DeliveryUpdate{u},
		Outbox: e.owedItems(owedFor(del, in), del.Source, u.SessionID, in.Effects),
	})
	var claimed *state.FactClaimedError
	switch {
	case err == nil:
		e.noteDelivery(del, u)
	case errors.As(err, &claimed):
		e.settleDelivery(del, state.DeliveryIgnored, "duplicate of "+claimed.By)
	default:
		e.logger.Error("delivery not settled; it will be decided again at the next start", "delivery", ref(del), "error", err)
	}
}

// factOf is the claim that the delivery's meaning is dealt with.
func factOf(del state.StoredDelivery, in Intent) []state.Fact {
	if in.Fact == "" {
		return nil
	}
	return []state.Fact{{Key: in.Fact, By: ref(del)}}
}

// count drafts that a message is taken up, under each of its budgets.
func (d *draft) count(in Intent) {
	for _, b := range in.Budgets {
		d.change.Counts = append(d.change.Counts, state.Count{Key: b.Key, Limit: b.Limit, Expires: b.Expires})
	}
}

// overBudget settles a delivery whose message is not taken up, because a budget
// is used up. People are told once for each budget.
func (a *actor) overBudget(del state.StoredDelivery, in Intent, spent *state.BudgetError) {
	what := spent.Key
	for _, b := range in.Budgets {
		if b.Key == spent.Key {
			what = b.What
		}
	}
	a.settleBy(del, in, func(d *draft) error {
		d.settle(del, state.DeliveryIgnored, fmt.Sprintf("budget reached: %s: %s", what, in.Reason), "")
		d.oweTo("budget:"+spent.Key, del.Source, in.OverBudget)
		return nil
	})
}
