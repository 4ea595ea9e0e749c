package boltstore_test

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
	"github.com/liaison-bot/liaison/state/statetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
