// Package storetest is the suite that every [bridge.Store] passes. A store's own
// tests run it:
//
//	storetest.Run(t, func(t *testing.T) bridge.Store { return mystore.New(t.TempDir()) })
//
// What it cannot know is whether a change survives a crash: test that beside it.
package storetest
