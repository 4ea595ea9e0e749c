package local

import (
	"bytes"
	"context"
	"sync"
)

// maxMemoryBytes bounds what an engine may keep of an agent: a conversation of
// millions of words, far beyond what any model reads at once.
const maxMemoryBytes = 16 << 20

// runMemory is the [memory] of one run.
type runMemory struct {
	store   storage
	agentID string

	mu      sync.Mutex
	data    []byte
	kept    bool
	settled bool
}

func (m *runMemory) Recall() ([]byte, error) {
	return m.store.memory(context.Background(), m.agentID)
}

func (m *runMemory) Keep(data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data, m.kept = bytes.Clone(data), true
}

// settle stores what was kept, once. A run that was ended without its engine
// must not write later: the next run may have written by then.
func (m *runMemory) settle() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.settled {
		return nil
	}
	m.settled = true
	if !m.kept {
		return nil
	}
	return m.store.saveMemory(context.Background(), m.agentID, m.data)
}
