package removal

import (
	"errors"
	"io/fs"
	"os"
)

// Tree removes a folder, also where somebody took the right to write in it away.
// Nothing outside of it is touched, whatever links it has. What is not there is no
// error.
func Tree(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	_ = root.Chmod(".", 0o700)
	_ = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = root.Chmod(path, 0o700) // what cannot be removed is told of below
		}
		return nil
	})
	return errors.Join(root.Close(), os.RemoveAll(dir))
}
