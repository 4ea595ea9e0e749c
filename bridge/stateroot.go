package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"runtime"
)

// defaultStateRoot is a directory of its own for each workspace, so that two
// programs that work in different places do not meet in one store.
func defaultStateRoot(workspace string, getenv func(string) string) (string, error) {
	base, err := stateHome(getenv)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Join(base, "liaison", "bridge", hex.EncodeToString(sum[:8])), nil
}

// stateHome is where a user's programs keep their state. A relative
// XDG_STATE_HOME is passed over, as its specification asks
// (https://specifications.freedesktop.org/basedir-spec/latest/).
func stateHome(getenv func(string) string) (string, error) {
	if runtime.GOOS == "windows" {
		if dir := getenv("LOCALAPPDATA"); filepath.IsAbs(dir) {
			return dir, nil
		}
		return "", errors.New("StateRoot is not set and LOCALAPPDATA names no place for it")
	}
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state"), nil
	}
	return "", errors.New("StateRoot is not set, and neither XDG_STATE_HOME nor HOME names a place for it")
}
