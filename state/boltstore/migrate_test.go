package boltstore_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
)

// addedBy are the tables that came with a schema version.
var addedBy = map[uint64][]string{
	2: {"records", "agent_records", "run_events"},
	3: {"session_lists", "settled", "fact_ages", "session_ages", "session_age", "holds", "session_keys",
		"session_outbox", "dropped", "packed", "segments", "in_segment"},
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
	for _, version := range []uint64{1, 2} {
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
					ID: fmt.Sprintf("ses_%03d", i), Channel: "http", Principal: fmt.Sprint("owner ", i%3)})
			}
			if _, err := s.Commit(t.Context(), c); err != nil {
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
				for _, f := range []state.SessionFilter{{Principal: "owner 1"}, {Principal: "owner 1", Channel: "http"}} {
					rows, err := s.RecentSessions(t.Context(), f, 1000)
					if err != nil || len(rows) != 100 || rows[0].ID != "ses_298" || rows[99].ID != "ses_001" {
						t.Errorf("%+v: %d sessions, %v", f, len(rows), err)
					}
				}
				if rows, err := s.RecentSessions(t.Context(), state.SessionFilter{Channel: "http"}, 1000); err != nil || len(rows) != 300 {
					t.Errorf("%d sessions of the channel, %v", len(rows), err)
				}
				mustClose(t, s)
			}
		})
	}
}
