package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/failpoint"
	"github.com/liaison-bot/liaison/state"
)

// oweCards drafts that every card of an approval shows its present version. The
// items of one card stand in a line of their own.
func (d *draft) oweCards(r approvals.Record) {
	for _, c := range r.Cards {
		if c.Gone {
			continue
		}
		line := cardLine(r.ID, c)
		d.change.Outbox = append(d.change.Outbox, state.OutboxItem{
			ID: fmt.Sprintf("%s#%d", line, r.Version), SessionID: d.a.id, Line: line, TurnID: r.TurnID,
			Channel: c.Channel, Kind: KindApprovalCard, CreatedAt: d.a.e.now(),
			Payload: encoded(CardItem{ApprovalID: r.ID, Place: c.Place, Version: r.Version}),
		})
	}
}

func cardLine(approvalID string, c approvals.Card) string {
	line := "approval:" + approvalID + ":" + c.Channel + ":" + c.Place
	if len(line) > state.MaxID-32 { // with room for a version
		sum := sha256.Sum256([]byte(line))
		line = "approval:" + approvalID + ":sha256:" + hex.EncodeToString(sum[:])
	}
	return line
}

// drawing is a card that is to be drawn, and what it shall show.
type drawing struct {
	view approvals.View
	card approvals.Card
}

// drawingOf returns what an item asks to be drawn. Without one, note says why
// there is nothing to draw.
func (o *outbox) drawingOf(ctx context.Context, item state.OutboxItem) (d *drawing, note string, err error) {
	var c CardItem
	if err := json.Unmarshal(item.Payload, &c); err != nil {
		return nil, "", fmt.Errorf("read what card is owed: %w", err)
	}
	h, err := o.e.storedApproval(ctx, c.ApprovalID)
	if errors.Is(err, approvals.ErrUnknown) {
		return nil, "left out: the approval is gone", nil
	}
	if err != nil {
		return nil, "", err
	}
	i := cardAt(h.rec.Cards, item.Channel, c.Place)
	switch {
	case i < 0 || h.rec.Cards[i].Gone:
		return nil, "left out: the card is gone", nil
	case h.rec.Cards[i].Drawn >= c.Version:
		return nil, fmt.Sprintf("left out: the card shows version %d already", h.rec.Cards[i].Drawn), nil
	}
	return &drawing{view: o.e.shown(h.rec), card: h.rec.Cards[i]}, "", nil
}

func cardAt(cards []approvals.Card, channel, place string) int {
	return slices.IndexFunc(cards, func(c approvals.Card) bool { return c.Channel == channel && c.Place == place })
}

// performCard makes one attempt at drawing a card and settles it.
func (o *outbox) performCard(work, attempts context.Context, item state.OutboxItem, sess state.Session) {
	if item.Channel != sess.Channel {
		sess = state.Session{} // whose key and surface are another channel's
	}
	d, note, err := o.drawingOf(work, item)
	if work.Err() != nil {
		o.e.logger.Error("card not drawn; it will be at the next start", "effect", item.ID, "error", err)
		return
	}
	if d == nil {
		s := o.judge(attempts, item, Receipt{Note: note}, err)
		o.settle(work, item, state.Session{}, Receipt{}, s, err)
		return
	}
	began := o.e.now()
	receipt, err := o.attempt(attempts, item, sess, d)
	failpoint.At("approval.card.posted")
	s := o.judge(attempts, item, receipt, err)
	o.e.metrics.EffectSettled(item.Channel, string(s.Result), max(o.e.now().Sub(began), 0))
	drawn := d.card
	switch {
	case s.Result == state.OutboxRetry:
		o.settle(work, item, sess, Receipt{}, s, err)
		return
	case s.Result == state.OutboxDead:
		// Only the surface knows that a card is gone: this one may be reached by the next step.
	case receipt.Card == nil:
		drawn.Drawn = d.view.Version
	default:
		drawn.Ref, drawn.Drawn, drawn.Gone = receipt.Card.Ref, receipt.Card.Drawn, receipt.Card.Gone
		if drawn.Drawn == 0 || drawn.Drawn > d.view.Version {
			drawn.Drawn = d.view.Version
		}
	}
	o.forget(s)
	err = inActor(o.e, item.SessionID, func(a *actor) error { return a.settleCard(s, d.view.ID, drawn) })
	o.noteSettled(item, s, err, nil)
}

// settleCard commits the end of an attempt together with what the card is now. It
// is no step: nothing is drawn anew for it.
func (a *actor) settleCard(s state.OutboxSettlement, id string, drawn approvals.Card) error {
	return a.decide(func(d *draft) error {
		d.change.Settle = []state.OutboxSettlement{s}
		h, err := a.approval(id)
		if errors.Is(err, approvals.ErrUnknown) {
			return nil
		}
		if err != nil {
			return err
		}
		if i := cardAt(h.rec.Cards, drawn.Channel, drawn.Place); i >= 0 {
			h.rec.Cards[i] = drawn
			d.hold(h)
			d.points = append(d.points, "approval.card")
		}
		return nil
	})
}
