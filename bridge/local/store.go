package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// schemaVersion is that of the files below the state root.
const schemaVersion = 1

const (
	// lockWait is how long a bridge waits for its predecessor to let go of the state root.
	lockWait = 5 * time.Second
	lockPoll = 50 * time.Millisecond
)

// errExists is returned when an agent with that id is already kept.
var errExists = errors.New("the agent exists")

// store keeps agents and runs as files:
//
//	lock                              held by the bridge that uses the directory
//	agents/<hash of id>/agent.json    one agent
//	agents/<hash of id>/runs/<run id>.json, <run id>.ndjson   a run, and what it said
//
// Directories are named by a hash because ids are the callers': on some file
// systems two ids would be one name, or no legal name at all. JSON files are
// replaced in one step. A name with a leading dot is unfinished or being
// deleted and is swept at start.
type store struct {
	root string
	lock *os.File
}

// openStore makes the directory, if needed, and locks it for this process.
func openStore(ctx context.Context, root string) (*store, error) {
	if err := os.MkdirAll(filepath.Join(root, "agents"), 0o700); err != nil {
		return nil, fmt.Errorf("make the state root: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(root, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the state root: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		err := lockFile(lock)
		if err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(
				fmt.Errorf("the state root %s is in use by another bridge (%w); stop it or choose another --state-root", root, err),
				lock.Close())
		case <-time.After(lockPoll):
		}
	}
	s := &store{root: root, lock: lock}
	if err := s.sweep(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return s, nil
}

// close lets go of the directory.
func (s *store) close() error {
	if err := s.lock.Close(); err != nil {
		return fmt.Errorf("unlock the state root: %w", err)
	}
	return nil
}

// sweep removes what a crash left unfinished.
func (s *store) sweep() error {
	dir := filepath.Join(s.root, "agents")
	for _, unfinished := range []string{".*", "*/.*", "*/runs/.*"} {
		names, err := fs.Glob(os.DirFS(dir), unfinished)
		if err != nil {
			return fmt.Errorf("sweep the state root: %w", err)
		}
		for _, name := range names {
			if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				return fmt.Errorf("sweep the state root: %w", err)
			}
		}
	}
	return nil
}

func (s *store) agentDir(id string) string {
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(s.root, "agents", hex.EncodeToString(sum[:16]))
}

func (s *store) runFile(agentID, runID string) string {
	return filepath.Join(s.agentDir(agentID), "runs", runID+".json")
}

// eventsFile is the path of a run's record.
func (s *store) eventsFile(agentID, runID string) string {
	return filepath.Join(s.agentDir(agentID), "runs", runID+".ndjson")
}

// createAgent keeps a new agent, or returns [errExists].
func (s *store) createAgent(a agentRecord) error {
	final := s.agentDir(a.ID)
	if _, err := os.Stat(final); err == nil {
		return errExists
	}
	// The directory appears under its name only when it is whole.
	dir, err := os.MkdirTemp(filepath.Join(s.root, "agents"), ".new-*")
	if err != nil {
		return fmt.Errorf("create agent: %w", err)
	}
	err = os.Mkdir(filepath.Join(dir, "runs"), 0o700)
	if err == nil {
		a.Schema = schemaVersion
		err = writeJSON(filepath.Join(dir, "agent.json"), a)
	}
	if err == nil {
		err = os.Rename(dir, final)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("create agent: %w", err), os.RemoveAll(dir))
	}
	return nil
}

// saveAgent replaces what is kept of an agent.
func (s *store) saveAgent(a agentRecord) error {
	a.Schema = schemaVersion
	if err := writeJSON(filepath.Join(s.agentDir(a.ID), "agent.json"), a); err != nil {
		return fmt.Errorf("save agent: %w", err)
	}
	return nil
}

// deleteAgent removes an agent with all its runs.
func (s *store) deleteAgent(id string) error {
	dir := s.agentDir(id)
	gone := filepath.Join(filepath.Dir(dir), ".deleted-"+filepath.Base(dir))
	if err := os.Rename(dir, gone); err != nil {
		return fmt.Errorf("delete agent: %w", err)
	}
	if err := os.RemoveAll(gone); err != nil {
		return fmt.Errorf("delete agent: %w", err)
	}
	return nil
}

// saveRun replaces what is kept of a run.
func (s *store) saveRun(r runRecord) error {
	r.Schema = schemaVersion
	if err := writeJSON(s.runFile(r.AgentID, r.ID), r); err != nil {
		return fmt.Errorf("save run: %w", err)
	}
	return nil
}

// dropRun removes a run that never began.
func (s *store) dropRun(agentID, runID string) error {
	for _, path := range []string{s.runFile(agentID, runID), s.eventsFile(agentID, runID)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("drop run: %w", err)
		}
	}
	return nil
}

// loadRun reads one run.
func (s *store) loadRun(agentID, runID string) (runRecord, error) {
	var r runRecord
	if err := readJSON(s.runFile(agentID, runID), &r, &r.Schema); err != nil {
		return runRecord{}, fmt.Errorf("load run: %w", err)
	}
	return r, nil
}

// loadAgents reads every agent with the ids of its runs, oldest run first. An
// agent that cannot be read is left as it is and reported through unreadable.
func (s *store) loadAgents(unreadable func(error)) (map[string]*agent, error) {
	entries, err := os.ReadDir(filepath.Join(s.root, "agents"))
	if err != nil {
		return nil, fmt.Errorf("load agents: %w", err)
	}
	agents := make(map[string]*agent, len(entries))
	for _, e := range entries {
		dir := filepath.Join(s.root, "agents", e.Name())
		var rec agentRecord
		if err := readJSON(filepath.Join(dir, "agent.json"), &rec, &rec.Schema); err != nil {
			unreadable(fmt.Errorf("load agent: %w", err))
			continue
		}
		runs, err := os.ReadDir(filepath.Join(dir, "runs"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			unreadable(fmt.Errorf("load agent: %w", err))
			continue
		}
		a := &agent{rec: rec}
		for _, r := range runs { // sorted by name, which is by age
			if id, ok := strings.CutSuffix(r.Name(), ".json"); ok && !strings.HasPrefix(id, ".") {
				a.runs = append(a.runs, id)
			}
		}
		agents[rec.ID] = a
	}
	return agents, nil
}

// writeJSON replaces path with v in one step and on disk.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(path, append(data, '\n'))
}

// replaceFile replaces the content of path in one step and on disk.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".write-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// readJSON reads what writeJSON wrote; schema points into v.
func readJSON(path string, v any, schema *int) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if *schema != schemaVersion {
		return fmt.Errorf("%s has schema %d, this bridge reads %d", path, *schema, schemaVersion)
	}
	return nil
}
