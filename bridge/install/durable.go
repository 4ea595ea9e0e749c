package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// syncFolder makes the entries of a folder durable: what was renamed into it may
// otherwise be gone after a power failure. Windows orders its metadata itself.
func syncFolder(open func() (*os.File, error)) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := open()
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// writeFile replaces a file at once and durably. The temporary file is in
// staging, which is on the same file system and swept later if we die.
func writeFile(staging, path string, data []byte) (err error) {
	f, err := os.CreateTemp(staging, filepath.Base(path)+".")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // it may be closed already
			_ = os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	// CreateTemp makes files for their owner only; an installed bridge is no
	// secret, and who installs it need not be who runs it.
	if err := f.Chmod(0o644); err != nil && runtime.GOOS != "windows" {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(func() (*os.File, error) { return os.Open(filepath.Dir(path)) })
}
