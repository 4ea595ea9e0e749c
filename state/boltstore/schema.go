package boltstore

import (
	"encoding/binary"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/liaison-bot/liaison/state"
)

// table is a top-level bucket. Numbers in keys and values are big-endian, so
// that cursors see them in order; rows are JSON.
type table int

const (
	// tableMeta holds the schema version and the counters.
	tableMeta table = iota
	// tableDeliveries is seq → delivery with the place of its body, once something
	// was decided about it. Until then it is in the journal only.
	tableDeliveries
	// tableBodies is seq → encoded body, for deliveries that came before schema
	// version 3. Those of later ones are in the journal.
	tableBodies
	// tableDeliveryIDs is source NUL id → seq.
	tableDeliveryIDs
	// tablePending is seq → when it is due, for the pending deliveries. An empty
	// value leaves that to the row: nothing was put off, or an earlier version did it.
	tablePending
	// tableLetters is id → dead letter.
	tableLetters
	// tableFacts is fact → who claimed it.
	tableFacts
	// tableSessions is id → session.
	tableSessions
	// tableKeys is continuation key → kind of link and session id.
	tableKeys
	// tableTurns is id → turn.
	tableTurns
	// tableSessionTurns is session NUL turn → nothing.
	tableSessionTurns
	// tableOpenTurns is turn → nothing, for the queued and running ones.
	tableOpenTurns
	// tableRunning is session → its running turn.
	tableRunning
	// tableOutbox is seq → outbox item, for those that are not done.
	tableOutbox
	// tableOutboxIDs is id → seq and state.
	tableOutboxIDs
	// tableOutboxOrder is lane NUL seq → due, for the open items, see [rules.Lane].
	tableOutboxOrder
	// tableOutboxDue is due seq → lane, for the first open item of each lane.
	tableOutboxDue
	// tableTimers is id → timer.
	tableTimers
	// tableTimersDue is due id → nothing.
	tableTimersDue
	// tableWakes is id → wake.
	tableWakes
	// tableLifecycle is commit ordinal → event.
	tableLifecycle
	// tableRecords is kind NUL id → agent NUL encoded data. It and those that
	// follow came with schema version 2.
	tableRecords
	// tableAgentRecords is kind NUL agent NUL id → nothing.
	tableAgentRecords
	// tableRunEvents is run NUL number → encoded event.
	tableRunEvents
	// tableSessionLists is 'p' principal NUL id → channel, and 'c' channel NUL id
	// → nothing. It came with schema version 3, with those that follow.
	tableSessionLists
	// tableSettled is stage time seq → nothing, for deliveries that are done or
	// ignored, by when that was decided: stage 0 has its body still, 1 has none.
	tableSettled
	// tableFactAges is time fact → nothing, by when it was claimed.
	tableFactAges
	// tableSessionAges is stage time session → nothing, by the minute of the last
	// change: stage 0 may have files, 1 has none.
	tableSessionAges
	// tableSessionAge is session → stage time, for its entry there.
	tableSessionAge
	// tableHolds is session NUL kind id → nothing, for what keeps a session open: its
	// timers and wakes, and, since schema version 6, its open approvals and the open
	// items that stand in another line than its own.
	tableHolds
	// tableSessionKeys is session NUL key → nothing.
	tableSessionKeys
	// tableSessionOutbox is session NUL seq → id of the item, settled or not, for
	// those that have a session.
	tableSessionOutbox
	// tableDropped is session → its agent, for sessions that were removed while
	// their files and their agent's records may be there.
	tableDropped
	// tablePacked is session → where its packed record is.
	tablePacked
	// tableSegments is number → live bytes.
	tableSegments
	// tableInSegment is number session → nothing.
	tableInSegment
	// tableCounts is key → how much was counted, and when that expires. It came
	// with schema version 4, with those that follow.
	tableCounts
	// tableCountAges is time key → nothing, by when a count expires.
	tableCountAges
	// tableEffectAges is time id → nothing, for outbox items without a session, by
	// when they were done.
	tableEffectAges
	// tableVault is id → secret, as it was given. It came with schema version 5.
	tableVault
	// tableApprovals is id → what is known of an approval NUL its encoded record. It
	// came with schema version 6, with those that follow.
	tableApprovals
	// tableApprovalLists is the name of a list NUL time id → nothing.
	tableApprovalLists
	// tableAudit is seq → time and line of the audit log.
	tableAudit
	tableCount
)

var tableNames = [tableCount]string{
	"meta", "deliveries", "bodies", "delivery_ids", "pending", "letters", "facts", "sessions", "keys",
	"turns", "session_turns", "open_turns", "running", "outbox", "outbox_ids", "outbox_order", "outbox_due",
	"timers", "timers_due", "wakes", "lifecycle",
	"records", "agent_records", "run_events",
	"session_lists",
	"settled", "fact_ages", "session_ages", "session_age", "holds", "session_keys", "session_outbox", "dropped",
	"packed", "segments", "in_segment",
	"counts", "count_ages", "effect_ages",
	"vault",
	"approvals", "approval_lists", "audit",
}

// grows marks the tables to which rows are added at or near the end, because
// their keys begin with a number, a time, or an id that begins with one.
var grows = [tableCount]bool{
	tableDeliveries: true, tableBodies: true, tablePending: true, tableSessions: true, tableTurns: true,
	tableSessionTurns: true, tableOutbox: true, tableOutboxIDs: true, tableLifecycle: true, tableRunEvents: true,
	tableSettled: true, tableFactAges: true, tableSessionAges: true, tableSessionAge: true, tableSessionKeys: true,
	tableSessionOutbox: true, tablePacked: true, tableInSegment: true, tableCountAges: true, tableEffectAges: true,
	tableAudit: true,
}

// filled is how full a page of such a table is left when it is divided. bbolt
// leaves half of it free for keys in between, which never come here.
const filled = 0.9

// The keys of tableMeta.
var (
	metaSchema  = []byte("schema")
	metaEpoch   = []byte("epoch")
	metaCommit  = []byte("commit")
	metaChecked = []byte("checked")
	// metaLineage is what the journal's segments are known by, and metaJournal up
	// to where in it everything has a row: segment and offset.
	metaLineage = []byte("lineage")
	metaJournal = []byte("journal")
	// How many sessions are stored, and packed.
	metaSessions = []byte("sessions")
	metaPacked   = []byte("packed")
)

// schemaVersion is what this program writes.
const schemaVersion = 6

// migrations[v] turns a file of schema version v into one of v+1. The first,
// version 0, is a file without any table.
var migrations = [schemaVersion]func(*bolt.Tx, time.Time) error{
	func(tx *bolt.Tx, _ time.Time) error { return createTables(tx, tableMeta, tableRecords) },
	func(tx *bolt.Tx, _ time.Time) error { return createTables(tx, tableRecords, tableSessionLists) },
	func(tx *bolt.Tx, now time.Time) error {
		err := createTables(tx, tableSessionLists, tableCounts)
		for _, build := range []func(*bolt.Tx, time.Time) error{listSessions, ageAll} {
			if err == nil {
				err = build(tx, now)
			}
		}
		return err
	},
	func(tx *bolt.Tx, _ time.Time) error { return createTables(tx, tableCounts, tableVault) },
	func(tx *bolt.Tx, _ time.Time) error { return createTables(tx, tableVault, tableApprovals) },
	func(tx *bolt.Tx, _ time.Time) error { return createTables(tx, tableApprovals, tableCount) },
}

// createTables makes the tables from first up to the one before end.
func createTables(tx *bolt.Tx, first, end table) error {
	for _, name := range tableNames[first:end] {
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return fmt.Errorf("create table %s: %w", name, err)
		}
	}
	return nil
}

// migrate brings the file to schemaVersion, each step together with the number
// that says it was done.
func migrate(db *bolt.DB, path string, from uint64, now time.Time) error {
	for v := from; v < schemaVersion; v++ {
		err := update(db, path, func(tx *bolt.Tx) error {
			if err := migrations[v](tx, now); err != nil {
				return err
			}
			return tx.Bucket([]byte(tableNames[tableMeta])).Put(metaSchema, u64(v+1))
		})
		if err != nil {
			return fmt.Errorf("migrate from schema %d: %w", v, err)
		}
	}
	return nil
}

// readSchema returns the version of a file that is open, and refuses one that
// is newer or not ours.
func readSchema(db *bolt.DB, path string) (uint64, error) {
	var version uint64
	look := func(tx *bolt.Tx) error {
		meta := tx.Bucket([]byte(tableNames[tableMeta]))
		if meta == nil {
			return fmt.Errorf("%s is a bbolt file, but not one of Liaison: %w", path, state.ErrCorrupt)
		}
		raw := meta.Get(metaSchema)
		if len(raw) != 8 {
			return fmt.Errorf("%s does not say its schema version: %w", path, state.ErrCorrupt)
		}
		version = binary.BigEndian.Uint64(raw)
		if version == 0 {
			return fmt.Errorf("%s says schema version 0: %w", path, state.ErrCorrupt)
		}
		for t := range tableCount {
			if version == schemaVersion && tx.Bucket([]byte(tableNames[t])) == nil {
				return fmt.Errorf("%s lacks the table %s: %w", path, tableNames[t], state.ErrCorrupt)
			}
		}
		return nil
	}
	if err := protect(path, func() error { return db.View(look) }); err != nil {
		return 0, err
	}
	if version > schemaVersion {
		return 0, fmt.Errorf("%s has schema version %d, and this program knows %d; run the newer program, or restore a backup made before the upgrade: %w",
			path, version, schemaVersion, state.ErrNewerSchema)
	}
	return version, nil
}

func u64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// pair joins two strings that hold no NUL.
func pair(a, b string) []byte {
	k := make([]byte, 0, len(a)+1+len(b))
	k = append(k, a...)
	k = append(k, 0)
	return append(k, b...)
}
