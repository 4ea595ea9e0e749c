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

// What is added in order of time leaves no half-empty pages behind: they would be
// twice as many to read, to keep in memory and to copy.
func TestRowsThatComeInOrderFillTheirPages(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "liaison.db")
	s := open(t, path, boltstore.Options{})
	for from := 0; from < 2000; from += 20 {
		var c state.Change
		for i := from; i < from+20; i++ {
			id := fmt.Sprintf("ses_%026d", i)
			c.Sessions = append(c.Sessions, state.Session{
				ID: id, Channel: "github", Key: key(i), Title: "Change something in the service", UpdatedAt: time.Unix(1_770_000_000, 0)})
			c.Turns = append(c.Turns, state.Turn{ID: fmt.Sprintf("trn_%026d", i), SessionID: id, Status: state.TurnCompleted})
		}
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, s)
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *bolt.Tx) error {
		for _, table := range []string{"sessions", "turns", "session_turns"} {
			use := tx.Bucket([]byte(table)).Stats()
			if use.KeyN != 2000 || use.LeafInuse*100 < use.LeafAlloc*80 {
				t.Errorf("%s: %d rows of %d bytes in %d bytes of pages", table, use.KeyN, use.LeafInuse, use.LeafAlloc)
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
