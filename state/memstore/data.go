package memstore

import (
	"slices"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// data is what a store holds. Its methods check nothing.
type data struct {
	epoch, deliverySeq, outboxSeq, auditSeq, commit uint64

	deliveries  map[uint64]state.StoredDelivery
	deliveryIDs map[[2]string]uint64
	letters     map[string]state.DeadLetter
	facts       map[string]string
	counts      map[string]count
	sessions    map[string]state.Session
	keys        map[string]state.KeyLink
	turns       map[string]state.Turn
	approvals   map[string]state.Approval
	audit       []state.AuditEntry
	outbox      map[string]item
	timers      map[string]state.Timer
	wakes       map[string]state.Wake
	lifecycle   map[uint64][]state.LifecycleEvent
	records     map[recordKey]state.AgentRecord
	runEvents   map[string][]state.RunEvent
	vault       map[string]state.Secret
	ages        ages
}

// item is an outbox item with how far it has come.
type item struct {
	state.OutboxItem
	at rules.OutboxState
}

// count is how much was counted under a key.
type count struct {
	n       int
	expires time.Time
}

func newData() *data {
	return &data{
		deliveries:  map[uint64]state.StoredDelivery{},
		deliveryIDs: map[[2]string]uint64{},
		letters:     map[string]state.DeadLetter{},
		facts:       map[string]string{},
		counts:      map[string]count{},
		sessions:    map[string]state.Session{},
		keys:        map[string]state.KeyLink{},
		turns:       map[string]state.Turn{},
		approvals:   map[string]state.Approval{},
		outbox:      map[string]item{},
		timers:      map[string]state.Timer{},
		wakes:       map[string]state.Wake{},
		lifecycle:   map[uint64][]state.LifecycleEvent{},
		records:     map[recordKey]state.AgentRecord{},
		runEvents:   map[string][]state.RunEvent{},
		vault:       map[string]state.Secret{},
		ages:        newAges(),
	}
}

func (d *data) accept(in state.Delivery) state.Outcome {
	outcome := state.Fresh
	key := [2]string{in.Source, in.ID}
	seq, known := d.deliveryIDs[key]
	if known {
		if d.deliveries[seq].Status != state.DeliveryDead {
			return state.Duplicate
		}
		outcome = state.Rearmed
		delete(d.letters, rules.DeliveryLetterID(in.Source, in.ID))
	} else {
		d.deliverySeq++
		seq = d.deliverySeq
		d.deliveryIDs[key] = seq
	}
	in.Headers = rules.Headers(in.Headers)
	in.Body = slices.Clone(in.Body)
	d.deliveries[seq] = state.StoredDelivery{Delivery: in, Seq: seq, Status: state.DeliveryPending}
	return outcome
}

func (d *data) apply(c state.Change, now time.Time) uint64 {
	d.commit++
	for _, f := range c.Facts {
		d.facts[f.Key] = f.By
		d.ages.facts[f.Key] = now
	}
	for _, n := range c.Counts {
		d.counts[n.Key] = count{n: d.counts[n.Key].n + 1, expires: n.Expires}
	}
	for _, u := range c.Deliveries {
		d.settleDelivery(u, now)
	}
	for _, s := range c.Sessions {
		s = cloneSession(s)
		s.Version++
		d.sessions[s.ID] = s
	}
	for _, key := range c.Unlink {
		delete(d.keys, key)
	}
	for _, k := range c.Keys {
		d.link(k)
	}
	for _, t := range c.Turns {
		t = cloneTurn(t)
		t.Version++
		d.turns[t.ID] = t
	}
	for _, a := range c.Approvals {
		a = cloneApproval(a)
		a.Version++
		d.approvals[a.ID] = a
	}
	d.write(c.Audit)
	for _, o := range c.Outbox {
		d.owe(o, now)
	}
	for _, s := range c.Settle {
		d.settleItem(s, now)
	}
	for _, id := range c.CancelTimers {
		delete(d.timers, id)
	}
	for _, t := range c.Timers {
		t.Payload = slices.Clone(t.Payload)
		d.timers[t.ID] = t
	}
	for _, id := range c.DoneWakes {
		delete(d.wakes, id)
	}
	for _, w := range c.Wakes {
		w.Payload = slices.Clone(w.Payload)
		d.wakes[w.ID] = w
	}
	for _, commit := range c.Confirm {
		delete(d.lifecycle, commit)
	}
	for i, l := range c.Lifecycle {
		l.Data = slices.Clone(l.Data)
		l.Index, l.Commit, l.Ordinal = 0, d.commit, i
		d.lifecycle[d.commit] = append(d.lifecycle[d.commit], l)
	}
	d.touch(c, now)
	return d.commit
}

func (d *data) settleDelivery(u state.DeliveryUpdate, now time.Time) {
	row := d.deliveries[u.Seq]
	rules.Update(&row, u, now)
	d.deliveries[u.Seq] = row
	d.ages.settle(row)
	letter := rules.DeliveryLetter(row, now)
	delete(d.letters, letter.ID)
	if row.Status == state.DeliveryDead {
		d.letters[letter.ID] = letter
	}
}

// link keeps a key that is a key: only a key can be made of an alias, not the reverse.
func (d *data) link(k state.KeyLink) {
	if old, ok := d.keys[k.Key]; ok && !old.Alias {
		return
	}
	d.keys[k.Key] = k
}

func (d *data) owe(o state.OutboxItem, now time.Time) {
	if _, known := d.outbox[o.ID]; known {
		return
	}
	d.outboxSeq++
	o.Seq, o.Attempts = d.outboxSeq, 0
	o.Payload = slices.Clone(o.Payload)
	if o.CreatedAt.IsZero() {
		o.CreatedAt = now
	}
	d.outbox[o.ID] = item{OutboxItem: o}
}

func (d *data) settleItem(s state.OutboxSettlement, now time.Time) {
	row := d.outbox[s.ID]
	delete(d.letters, rules.OutboxLetterID(s.ID))
	switch s.Result {
	case state.OutboxDone:
		row.at = rules.OutboxSettled
		row.Payload = nil
		if row.SessionID == "" {
			d.ages.effects[s.ID] = now
		}
	case state.OutboxRetry:
		row.at = rules.OutboxOpen
		row.NotBefore = s.RetryAt
	case state.OutboxDead:
		row.at = rules.OutboxGivenUp
		letter := rules.OutboxLetter(s, now)
		d.letters[letter.ID] = letter
	}
	d.outbox[s.ID] = row
}

// view implements [rules.View].
type view struct{ d *data }

func (v view) FactBy(key string) (string, bool, error) {
	by, ok := v.d.facts[key]
	return by, ok, nil
}

func (v view) DeliveryStatus(seq uint64) (state.DeliveryStatus, bool, error) {
	row, ok := v.d.deliveries[seq]
	return row.Status, ok, nil
}

func (v view) SessionHead(id string) (rules.SessionHead, bool, error) {
	row, ok := v.d.sessions[id]
	return rules.SessionHead{Version: row.Version, Channel: row.Channel, Principal: row.Principal}, ok, nil
}

func (v view) TurnHead(id string) (rules.TurnHead, bool, error) {
	row, ok := v.d.turns[id]
	return rules.TurnHead{SessionID: row.SessionID, Version: row.Version, Epoch: row.Epoch, Status: row.Status}, ok, nil
}

func (v view) RunningTurn(sessionID string) (string, bool, error) {
	for id, t := range v.d.turns {
		if t.SessionID == sessionID && t.Status == state.TurnRunning {
			return id, true, nil
		}
	}
	return "", false, nil
}

func (v view) Link(key string) (state.KeyLink, bool, error) {
	link, ok := v.d.keys[key]
	return link, ok, nil
}

func (v view) ApprovalHead(id string) (rules.ApprovalHead, bool, error) {
	row, ok := v.d.approvals[id]
	return rules.ApprovalHead{SessionID: row.SessionID, Version: row.Version, Ended: row.Ended, CreatedAt: row.CreatedAt}, ok, nil
}

func (v view) OutboxState(id string) (rules.OutboxState, bool, error) {
	row, ok := v.d.outbox[id]
	return row.at, ok, nil
}

func (v view) CountOf(key string) (int, error) { return v.d.counts[key].n, nil }
