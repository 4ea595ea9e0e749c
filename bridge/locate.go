package bridge

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
)

// The environment variables that say which bridge runs and with what.
const (
	envExecutable    = "CURSOR_SDK_BRIDGE_BIN"
	envPath          = "PATH"
	envProviderKey   = "CURSOR_API_KEY"
	envModelEndpoint = "OPENAI_BASE_URL"
	envModelKey      = "OPENAI_API_KEY"
)

// ErrNoExecutable is returned by [New] and [FindExecutable] when there is no
// bridge to start.
var ErrNoExecutable = errors.New("no bridge was found")

// FindExecutable finds the bridge to start: what CURSOR_SDK_BRIDGE_BIN names, else
// liaison-bridge in PATH, else liaison in PATH, whose bridge is "liaison bridge
// serve". The arguments are those that the executable needs before the protocol's
// flags. The path is absolute. The environment is read through getenv, such as
// os.Getenv.
func FindExecutable(getenv func(string) string) (path string, args []string, err error) {
	if name := getenv(envExecutable); name != "" {
		path, err := lookUp(name, getenv(envPath))
		if err != nil {
			return "", nil, fmt.Errorf("%w: %s names %q: %w; correct it, or unset it to use Liaison's own bridge", ErrNoExecutable, envExecutable, name, err)
		}
		return path, nil, nil
	}
	for _, own := range []struct {
		name string
		args []string
	}{
		{"liaison-bridge", nil},
		{"liaison", []string{"bridge", "serve"}},
	} {
		if path, err := lookUp(own.name, getenv(envPath)); err == nil {
			return path, own.args, nil
		}
	}
	return "", nil, fmt.Errorf("%w: neither liaison-bridge nor liaison is in PATH; "+
		"run \"go install github.com/liaison-bot/liaison/cmd/liaison-bridge@latest\", "+
		"or name another bridge in %s or Options.Executable", ErrNoExecutable, envExecutable)
}

// lookUp finds an executable by its path or, for a bare name, in the directories
// of PATH. Relative ones there are passed over as in os/exec: what a working
// directory holds may be a stranger's.
func lookUp(name, path string) (string, error) {
	if strings.ContainsRune(filepath.ToSlash(name), '/') {
		found, err := exec.LookPath(name)
		if err != nil {
			return "", reason(err)
		}
		return filepath.Abs(found)
	}
	var first error
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		found, err := exec.LookPath(filepath.Join(dir, name))
		if err == nil {
			return found, nil
		}
		if first == nil && !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) {
			first = reason(err)
		}
	}
	if first != nil {
		return "", first
	}
	return "", exec.ErrNotFound
}

// reason takes the name off an error of exec.LookPath: the caller says it.
func reason(err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// locate fills in the executable, and what it needs where nothing was said. The
// provider's key goes to the bridge that was named only, a model's key to
// Liaison's own only.
func (o *Options) locate(getenv func(string) string) error {
	path, args, err := FindExecutable(getenv)
	if err != nil {
		return err
	}
	o.Executable, o.Args = path, append(args, o.Args...)
	needs := []string{envModelEndpoint, envModelKey}
	if getenv(envExecutable) != "" {
		needs = []string{envProviderKey}
		if o.APIKey == "" {
			o.APIKey = getenv(envProviderKey)
		}
	}
	if o.Env == nil {
		for _, name := range needs {
			if value := getenv(name); value != "" {
				o.Env = append(o.Env, name+"="+value)
			}
		}
	}
	return nil
}
