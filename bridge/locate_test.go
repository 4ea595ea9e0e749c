package bridge

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// place puts an executable, or a file that is none, into a directory.
func place(t *testing.T, dir, name string, mode os.FileMode) string {
	t.Helper()
	if runtime.GOOS == "windows" && mode&0o100 != 0 {
		name += ".exe"
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func variables(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestFindExecutable(t *testing.T) {
	t.Parallel()
	empty, both, one, third := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	bridgeInBoth, _ := place(t, both, "liaison-bridge", 0o755), place(t, both, "liaison", 0o755)
	liaison := place(t, one, "liaison", 0o755)
	vendor := place(t, third, "cursor-sdk-bridge", 0o755)
	flat := place(t, third, "liaison-bridge", 0o644)
	if runtime.GOOS == "windows" {
		flat = filepath.Join(third, "gone")
	}
	path := func(dirs ...string) string { return strings.Join(dirs, string(filepath.ListSeparator)) }
	serve := []string{"bridge", "serve"}
	tests := []struct {
		name string
		bin  string
		path string
		want string
		args []string
		say  string
	}{
		{"named by path", vendor, path(both), vendor, nil, ""},
		{"named by name", "cursor-sdk-bridge", path(both, third), vendor, nil, ""},
		{"ours", "", path(empty, both, one), bridgeInBoth, nil, ""},
		{"ours as a command", "", path(empty, one), liaison, serve, ""},
		{"the bridge in a later directory before the command", "", path(one, both), bridgeInBoth, nil, ""},
		{"a file that cannot be run is passed over", "", path(third, both), bridgeInBoth, nil, ""},
		{"a relative directory is passed over", "", path(".", "", one), liaison, serve, ""},
		{"none", "", path(empty), "", nil, "go install"},
		{"no PATH at all", "", "", "", nil, "go install"},
		{"what is named is not there", filepath.Join(empty, "gone"), path(both), "", nil, "CURSOR_SDK_BRIDGE_BIN names"},
		{"what is named cannot be run", flat, path(both), "", nil, "CURSOR_SDK_BRIDGE_BIN names"},
		{"what is named is not in PATH", "gone", path(both), "", nil, "CURSOR_SDK_BRIDGE_BIN names"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, args, err := FindExecutable(variables(map[string]string{"CURSOR_SDK_BRIDGE_BIN": tt.bin, "PATH": tt.path}))
			if tt.say != "" {
				if !errors.Is(err, ErrNoExecutable) || !strings.Contains(err.Error(), tt.say) {
					t.Errorf("error = %v, want one that says %q", err, tt.say)
				}
				return
			}
			if err != nil || got != tt.want || !slices.Equal(args, tt.args) {
				t.Errorf("got %s %q, %v\nwant %s %q", got, args, err, tt.want, tt.args)
			}
		})
	}
}

// The provider's key is for the bridge that was named, a model's key for ours.
func TestWhatAFoundBridgeGets(t *testing.T) {
	t.Parallel()
	dir, state, workspace := t.TempDir(), t.TempDir(), t.TempDir()
	ours, vendor := place(t, dir, "liaison-bridge", 0o755), place(t, dir, "cursor-sdk-bridge", 0o755)
	everything := map[string]string{
		"PATH": dir, "CURSOR_API_KEY": "provider-key", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": "model-key",
		"XDG_STATE_HOME": state, "LOCALAPPDATA": state, "GITHUB_WEBHOOK_SECRET": "sesame",
	}
	named := map[string]string{"CURSOR_SDK_BRIDGE_BIN": vendor}
	tests := []struct {
		name    string
		more    map[string]string
		options Options
		want    Options // of which Executable, Args, Env and APIKey are looked at
	}{
		{"ours", nil, Options{}, Options{
			Executable: ours, APIKey: placeholderKey,
			Env: []string{"OPENAI_BASE_URL=http://127.0.0.1:1/v1", "OPENAI_API_KEY=model-key"},
		}},
		{"the one that is named", named, Options{}, Options{Executable: vendor, APIKey: "provider-key", Env: []string{"CURSOR_API_KEY=provider-key"}}},
		{"one that is named, without a key", map[string]string{"CURSOR_SDK_BRIDGE_BIN": vendor, "CURSOR_API_KEY": ""}, Options{}, Options{Executable: vendor, APIKey: placeholderKey}},
		{"what the caller says is left", named, Options{Args: []string{"--verbose"}, Env: []string{}, APIKey: "mine"}, Options{
			Executable: vendor, Args: []string{"--verbose"}, APIKey: "mine",
		}},
		{"an executable of the caller's gets no secret", named, Options{Executable: ours}, Options{Executable: ours, APIKey: placeholderKey}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{}
			for _, m := range []map[string]string{everything, tt.more} {
				for k, v := range m {
					env[k] = v
				}
			}
			o := tt.options
			o.Workspace = workspace
			if err := o.complete(variables(env)); err != nil {
				t.Fatal(err)
			}
			if o.Executable != tt.want.Executable || o.APIKey != tt.want.APIKey || !slices.Equal(o.Args, tt.want.Args) || !slices.Equal(o.Env, tt.want.Env) {
				t.Errorf("got  %q %q key %q env %q\nwant %q %q key %q env %q",
					o.Executable, o.Args, o.APIKey, o.Env, tt.want.Executable, tt.want.Args, tt.want.APIKey, tt.want.Env)
			}
		})
	}
}

func TestDefaultStateRoot(t *testing.T) {
	t.Parallel()
	state, home, workspace := t.TempDir(), t.TempDir(), t.TempDir()
	env := map[string]string{"XDG_STATE_HOME": state, "LOCALAPPDATA": state, "HOME": home}
	root := func(workspace string, more map[string]string) (string, error) {
		o := Options{Executable: "x", Workspace: workspace}
		all := map[string]string{}
		for _, m := range []map[string]string{env, more} {
			for k, v := range m {
				all[k] = v
			}
		}
		err := o.complete(variables(all))
		return o.StateRoot, err
	}
	first, err := root(workspace, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := root(workspace+string(filepath.Separator), nil)
	other, _ := root(t.TempDir(), nil)
	if first != again || first == other || filepath.Dir(first) != filepath.Join(state, "liaison", "bridge") {
		t.Errorf("the state roots are %s, %s and %s", first, again, other)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for name, value := range map[string]string{"empty": "", "relative": "state"} {
		got, err := root(workspace, map[string]string{"XDG_STATE_HOME": value})
		if err != nil || !strings.HasPrefix(got, filepath.Join(home, ".local", "state")+string(filepath.Separator)) {
			t.Errorf("with an %s XDG_STATE_HOME it is %s, %v", name, got, err)
		}
	}
	if _, err := root(workspace, map[string]string{"XDG_STATE_HOME": "", "HOME": ""}); err == nil || !strings.Contains(err.Error(), "StateRoot") {
		t.Errorf("with no place for it: %v", err)
	}
}

// Without another word a bridge works where its state is.
func TestStateRootIsTheWorkspace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := Options{Executable: "x", StateRoot: dir}
	if err := o.complete(variables(nil)); err != nil || o.Workspace != dir || o.StateRoot != dir {
		t.Errorf("workspace %s, state root %s, %v", o.Workspace, o.StateRoot, err)
	}
}
