package boltstore_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
)

// addedBy are the tables that came with a schema version.
var addedBy = map[uint64][]string{
	2: {"records", "agent_records", "run_events"},
	3: {"session_lists", "settled", "fact_ages", "session_ages", "session_age", "holds", "session_keys",
		"session_outbox", "dropped", "packed", "segments", "in_segment"},
	4: {"counts", "count_ages", "effect_ages"},
	5: {"vault"},
	6: {"approvals", "approval_lists", "audit"},
}

// asOf makes a file of this version look as one of an earlier schema.
func asOf(t *testing.T, path string, version uint64) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for since, tables := range addedBy {
			for _, name := range tables {
				if since <= version {
					continue
				}
				if err := tx.DeleteBucket([]byte(name)); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		return tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte{0, 0, 0, 0, 0, 0, 0, byte(version)})
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// A file of an earlier schema keeps all that it has, is indexed anew, and takes
// what is new.
func TestAFileOfAnEarlierSchemaIsMigrated(t *testing.T) {
	t.Parallel()
	day := time.Now()
	for _, version := range []uint64{1, 2, 3, 4, 5} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "liaison.db")
			s := open(t, path, boltstore.Options{})
			for i := range 40 {
				accept(t, s, fmt.Sprint(i))
			}
			var c state.Change
			for i := range 300 {
				c.Sessions = append(c.Sessions, state.Session{
					ID: fmt.Sprintf("ses_%03d", i), Channel: "http", Principal: fmt.Sprint("owner ", i%3),
					UpdatedAt: day.AddDate(0, 0, -i)})
			}
			c.Keys = []state.KeyLink{{Key: "old", SessionID: "ses_299"}}
			ended := state.Turn{ID: "trn_1", SessionID: "ses_299", Status: state.TurnFailed}
			c.Turns = []state.Turn{ended}
			c.Outbox = []state.OutboxItem{{ID: "trn_1/a", SessionID: "ses_299"}, {ID: "trn_1/b", SessionID: "ses_299"}, {ID: "x", SessionID: "ses_298"}}
			c.Timers = []state.Timer{{ID: "t", SessionID: "ses_297", Due: day}}
			c.Wakes = []state.Wake{{ID: "w", SessionID: "ses_296"}}
			c.Facts = []state.Fact{{Key: "fact", By: "me"}}
			if _, err := s.Commit(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			settled := state.Change{Settle: []state.OutboxSettlement{
				{ID: "trn_1/a", Result: state.OutboxDone}, {ID: "trn_1/b", Result: state.OutboxDead, Note: "no"}}}
			if _, err := s.Commit(t.Context(), settled); err != nil {
				t.Fatal(err)
			}
			mustClose(t, s)
			asOf(t, path, version)
			for range 2 { // the second opening finds it migrated
				s := open(t, path, boltstore.Options{})
				if pending, err := s.Pending(t.Context(), 0, 100); err != nil || len(pending) != 40 {
					t.Fatalf("%d deliveries, %v", len(pending), err)
				}
				r := state.AgentRecord{Kind: state.RecordAgent, ID: fmt.Sprint("a", s.Epoch())}
				if err := s.CreateAgentRecord(t.Context(), r); err != nil {
					t.Error(err)
				}
				if err := s.PutSecret(t.Context(), state.Secret{ID: r.ID, Data: []byte("sealed")}); err != nil {
					t.Error(err)
				}
				for _, f := range []state.SessionFilter{{Principal: "owner 1"}, {Principal: "owner 1", Channel: "http"}} {
					rows, err := s.RecentSessions(t.Context(), f, 1000)
					if err != nil || len(rows) != 100 || rows[0].ID != "ses_298" || rows[99].ID != "ses_001" {
						t.Errorf("%+v: %d sessions, %v", f, len(rows), err)
					}
				}
				if rows, err := s.RecentSessions(t.Context(), state.SessionFilter{Channel: "http"}, 1000); err != nil || len(rows) != 300 {
					t.Errorf("%d sessions of the channel, %v", len(rows), err)
				}
				asked := state.Change{
					Approvals: []state.Approval{{ID: fmt.Sprint("apr_", s.Epoch()), SessionID: "ses_001", CreatedAt: day}},
					Audit:     []state.AuditEntry{{At: day, Entry: []byte(`"asked"`)}},
				}
				if _, err := s.Commit(t.Context(), asked); err != nil {
					t.Error(err)
				}
				count := state.Change{Counts: []state.Count{{Key: "reviews", Limit: 2, Expires: day}}}
				if _, err := s.Commit(t.Context(), count); err != nil {
					t.Error(err)
				}
				mustClose(t, s)
			}
			if version < 3 {
				agesAreKnown(t, path, day)
			}
		})
	}
}

// agesAreKnown checks that what was there before has an age: sessions that of
// their last change, and what does not say it that of the migration.
func agesAreKnown(t *testing.T, path string, migrated time.Time) {
	t.Helper()
	ctx := t.Context()
	s := open(t, path, boltstore.Options{})
	if n, _, err := s.DropFacts(ctx, migrated, 10); n != 0 || err != nil {
		t.Errorf("%d facts are older than the migration, %v", n, err)
	}
	if n, _, err := s.DropFacts(ctx, time.Now().Add(time.Hour), 10); n != 1 || err != nil {
		t.Errorf("%d facts, %v", n, err)
	}
	if u, err := s.Usage(ctx); err != nil || u.Sessions != 300 {
		t.Errorf("usage %+v, %v", u, err)
	}
	// Of the ten oldest, three are in use: one owes something, one has a timer, one a wake.
	if n, _, err := s.DropSessions(ctx, migrated.AddDate(0, 0, -289), 100); n != 7 || err != nil {
		t.Errorf("%d sessions removed, %v", n, err)
	}
	if _, err := s.SessionByKey(ctx, "old"); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("the key of a removed session: %v", err)
	}
	if letters, err := s.DeadLetters(ctx, "", 10); err != nil || len(letters) != 0 {
		t.Errorf("letters %v, %v", letters, err)
	}
	again := state.Change{Sessions: []state.Session{{ID: "ses_299"}}, Outbox: []state.OutboxItem{{ID: "trn_1/a", SessionID: "ses_299"}}}
	if _, err := s.Commit(ctx, again); err != nil {
		t.Fatal(err)
	}
	if items, err := s.OutboxItems(ctx, "ses_299"); err != nil || len(items) != 1 {
		t.Errorf("an id that was forgotten is %d items, %v", len(items), err)
	}
}
