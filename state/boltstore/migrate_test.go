package boltstore_test

import (
	"errors"
	"fmt"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
)

// A file of the first schema keeps all that it has and takes agents' records.
func TestAFileOfTheFirstSchemaIsMigrated(t *testing.T) {
	t.Parallel()
	path := written(t)
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range []string{"records", "agent_records", "run_events"} {
			if err := tx.DeleteBucket([]byte(name)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte{0, 0, 0, 0, 0, 0, 0, 1})
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second opening finds it migrated
		s := open(t, path, boltstore.Options{})
		if pending, err := s.Pending(t.Context(), 0, 100); err != nil || len(pending) != 40 {
			t.Fatalf("%d deliveries, %v", len(pending), err)
		}
		r := state.AgentRecord{Kind: state.RecordAgent, ID: fmt.Sprint("a", s.Epoch())}
		if err := s.CreateAgentRecord(t.Context(), r); err != nil {
			t.Error(err)
		}
		mustClose(t, s)
	}
}
