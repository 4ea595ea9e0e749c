package boltstore

import "sync"

// recent remembers keys of deliveries that are stored and not dead. It forgets
// the older half at a time, which costs nothing per key.
type recent struct {
	mu       sync.RWMutex
	limit    int
	new, old map[string]struct{}
}

func newRecent(limit int) *recent {
	return &recent{limit: limit, new: map[string]struct{}{}}
}

func (r *recent) has(key string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, ok := r.new[key]
	if !ok {
		_, ok = r.old[key]
	}
	return ok
}

func (r *recent) add(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.new) >= r.limit {
		r.old, r.new = r.new, make(map[string]struct{}, r.limit)
	}
	r.new[key] = struct{}{}
}

func (r *recent) forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.new, key)
	delete(r.old, key)
}
