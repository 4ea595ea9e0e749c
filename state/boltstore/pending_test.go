package boltstore_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
)

// An earlier version put deliveries off without noting the time in the index.
func TestWhatAnEarlierVersionPutOffIsNotDueEarly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "liaison.db")
	s := open(t, path, boltstore.Options{})
	until := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range 3 {
		accept(t, s, fmt.Sprint(i))
	}
	putOff := state.Change{Deliveries: []state.DeliveryUpdate{
		{Seq: 1, Status: state.DeliveryPending, NotBefore: until},
		{Seq: 2, Status: state.DeliveryPending},
		{Seq: 3, Status: state.DeliveryPending, NotBefore: until.Add(time.Second)},
	}}
	if _, err := s.Commit(t.Context(), putOff); err != nil {
		t.Fatal(err)
	}
	mustClose(t, s)
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, seq := range []byte{1, 2, 3} {
			if err := tx.Bucket([]byte("pending")).Put([]byte{0, 0, 0, 0, 0, 0, 0, seq}, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, boltstore.Options{})
	for _, c := range []struct {
		now  time.Time
		want string
		next time.Time
	}{
		{until.Add(-1), "2", until},
		{until, "1 2", until.Add(time.Second)},
		{until.Add(time.Minute), "1 2 3", time.Time{}},
	} {
		page, err := s.Due(t.Context(), c.now, 0, 9)
		if err != nil {
			t.Fatal(err)
		}
		var due string
		for _, d := range page.Deliveries {
			due += fmt.Sprint(" ", d.Seq)
		}
		if due != " "+c.want || !page.Next.Equal(c.next) {
			t.Errorf("at %s due is%s, next at %s; want %s, %s", c.now, due, page.Next, c.want, c.next)
		}
	}
}

// BenchmarkDue looks for what is due behind deliveries that are put off.
func BenchmarkDue(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("putOff=%d", n), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "liaison.db"), boltstore.Options{})
			now := time.Unix(1_770_000_000, 0)
			for from := 0; from < n; from += 100 {
				var c state.Change
				for i := from; i < from+100; i++ {
					if _, err := s.Accept(b.Context(), webhook(uint64(i))); err != nil {
						b.Fatal(err)
					}
					c.Deliveries = append(c.Deliveries, state.DeliveryUpdate{
						Seq: uint64(i + 1), Status: state.DeliveryPending, NotBefore: now.Add(time.Hour)})
				}
				if _, err := s.Commit(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if page, err := s.Due(b.Context(), now, 0, 16); err != nil || len(page.Deliveries) > 0 {
					b.Fatal(page, err)
				}
			}
		})
	}
}
