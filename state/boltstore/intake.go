package boltstore

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/journal"
)

// JournalFolder is the folder beside the file in which deliveries are kept as
// they came. The file and the folder belong together.
const JournalFolder = "intake"

// openJournal opens the journal and finds what has no row yet.
func (s *Store) openJournal(verify bool) error {
	opts := journal.Options{
		Verify: verify, Now: s.opts.Now, Logger: s.opts.Logger, BeforeSync: s.opts.BeforeCommit,
		Appended: s.appended,
		Ahead:    func(n int64) bool { return s.roomForDelivery(s.arriving.Load()+n) == nil },
		Failed:   func(cause error) { _ = s.fail(cause) },
	}
	err := protect(s.path, func() error {
		return s.db.View(func(tx *bolt.Tx) error {
			meta := tx.Bucket([]byte(tableNames[tableMeta]))
			copy(opts.Lineage[:], meta.Get(metaLineage))
			if raw := meta.Get(metaJournal); len(raw) == 16 {
				opts.From = journal.Position{Segment: number(raw), Offset: uint32(number(raw[8:]))}
			}
			rows := tx.Bucket([]byte(tableNames[tableDeliveries]))
			opts.LastSeq = rows.Sequence()
			s.used.Store(tx.Size())
			s.undecided.end = opts.From
			opts.Found = func(r journal.Record, at journal.Position) error {
				if rows.Get(u64(r.Seq)) == nil {
					s.undecided.add(undecidedEntry{seq: r.Seq, key: string(pair(r.Source, r.ID)), at: at}, at)
				}
				return nil
			}
			var err error
			s.journal, err = journal.Open(filepath.Join(filepath.Dir(s.path), JournalFolder), opts)
			return err
		})
	})
	if err != nil {
		return err
	}
	s.undecided.end = s.journal.End()
	if info, err := s.file.Stat(); err == nil {
		s.fileSize.Store(info.Size())
	}
	if n, _, _ := s.undecided.size(); n > 0 {
		signal(s.accepted)
	}
	return nil
}

// appended takes note of deliveries that are durable, before their callers know.
func (s *Store) appended(entries []*journal.Entry) {
	fresh := false
	for _, e := range entries {
		if e.Kind != journal.Accepted {
			continue
		}
		fresh = true
		s.recent.add(e.Key)
		s.undecided.add(undecidedEntry{seq: e.Seq, key: e.Key, at: e.At}, e.At.After())
	}
	if fresh {
		signal(s.accepted)
		if s.isCrowded() {
			signal(s.crowded)
		}
	}
}

// row is all that is known of a delivery without a look at the journal. It has
// no status.
func (e undecidedEntry) row() deliveryRow {
	source, id, _ := strings.Cut(e.key, "\x00")
	return deliveryRow{
		StoredDelivery: state.StoredDelivery{Delivery: state.Delivery{Source: source, ID: id}, Seq: e.seq},
		At:             e.at,
	}
}

// fill adds what the journal has: the body, and everything to a row without a
// status. On an error the row is one of a delivery without a body.
func (d *deliveryRow) fill(r *journal.Reader, body bool) error {
	bare := d.Status == ""
	if bare {
		d.Status = state.DeliveryPending
	}
	rec, err := r.Record(d.At)
	if err == nil && rec.Seq != d.Seq {
		err = fmt.Errorf("delivery %d is where %d should be: %w", rec.Seq, d.Seq, state.ErrCorrupt)
	}
	if err != nil {
		return err
	}
	if bare {
		d.Event, d.Headers, d.ReceivedAt = rec.Event, rec.Headers, rec.ReceivedAt
	}
	if body {
		d.Body, err = decodeBody(rec.Body)
	}
	return err
}

// adopt gives an undecided delivery its row, which the caller goes on to change.
func (b *batch) adopt(seq uint64) (deliveryRow, error) {
	e, ok := b.undecided.get(seq)
	if !ok {
		return deliveryRow{}, fmt.Errorf("delivery %d is gone", seq)
	}
	if b.source == nil {
		b.source = b.store.journal.Reader()
	}
	d := e.row()
	if err := d.fill(b.source, false); err != nil {
		b.store.opts.Logger.Error("a delivery cannot be read from the journal", "source", d.Source, "delivery", d.ID, "error", err)
	}
	return d, b.own(e)
}

// own remembers that a delivery gets its row in this transaction.
func (b *batch) own(e undecidedEntry) error {
	if b.adopted == nil {
		b.adopted = map[uint64]bool{}
	}
	b.adopted[e.seq] = true
	rows := b.table(tableDeliveries)
	if rows.Sequence() < e.seq {
		if err := rows.SetSequence(e.seq); err != nil {
			return err
		}
	}
	return b.table(tableDeliveryIDs).Put([]byte(e.key), u64(e.seq))
}

// dropBody forgets where the body of a settled delivery is.
func (b *batch) dropBody(seq []byte) error {
	d, found, err := b.delivery(number(seq))
	if err != nil || !found {
		return err
	}
	if d.At == (journal.Position{}) {
		return b.table(tableBodies).Delete(seq)
	}
	d.At = journal.Position{}
	return b.putDelivery(d)
}

func (b *batch) putDelivery(d deliveryRow) error {
	seq := d.Seq
	d.Seq = 0 // it is the key
	row, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return b.table(tableDeliveries).Put(u64(seq), row)
}
