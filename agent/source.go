package agent

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Options say where an agent's folder is, and what holds for it.
type Options struct {
	// Dir is the folder. Empty stands for the agent that is built in.
	Dir    string
	Checks Checks
	// Log is told once of each version that cannot be used. Nil tells no one.
	Log *slog.Logger
	// Now is the time. Nil means [time.Now].
	Now func() time.Time
}

// Source has the newest good definition of a folder. Its methods may be called by
// many goroutines.
type Source struct {
	opts     Options
	mu       sync.Mutex
	current  *Definition
	problems []Problem
}

// NewSource reads a folder for the first time. It fails, with [*InvalidError],
// if that cannot be used.
func NewSource(o Options) (*Source, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &Source{opts: o}
	s.current, s.problems = Load(os.DirFS(dir), dir, o.Checks)
	if s.current == nil {
		return nil, errors.New("agent: " + s.problems[0].Text)
	}
	return s, nil
}

// Current returns the newest definition that can be used. It looks at the folder
// again where the last look is at least two seconds ago.
func (s *Source) Current() *Definition {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// Problems returns what is wrong with the folder as it is now, which may be newer
// than what [Source.Current] returns.
func (s *Source) Problems() []Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problems
}
