package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/liaison-bot/liaison/bridge/local"
)

// ownBridge is the name under which this test binary is Liaison's own bridge, so
// that the examples find one in PATH as a user's program does.
const ownBridge = "liaison-bridge"

func executableName(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return name
}

func isOwnBridge() bool { return filepath.Base(os.Args[0]) == executableName(ownBridge) }

// runOwnBridge is the main function of Liaison's own bridge. It offers the test
// model, which needs no network and says the same each time.
func runOwnBridge() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	getenv := func(name string) string {
		if name == "LIAISON_BRIDGE_TEST_MODEL" {
			return "1"
		}
		return os.Getenv(name)
	}
	return local.Main(ctx, os.Args[1:], getenv, os.Stderr, "test")
}

// offerOwnBridge puts the bridge first in PATH and the user's state into a
// temporary directory, and hides the user's own choice of a bridge and a model.
func offerOwnBridge() (remove func(), err error) {
	dir, err := os.MkdirTemp("", "liaison-bridge-test-")
	if err != nil {
		return nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	defer func() {
		if err != nil {
			remove()
		}
	}()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := linkOrCopy(self, filepath.Join(dir, executableName(ownBridge))); err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		envPath:       dir + string(filepath.ListSeparator) + os.Getenv(envPath),
		envExecutable: "", envModelEndpoint: "", envModelKey: "",
		"XDG_STATE_HOME": filepath.Join(dir, "state"),
		"LOCALAPPDATA":   filepath.Join(dir, "state"),
	} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	return remove, nil
}

// linkOrCopy copies where the system, or the user, may not make links.
func linkOrCopy(from, to string) error {
	if os.Symlink(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("copy the test binary: %w", err)
	}
	return nil
}
