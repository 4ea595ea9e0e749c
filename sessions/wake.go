package sessions

import (
	"time"

	"github.com/liaison-bot/liaison/state"
)

// wake drafts that turns go on at once which wait for what the channel named. One
// that runs may be about to wait, for something that has just happened: it looks
// once more before it does.
func (a *actor) wake(d *draft, del state.StoredDelivery, in Intent) {
	about := func(t state.Turn) bool { return in.Revision.ID == "" || in.Revision.ID == t.Revision.ID }
	var woken []string
	for _, q := range a.queued {
		if t := q.row; q.parked() && t.WaitsFor != "" && about(t) {
			d.turn(t).NotBefore = time.Time{}
			d.change.CancelTimers = append(d.change.CancelTimers, retryTimerID(t.ID))
			woken = append(woken, t.ID)
		}
	}
	running := a.running != nil && !a.running.row.Status.Ended() && about(a.running.row)
	if running {
		a.running.woken = true
	}
	switch {
	case len(woken) > 0:
		d.settle(del, state.DeliveryDone, "woke "+turnsText(woken)+": "+in.Reason, woken[0])
	case running:
		d.settle(del, state.DeliveryIgnored, "nothing waits yet, turn "+a.running.row.ID+" is running: "+in.Reason, "")
	default:
		d.settle(del, state.DeliveryIgnored, "nothing waits: "+in.Reason, "")
	}
}
