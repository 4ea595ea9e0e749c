package local

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// lockWait is how long a bridge waits for its predecessor to let go of the state root.
	lockWait = 5 * time.Second
	lockPoll = 50 * time.Millisecond
	// loaders is how many agents are read at once at the start.
	loaders = 8
	// maxSetAside bounds how many damaged directories of one agent are kept.
	maxSetAside = 100
)

// The directories below the state root.
const (
	agentsDir     = "agents"
	unreadableDir = "unreadable"
)

// fileStore keeps everything as files:
//
//	lock                              held by the bridge that uses the directory
//	agents/<hash of id>/agent.json    one agent
//	agents/<hash of id>/memory        what an engine keeps for it
//	agents/<hash of id>/runs/<run id>.json, <run id>.ndjson   a run, and what it said
//	unreadable/<hash of id>.<n>       an agent's directory that was set aside
//
// Directories are named by a hash because ids are the callers': on some file
// systems two ids would be one name, or no legal name at all. JSON files are
// replaced in one step. A name with a leading dot is unfinished or being
// deleted and is swept at start.
//
// What a call has kept survives kill -9. It survives a loss of power too, but
// for the last messages of runs that were under way: a run's record is put on
// disk when the run ends, not message by message.
type fileStore struct {
	root   string
	logger *slog.Logger
	lock   *os.File

	mu    sync.Mutex
	kept  map[string]*keptAgent // by id
	owner map[string]*keptAgent // of a run, by the run's id
}

// keptAgent is what the store knows of an agent without looking.
type keptAgent struct {
	rec agentRecord
	// newer is true when only a newer bridge can read the agent.
	newer bool
	runs  []string // oldest first
}

// openStore makes the directory, if needed, locks it for this process, and
// reads which agents there are.
func openStore(ctx context.Context, root string, logger *slog.Logger) (*fileStore, error) {
	lock, err := lockDirectory(ctx, root)
	if err != nil {
		return nil, err
	}
	s := &fileStore{
		root: root, logger: logger, lock: lock,
		kept: make(map[string]*keptAgent), owner: make(map[string]*keptAgent),
	}
	if err := s.load(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return s, nil
}

// lockDirectory makes the directory, if needed, and takes its lock.
func lockDirectory(ctx context.Context, root string) (*os.File, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("make the state root: %w", err)
	}
	path := filepath.Join(root, "lock")
	// A pipe or a device in its place would be opened for ever.
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("lock the state root: %s is not a regular file; remove it", path)
	}
	lock, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the state root: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		err := lockFile(lock)
		if err == nil {
			return lock, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(
				fmt.Errorf("the state root %s is in use by another bridge (%w); stop it or choose another --state-root", root, err),
				lock.Close())
		case <-time.After(lockPoll):
		}
	}
}

// close lets go of the directory.
func (s *fileStore) close() error {
	if err := s.lock.Close(); err != nil {
		return fmt.Errorf("unlock the state root: %w", err)
	}
	return nil
}

func hashedName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

func (s *fileStore) agentDir(id string) string {
	return filepath.Join(s.root, agentsDir, hashedName(id))
}

func (s *fileStore) agentFile(id string) string {
	return filepath.Join(s.agentDir(id), "agent.json")
}

func (s *fileStore) runFile(agentID, runID string) string {
	return filepath.Join(s.agentDir(agentID), "runs", runID+".json")
}

// eventsFile is the path of a run's record.
func (s *fileStore) eventsFile(agentID, runID string) string {
	return filepath.Join(s.agentDir(agentID), "runs", runID+".ndjson")
}

// load reads every agent with the ids of its runs, and removes what a crash
// left unfinished. 10,000 agents take about a second on two cores
// (BenchmarkOpenStore); a disk that has to be waited for is asked for several at
// once.
func (s *fileStore) load() error {
	dir := filepath.Join(s.root, agentsDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the state root: %w", err)
	}
	names, err := sweptNames(dir)
	if err != nil {
		return fmt.Errorf("load agents: %w", err)
	}
	// Only names of ours: a disk has its own, such as lost+found.
	names = slices.DeleteFunc(names, func(name string) bool {
		raw, err := hex.DecodeString(name)
		return err != nil || len(raw) != 16
	})
	var next atomic.Int64
	errs := make([]error, loaders)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for errs[i] == nil {
				n := int(next.Add(1)) - 1
				if n >= len(names) {
					return
				}
				errs[i] = s.loadAgent(filepath.Join(dir, names[n]))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("load agents: %w", err)
	}
	return nil
}

// sweptNames lists a directory's names in their order without those that are
// unfinished, which it removes.
func sweptNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// loadAgent reads one agent's directory. A damaged one is set aside, so that it
// stands in nobody's way and a person can still look at it. Where reading
// failed for another reason, such as a disk or its permissions, nothing is
// moved: a bridge that starts without its agents would be worse than none.
func (s *fileStore) loadAgent(dir string) error {
	var rec agentRecord
	err := readJSON(filepath.Join(dir, "agent.json"), maxAgentBytes, &rec, &rec.Schema)
	if err == nil && hashedName(rec.ID) != filepath.Base(dir) {
		err = fmt.Errorf("%w: %s is of another agent", errUnreadable, dir)
	}
	newer := errors.Is(err, errNewer) && rec.ID != "" && hashedName(rec.ID) == filepath.Base(dir)
	switch {
	case newer:
		s.logger.Error("an agent is left out", "agent", rec.ID, "error", err)
	case errors.Is(err, errUnreadable), errors.Is(err, errNewer), errors.Is(err, fs.ErrNotExist):
		return s.setAside(dir, err)
	case err != nil:
		return err
	}
	a := &keptAgent{rec: rec, newer: newer}
	if newer {
		s.keep(a)
		return nil
	}
	if _, err := sweptNames(dir); err != nil {
		return err
	}
	names, err := sweptNames(filepath.Join(dir, "runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range names { // sorted, which is by age
		if id, ok := strings.CutSuffix(name, ".json"); ok {
			a.runs = append(a.runs, id)
		}
	}
	s.keep(a)
	return nil
}

// keep enters an agent with its runs.
func (s *fileStore) keep(a *keptAgent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[a.rec.ID] = a
	for _, id := range a.runs {
		s.owner[id] = a
	}
}

// setAside moves a damaged agent's directory away.
func (s *fileStore) setAside(dir string, why error) error {
	aside := filepath.Join(s.root, unreadableDir)
	if err := os.MkdirAll(aside, 0o700); err != nil {
		return fmt.Errorf("set a damaged agent aside: %w", err)
	}
	for i := 1; i <= maxSetAside; i++ {
		to := filepath.Join(aside, filepath.Base(dir)+"."+strconv.Itoa(i))
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := rename(dir, to); err != nil {
			return fmt.Errorf("set a damaged agent aside: %w", err)
		}
		s.logger.Error("an agent's files are damaged and were set aside; its id can be used again", "directory", to, "error", why)
		return cmp.Or(syncDir(aside), syncDir(filepath.Dir(dir)))
	}
	return fmt.Errorf("set a damaged agent aside: %s has %d of them; remove those that nobody wants to look at (%w)", aside, maxSetAside, why)
}
