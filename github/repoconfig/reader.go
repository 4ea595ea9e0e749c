package repoconfig

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// File is one reading of a configuration file.
type File struct {
	// Source is where it stands: "octo/shop@main".
	Source string `json:"source"`
	// Path in the repository, Blob and ETag are empty where there is no file.
	Path string `json:"path,omitempty"`
	Blob string `json:"blob,omitempty"`
	ETag string `json:"etag,omitempty"`
	Text []byte `json:"text,omitempty"`
	// Missing is set when GitHub said that there is no such file. A file that could
	// not be read is an error and never missing.
	Missing bool `json:"missing,omitempty"`
	// Refused says why what stands there is no file to read.
	Refused string `json:"-"`
}

// ErrUnchanged is what a Fetch returns when the file is as it was.
var ErrUnchanged = errors.New("the configuration is unchanged")

// Fetch reads a file. Known is what was read last, so that it can be asked for
// on condition; it is zero at first.
type Fetch func(ctx context.Context, known File) (File, error)

// Store keeps what was last good over a restart.
type Store interface {
	// Load returns what was saved under a key, if anything was.
	Load(key string) ([]byte, bool)
	// Save replaces it. An error costs only what an outage right after a restart
	// would need.
	Save(key string, data []byte) error
}

// State is what is known of a file.
type State struct {
	// Layer is what to go by; it says nothing where the file is missing.
	Layer Layer
	// File is the reading that is newest, and Problems what is wrong with it. Layer
	// is then of an earlier one.
	File     File
	Problems []Problem
	// Broken is set when there is no earlier good one: nothing is known of what is wanted.
	Broken bool
	// Outage is why the file could not be read now. The rest is then as it was last time.
	Outage error
}

// Times and sizes of the memory of files.
const (
	// retryOutage is how long a file that cannot be read is left alone.
	retryOutage = 10 * time.Second
	// maxKnown bounds how many files are remembered; the ones that were not used for
	// longest go first, and are read again.
	maxKnown = 2000
)

// Reader reads files and remembers what was last good. It is safe for
// concurrent use; readings of one file come one after another.
type Reader struct {
	store Store
	now   func() time.Time

	mu    sync.Mutex
	known map[string]*memory
}

// memory is what is remembered of one file.
type memory struct {
	used time.Time // guarded by the reader's lock

	// turn is held by who reads the file, and guards what follows.
	turn   chan struct{}
	loaded bool
	until  time.Time
	state  State
	// good is set when state.Layer is a file's that was good, or a missing one's.
	good bool
	// saved is what the store has.
	saved File
}

// NewReader returns a reader. The store may be nil.
func NewReader(store Store, now func() time.Time) *Reader {
	return &Reader{store: store, now: now, known: map[string]*memory{}}
}

// Read returns what holds under key, which names a file and never another one.
// What was read less than fresh ago is not asked for again. Where the file
// cannot be read and nothing is known from before, it fails as fetch did.
func (r *Reader) Read(ctx context.Context, key string, fresh time.Duration, fetch Fetch) (State, error) {
	m := r.memory(key)
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return State{}, ctx.Err()
	}
	if !m.loaded {
		r.load(key, m)
	}
	now := r.now()
	if now.Before(m.until) {
		return m.state, nil
	}
	file, err := fetch(ctx, m.state.File)
	switch {
	case errors.Is(err, ErrUnchanged) && m.state.File.ETag != "":
		m.state.Outage, m.until = nil, now.Add(fresh)
	case err != nil && !m.good && len(m.state.Problems) == 0:
		return State{}, err
	case err != nil:
		m.state.Outage, m.until = err, now.Add(retryOutage)
	default:
		r.take(key, m, file)
		m.until = now.Add(fresh)
	}
	return m.state, nil
}

// take makes a reading the newest one.
func (r *Reader) take(key string, m *memory, file File) {
	m.state.File, m.state.Outage, m.state.Problems, m.state.Broken = file, nil, nil, false
	if file.Refused != "" {
		m.state.Problems = []Problem{{Message: file.Refused}}
	} else if layer, problems := Parse(file.Source, file.Text); len(problems) == 0 {
		m.state.Layer, m.good = layer, true
		r.save(key, m, file)
		return
	} else {
		m.state.Problems = problems
	}
	m.state.Broken = !m.good
}

// save keeps a good reading, unless the store has it already.
func (r *Reader) save(key string, m *memory, file File) {
	if r.store == nil || m.saved.same(file) {
		return
	}
	data, err := json.Marshal(file)
	if err != nil {
		return // text and bytes always encode
	}
	if r.store.Save(key, data) == nil { // see Store
		m.saved = file
	}
}

func (f File) same(g File) bool {
	return f.Source == g.Source && f.Path == g.Path && f.Blob == g.Blob && f.ETag == g.ETag && f.Missing == g.Missing
}

// load takes up what an earlier process knew.
func (r *Reader) load(key string, m *memory) {
	m.loaded = true
	if r.store == nil {
		return
	}
	data, ok := r.store.Load(key)
	if !ok {
		return
	}
	var file File
	if json.Unmarshal(data, &file) != nil {
		return
	}
	if layer, problems := Parse(file.Source, file.Text); len(problems) == 0 {
		m.state, m.good, m.saved = State{Layer: layer, File: file}, true, file
	}
}

// memory returns what is remembered under key.
func (r *Reader) memory(key string) *memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.known[key]
	if m == nil {
		if len(r.known) >= maxKnown {
			r.forget()
		}
		m = &memory{turn: make(chan struct{}, 1)}
		r.known[key] = m
	}
	m.used = r.now()
	return m
}

// forget drops what was not used for longest.
func (r *Reader) forget() {
	oldest := ""
	for key, m := range r.known {
		if oldest == "" || m.used.Before(r.known[oldest].used) {
			oldest = key
		}
	}
	delete(r.known, oldest)
}
