package local

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// maxMemoryBytes bounds what an engine may keep of an agent: a conversation of
// millions of words, far beyond what any model reads at once.
const maxMemoryBytes = 16 << 20

// loadMemory reads what an engine keeps of an agent; nil when it keeps nothing.
func (s *store) loadMemory(agentID string) ([]byte, error) {
	data, err := os.ReadFile(s.memoryFile(agentID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load the agent's memory: %w", err)
	}
	return data, nil
}

// saveMemory replaces what an engine keeps of an agent, in one step and on disk.
func (s *store) saveMemory(agentID string, data []byte) error {
	if len(data) > maxMemoryBytes {
		return fmt.Errorf("save the agent's memory: %d bytes are more than %d", len(data), maxMemoryBytes)
	}
	if err := replaceFile(s.memoryFile(agentID), data); err != nil {
		return fmt.Errorf("save the agent's memory: %w", err)
	}
	return nil
}

func (s *store) memoryFile(agentID string) string {
	return filepath.Join(s.agentDir(agentID), "memory")
}

// runMemory is the [memory] of one run.
type runMemory struct {
	store   *store
	agentID string

	mu      sync.Mutex
	data    []byte
	kept    bool
	settled bool
}

func (m *runMemory) Recall() ([]byte, error) { return m.store.loadMemory(m.agentID) }

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
	return m.store.saveMemory(m.agentID, m.data)
}
