package boltstore

import (
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// ageAll indexes what a file of an earlier schema holds.
func ageAll(tx *bolt.Tx, now time.Time) error {
	b := &batch{reader: reader{tx: tx}}
	for _, step := range []func(time.Time) error{
		b.ageDeliveries, b.ageFacts, b.ageSessions, b.indexKeys, b.indexHolds, b.indexOutbox,
	} {
		if err := step(now); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) ageDeliveries(time.Time) error {
	return b.after(tableDeliveries, nil, func(k, v []byte) (bool, error) {
		var d state.StoredDelivery
		if err := decode(tableDeliveries, k, v, &d); err != nil {
			return false, err
		}
		if d.Status != state.DeliveryDone && d.Status != state.DeliveryIgnored {
			return true, nil
		}
		return true, b.table(tableSettled).Put(settledKey(withBody, d, number(k)), nil)
	})
}

func (b *batch) ageFacts(now time.Time) error {
	return b.after(tableFacts, nil, func(k, _ []byte) (bool, error) {
		return true, b.table(tableFactAges).Put(aged(now, string(k)), nil)
	})
}

func (b *batch) ageSessions(now time.Time) error {
	var n uint64
	err := b.after(tableSessions, nil, func(k, v []byte) (bool, error) {
		var s state.Session
		if err := decode(tableSessions, k, v, &s); err != nil {
			return false, err
		}
		at := s.UpdatedAt
		if at.IsZero() {
			at = now
		}
		n++
		return true, b.setAge(string(k), withFiles, minute(at))
	})
	if err != nil {
		return err
	}
	return b.table(tableMeta).Put(metaSessions, u64(n))
}

func (b *batch) indexKeys(time.Time) error {
	return b.after(tableKeys, nil, func(k, v []byte) (bool, error) {
		return true, b.table(tableSessionKeys).Put(pair(string(v[min(1, len(v)):]), string(k)), nil)
	})
}

func (b *batch) indexHolds(time.Time) error {
	err := b.after(tableTimers, nil, func(k, v []byte) (bool, error) {
		var t state.Timer
		if err := decode(tableTimers, k, v, &t); err != nil {
			return false, err
		}
		return true, b.table(tableHolds).Put(holdKey(t.SessionID, holdTimer, string(k)), nil)
	})
	if err != nil {
		return err
	}
	return b.after(tableWakes, nil, func(k, v []byte) (bool, error) {
		var w state.Wake
		if err := decode(tableWakes, k, v, &w); err != nil {
			return false, err
		}
		return true, b.table(tableHolds).Put(holdKey(w.SessionID, holdWake, string(k)), nil)
	})
}

// indexOutbox finds the session of a settled item, whose row is gone, by the
// turn with which its id begins.
func (b *batch) indexOutbox(time.Time) error {
	return b.after(tableOutboxIDs, nil, func(k, _ []byte) (bool, error) {
		seq, at, found := b.outboxID(string(k))
		if !found {
			return true, nil
		}
		session, err := b.sessionOfItem(string(k), seq, at)
		if err != nil || session == "" {
			return err == nil, err
		}
		return true, b.table(tableSessionOutbox).Put(orderKey(session, seq), k)
	})
}

func (b *batch) sessionOfItem(id string, seq uint64, at rules.OutboxState) (string, error) {
	if at != rules.OutboxSettled {
		item, err := b.outboxItem(seq)
		return item.SessionID, err
	}
	turn, _, _ := strings.Cut(id, "/")
	head, _, err := b.TurnHead(turn)
	return head.SessionID, err
}
