package memstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// ages is what a store knows of how old things are, and of packed sessions.
type ages struct {
	settled  map[uint64]time.Time // by delivery
	noBody   map[uint64]bool
	facts    map[string]time.Time
	sessions map[string]time.Time
	effects  map[string]time.Time // done, and of no session
	noFiles  map[string]bool
	dropped  map[string]string // session → agent
	packed   map[string]state.PackedRecord
	segments map[uint64]int64
	segment  uint64
}

func newAges() ages {
	return ages{
		settled: map[uint64]time.Time{}, noBody: map[uint64]bool{}, facts: map[string]time.Time{},
		sessions: map[string]time.Time{}, effects: map[string]time.Time{}, noFiles: map[string]bool{}, dropped: map[string]string{},
		packed: map[string]state.PackedRecord{}, segments: map[uint64]int64{},
	}
}

var (
	_ state.Retainer  = (*Store)(nil)
	_ state.PackIndex = (*Store)(nil)
)

// settle notes what became of a delivery.
func (a *ages) settle(d state.StoredDelivery) {
	delete(a.settled, d.Seq)
	delete(a.noBody, d.Seq)
	if d.Status == state.DeliveryDone || d.Status == state.DeliveryIgnored {
		a.settled[d.Seq] = later(d.DecidedAt, d.ReceivedAt)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// touch notes that the sessions of a change changed.
func (d *data) touch(c state.Change, now time.Time) {
	for _, s := range c.Sessions {
		d.touchOne(s.ID, now)
	}
	for _, t := range c.Turns {
		d.touchOne(t.SessionID, now)
	}
	for _, k := range c.Keys {
		d.touchOne(k.SessionID, now)
	}
	for _, a := range c.Approvals {
		d.touchOne(a.SessionID, now)
	}
	for _, o := range c.Outbox {
		d.touchOne(o.SessionID, now)
	}
	for _, s := range c.Settle {
		d.touchOne(d.outbox[s.ID].SessionID, now)
	}
	for _, t := range c.Timers {
		d.touchOne(t.SessionID, now)
	}
	for _, w := range c.Wakes {
		d.touchOne(w.SessionID, now)
	}
}

func (d *data) touchOne(id string, now time.Time) {
	if _, ok := d.sessions[id]; ok {
		d.ages.sessions[id] = now
		delete(d.ages.noFiles, id)
	}
}

// open reports whether something of a session is still to be done.
func (d *data) open(id string) bool {
	for _, t := range d.turns {
		if t.SessionID == id && !t.Status.Ended() {
			return true
		}
	}
	for _, a := range d.approvals {
		if a.SessionID == id && !a.Ended {
			return true
		}
	}
	for _, o := range d.outbox {
		if o.SessionID == id && o.at == rules.OutboxOpen {
			return true
		}
	}
	for _, t := range d.timers {
		if t.SessionID == id {
			return true
		}
	}
	for _, w := range d.wakes {
		if w.SessionID == id {
			return true
		}
	}
	for _, events := range d.lifecycle {
		for _, e := range events {
			if e.SessionID == id {
				return true
			}
		}
	}
	return false
}

// past returns up to limit keys whose time is before the given one, oldest first.
func past[K cmp.Ordered](times map[K]time.Time, before time.Time, limit int, keep func(K) bool) []K {
	var keys []K
	for k, at := range times {
		if at.Before(before) && keep(k) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b K) int { return cmp.Or(times[a].Compare(times[b]), cmp.Compare(a, b)) })
	return keys[:min(len(keys), max(limit, 0))]
}

func every[K any](K) bool { return true }

// drop removes what find returns.
func drop[K any](ctx context.Context, s *Store, limit int, find func() []K, remove func(K) bool) (n int, more bool, err error) {
	err = s.write(ctx, func() error {
		keys := find()
		more = limit > 0 && len(keys) >= limit
		for _, k := range keys {
			if remove(k) {
				n++
			}
		}
		return nil
	})
	return n, more, err
}

// DropBodies implements [state.Retainer].
func (s *Store) DropBodies(ctx context.Context, before time.Time, limit int) (int, bool, error) {
	a := &s.data.ages
	return drop(ctx, s, limit, func() []uint64 {
		return past(a.settled, before, limit, func(seq uint64) bool { return !a.noBody[seq] })
	}, func(seq uint64) bool {
		d := s.data.deliveries[seq]
		d.Body = nil
		s.data.deliveries[seq] = d
		a.noBody[seq] = true
		return true
	})
}

// DropDeliveries implements [state.Retainer].
func (s *Store) DropDeliveries(ctx context.Context, before time.Time, limit int) (int, bool, error) {
	a := &s.data.ages
	return drop(ctx, s, limit, func() []uint64 { return past(a.settled, before, limit, every) },
		func(seq uint64) bool {
			d := s.data.deliveries[seq]
			delete(s.data.deliveryIDs, [2]string{d.Source, d.ID})
			delete(s.data.deliveries, seq)
			delete(a.settled, seq)
			delete(a.noBody, seq)
			return true
		})
}

// DropFacts implements [state.Retainer].
func (s *Store) DropFacts(ctx context.Context, before time.Time, limit int) (int, bool, error) {
	a := &s.data.ages
	return drop(ctx, s, limit, func() []string { return past(a.facts, before, limit, every) },
		func(key string) bool {
			delete(s.data.facts, key)
			delete(a.facts, key)
			return true
		})
}

// DropCounts implements [state.Retainer].
func (s *Store) DropCounts(ctx context.Context, before time.Time, limit int) (int, bool, error) {
	return drop(ctx, s, limit, func() []string {
		expiry := make(map[string]time.Time, len(s.data.counts))
		for key, c := range s.data.counts {
			expiry[key] = c.expires
		}
		return past(expiry, before, limit, every)
	}, func(key string) bool {
		delete(s.data.counts, key)
		return true
	})
}

// DropEffects implements [state.Retainer].
func (s *Store) DropEffects(ctx context.Context, before time.Time, limit int) (int, bool, error) {
	a := &s.data.ages
	return drop(ctx, s, limit, func() []string { return past(a.effects, before, limit, every) },
		func(id string) bool {
			delete(s.data.outbox, id)
			delete(a.effects, id)
			return true
		})
}

// DropSessions implements [state.Retainer].
func (s *Store) DropSessions(ctx context.Context, before time.Time, limit int) (int, bool, error) {
	return drop(ctx, s, limit, func() []string { return past(s.data.ages.sessions, before, limit, every) },
		func(id string) bool {
			if s.data.open(id) {
				s.data.touchOne(id, s.opts.Now())
				return false
			}
			s.data.dropSession(id)
			return true
		})
}

func (d *data) dropSession(id string) {
	d.ages.dropped[id] = d.sessions[id].AgentID
	delete(d.sessions, id)
	delete(d.ages.sessions, id)
	delete(d.ages.noFiles, id)
	d.setPacked(id, nil)
	for key, link := range d.keys {
		if link.SessionID == id {
			delete(d.keys, key)
		}
	}
	for key, t := range d.turns {
		if t.SessionID == id {
			delete(d.turns, key)
		}
	}
	for key, a := range d.approvals {
		if a.SessionID == id {
			delete(d.approvals, key)
		}
	}
	for key, o := range d.outbox {
		if o.SessionID == id {
			delete(d.outbox, key)
			delete(d.letters, rules.OutboxLetterID(key))
		}
	}
}

// Dropped implements [state.Retainer].
func (s *Store) Dropped(ctx context.Context, limit int) ([]state.DroppedSession, error) {
	return list(ctx, s, max(limit, 0), func(d *data) []state.DroppedSession {
		var out []state.DroppedSession
		for id, agent := range d.ages.dropped {
			out = append(out, state.DroppedSession{ID: id, AgentID: agent})
		}
		slices.SortFunc(out, func(a, b state.DroppedSession) int { return cmp.Compare(a.ID, b.ID) })
		return out
	}, same)
}

// DropAgent implements [state.Retainer].
func (s *Store) DropAgent(ctx context.Context, agentID string, limit int) (n int, more bool, err error) {
	if err := rules.RecordID(state.RecordAgent, agentID); err != nil {
		return 0, false, fmt.Errorf("remove an agent: %w", err)
	}
	err = s.write(ctx, func() error {
		d := s.data
		for key, r := range d.records {
			if key.kind == state.RecordAgent || r.AgentID != agentID {
				continue
			}
			events := d.runEvents[key.id]
			cut := min(len(events), max(limit-n, 0))
			d.runEvents[key.id] = events[cut:]
			if n += cut; n >= limit {
				break
			}
			n++
			d.forget(key.kind, key.id)
		}
		if own := (recordKey{state.RecordAgent, agentID}); n < limit {
			if _, there := d.records[own]; there {
				n++
				delete(d.records, own)
			}
		}
		more = n >= limit
		return nil
	})
	return n, more, err
}

// ForgetDropped implements [state.Retainer].
func (s *Store) ForgetDropped(ctx context.Context, sessionID string) error {
	return s.write(ctx, func() error {
		delete(s.data.ages.dropped, sessionID)
		return nil
	})
}

// Settled implements [state.Retainer].
func (s *Store) Settled(ctx context.Context, before time.Time, limit int) (ids []string, more bool, err error) {
	a := &s.data.ages
	_, more, err = drop(ctx, s, limit, func() []string {
		return past(a.sessions, before, limit, func(id string) bool { return !a.noFiles[id] })
	}, func(id string) bool {
		if s.data.open(id) {
			s.data.touchOne(id, s.opts.Now())
			return false
		}
		ids = append(ids, id)
		return true
	})
	return ids, more, err
}
