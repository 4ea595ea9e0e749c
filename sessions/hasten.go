package sessions

import (
	"context"
	"errors"

	"github.com/liaison-bot/liaison/state"
)

// maxHastened is how many deliveries can wait to be hastened. What finds no room
// comes in its turn.
const maxHastened = 256

// hastened names a delivery that somebody waits for at a screen.
type hastened struct{ source, id string }

// Hasten asks that a delivery which was just stored be decided ahead of all that
// waits, however busy intake is. It never blocks, and promises nothing: a
// delivery that cannot be hastened is decided in its turn.
func (e *Engine) Hasten(source, id string) {
	select {
	case e.hastened <- hastened{source, id}:
	default:
	}
}

// hurry decides what is hastened, beside the loop and its pauses, until ctx ends.
func (d *dispatcher) hurry(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case h := <-d.e.hastened:
			d.overtake(ctx, h)
		}
	}
}

// overtake hands one delivery over out of its turn, if nobody has it in hand.
func (d *dispatcher) overtake(ctx context.Context, h hastened) {
	del, ok := d.fetch(ctx, h)
	if !ok || !d.snatch(del.Seq) {
		return
	}
	// Looked at again: the loop may have decided it in between.
	if del, ok = d.fetch(ctx, h); !ok {
		d.settled(del.Seq)
		return
	}
	d.handle([]state.StoredDelivery{del})
}

// fetch reads a delivery and reports whether it is to be decided now.
func (d *dispatcher) fetch(ctx context.Context, h hastened) (state.StoredDelivery, bool) {
	del, err := d.e.store.Delivery(ctx, h.source, h.id)
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			d.e.logger.Warn("delivery not hastened; it comes in its turn", "delivery", h.source+":"+h.id, "error", err)
		}
		return del, false
	}
	return del, del.Status == state.DeliveryPending && !del.NotBefore.After(d.e.now())
}

// snatch takes a delivery for hurry. It reports false when it is in hand already.
func (d *dispatcher) snatch(seq uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, is := d.deciding[seq]; is || d.snatched[seq] {
		return false
	}
	d.snatched[seq] = true
	d.takeLocked(seq)
	return true
}
