// Package envfile writes settings into a file of NAME=value lines, as shells,
// containers and "fly secrets import" read them.
package envfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// Value is one line of the file.
type Value struct{ Name, Value string }

// TakenError says that the file sets something else already.
type TakenError struct{ Path, Name string }

// Error implements error.
func (e *TakenError) Error() string {
	return fmt.Sprintf("%s sets %s already; name another file, or allow to replace it", e.Path, e.Name)
}

// maxFile bounds a file that is read, in bytes: it is no file of settings beyond.
const maxFile = 1 << 20

// plain is a value that every reader of such files takes as it is: none of them
// agrees with the others about quotes.
var plain = lazyregexp.New(`^[A-Za-z0-9_./:@%+=,-]*$`)

// Check reports whether Set would be refused, before there is anything to lose.
func Check(path string, names []string, replace bool) error {
	lines, err := read(path)
	if err != nil {
		return err
	}
	for _, line := range lines {
		for _, name := range names {
			if sets(line, name) && !replace {
				return &TakenError{Path: path, Name: name}
			}
		}
	}
	dir := filepath.Dir(path)
	probe, err := os.CreateTemp(dir, ".liaison-*")
	if err != nil {
		return fmt.Errorf("nothing can be written beside %s: %w", path, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// Set writes values into the file, which is made if need be, whole or not at all
// and for its owner only. Other lines stay as they are. Without replace it fails
// with [*TakenError] where the file sets one of the names already.
func Set(path string, values []Value, replace bool) error {
	lines, err := read(path)
	if err != nil {
		return err
	}
	for _, v := range values {
		if !plain.MatchString(v.Value) {
			return fmt.Errorf("%s cannot be written into %s: its value would need quotes", v.Name, path)
		}
		kept := lines[:0:0]
		for _, line := range lines {
			switch {
			case !sets(line, v.Name):
				kept = append(kept, line)
			case !replace:
				return &TakenError{Path: path, Name: v.Name}
			}
		}
		lines = append(kept, v.Name+"="+v.Value)
	}
	return write(path, strings.Join(lines, "\n")+"\n")
}

func read(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, fmt.Errorf("%s is not a file of settings", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text := strings.TrimRight(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}

// sets reports whether a line gives name a value.
func sets(line, name string) bool {
	line = strings.TrimSpace(line)
	line = strings.TrimSpace(strings.TrimPrefix(line, "export "))
	key, value, ok := strings.Cut(line, "=")
	return ok && strings.TrimSpace(key) == name && strings.TrimSpace(value) != ""
}

// write replaces the file. A link is followed, so that it stays one.
func write(path, text string) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".liaison-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}
