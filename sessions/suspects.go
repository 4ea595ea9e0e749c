package sessions

import (
	"context"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// tryAlone decides, one after another, the deliveries that an earlier process
// had in hand when it died, so that the one that is to blame, if any is, will be
// alone when it does it again. One that was alone already is blamed.
func (d *dispatcher) tryAlone(ctx context.Context, left []uint64) error {
	for _, seq := range left {
		page, err := read(ctx, d.e, func(ctx context.Context) ([]state.StoredDelivery, error) {
			return d.e.store.Pending(ctx, seq-1, 1)
		})
		if err != nil {
			return fmt.Errorf("read delivery %d: %w", seq, err)
		}
		if len(page) == 0 || page[0].Seq != seq || page[0].NotBefore.After(d.e.now()) {
			continue // settled, or not in hand any more
		}
		if len(left) == 1 && !d.blame(ctx, &page[0]) {
			continue
		}
		d.take(seq)
		d.handle(page)
		for len(d.taken()) > 0 && ctx.Err() == nil {
			d.drain(ctx, time.Minute, func() bool { return len(d.taken()) == 0 })
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// blame counts the death of a process against a delivery. It reports false when
// there were enough, and the delivery is given up.
func (d *dispatcher) blame(ctx context.Context, del *state.StoredDelivery) bool {
	if del.Attempts+1 >= maxDeadly {
		d.e.settleDelivery(*del, state.DeliveryDead,
			fmt.Sprintf("the process was lost %d times while it decided about this delivery", del.Attempts+1))
		return false
	}
	del.Attempts++
	_, err := d.e.commit(ctx, state.Change{Deliveries: []state.DeliveryUpdate{{
		Seq: del.Seq, Status: state.DeliveryPending, Attempts: del.Attempts, NotBefore: del.NotBefore, Retries: del.Retries,
		Decision: "the process was lost while it decided about this delivery; it is tried again",
	}}})
	if err != nil {
		d.e.logger.Error("a lost process is not counted", "delivery", ref(*del), "error", err)
	}
	return true
}
