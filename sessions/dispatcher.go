package sessions

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// dispatcher reads stored deliveries in order, has them mapped, and hands them
// to the actors of their sessions. It waits for nothing but the store, and gives
// way to intake.
type dispatcher struct {
	e *Engine
	// work bounds decisions that have begun; they outlive the intake.
	work context.Context
	note *handNote // nil when there can be none
	// after is how far the pending deliveries were looked at; next is when the
	// first of those that were not due is. again is set when there may be some
	// before after, and looked is when that was last looked at.
	after  uint64
	next   time.Time
	again  bool
	looked time.Time
	// began is when the dispatcher last had rested.
	began time.Time

	lines  lines
	places chan struct{} // of those that are weighed
	slow   chan struct{} // held by the one that is weighed while intake is busy

	mu sync.Mutex
	// deciding holds the deliveries that are read but not settled.
	deciding map[uint64]stage
	// snatched holds what was taken out of its turn, until a page is read that
	// cannot show it as undecided any more.
	snatched map[uint64]bool
	room     chan struct{}
	settling sync.WaitGroup
	noting   sync.Mutex
}

// stage says what a delivery in hand is doing.
type stage int

const (
	// atHand is being mapped or decided, which takes a moment.
	atHand stage = iota
	// lined waits behind another delivery, and can do no harm meanwhile.
	lined
	// weighed is being weighed, or was and is being decided.
	weighed
)

func newDispatcher(work context.Context, e *Engine) *dispatcher {
	return &dispatcher{
		e: e, work: work, deciding: make(map[uint64]stage), snatched: make(map[uint64]bool), room: make(chan struct{}, 1),
		lines: lines{byKey: make(map[string]*line)}, places: make(chan struct{}, maxWeighing), slow: make(chan struct{}, 1),
	}
}

// run works until ctx ends, and then until nothing it began is undecided.
func (d *dispatcher) run(ctx context.Context) {
	note, left, err := openHandNote(d.e.dir, d.e.store.Epoch())
	if err != nil {
		d.e.logger.Warn("a delivery that ends the process again and again will not be given up", "error", err)
	} else {
		d.note = note
		defer note.remove()
	}
	defer d.settling.Wait()
	if err = d.tryAlone(ctx, left); err == nil {
		hurrying, stop := context.WithCancel(ctx)
		var lane sync.WaitGroup
		lane.Go(func() { d.hurry(hurrying) })
		err = d.loop(ctx)
		stop()
		lane.Wait()
	}
	if err != nil && ctx.Err() == nil {
		d.e.abort(err)
	}
}

func (d *dispatcher) loop(ctx context.Context) error {
	for {
		d.began = d.e.now()
		if err := d.pass(ctx); err != nil {
			return err
		}
		if !d.await(ctx) {
			return nil
		}
	}
}

// await waits for more to do. It reports false when the intake ends.
func (d *dispatcher) await(ctx context.Context) bool {
	next := d.next
	if d.again { // not yet looked for, because others were in hand
		next = d.looked.Add(lookBehind)
	}
	var due <-chan time.Time
	if !next.IsZero() {
		timer := time.NewTimer(max(next.Sub(d.e.now()), time.Millisecond))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-d.room:
	case <-d.e.store.Accepted():
		// A dead delivery becomes pending again under its old number.
		d.again = true
	case <-due:
		d.again = true
	}
	return true
}

// lookBehind is how long deliveries that became pending again may wait behind
// new ones.
const lookBehind = time.Second

// pass hands over every pending delivery that is due while there is room.
func (d *dispatcher) pass(ctx context.Context) error {
	for ctx.Err() == nil {
		// The picture is taken before the page: a delivery that is settled while
		// the page is read must not look like one that nobody has taken yet.
		taken := d.picture()
		free := free(taken)
		if free == 0 && d.giveWay(ctx) {
			continue
		}
		if free == 0 {
			return nil
		}
		// From the beginning only when nothing is in hand, or now and then:
		// everything in hand would be read again.
		if d.again && (len(taken) == 0 || d.e.now().Sub(d.looked) >= lookBehind) {
			d.after, d.next, d.again, d.looked = 0, time.Time{}, false, d.e.now()
		}
		page, err := read(ctx, d.e, func(ctx context.Context) (state.DuePage, error) {
			return d.e.store.Due(ctx, d.e.now(), d.after, deliveryPage)
		})
		if err != nil {
			return fmt.Errorf("read pending deliveries: %w", err)
		}
		picked := d.pick(page, taken, free)
		if len(picked) > 0 {
			d.handle(picked)
		}
		if len(page.Deliveries) == deliveryPage || len(picked) > 0 && d.giveWay(ctx) || d.behind() {
			continue
		}
		return nil
	}
	return nil
}

// behind reports whether all that was new is taken and the rest must be looked
// at now. Otherwise the last delivery to be settled wakes the loop for that.
func (d *dispatcher) behind() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.again && len(d.deciding) == 0
}

// giveWay waits, while intake is busy, until what was handed over is decided and
// intake has had its share. It reports false when there was no need to.
func (d *dispatcher) giveWay(ctx context.Context) bool {
	if !d.e.pace.busy() {
		d.began = d.e.now()
		return false
	}
	d.drain(ctx, paceMax, d.idle)
	d.e.pace.rest(ctx, d.e.now().Sub(d.began))
	d.began = d.e.now()
	return true
}

// drain waits until that is done which shall be, at most for some time: a channel
// may take long to answer whether somebody may stop a session.
func (d *dispatcher) drain(ctx context.Context, most time.Duration, done func() bool) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	for !done() {
		select {
		case <-d.room:
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		}
	}
}

// pick takes up to free deliveries of a page that are not taken.
func (d *dispatcher) pick(page state.DuePage, taken map[uint64]stage, free int) []state.StoredDelivery {
	if d.next.IsZero() || !page.Next.IsZero() && page.Next.Before(d.next) {
		d.next = page.Next
	}
	var picked []state.StoredDelivery
	for _, del := range page.Deliveries {
		if len(picked) == free {
			return picked
		}
		d.after = del.Seq
		if _, is := taken[del.Seq]; !is && d.take(del.Seq) {
			picked = append(picked, del)
		}
	}
	d.after = page.Through
	return picked
}

// picture is what is taken before a page is read.
func (d *dispatcher) picture() map[uint64]stage {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.snatched, func(seq uint64, _ bool) bool {
		_, is := d.deciding[seq]
		return !is
	})
	return maps.Clone(d.deciding)
}

func (d *dispatcher) taken() map[uint64]stage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.deciding)
}

// counts tells how many deliveries are at hand, and how many are aside.
func counts(taken map[uint64]stage) (near, aside int) {
	for _, s := range taken {
		if s == atHand {
			near++
		}
	}
	return near, len(taken) - near
}

// free returns how many more deliveries may be taken.
func free(taken map[uint64]stage) int {
	near, aside := counts(taken)
	if aside >= maxAside {
		return 0
	}
	return max(maxDispatching-near, 0)
}

// idle reports whether nothing is at hand. Some may be aside.
func (d *dispatcher) idle() bool {
	near, _ := counts(d.taken())
	return near == 0
}

// take takes a delivery in its turn. It reports false when it was snatched.
func (d *dispatcher) take(seq uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.snatched[seq] {
		return false
	}
	d.takeLocked(seq)
	return true
}

func (d *dispatcher) takeLocked(seq uint64) {
	d.deciding[seq] = atHand
	d.e.dispatching.Add(1)
	d.settling.Add(1)
}

// mark notes what a delivery does now. What can do harm is in the hand note before.
func (d *dispatcher) mark(seq uint64, s stage) {
	d.mu.Lock()
	d.deciding[seq] = s
	d.mu.Unlock()
	if s == weighed {
		d.noteHand()
	}
	d.signal()
}

// settled makes room for another delivery.
func (d *dispatcher) settled(seq uint64) {
	d.mu.Lock()
	delete(d.deciding, seq)
	d.mu.Unlock()
	d.e.dispatching.Add(-1)
	d.settling.Done()
	d.signal()
}

// signal says that there is room again, once for many.
func (d *dispatcher) signal() {
	near, aside := counts(d.taken())
	if near != maxDispatching/2 && near != 0 && aside != maxAside-1 {
		return
	}
	select {
	case d.room <- struct{}{}:
	default:
	}
}

// handle notes a page, maps it on all processors, or on one while intake is
// busy, and routes it in order.
func (d *dispatcher) handle(page []state.StoredDelivery) {
	d.noteHand()
	intents := make([]Intent, len(page))
	faults := make([]error, len(page))
	var wg sync.WaitGroup
	at := runtime.GOMAXPROCS(0)
	if d.e.pace.busy() {
		at = 1
	}
	places := make(chan struct{}, at)
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

// noteHand writes down what is in hand, before it can do harm.
func (d *dispatcher) noteHand() {
	if d.note == nil {
		return
	}
	d.noting.Lock()
	defer d.noting.Unlock()
	taken := d.taken()
	maps.DeleteFunc(taken, func(_ uint64, s stage) bool { return s == lined })
	if err := d.note.write(d.e.store.Epoch(), slices.Collect(maps.Keys(taken))); err != nil {
		d.e.logger.Warn("deliveries in hand not noted", "error", err)
	}
}

// route hands one mapped delivery on: to be weighed, to wait for one of its key
// that is, or to be decided.
func (d *dispatcher) route(del state.StoredDelivery, in Intent, fault error) {
	w := &inHand{del: del, in: in, settled: sync.OnceFunc(func() { d.settled(del.Seq) })}
	switch {
	case fault != nil:
		go func() {
			defer w.settled()
			d.e.settleDelivery(del, state.DeliveryDead, fault.Error())
		}()
		return
	case in.overtakes() && in.Weigh:
		d.mark(del.Seq, lined)
		go d.weighApart(w)
		return
	case in.overtakes():
		d.decide(w)
		return
	}
	name, waits, begins := d.lines.enter(w, func() { d.mark(del.Seq, lined) })
	switch {
	case begins:
		go d.workLine(name, w)
	case !waits:
		d.decide(w)
	}
}

// decide has a delivery decided. What concerns no session is committed beside the
// loop, so that many share one sync of the disk.
func (d *dispatcher) decide(w *inHand) {
	if w.del.Replays > 0 {
		// A person wants it decided anew, whatever was decided about its meaning.
		w.in.Fact, w.in.Force, w.in.Budgets = "", true, nil
	}
	switch {
	case w.in.Action == ActionIgnore:
		go func() {
			defer w.settled()
			d.e.settleApart(w.del, w.in, state.DeliveryIgnored, w.in.Reason)
		}()
	case w.in.Action == ActionDecide:
		d.cast(w)
	case len(w.in.KeyPrefixes) > 0:
		go d.sweep(w)
	default:
		err := d.e.actors.route(d.work, w.in.Key, func(a *actor) { d.admit(a, w.del, w.in, w.settled) })
		if err != nil {
			d.e.logger.Error("delivery not routed; it will be at the next start", "delivery", ref(w.del), "error", err)
			w.settled()
		}
	}
}

// admit has an actor decide. A delivery that makes it panic is given up: it
// would do so again.
func (d *dispatcher) admit(a *actor, del state.StoredDelivery, in Intent, settled func()) {
	err := guard("deciding", d.e.redact, func() error {
		a.admit(del, in, settled)
		return nil
	})
	if err == nil {
		return
	}
	defer settled()
	a.stale = true
	a.logPanic(err)
	d.e.settleDelivery(del, state.DeliveryDead, "could not be decided: "+err.Error())
}
