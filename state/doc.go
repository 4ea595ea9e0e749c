// Package state declares what Liaison remembers and the guarantees under which it does.
//
// It keeps decisions: which delivery arrived, which session a continuation key
// names, which turn is queued or running, which write to the world is owed.
// The record that people read is the [EventLog], one append-only file per
// session, kept apart because it is large and may lose its last text deltas at
// a power failure while decisions may not.
//
// What a bridge remembers of its agents ([AgentRecords]) is kept beside the
// decisions, so that one volume holds all of it; nobody here reads it.
//
// The interfaces are small and named for their consumers; [Store] composes
// them. Engines live in sub-packages (boltstore, memstore) and all pass the
// suite in statetest. Values are plain structs and belong to the caller: no
// engine type, transaction or borrowed memory leaks out.
package state
