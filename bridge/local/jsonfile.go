package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/robustio"
)

// schemaVersion is that of the files below the state root.
const schemaVersion = 1

const (
	// maxAgentBytes bounds an agent's file when it is read; one has a few hundred bytes.
	maxAgentBytes = 1 << 20
	// maxRunBytes bounds a run's file when it is read. It has the prompt and the
	// answer, which are bounded by the size of a request and of a run's record,
	// and JSON writes some characters as six.
	maxRunBytes = 1 << 30
)

// writeJSON replaces path with v, in one step and on disk.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(path, append(data, '\n'))
}

// replaceFile replaces path with data, in one step and on disk: after a loss of
// power it is the old file or the new one.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".write-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(filepath.Dir(path))
}

// rename tries again for a while where the system refuses it because somebody
// reads the file just then, which only Windows does.
func rename(from, to string) error { return robustio.Rename(from, to) }

// openRegular opens a file that is there. Anything else in its place, such as a
// pipe that would block for ever, is [errUnreadable].
func openRegular(path string, flag int) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is not a regular file", errUnreadable, path)
	}
	return os.OpenFile(path, flag, 0)
}

// readFile reads a regular file of at most limit bytes; a longer one is [errUnreadable].
func readFile(path string, limit int64) ([]byte, error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%w: %s has more than %d bytes", errUnreadable, path, limit)
	}
	return data, nil
}

// readJSON reads what writeJSON wrote; schema points into v. What is no JSON of
// ours is [errUnreadable]; for [errNewer] the fields that are known are set.
func readJSON(path string, limit int64, v any, schema *int) error {
	data, err := readFile(path, limit)
	if err != nil {
		return err
	}
	err = json.Unmarshal(data, v)
	switch {
	case *schema > schemaVersion:
		return fmt.Errorf("%w: %s has schema %d, this bridge reads %d", errNewer, path, *schema, schemaVersion)
	case err != nil:
		return fmt.Errorf("%w: %s: %w", errUnreadable, path, err)
	case *schema != schemaVersion:
		return fmt.Errorf("%w: %s has schema %d, this bridge reads %d", errUnreadable, path, *schema, schemaVersion)
	}
	return nil
}
