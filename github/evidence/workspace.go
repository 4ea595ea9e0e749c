package evidence

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// The names of the evidence in the workspace.
const (
	pullFolder  = "pr"
	issueFolder = "issue"
)

// workspace writes the evidence beside where it shall be, and puts it there
// whole. It works within the workspace only, whatever links an earlier turn may
// have left in it.
type workspace struct {
	root   *os.Root
	folder string
	name   string // of the staging folder; empty once the evidence is in place
}

func openWorkspace(dir, folder string) (*workspace, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	w := &workspace{root: root, folder: folder}
	w.name = w.staging() + rand.Text()
	if err := w.sweep(); err != nil {
		return nil, errors.Join(fmt.Errorf("clear the workspace: %w", err), root.Close())
	}
	// The agent may run as another user, so it can read, and the folder above
	// keeps everybody else out.
	if err := root.Mkdir(w.name, 0o755); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the workspace: %w", err), root.Close())
	}
	return w, nil
}

// staging is the prefix of the folders in which the evidence is prepared.
func (w *workspace) staging() string { return "." + w.folder + "-" }

// sweep removes what a build that was cut short has left.
func (w *workspace) sweep() error {
	entries, err := fs.ReadDir(w.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), w.staging()) {
			if err := w.root.RemoveAll(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes a file; name is relative to the evidence's folder.
func (w *workspace) write(name string, content []byte) error {
	name = path.Join(w.name, name)
	if err := w.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return fmt.Errorf("write evidence: %w", err)
	}
	if err := w.root.WriteFile(name, content, 0o644); err != nil {
		return fmt.Errorf("write evidence: %w", err)
	}
	return nil
}

// writeJSON writes v in the format that docs/evidence.md promises.
func (w *workspace) writeJSON(name string, v any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write evidence %s: %w", name, err)
	}
	return w.write(name, out.Bytes())
}

// publish puts the evidence in the place of what was there.
func (w *workspace) publish() error {
	old := w.staging() + "old-" + rand.Text()
	switch err := w.root.Rename(w.folder, old); {
	case errors.Is(err, fs.ErrNotExist):
		old = ""
	case err != nil:
		return fmt.Errorf("put aside the earlier evidence: %w", err)
	}
	if err := w.root.Rename(w.name, w.folder); err != nil {
		return fmt.Errorf("put the evidence in place: %w", err)
	}
	w.name = ""
	if old == "" {
		return nil
	}
	if err := w.root.RemoveAll(old); err != nil {
		return fmt.Errorf("remove the earlier evidence: %w", err)
	}
	return nil
}

// close removes what was not published.
func (w *workspace) close() error {
	var err error
	if w.name != "" {
		err = w.root.RemoveAll(w.name)
	}
	return errors.Join(err, w.root.Close())
}
