package bridge_test

import (
	"testing"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/bridge/storetest"
)

func TestMemoryStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) bridge.Store { return bridge.NewMemoryStore() })
}
