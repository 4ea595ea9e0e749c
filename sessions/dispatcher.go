package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// dispatcher reads stored deliveries in order, has them mapped, and hands them
// to the actors of their sessions. It waits for nothing but the store.
type dispatcher struct {
	e *Engine
	// work bounds decisions that have begun; they outlive the intake.
	work context.Context
	// after is how far the pending deliveries were looked at; next is when the
	// first of those that were not due is.
	after uint64
	next  time.Time

	mu sync.Mutex
	// deciding holds the deliveries that are read but not settled.
	deciding map[uint64]struct{}
	room     chan struct{}
	settling sync.WaitGroup
}

func newDispatcher(work context.Context, e *Engine) *dispatcher {
	return &dispatcher{e: e, work: work, deciding: make(map[uint64]struct{}), room: make(chan struct{}, 1)}
}

// run works until ctx ends, and then until nothing it began is undecided.
func (d *dispatcher) run(ctx context.Context) {
	defer d.settling.Wait()
	for {
		if err := d.pass(ctx); err != nil {
			if ctx.Err() == nil {
				d.e.abort(err)
			}
			return
		}
		if !d.await(ctx) {
			return
		}
	}
}

// await waits for more to do. It reports false when the intake ends.
func (d *dispatcher) await(ctx context.Context) bool {
	var due <-chan time.Time
	if !d.next.IsZero() {
		timer := time.NewTimer(max(d.next.Sub(d.e.now()), time.Millisecond))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-d.room:
		return true
	case <-d.e.store.Accepted():
	case <-due:
	}
	// A dead delivery becomes pending again under its old number, and a
	// postponed one keeps its own: look at all of them again.
	d.after, d.next = 0, time.Time{}
	return true
}

// pass hands over every pending delivery that is due while there is room.
func (d *dispatcher) pass(ctx context.Context) error {
	for ctx.Err() == nil {
		// The picture is taken before the page: a delivery that is settled while
		// the page is read must not look like one that nobody has taken yet.
		taken := d.taken()
		free := maxDispatching - len(taken)
		if free == 0 {
			return nil
		}
		page, err := read(ctx, d.e, func(ctx context.Context) ([]state.StoredDelivery, error) {
			return d.e.store.Pending(ctx, d.after, deliveryPage)
		})
		if err != nil {
			return fmt.Errorf("read pending deliveries: %w", err)
		}
		if len(page) == 0 {
			return nil
		}
		d.handle(d.pick(page, taken, free))
	}
	return nil
}

// pick takes up to free deliveries of a page that are due and not taken.
func (d *dispatcher) pick(page []state.StoredDelivery, taken map[uint64]struct{}, free int) []state.StoredDelivery {
	now := d.e.now()
	var picked []state.StoredDelivery
	for _, del := range page {
		if len(picked) == free {
			break
		}
		d.after = del.Seq
		_, is := taken[del.Seq]
		switch {
		case is:
		case del.NotBefore.After(now):
			if d.next.IsZero() || del.NotBefore.Before(d.next) {
				d.next = del.NotBefore
			}
		default:
			d.take(del.Seq)
			picked = append(picked, del)
		}
	}
	return picked
}

func (d *dispatcher) taken() map[uint64]struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.deciding)
}

func (d *dispatcher) take(seq uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.deciding[seq] = struct{}{}
	d.e.dispatching.Add(1)
	d.settling.Add(1)
}

// settled makes room for another delivery.
func (d *dispatcher) settled(seq uint64) {
	d.mu.Lock()
	delete(d.deciding, seq)
	half := len(d.deciding) == maxDispatching/2 || len(d.deciding) == 0
	d.mu.Unlock()
	d.e.dispatching.Add(-1)
	d.settling.Done()
	if half {
		select {
		case d.room <- struct{}{}:
		default:
		}
	}
}

// handle maps a page on all processors, then routes it in order.
func (d *dispatcher) handle(page []state.StoredDelivery) {
	intents := make([]Intent, len(page))
	faults := make([]error, len(page))
	var wg sync.WaitGroup
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range page {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			intents[i], faults[i] = d.e.mapDelivery(page[i])
			page[i].Body = nil // what is left of a delivery is small
		})
	}
	wg.Wait()
	for i, del := range page {
		d.route(del, intents[i], faults[i])
	}
}

// route hands one mapped delivery on. Decisions that concern no session are
// committed beside the loop, so that many share one sync of the disk.
func (d *dispatcher) route(del state.StoredDelivery, in Intent, fault error) {
	settled := func() { d.settled(del.Seq) }
	settle := func(status state.DeliveryStatus, decision string) {
		go func() {
			defer settled()
			d.e.settleDelivery(del, status, decision)
		}()
	}
	switch {
	case fault != nil:
		settle(state.DeliveryDead, fault.Error())
	case in.Action == ActionIgnore:
		settle(state.DeliveryIgnored, in.Reason)
	default:
		err := d.e.actors.route(d.work, in.Key, func(a *actor) { a.admit(del, in, settled) })
		if err != nil {
			d.e.logger.Error("delivery not routed; it will be at the next start", "delivery", ref(del), "error", err)
			settled()
		}
	}
}

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
	var p *panicError
	if errors.As(err, &p) {
		e.logger.Error("panic", "delivery", ref(del), "error", p, "stack", p.stack)
	}
	if err != nil {
		return in, fmt.Errorf("cannot be understood: %w", err)
	}
	switch in.Action {
	case ActionIgnore:
		if in.Reason == "" {
			in.Reason = "means nothing here"
		}
	case ActionRun, ActionArchive, ActionStop:
		if err := storable(in); err != nil {
			return in, fmt.Errorf("cannot be understood: %w", err)
		}
	default:
		return in, fmt.Errorf("cannot be understood: the channel asked for unknown action %d", in.Action)
	}
	return in, nil
}

// storable refuses what no store can hold, before a decision is built on it.
func storable(in Intent) error {
	ids := append([]string{in.Key}, in.Aliases...)
	if in.Fact != "" {
		ids = append(ids, in.Fact)
	}
	for _, id := range ids {
		if !state.ValidID(id) {
			return fmt.Errorf("the channel made an impossible key, alias or fact: %.80q", id)
		}
	}
	if len(in.Request) > 0 && !json.Valid(in.Request) {
		return errors.New("the channel made a request that is not JSON")
	}
	return nil
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
