package agent

import (
	"log/slog"
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

const (
	// lookEvery is how often a folder is looked at, at most.
	lookEvery = 2 * time.Second
	// settle is how long nothing in a folder must have changed before it is read:
	// somebody may be writing it.
	settle = 2 * time.Second
)

// Source has the newest good definition of a folder. Its methods may be called by
// many goroutines.
type Source struct {
	opts Options
	dir  string

	mu       sync.Mutex
	current  *Definition
	problems []Problem
	// taken is the folder as it was when it was last read, looked as it was seen last.
	taken, looked stamp
	lookedAt      time.Time
}

// NewSource reads a folder for the first time. It fails with [*InvalidError] if
// that cannot be used.
func NewSource(o Options) (*Source, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Source{opts: o, lookedAt: o.Now()}
	if o.Dir != "" {
		dir, err := filepath.Abs(o.Dir)
		if err != nil {
			return nil, err
		}
		s.dir = dir
		s.taken = stampOf(dir)
		s.looked = s.taken
	}
	s.current, s.problems = LoadDir(s.dir, o.Checks)
	if s.current == nil {
		return nil, &InvalidError{Dir: s.dir, Problems: s.problems}
	}
	return s, nil
}

// Current returns the newest definition that can be used. It looks at the folder
// again if the last look is at least two seconds ago, and reads it where nothing in
// it has changed for two seconds. A version that cannot be used is logged once,
// and shown by [Source.Problems]; the one before it goes on.
func (s *Source) Current() *Definition {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	return s.current
}

// Problems returns what is wrong with the folder, at which it looks as
// [Source.Current] does. That may be of a newer version than the one that is used.
func (s *Source) Problems() []Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	return s.problems
}

// look reads the folder if it has changed and is at rest.
func (s *Source) look() {
	now := s.opts.Now()
	since := now.Sub(s.lookedAt)
	if s.dir == "" || since >= 0 && since < lookEvery {
		return
	}
	before := s.looked
	s.lookedAt, s.looked = now, stampOf(s.dir)
	if s.looked.sum == s.taken.sum {
		return
	}
	// A clock that is not ours may have set the times: a folder that looks the same
	// at two looks is at rest as well.
	if now.Sub(s.looked.newest) < settle && s.looked.sum != before.sum {
		return
	}
	def, problems := LoadDir(s.dir, s.opts.Checks)
	if stampOf(s.dir).sum != s.looked.sum {
		return // it was changed while it was read
	}
	s.taken, s.problems = s.looked, problems
	if def == nil {
		s.opts.Log.Error("agent folder cannot be used, the version before it goes on", "dir", s.dir, "version", s.current.Version,
			"error", &InvalidError{Dir: s.dir, Problems: problems})
		return
	}
	if def.Version != s.current.Version {
		s.opts.Log.Info("agent folder read again", "dir", s.dir, "version", def.Version, "was", s.current.Version)
	}
	s.current = def
}
