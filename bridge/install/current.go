package install

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Installed is a copy of the bridge that was found to be as it was installed.
type Installed struct {
	// Version is the release's, without a "v"; empty when the archive does not say.
	Version string
	// SHA256 is the archive's, in lower-case hex: what to pin.
	SHA256 string
	// Executable is the bridge's absolute path.
	Executable string
	// Source is the URL or the file that it came from.
	Source      string
	InstalledAt time.Time
}

// Current returns the copy that was installed last in dir, after its executable
// was read and compared with what was installed. The error is [ErrNotInstalled]
// when there is none, [ErrBroken] when it is not what it was.
func Current(dir string) (Installed, error) {
	root, err := openDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Installed{}, fmt.Errorf("%w in %s", ErrNotInstalled, dir)
	}
	if err != nil {
		return Installed{}, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	defer func() { _ = root.Close() }()
	r, err := readRecord(root, pointerName)
	if errors.Is(err, fs.ErrNotExist) {
		return Installed{}, fmt.Errorf("%w in %s", ErrNotInstalled, dir)
	}
	if err == nil {
		err = verify(root, r)
	}
	if err != nil {
		return Installed{}, fmt.Errorf("%w: %s: %w", ErrBroken, dir, err)
	}
	return r.installed(root), nil
}

func openDir(dir string) (*os.Root, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

func (r record) installed(root *os.Root) Installed {
	return Installed{
		Version: r.Version, SHA256: r.SHA256, Source: r.Source, InstalledAt: r.InstalledAt,
		Executable: filepath.Join(root.Name(), r.Path, filepath.FromSlash(r.Executable)),
	}
}

// verify compares a copy's executable with its record.
func verify(root *os.Root, r record) error {
	name := filepath.Join(r.Path, filepath.FromSlash(r.Executable))
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", name)
	}
	if runtime.GOOS != "windows" {
		if info.Mode().Perm()&0o111 == 0 {
			return fmt.Errorf("%s is not executable", name)
		}
		// A group may be that of a shared volume; everyone is nobody's.
		if info.Mode().Perm()&0o002 != 0 {
			return fmt.Errorf("%s can be written by everyone", name)
		}
	}
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != r.ExecutableSHA256 {
		return fmt.Errorf("%s was changed since it was installed: its SHA-256 is %s, not %s", name, got, r.ExecutableSHA256)
	}
	return nil
}
