package sessions

import (
	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
)

// cancelApprovals drafts the end of those calls that wait for people and that pick
// reports true for; nil stands for all. It returns their approvals, and how many
// are left.
func (d *draft) cancelApprovals(reason, by string, pick func(approvals.Record) bool) (ids []string, left int) {
	d.eachOpen(func(h *held) {
		if pick != nil && !pick(h.rec) {
			left++
			return
		}
		if step, ok := h.rec.Cancel(clip(d.a.e.redact(reason), maxReasonText), by, d.a.e.now()); ok {
			d.step(h, step)
			ids = append(ids, h.rec.ID)
		}
	})
	return ids, left
}

// supersede drafts the end of all calls that wait for people, where a newer
// revision takes the place of the one that they were asked for about.
func (d *draft) supersede(r state.Revision) {
	known := d.a.sess.Revision
	if r.ID == "" || known.ID == "" || r.ID == known.ID || overtaken(r, known) {
		return
	}
	d.eachOpen(func(h *held) {
		if step, ok := h.rec.Supersede("superseded by "+short(r.ID), d.a.e.now()); ok {
			d.step(h, step)
		}
	})
}

// eachOpen calls f for each call of the session about which people can decide.
func (d *draft) eachOpen(f func(*held)) {
	all, err := d.a.undone()
	if err != nil {
		d.a.e.logger.Error("calls that wait for people are not ended with what they are about", "session", d.a.id, "error", err)
		return
	}
	for _, h := range all {
		if h.rec.State.Open() {
			f(h)
		}
	}
}
