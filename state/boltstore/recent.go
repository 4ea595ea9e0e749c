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

func (r *recent) has(key []byte) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, ok := r.new[string(key)]
	if !ok {
		_, ok = r.old[string(key)]
	}
	return ok
}

func (r *recent) add(key []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.new) >= r.limit {
		r.old, r.new = r.new, make(map[string]struct{}, r.limit)
	}
	r.new[string(key)] = struct{}{}
}

func (r *recent) forget(key []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.new, string(key))
	delete(r.old, string(key))
}
