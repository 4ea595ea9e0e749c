package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

const (
	// DefaultMaxAgents is how many runs may be under way at once when no flag says so.
	DefaultMaxAgents = 32
	// defaultMaxMessageBytes bounds one request; evidence travels as files, not in messages.
	defaultMaxMessageBytes = 16 << 20
	// maxMaxMessageBytes is the most that --max-message-bytes accepts.
	maxMaxMessageBytes = 1 << 30
)

// config is what flags and environment say.
type config struct {
	host            string
	allowRemote     bool
	port            int
	workspace       string
	stateRoot       string
	store           storePlace
	toolCallback    callback
	maxAgents       int
	maxMessageBytes int
	verbose         bool
	exitWithParent  bool
	testModel       bool
}

// setting is one flag and the environment variable that stands in for it.
// A flag wins over its variable.
type setting struct {
	flag  string
	env   string
	value string
	usage string
}

// settings lists them in the order of --help. The names are the vendor's
// bridge's, but for the last three.
func settings() []setting {
	return []setting{
		{"host", "CURSOR_SDK_BRIDGE_HOST", "HOST", "address to listen on (default 127.0.0.1); other than loopback needs --allow-remote"},
		{"port", "CURSOR_SDK_BRIDGE_PORT", "PORT", "port to listen on; 0, the default, takes a free one"},
		{"workspace", "CURSOR_SDK_BRIDGE_WORKSPACE", "DIR", "workspace to name in the ready line (default: the current directory)"},
		{"state-root", "CURSOR_SDK_BRIDGE_STATE_ROOT", "DIR", "where agents and runs are kept (default: a directory per workspace in the user's state directory)"},
		{"local-store", "CURSOR_SDK_LOCAL_STORE", "JSON", `{"type":"sqlite"} keeps them in the state root, {"type":"jsonl","rootDir":DIR} in DIR, {"type":"custom"} at the store callback`},
		{"store-callback-url", "CURSOR_SDK_STORE_CALLBACK_URL", "URL", "where the caller serves the store of {\"type\":\"custom\"}; loopback only"},
		{"store-callback-auth-token", "CURSOR_SDK_STORE_CALLBACK_AUTH_TOKEN", "TOKEN", "token for --store-callback-url"},
		{"tool-callback-url", "CURSOR_SDK_TOOL_CALLBACK_URL", "URL", "where custom tools are served; loopback only"},
		{"tool-callback-auth-token", "CURSOR_SDK_TOOL_CALLBACK_AUTH_TOKEN", "TOKEN", "token for --tool-callback-url"},
		{"max-concurrent-agents", "", "COUNT", "runs that may be under way at once (default " + strconv.Itoa(DefaultMaxAgents) + ")"},
		{"max-message-bytes", "", "BYTES", "largest request (default " + strconv.Itoa(defaultMaxMessageBytes) + ")"},
		{"verbose", "CURSOR_SDK_BRIDGE_LOG", "", "log every call to stderr"},
		{"allow-remote", "", "", "allow a --host that other machines reach; the token then travels unencrypted"},
		{"exit-with-parent", "LIAISON_BRIDGE_EXIT_WITH_PARENT", "", "stop when the process that started the bridge has ended (not on Windows)"},
		{"test-model", "LIAISON_BRIDGE_TEST_MODEL", "", "also offer the test model " + scriptModel + ", which does what the lines of a message say"},
	}
}

// writeUsage prints the help.
func writeUsage(w io.Writer) {
	_, _ = fmt.Fprint(w, "liaison-bridge serves sdk.v1 (Connect over HTTP/1.1) on loopback until it is told to stop.\n\nFlags, each with the environment variable that stands in for it:\n")
	for _, s := range settings() {
		name := "--" + s.flag
		if s.value != "" {
			name += " " + s.value
		}
		if s.env != "" {
			name += "  (" + s.env + ")"
		}
		_, _ = fmt.Fprintf(w, "  %s\n      %s\n", name, s.usage)
	}
	_, _ = fmt.Fprint(w, "  --help\n      print this and exit\n")
	_, _ = fmt.Fprintf(w, "\nA model of your own, behind an endpoint of OpenAI's chat completions protocol:\n"+
		"  %s  what comes before /chat/completions\n  %s  its key; one of the two is enough\n", envOpenAIBaseURL, envOpenAIAPIKey)
}

// parseConfig reads flags and environment. The error is [flag.ErrHelp] when
// help was asked for; any other one is a usage error.
func parseConfig(args []string, env func(string) string) (config, error) {
	var c config
	var localStore string
	var storeCallbackURL, storeCallbackToken, toolCallbackURL, toolCallbackToken string

	fs := flag.NewFlagSet("liaison-bridge", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.StringVar(&c.host, "host", "127.0.0.1", "")
	fs.IntVar(&c.port, "port", 0, "")
	fs.StringVar(&c.workspace, "workspace", "", "")
	fs.StringVar(&c.stateRoot, "state-root", "", "")
	fs.StringVar(&localStore, "local-store", "", "")
	fs.StringVar(&storeCallbackURL, "store-callback-url", "", "")
	fs.StringVar(&storeCallbackToken, "store-callback-auth-token", "", "")
	fs.StringVar(&toolCallbackURL, "tool-callback-url", "", "")
	fs.StringVar(&toolCallbackToken, "tool-callback-auth-token", "", "")
	fs.IntVar(&c.maxAgents, "max-concurrent-agents", DefaultMaxAgents, "")
	fs.IntVar(&c.maxMessageBytes, "max-message-bytes", defaultMaxMessageBytes, "")
	fs.BoolVar(&c.verbose, "verbose", false, "")
	fs.BoolVar(&c.allowRemote, "allow-remote", false, "")
	fs.BoolVar(&c.exitWithParent, "exit-with-parent", false, "")
	fs.BoolVar(&c.testModel, "test-model", false, "")
	if err := fs.Parse(args); err != nil {
		return config{}, err
	}
	if fs.NArg() > 0 {
		return config{}, fmt.Errorf("unexpected argument %.60q", fs.Arg(0))
	}
	if err := applyEnvironment(fs, env); err != nil {
		return config{}, err
	}

	if c.host == "" {
		return config{}, errors.New("--host is empty")
	}
	if c.port < 0 || c.port > 65535 {
		return config{}, fmt.Errorf("--port %d is not between 0 and 65535", c.port)
	}
	if c.maxAgents < 1 {
		return config{}, fmt.Errorf("--max-concurrent-agents %d is less than 1", c.maxAgents)
	}
	if c.maxMessageBytes < 1 || c.maxMessageBytes > maxMaxMessageBytes {
		return config{}, fmt.Errorf("--max-message-bytes %d is not between 1 and %d", c.maxMessageBytes, maxMaxMessageBytes)
	}
	storeCallback, err := newCallback("--store-callback-url", storeCallbackURL, "--store-callback-auth-token", storeCallbackToken)
	if err != nil {
		return config{}, err
	}
	if c.toolCallback, err = newCallback("--tool-callback-url", toolCallbackURL, "--tool-callback-auth-token", toolCallbackToken); err != nil {
		return config{}, err
	}
	if c.workspace, err = existingDir(c.workspace); err != nil {
		return config{}, fmt.Errorf("--workspace: %w", err)
	}
	if c.stateRoot, err = resolveStateRoot(c.stateRoot, c.workspace, env); err != nil {
		return config{}, err
	}
	if c.store, err = findStore(localStore, c.stateRoot, storeCallback); err != nil {
		return config{}, fmt.Errorf("--local-store: %w", err)
	}
	return c, nil
}

// applyEnvironment sets every flag that was not given from its variable.
func applyEnvironment(fs *flag.FlagSet, env func(string) string) error {
	given := make(map[string]bool)
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for _, s := range settings() {
		if s.env == "" || given[s.flag] {
			continue
		}
		value := env(s.env)
		if value == "" {
			continue
		}
		if err := fs.Set(s.flag, value); err != nil {
			// The value is left out: one of the variables is a token.
			return fmt.Errorf("environment variable %s has a value that --%s does not take", s.env, s.flag)
		}
	}
	return nil
}

// existingDir makes dir absolute; empty means the current directory.
func existingDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", abs)
	}
	return abs, nil
}

// resolveStateRoot makes the state root absolute, and finds a place for it
// when none was named: one directory for each workspace.
func resolveStateRoot(root, workspace string, env func(string) string) (string, error) {
	if root != "" {
		return filepath.Abs(root)
	}
	base := env("XDG_STATE_HOME")
	if !filepath.IsAbs(base) { // as its specification asks (https://specifications.freedesktop.org/basedir-spec/latest/)
		base = ""
	}
	if base == "" {
		base = env("LOCALAPPDATA")
	}
	if base == "" {
		home := env("HOME")
		if home == "" {
			return "", errors.New("--state-root is not set and there is no HOME to put it in")
		}
		base = filepath.Join(home, ".local", "state")
	}
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Abs(filepath.Join(base, "liaison-bridge", hex.EncodeToString(sum[:8])))
}
