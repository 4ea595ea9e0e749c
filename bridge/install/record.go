package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

const (
	// pointerName is the file that says which copy is the current one.
	pointerName = "current.json"
	// recordName is the same text in the copy's own folder: what it was when it
	// was installed. No archive may have a file of this name.
	recordName = ".install.json"
	// schema is the form of both; a reader refuses any other.
	schema = 1
	// maxRecord bounds both, in bytes; they have a dozen short fields.
	maxRecord = 64 << 10
)

// record is an installed copy as it is written down.
type record struct {
	Schema           int       `json:"schema"`
	Version          string    `json:"version,omitempty"`
	SHA256           string    `json:"sha256"`
	Path             string    `json:"path"`
	Executable       string    `json:"executable"`
	ExecutableSHA256 string    `json:"executableSha256"`
	Source           string    `json:"source"`
	InstalledAt      time.Time `json:"installedAt"`
}

func (r record) encode() ([]byte, error) {
	data, err := json.MarshalIndent(r, "", "  ")
	return append(data, '\n'), err
}

// parseRecord reads a record and refuses one that leads out of its folder.
func parseRecord(data []byte) (record, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return record{}, fmt.Errorf("not the JSON object that it should be: %w", err)
	}
	if r.Schema != schema {
		return record{}, fmt.Errorf("schema %d is not that of this version, %d", r.Schema, schema)
	}
	name, err := checkName(r.Path)
	if err != nil || name == "" || name != r.Path || path.Base(name) != name {
		return record{}, fmt.Errorf("path %.80q is not the name of a folder", r.Path)
	}
	if name, err = checkName(r.Executable); err != nil || name == "" || name != r.Executable {
		return record{}, fmt.Errorf("executable %.200q is not a path in that folder", r.Executable)
	}
	for _, sum := range []string{r.SHA256, r.ExecutableSHA256} {
		if lower, err := parseSHA256(sum); err != nil || lower != sum {
			return record{}, fmt.Errorf("%.80q is not a SHA-256 in lower-case hex", sum)
		}
	}
	return r, nil
}

// readRecord reads a small regular file below root.
func readRecord(root *os.Root, name string) (record, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return record{}, err
	}
	if !info.Mode().IsRegular() {
		return record{}, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := root.Open(name)
	if err != nil {
		return record{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err != nil {
		return record{}, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > maxRecord {
		return record{}, fmt.Errorf("%s has more than %d bytes", name, maxRecord)
	}
	r, err := parseRecord(bytes.TrimSpace(data))
	if err != nil {
		return record{}, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// recordOf reads the record that a copy has of itself.
func recordOf(root *os.Root, folder string) (record, error) {
	r, err := readRecord(root, filepath.Join(folder, recordName))
	if err == nil && r.Path != folder {
		err = fmt.Errorf("%s says that it is %q", folder, r.Path)
	}
	return r, err
}

// isCopy says whether a folder is one that this package made.
func isCopy(root *os.Root, entry fs.DirEntry) bool {
	if !entry.IsDir() {
		return false
	}
	_, err := root.Lstat(filepath.Join(entry.Name(), recordName))
	return !errors.Is(err, fs.ErrNotExist)
}
