package local

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// environment is one for tests: a home and what is given.
func environment(home string, pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		if name == "HOME" {
			return home
		}
		return ""
	}
}

func TestFlagsAndEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tests := []struct {
		name string
		args []string
		env  []string
		want func(config) bool
	}{
		{"defaults", nil, nil, func(c config) bool {
			return c.host == "127.0.0.1" && c.port == 0 && c.maxAgents == DefaultMaxAgents && c.maxMessageBytes == defaultMaxMessageBytes && !c.verbose && !c.allowRemote && !c.exitWithParent
		}},
		{"state root by workspace", []string{"--workspace", dir}, nil, func(c config) bool {
			return strings.HasPrefix(c.stateRoot, filepath.Join(dir, ".local", "state", "liaison-bridge")) && c.store.dir == c.stateRoot
		}},
		{"a relative XDG_STATE_HOME is passed over", []string{"--workspace", dir}, []string{"XDG_STATE_HOME", "state"}, func(c config) bool {
			return strings.HasPrefix(c.stateRoot, filepath.Join(dir, ".local", "state", "liaison-bridge"))
		}},
		{"flags", []string{"--host", "::1", "--port=7", "--workspace", dir, "--state-root", dir, "--verbose", "--max-concurrent-agents", "3", "--max-message-bytes", "9"}, nil, func(c config) bool {
			return c.host == "::1" && c.port == 7 && c.workspace == dir && c.stateRoot == dir && c.verbose && c.maxAgents == 3 && c.maxMessageBytes == 9
		}},
		{"environment", nil, []string{
			"CURSOR_SDK_BRIDGE_HOST", "localhost", "CURSOR_SDK_BRIDGE_PORT", "8", "CURSOR_SDK_BRIDGE_WORKSPACE", dir, "CURSOR_SDK_BRIDGE_STATE_ROOT", dir,
			"CURSOR_SDK_BRIDGE_LOG", "1", "LIAISON_BRIDGE_EXIT_WITH_PARENT", "1",
			"CURSOR_SDK_TOOL_CALLBACK_URL", "http://localhost:1", "CURSOR_SDK_TOOL_CALLBACK_AUTH_TOKEN", "t",
		}, func(c config) bool {
			return c.host == "localhost" && c.port == 8 && c.workspace == dir && c.stateRoot == dir && c.verbose && c.exitWithParent && c.toolCallback == callback{"http://localhost:1", "t"}
		}},
		{"a flag wins", []string{"--port", "7"}, []string{"CURSOR_SDK_BRIDGE_PORT", "8"}, func(c config) bool { return c.port == 7 }},
		{"half a pair here and half there", []string{"--tool-callback-url", "http://127.0.0.1:1"}, []string{"CURSOR_SDK_TOOL_CALLBACK_AUTH_TOKEN", "t"}, func(c config) bool {
			return c.toolCallback == callback{"http://127.0.0.1:1", "t"}
		}},
		{"sqlite store", []string{"--state-root", dir, "--local-store", `{"type":"sqlite"}`}, nil, func(c config) bool { return c.store.dir == dir }},
		{"custom store", []string{"--state-root", dir, "--local-store", `{"type":"custom"}`, "--store-callback-url", "http://127.0.0.1:1"},
			[]string{"CURSOR_SDK_STORE_CALLBACK_AUTH_TOKEN", "t"},
			func(c config) bool {
				return c.store == storePlace{dir: dir, custom: callback{url: "http://127.0.0.1:1", token: "t"}}
			}},
		{"jsonl store", []string{"--local-store", `{"type":"jsonl","rootDir":"` + filepath.ToSlash(dir) + `","future":1}`}, nil, func(c config) bool { return c.store.dir == dir }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := parseConfig(tt.args, environment(dir, tt.env...))
			if err != nil {
				t.Fatal(err)
			}
			if !tt.want(c) {
				t.Errorf("got %+v", c)
			}
		})
	}
}

func TestWrongFlagsAreUsageErrors(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const secret = "s3cret-token"
	tests := []struct {
		name  string
		args  []string
		env   []string
		names string
	}{
		{"unknown flag", []string{"--hots", "x"}, nil, "hots"},
		{"argument", []string{"serve"}, nil, "serve"},
		{"port is not a number", []string{"--port", "x"}, nil, "port"},
		{"port too high", []string{"--port", "65536"}, nil, "--port"},
		{"port in the environment", nil, []string{"CURSOR_SDK_BRIDGE_PORT", "x"}, "CURSOR_SDK_BRIDGE_PORT"},
		{"no host", []string{"--host", ""}, nil, "--host"},
		{"workspace is missing", []string{"--workspace", filepath.Join(home, "no")}, nil, "--workspace"},
		{"workspace is a file", []string{"--workspace", file}, nil, "--workspace"},
		{"no agents", []string{"--max-concurrent-agents", "0"}, nil, "--max-concurrent-agents"},
		{"no bytes", []string{"--max-message-bytes", "0"}, nil, "--max-message-bytes"},
		{"store URL alone", []string{"--store-callback-url", "http://127.0.0.1:1"}, nil, "--store-callback-auth-token"},
		{"store token alone", nil, []string{"CURSOR_SDK_STORE_CALLBACK_AUTH_TOKEN", secret}, "--store-callback-url"},
		{"tool URL alone", []string{"--tool-callback-url", "http://127.0.0.1:1"}, nil, "--tool-callback-auth-token"},
		{"tool token alone", []string{"--tool-callback-auth-token", secret}, nil, "--tool-callback-url"},
		{"tool URL elsewhere", []string{"--tool-callback-url", "http://example.com", "--tool-callback-auth-token", secret}, nil, "--tool-callback-url"},
		{"custom store without its callback", []string{"--local-store", `{"type":"custom"}`}, nil, "--store-callback-url"},
		{"unknown store", []string{"--local-store", `{"type":"etcd"}`}, nil, "--local-store"},
		{"store is not JSON", []string{"--local-store", `sqlite`}, nil, "--local-store"},
		{"nowhere for state", nil, []string{"HOME", ""}, "--state-root"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var stderr bytes.Buffer
			code := Main(testContext(t), tt.args, environment(home, tt.env...), &stderr, "test")
			if code != exitUsage || !strings.Contains(stderr.String(), tt.names) || strings.Contains(stderr.String(), secret) {
				t.Errorf("exit code %d, stderr %q; want %d and the name %s", code, stderr.String(), exitUsage, tt.names)
			}
		})
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"--help", "-h"} {
		var stderr bytes.Buffer
		if code := Main(testContext(t), []string{arg}, environment(""), &stderr, "test"); code != exitOK {
			t.Errorf("%s: exit code %d", arg, code)
		}
		for _, s := range settings() {
			if !strings.Contains(stderr.String(), "--"+s.flag) || !strings.Contains(stderr.String(), s.env) {
				t.Errorf("%s does not name --%s", arg, s.flag)
			}
		}
	}
}

func TestOnlyLoopbackUnlessAskedFor(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"0.0.0.0", "::", "192.0.2.1"} {
		var stderr bytes.Buffer
		home := t.TempDir()
		code := Main(testContext(t), []string{"--host", host}, environment(home), &stderr, "test")
		if code != exitFailure || !strings.Contains(stderr.String(), "--allow-remote") || strings.Contains(stderr.String(), readyPrefix) {
			t.Errorf("%s: exit code %d, stderr %q", host, code, stderr.String())
		}
	}
	l, err := listen(config{host: "0.0.0.0", allowRemote: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// Whatever the flags and the environment are, the result is an error or a
// configuration within its bounds.
func FuzzParseConfig(f *testing.F) {
	f.Add("--port\n7", "8", `{"type":"jsonl","rootDir":"x"}`)
	f.Add("--host=::1\n--tool-callback-url=http://[::1]:1\n--tool-callback-auth-token=t", "", "")
	f.Add("--max-message-bytes\n-1", "x", "{}")
	f.Add("-h", "", "")
	home := f.TempDir()
	f.Fuzz(func(t *testing.T, args, port, store string) {
		c, err := parseConfig(strings.Split(args, "\n"), environment(home,
			"CURSOR_SDK_BRIDGE_PORT", port, "CURSOR_SDK_LOCAL_STORE", store))
		if err != nil {
			if !errors.Is(err, flag.ErrHelp) && err.Error() == "" {
				t.Error("the error says nothing")
			}
			return
		}
		if c.host == "" || c.port < 0 || c.port > 65535 || c.maxAgents < 1 || c.maxMessageBytes < 1 ||
			!filepath.IsAbs(c.workspace) || !filepath.IsAbs(c.stateRoot) || !filepath.IsAbs(c.store.dir) {
			t.Errorf("accepted %+v", c)
		}
		if (c.toolCallback.url == "") != (c.toolCallback.token == "") {
			t.Errorf("half a callback was accepted: %+v", c.toolCallback)
		}
	})
}
