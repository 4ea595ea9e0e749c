package web

import (
	"sync"
	"time"
)

// known remembers what Slack said of people or channels, for a while each.
type known[V any] struct {
	now func() time.Time

	mu  sync.Mutex
	all map[knownKey]entry[V]
}

type knownKey struct{ team, id string }

type entry[V any] struct {
	value V
	err   error // that there is no such one
	since time.Time
	until time.Time
}

func newKnown[V any](now func() time.Time) *known[V] {
	return &known[V]{now: now, all: map[knownKey]entry[V]{}}
}

func (k *known[V]) get(key knownKey) (entry[V], bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.all[key]
	if ok && !e.until.After(k.now()) {
		delete(k.all, key)
		return entry[V]{}, false
	}
	return e, ok
}

func (k *known[V]) put(key knownKey, value V, err error, lasts time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if len(k.all) >= maxKnown {
		for other, e := range k.all {
			if !e.until.After(now) {
				delete(k.all, other)
			}
		}
	}
	for other := range k.all { // any one makes room: Slack is asked again for it
		if len(k.all) < maxKnown {
			break
		}
		delete(k.all, other)
	}
	k.all[key] = entry[V]{value: value, err: err, since: now, until: now.Add(lasts)}
}
