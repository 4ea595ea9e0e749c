package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// ownerOf finds the agent of a run.
func (s *fileStore) ownerOf(runID string) (agentID string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.owner[runID]
	if !ok {
		return "", false
	}
	return a.rec.ID, true
}

func (s *fileStore) run(_ context.Context, id string) (runRecord, error) {
	agentID, ok := s.ownerOf(id)
	if !ok {
		return runRecord{}, errNotKept
	}
	var r runRecord
	err := readJSON(s.runFile(agentID, id), maxRunBytes, &r, &r.Schema)
	if err == nil && (r.ID != id || r.AgentID != agentID) {
		err = fmt.Errorf("%w: %s is of another run", errUnreadable, s.runFile(agentID, id))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return runRecord{}, errNotKept
	case err != nil:
		return runRecord{}, fmt.Errorf("load run: %w", err)
	}
	return r, nil
}

func (s *fileStore) runs(ctx context.Context, agentID, before string, limit int) (recs []runRecord, more bool, err error) {
	s.mu.Lock()
	var ids []string
	if a, ok := s.kept[agentID]; ok {
		ids = slices.Clone(a.runs)
	}
	s.mu.Unlock()
	for _, id := range slices.Backward(ids) {
		if before != "" && id >= before {
			continue
		}
		if limit > 0 && len(recs) == limit {
			return recs, true, nil
		}
		rec, err := s.run(ctx, id)
		switch {
		case errors.Is(err, errUnreadable), errors.Is(err, errNewer):
			s.logger.Error("a run is left out of a list", "run", id, "error", err)
		case errors.Is(err, errNotKept): // deleted meanwhile
		case err != nil:
			return nil, false, err
		default:
			recs = append(recs, rec)
		}
	}
	return recs, false, nil
}

func (s *fileStore) createRun(ctx context.Context, r runRecord) error {
	if err := s.saveRun(ctx, r); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.kept[r.AgentID]; ok {
		// A clock that was set back makes an id that is not the last one.
		at, _ := slices.BinarySearch(a.runs, r.ID)
		a.runs = slices.Insert(a.runs, at, r.ID)
		s.owner[r.ID] = a
	}
	return nil
}

func (s *fileStore) saveRun(_ context.Context, r runRecord) error {
	r.Schema = schemaVersion
	if err := writeJSON(s.runFile(r.AgentID, r.ID), r); err != nil {
		return fmt.Errorf("save run: %w", err)
	}
	return nil
}

func (s *fileStore) dropRun(_ context.Context, r runRecord) error {
	s.mu.Lock()
	if a, ok := s.owner[r.ID]; ok {
		delete(s.owner, r.ID)
		a.runs = slices.DeleteFunc(a.runs, func(id string) bool { return id == r.ID })
	}
	s.mu.Unlock()
	for _, path := range []string{s.eventsFile(r.AgentID, r.ID), s.runFile(r.AgentID, r.ID)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("drop run: %w", err)
		}
	}
	return nil
}

func (s *fileStore) beginLog(r runRecord, limit int64, _ func(error)) (runLog, error) {
	return createLog(s.eventsFile(r.AgentID, r.ID), limit)
}

func (s *fileStore) appendEvent(ctx context.Context, r runRecord, at time.Time, kind string, message map[string]any) error {
	log, err := reopenLog(s.eventsFile(r.AgentID, r.ID))
	if err != nil {
		return err
	}
	return errors.Join(log.append(ctx, at, kind, message), log.seal())
}

func (s *fileStore) events(_ context.Context, r runRecord, give func(entry) error) error {
	reader, err := openLogReader(s.eventsFile(r.AgentID, r.ID))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errNotKept
	case err != nil:
		return err
	}
	defer func() { _ = reader.close() }() // opened for reading only
	err = reader.upTo(2*maxLogBytes, give)
	if reader.bad > 0 {
		s.logger.Error("lines of a run's record are damaged and were left out", "run", r.ID, "lines", reader.bad)
	}
	return err
}
