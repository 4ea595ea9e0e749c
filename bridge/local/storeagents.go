package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func (s *fileStore) agents(context.Context) ([]agentRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	recs := make([]agentRecord, 0, len(s.kept))
	for _, a := range s.kept {
		if !a.newer {
			recs = append(recs, a.rec)
		}
	}
	return recs, nil
}

func (s *fileStore) agent(_ context.Context, id string) (agentRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.kept[id]
	switch {
	case !ok:
		return agentRecord{}, errNotKept
	case a.newer:
		return agentRecord{}, errNewer
	}
	return a.rec, nil
}

func (s *fileStore) createAgent(_ context.Context, rec agentRecord) error {
	final := s.agentDir(rec.ID)
	if _, err := os.Lstat(final); err == nil {
		return errExists
	}
	// The directory appears under its name only when it is whole.
	dir, err := os.MkdirTemp(filepath.Dir(final), ".new-*") // 0700
	if err != nil {
		return fmt.Errorf("create agent: %w", err)
	}
	err = os.Mkdir(filepath.Join(dir, "runs"), 0o700)
	if err == nil {
		rec.Schema = schemaVersion
		err = writeJSON(filepath.Join(dir, "agent.json"), rec)
	}
	if err == nil {
		err = rename(dir, final)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("create agent: %w", err), os.RemoveAll(dir))
	}
	if err := syncDir(filepath.Dir(final)); err != nil {
		return fmt.Errorf("create agent: %w", err)
	}
	s.keep(&keptAgent{rec: rec})
	return nil
}

func (s *fileStore) saveAgent(_ context.Context, rec agentRecord) error {
	rec.Schema = schemaVersion
	if err := writeJSON(s.agentFile(rec.ID), rec); err != nil {
		return fmt.Errorf("save agent: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.kept[rec.ID]; ok {
		a.rec = rec
	}
	return nil
}

func (s *fileStore) deleteAgent(_ context.Context, id string) error {
	dir := s.agentDir(id)
	gone := filepath.Join(filepath.Dir(dir), ".deleted-"+filepath.Base(dir))
	if err := rename(dir, gone); err != nil {
		return fmt.Errorf("delete agent: %w", err)
	}
	s.mu.Lock()
	if a, ok := s.kept[id]; ok {
		delete(s.kept, id)
		for _, run := range a.runs {
			delete(s.owner, run)
		}
	}
	s.mu.Unlock()
	// The agent is gone whatever happens to its files: the next start sweeps them.
	if err := errors.Join(syncDir(filepath.Dir(dir)), os.RemoveAll(gone)); err != nil {
		s.logger.Warn("the files of a deleted agent are still there", "directory", gone, "error", err)
	}
	return nil
}

// memoryFile is what an engine keeps for an agent.
func (s *fileStore) memoryFile(agentID string) string {
	return filepath.Join(s.agentDir(agentID), "memory")
}

func (s *fileStore) memory(_ context.Context, agentID string) ([]byte, error) {
	data, err := readFile(s.memoryFile(agentID), maxMemoryBytes)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read an agent's memory: %w", err)
	}
	return data, nil
}

func (s *fileStore) saveMemory(_ context.Context, agentID string, data []byte) error {
	if len(data) > maxMemoryBytes {
		return fmt.Errorf("keep an agent's memory: %d bytes are more than %d", len(data), maxMemoryBytes)
	}
	if err := replaceFile(s.memoryFile(agentID), data); err != nil {
		return fmt.Errorf("keep an agent's memory: %w", err)
	}
	return nil
}
