package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// sweepMark is how far GitHub's record of deliveries was gone through. It is
// small and kept in a file: losing it costs a longer look at the next start.
type sweepMark struct {
	// Through is the time up to which every delivery is accounted for; zero before
	// the first sweep.
	Through time.Time `json:"through,omitzero"`
	// Cursor and Until are those of a sweep that is not at its end: where it goes
	// on, and what Through becomes then.
	Cursor string    `json:"cursor,omitempty"`
	Until  time.Time `json:"until,omitzero"`
	// Asked has when GitHub was asked to send a delivery again, which is done once.
	Asked map[string]time.Time `json:"asked,omitempty"`
	// Failed counts how often a delivery could not be fetched.
	Failed map[string]int `json:"failed,omitempty"`
}

// markFile is the file's name in the state directory.
const markFile = "github-sweep.json"

// readMark returns the mark of an earlier sweep. One that cannot be understood
// is as good as none.
func readMark(dir string) (sweepMark, error) {
	m := sweepMark{}
	data, err := os.ReadFile(filepath.Join(dir, markFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return m, fmt.Errorf("read how far the sweep was: %w", err)
	case json.Unmarshal(data, &m) != nil:
		m = sweepMark{}
	}
	if m.Asked == nil {
		m.Asked = map[string]time.Time{}
	}
	if m.Failed == nil {
		m.Failed = map[string]int{}
	}
	return m, nil
}

// write replaces the file, which is whole at any time.
func (m sweepMark) write(dir string) error {
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("keep how far the sweep was: %w", err)
	}
	path := filepath.Join(dir, markFile)
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return fmt.Errorf("keep how far the sweep was: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("keep how far the sweep was: %w", err)
	}
	return nil
}

// forget drops what is too old for GitHub to show.
func (m sweepMark) forget(before time.Time) {
	for guid, at := range m.Asked {
		if at.Before(before) {
			delete(m.Asked, guid)
			delete(m.Failed, guid)
		}
	}
}
