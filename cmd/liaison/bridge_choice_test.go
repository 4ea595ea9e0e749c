package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/bridge/install"
	"github.com/liaison-bot/liaison/config"
)

const (
	vendorsKey = "a-key-of-the-vendor"
	modelsKey  = "a-key-of-a-model"
	modelsURL  = "https://models.test/v1"
)

// choose loads settings and chooses. Every key there is is set unless extra says otherwise.
func choose(t *testing.T, stateDir string, extra ...string) (bridgeChoice, error) {
	t.Helper()
	t.Chdir(t.TempDir())         // no liaison.yaml of whoever runs the tests
	for _, v := range wayOut() { // and no proxy of theirs
		name, _, _ := strings.Cut(v, "=")
		t.Setenv(name, "")
	}
	cfg, err := config.Load(append([]string{
		"LIAISON_STATE_DIR=" + stateDir, "CURSOR_API_KEY=" + vendorsKey,
		"OPENAI_API_KEY=" + modelsKey, "OPENAI_BASE_URL=" + modelsURL,
	}, extra...), "")
	if err != nil {
		t.Fatal(err)
	}
	return chooseBridge(cfg)
}

// installBridge installs an archive whose executable is body.
func installBridge(t *testing.T, dir, body string) install.Result {
	t.Helper()
	platform, err := install.Host()
	if err != nil {
		t.Skip(err)
	}
	var data bytes.Buffer
	zip := gzip.NewWriter(&data)
	w := tar.NewWriter(zip)
	for name, content := range map[string]string{
		platform.Executable(): body,
		"manifest.json":       `{"protocol":"sdk.v1","sdkVersion":"1.2.3"}`,
	} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), platform.Archive())
	if err := os.WriteFile(path, data.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data.Bytes())
	result, err := install.Install(t.Context(), install.Options{Dir: dir, Archive: path, SHA256: hex.EncodeToString(sum[:])})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestChooseBridge(t *testing.T) {
	state := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	own := func(name string, choice bridgeChoice, err error, reason string) {
		t.Helper()
		if err != nil || choice.options.Executable != self || choice.Name != "liaison bridge serve" || !strings.Contains(choice.Reason, reason) {
			t.Errorf("%s: %+v, %v", name, choice, err)
		}
		if want := []string{"OPENAI_BASE_URL=" + modelsURL, "OPENAI_API_KEY=" + modelsKey}; !slices.Equal(choice.options.Env, want) {
			t.Errorf("%s: our bridge's environment is %q, want %q", name, choice.options.Env, want)
		}
		if choice.options.APIKey == vendorsKey {
			t.Errorf("%s: our bridge is passed the vendor's key", name)
		}
	}
	vendors := func(name string, choice bridgeChoice, err error, path, reason string) {
		t.Helper()
		if err != nil || choice.options.Executable != path || choice.Name != path || !strings.Contains(choice.Reason, reason) {
			t.Errorf("%s: %+v, %v", name, choice, err)
		}
		if want := []string{"CURSOR_API_KEY=" + vendorsKey}; !slices.Equal(choice.options.Env, want) || choice.options.APIKey != vendorsKey {
			t.Errorf("%s: the vendor's environment is %q, want %q", name, choice.options.Env, want)
		}
		store := `{"rootDir":"` + strings.ReplaceAll(filepath.Join(state, "bridge", "vendor-store"), `\`, `\\`) + `","type":"jsonl"}`
		if want := []string{"--local-store", store}; !slices.Equal(choice.options.Args, want) {
			t.Errorf("%s: arguments %q, want %q", name, choice.options.Args, want)
		}
	}

	choice, err := choose(t, state, "CURSOR_API_KEY=")
	own("without a key", choice, err, "CURSOR_SDK_BRIDGE_BIN and CURSOR_API_KEY are not set")
	choice, err = choose(t, state)
	own("nothing installed", choice, err, `run "liaison bridge install"`)

	installed := installBridge(t, filepath.Join(state, "bridge-bin"), "first")
	choice, err = choose(t, state)
	vendors("installed", choice, err, installed.Executable, "CURSOR_API_KEY is set")
	if choice.Version != "1.2.3" || choice.SHA256 != installed.SHA256 {
		t.Errorf("the choice says %q %q", choice.Version, choice.SHA256)
	}
	choice, err = choose(t, state, "CURSOR_API_KEY=")
	own("installed, without a key", choice, err, "are not set")

	choice, err = choose(t, state, "CURSOR_SDK_BRIDGE_BIN="+self)
	vendors("named", choice, err, self, "CURSOR_SDK_BRIDGE_BIN is set")
	choice, err = choose(t, state, "CURSOR_SDK_BRIDGE_BIN="+self, "CURSOR_API_KEY=")
	if err != nil || len(choice.options.Env) != 0 || choice.options.APIKey != "" {
		t.Errorf("named, without a key: %+v, %v", choice, err)
	}

	elsewhere := t.TempDir()
	other := installBridge(t, elsewhere, "second")
	choice, err = choose(t, state, "LIAISON_BRIDGE_DIR="+elsewhere)
	vendors("installed elsewhere", choice, err, other.Executable, "CURSOR_API_KEY is set")

	if err := os.WriteFile(installed.Executable, []byte("replaced"), 0o755); err != nil {
		t.Fatal(err)
	}
	choice, err = choose(t, state)
	if !errors.Is(err, install.ErrBroken) || !strings.Contains(err.Error(), "liaison bridge install --force") {
		t.Errorf("a replaced executable: %+v, %v", choice, err)
	}
}

func TestChoiceMakesTheVendorsStore(t *testing.T) {
	state := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	choice, err := choose(t, state, "CURSOR_SDK_BRIDGE_BIN="+self)
	if err != nil {
		t.Fatal(err)
	}
	if err := choice.prepare(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(state, "bridge", "vendor-store")); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
}

func TestTheWayOutIsForAModelOnly(t *testing.T) {
	state := t.TempDir()
	t.Chdir(t.TempDir()) // no liaison.yaml of whoever runs the tests
	t.Setenv("HTTPS_PROXY", "http://proxy.test:3128")
	proxied := func(extra ...string) []string {
		t.Helper()
		cfg, err := config.Load(append([]string{"LIAISON_STATE_DIR=" + state}, extra...), "")
		if err != nil {
			t.Fatal(err)
		}
		choice, err := chooseBridge(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return choice.options.Env
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const proxy = "HTTPS_PROXY=http://proxy.test:3128"
	if env := proxied("OPENAI_BASE_URL=" + modelsURL); !slices.Contains(env, proxy) {
		t.Errorf("with a model the environment is %q", env)
	}
	if env := proxied(); slices.Contains(env, proxy) {
		t.Errorf("without a model the environment is %q", env)
	}
	if env := proxied("CURSOR_SDK_BRIDGE_BIN="+self, "OPENAI_BASE_URL="+modelsURL); slices.Contains(env, proxy) {
		t.Errorf("the vendor's environment is %q", env)
	}
}

// Our own bridge refuses more runs than it is told: turns would wait in vain.
func TestOurBridgeTakesAsManyRunsAsThereAreTurns(t *testing.T) {
	t.Parallel()
	for turns, want := range map[int]string{4: "32", 32: "32", 40: "40"} {
		choice, err := ownBridge(&config.Config{StateDir: t.TempDir(), MaxRunningTurns: turns}, "")
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.Index(choice.options.Args, "--max-concurrent-agents"); i < 0 || choice.options.Args[i+1] != want {
			t.Errorf("with %d turns it is started with %q", turns, choice.options.Args)
		}
	}
}
