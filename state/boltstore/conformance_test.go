package boltstore_test

import (
	"flag"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
	"github.com/liaison-bot/liaison/state/statetest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		// Each run of the model waits for the disk some fifty times. A soak asks
		// for more with -rapid.checks.
		if err := flag.Set("rapid.checks", "15"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

// open opens a store that is closed with the test.
func open(t testing.TB, path string, opts boltstore.Options) *boltstore.Store {
	t.Helper()
	s, err := boltstore.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestConformance(t *testing.T) {
	t.Parallel()
	statetest.Run(t, func(t testing.TB) state.Store {
		return open(t, filepath.Join(t.TempDir(), "liaison.db"), boltstore.Options{})
	})
}

func TestDurability(t *testing.T) {
	t.Parallel()
	statetest.RunDurable(t, func(t testing.TB, path string) state.Store {
		return open(t, path, boltstore.Options{})
	})
}

func TestKeeping(t *testing.T) {
	t.Parallel()
	statetest.RunKeeping(t, func(t testing.TB, now func() time.Time) statetest.KeepingStore {
		return open(t, filepath.Join(t.TempDir(), "liaison.db"), boltstore.Options{Now: now})
	})
}
