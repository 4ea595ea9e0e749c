package boltstore

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/journal"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// reader finds rows in one transaction. It implements [rules.View].
type reader struct {
	tx     *bolt.Tx
	tables [tableCount]*bolt.Bucket
	// undecided are the deliveries without a row; nil where none are looked for.
	undecided *undecided
}

func (r *reader) table(t table) *bolt.Bucket {
	if r.tables[t] == nil {
		r.tables[t] = r.tx.Bucket([]byte(tableNames[t]))
		if r.tables[t] != nil && grows[t] {
			r.tables[t].FillPercent = filled
		}
	}
	return r.tables[t]
}

// number reads a big-endian number; a missing one is 0.
func number(raw []byte) uint64 {
	if len(raw) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(raw)
}

// row decodes a row into v and reports whether there is one.
func (r *reader) row(t table, key []byte, v any) (bool, error) {
	raw := r.table(t).Get(key)
	if raw == nil {
		return false, nil
	}
	return true, decode(t, key, raw, v)
}

func decode(t table, key, raw []byte, v any) error {
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("row %q of %s (%w): %w", key, tableNames[t], err, state.ErrCorrupt)
	}
	return nil
}

// deliveryRow is a delivery as it is stored: its number is the key, and its body
// is at a place in the journal, or in tableBodies where schema version 2 put it.
type deliveryRow struct {
	state.StoredDelivery
	At journal.Position `json:"body,omitzero"`
}

// delivery returns the row of a delivery.
func (r *reader) delivery(seq uint64) (d deliveryRow, found bool, err error) {
	found, err = r.row(tableDeliveries, u64(seq), &d)
	d.Seq = seq
	return d, found, err
}

// indexedDelivery returns the row that an index names, with the body if it is
// not in the journal.
func (r *reader) indexedDelivery(seq uint64) (deliveryRow, error) {
	d, found, err := r.delivery(seq)
	if err == nil && !found {
		err = fmt.Errorf("delivery %d is in an index only: %w", seq, state.ErrCorrupt)
	}
	if err == nil && d.At == (journal.Position{}) {
		d.Body, err = decodeBody(r.table(tableBodies).Get(u64(seq)))
	}
	return d, err
}

// FactBy implements [rules.View].
func (r *reader) FactBy(key string) (string, bool, error) {
	by := r.table(tableFacts).Get([]byte(key))
	return string(by), by != nil, nil
}

// DeliveryStatus implements [rules.View].
func (r *reader) DeliveryStatus(seq uint64) (state.DeliveryStatus, bool, error) {
	d, found, err := r.delivery(seq)
	if err == nil && !found {
		_, found = r.undecided.get(seq)
		d.Status = state.DeliveryPending
	}
	return d.Status, found, err
}

// SessionHead implements [rules.View].
func (r *reader) SessionHead(id string) (rules.SessionHead, bool, error) {
	var head struct {
		Version   uint64 `json:"version"`
		Channel   string `json:"channel"`
		Principal string `json:"principal"`
	}
	found, err := r.row(tableSessions, []byte(id), &head)
	return rules.SessionHead(head), found, err
}

// TurnHead implements [rules.View].
func (r *reader) TurnHead(id string) (rules.TurnHead, bool, error) {
	var head struct {
		SessionID string           `json:"sessionId"`
		Version   uint64           `json:"version"`
		Epoch     uint64           `json:"epoch"`
		Status    state.TurnStatus `json:"status"`
	}
	found, err := r.row(tableTurns, []byte(id), &head)
	return rules.TurnHead(head), found, err
}

// RunningTurn implements [rules.View].
func (r *reader) RunningTurn(sessionID string) (string, bool, error) {
	id := r.table(tableRunning).Get([]byte(sessionID))
	return string(id), id != nil, nil
}

// The first byte of a link says what it is.
const (
	linkKey   = 'k'
	linkAlias = 'a'
)

// Link implements [rules.View].
func (r *reader) Link(key string) (state.KeyLink, bool, error) {
	raw := r.table(tableKeys).Get([]byte(key))
	if len(raw) == 0 {
		return state.KeyLink{}, false, nil
	}
	return linkOf(key, raw), true, nil
}

// linkOf reads an entry of tableKeys.
func linkOf(key string, raw []byte) state.KeyLink {
	return state.KeyLink{Key: key, SessionID: string(raw[min(1, len(raw)):]), Alias: len(raw) > 0 && raw[0] == linkAlias}
}

// outboxID returns the number and the state of an outbox item.
func (r *reader) outboxID(id string) (seq uint64, at rules.OutboxState, found bool) {
	raw := r.table(tableOutboxIDs).Get([]byte(id))
	if len(raw) != 9 {
		return 0, 0, false
	}
	return number(raw), rules.OutboxState(raw[8]), true
}

// OutboxState implements [rules.View].
func (r *reader) OutboxState(id string) (rules.OutboxState, bool, error) {
	_, at, found := r.outboxID(id)
	return at, found, nil
}

// after calls fn for the entries with key > start, in order, while it says so.
func (r *reader) after(t table, start []byte, fn func(k, v []byte) (bool, error)) error {
	c := r.table(t).Cursor()
	k, v := c.Seek(start)
	if bytes.Equal(k, start) && len(start) > 0 {
		k, v = c.Next()
	}
	for ; k != nil; k, v = c.Next() {
		if more, err := fn(k, v); err != nil || !more {
			return err
		}
	}
	return nil
}

// prefixed calls fn for the entries whose key begins with prefix, in order, with
// the rest of the key.
func (r *reader) prefixed(t table, prefix []byte, fn func(rest, v []byte) (bool, error)) error {
	c := r.table(t).Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if more, err := fn(k[len(prefix):], v); err != nil || !more {
			return err
		}
	}
	return nil
}

// dueKey orders times; those before 1970, and the zero time, come first as one,
// those after 2262 last.
func dueKey(t time.Time) uint64 {
	switch {
	case t.Unix() <= 0:
		return 0
	case t.Year() >= 2262:
		return 1<<63 - 1
	}
	return uint64(t.UnixNano())
}
