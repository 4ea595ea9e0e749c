package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/bridge/install"
	"github.com/liaison-bot/liaison/bridge/local"
	"github.com/liaison-bot/liaison/config"
)

// bridgeChoice is which bridge runs, and why.
type bridgeChoice struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
	// Version and SHA256 are of an installed copy: its release and its archive.
	Version string `json:"version,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
	options bridge.Options
	// store is the folder that the vendor's bridge keeps agents and runs in. Our
	// own bridge has none: it keeps them in the service's store.
	store string
}

// prepare makes what the bridge expects to be there.
func (c bridgeChoice) prepare() error {
	if c.store == "" {
		return nil
	}
	if err := os.MkdirAll(c.store, 0o700); err != nil {
		return fmt.Errorf("make the bridge's store: %w", err)
	}
	return nil
}

// chooseBridge decides which bridge runs. An installed copy that is not what was
// installed is an error, and not a reason to run another bridge quietly.
func chooseBridge(cfg *config.Config) (bridgeChoice, error) {
	const key, bin = config.EnvCursorAPIKey, config.EnvBridgeBin
	if path := cfg.Bridge.VendorExecutable; path != "" {
		return vendorsBridge(cfg, path, bin+" is set")
	}
	if cfg.Bridge.CursorAPIKey == "" {
		return ownBridge(cfg, bin+" and "+key+" are not set")
	}
	installed, err := install.Current(cfg.Bridge.Dir)
	switch {
	case errors.Is(err, install.ErrNotInstalled):
		return ownBridge(cfg, key+` is set, but has no effect: the vendor's bridge is not installed; run "liaison bridge install", or set `+bin)
	case err != nil:
		return bridgeChoice{}, fmt.Errorf(`%w; run "liaison bridge install --force" to mend it, or unset %s to run Liaison's own bridge`, err, key)
	}
	choice, err := vendorsBridge(cfg, installed.Executable, key+` is set and "liaison bridge install" installed this copy; its executable is as it was installed`)
	choice.Version, choice.SHA256 = installed.Version, installed.SHA256
	return choice, err
}

// vendorsBridge runs an executable with the vendor's key, and with no other.
func vendorsBridge(cfg *config.Config, path, reason string) (bridgeChoice, error) {
	root := filepath.Join(cfg.StateDir, "bridge")
	dir := filepath.Join(root, "vendor-store")
	// Some of the vendor's releases only print --state-root: what decides where
	// agents are kept is this.
	store, err := json.Marshal(map[string]string{"type": "jsonl", "rootDir": dir})
	if err != nil {
		return bridgeChoice{}, err
	}
	choice := bridgeChoice{
		Name: path, Reason: reason, store: dir,
		options: bridge.Options{
			Executable: path,
			Args:       []string{"--local-store", string(store)},
			StateRoot:  root,
		},
	}
	if key := cfg.Bridge.CursorAPIKey; key != "" {
		choice.options.APIKey = key
		choice.options.Env = []string{config.EnvCursorAPIKey + "=" + key}
	}
	return choice, nil
}

// ownBridge runs this program as the bridge, with a model's key and without the
// vendor's. It takes as many runs at once as there are turns.
func ownBridge(cfg *config.Config, reason string) (bridgeChoice, error) {
	self, err := os.Executable()
	if err != nil {
		return bridgeChoice{}, fmt.Errorf("find our own executable to start the bridge: %w", err)
	}
	choice := bridgeChoice{
		Name:   "liaison bridge serve",
		Reason: reason,
		options: bridge.Options{
			Executable: self,
			Args:       []string{"bridge", "serve", "--max-concurrent-agents", strconv.Itoa(max(local.DefaultMaxAgents, cfg.MaxRunningTurns))},
			StateRoot:  filepath.Join(cfg.StateDir, "bridge"),
		},
	}
	for _, v := range []struct{ name, value string }{
		{config.EnvOpenAIBaseURL, cfg.Bridge.OpenAIBaseURL},
		{config.EnvOpenAIAPIKey, cfg.Bridge.OpenAIAPIKey},
	} {
		if v.value != "" {
			choice.options.Env = append(choice.options.Env, v.name+"="+v.value)
		}
	}
	if len(choice.options.Env) > 0 {
		choice.options.Env = append(choice.options.Env, wayOut()...)
	}
	return choice, nil
}

// wayOut is how this host reaches the internet, for the bridge that has a model there.
func wayOut() []string {
	var out []string
	for _, name := range []string{
		"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR",
	} {
		if value := os.Getenv(name); value != "" {
			out = append(out, name+"="+value)
		}
	}
	return out
}
