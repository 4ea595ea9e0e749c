package memstore_test

import (
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
	"github.com/liaison-bot/liaison/state/statetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	statetest.Run(t, func(testing.TB) state.Store { return memstore.New(memstore.Options{}) })
}

func TestEventLogConformance(t *testing.T) {
	t.Parallel()
	statetest.RunEventLog(t, func(testing.TB) state.EventLog { return memstore.NewEventLog() })
}

func TestKeeping(t *testing.T) {
	t.Parallel()
	statetest.RunKeeping(t, func(_ testing.TB, now func() time.Time) statetest.KeepingStore {
		return memstore.New(memstore.Options{Now: now})
	})
}
