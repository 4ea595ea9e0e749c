package local

import (
	"context"
	"slices"
	"sync"
)

// runIDs remembers the ids of agents' runs, so that only the first list of an
// agent's runs reads all of them: stores list the oldest first, and who asks
// wants the newest. Nobody else makes runs while this bridge holds the state root.
type runIDs struct {
	mu sync.Mutex
	of map[string]*agentRunIDs
}

// agentRunIDs are those of one agent. Its lock is held while they are listed, so
// that a run that is made meanwhile is not missed.
type agentRunIDs struct {
	mu     sync.Mutex
	listed bool
	ids    []string // sorted, which is by age
}

// before returns at most limit of an agent's ids that come before one, the
// newest first, and whether there are more; list fetches them all the first time.
func (k *runIDs) before(ctx context.Context, agentID, before string, limit int, list func(context.Context) ([]string, error)) (ids []string, more bool, err error) {
	k.mu.Lock()
	known := k.of[agentID]
	if known == nil {
		known = new(agentRunIDs)
		if k.of == nil {
			k.of = map[string]*agentRunIDs{}
		}
		k.of[agentID] = known
	}
	k.mu.Unlock()

	known.mu.Lock()
	defer known.mu.Unlock()
	if !known.listed {
		all, err := list(ctx)
		if err != nil {
			return nil, false, err
		}
		slices.Sort(all)
		known.ids, known.listed = slices.Compact(all), true
	}
	end := len(known.ids)
	if before != "" {
		end, _ = slices.BinarySearch(known.ids, before)
	}
	start := 0
	if limit > 0 && end > limit {
		start = end - limit
	}
	ids = slices.Clone(known.ids[start:end])
	slices.Reverse(ids)
	return ids, start > 0, nil
}

// add notes a run that the store has.
func (k *runIDs) add(agentID, id string) {
	k.mu.Lock()
	known := k.of[agentID]
	k.mu.Unlock()
	if known == nil {
		return
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if at, found := slices.BinarySearch(known.ids, id); known.listed && !found {
		known.ids = slices.Insert(known.ids, at, id)
	}
}

// forget drops what is known of an agent.
func (k *runIDs) forget(agentID string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.of, agentID)
}
