package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/bridge/local"
	"github.com/liaison-bot/liaison/config"
)

func newBridge(environ []string, stderr io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use:   "bridge",
		Short: "Run agents behind sdk.v1",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	run := &cobra.Command{
		Use:   "serve [flags of the bridge]",
		Short: "Run Liaison's own bridge, as liaison-bridge does",
		// The flags are the vendor's; the bridge reads them itself.
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			status := local.Main(c.Context(), args, lookup(environ), stderr, buildVersion())
			if status != 0 {
				return exitStatus{status: status}
			}
			return nil
		},
	}
	run.SetHelpFunc(func(c *cobra.Command, _ []string) {
		_ = local.Main(c.Context(), []string{"--help"}, lookup(environ), stderr, buildVersion())
	})
	c.AddCommand(run)
	return c
}

// lookup returns a getenv over environ.
func lookup(environ []string) func(string) string {
	return func(name string) string {
		for _, pair := range environ {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// bridgeChoice is which bridge runs, and why.
type bridgeChoice struct {
	Name    string `json:"name"`
	Reason  string `json:"reason"`
	options bridge.Options
}

// placeholderKey is passed to Liaison's own bridge, which wants a key as the
// vendor's does but asks nobody about it. It is masked like any key, so that it
// must not be a word that people read.
const placeholderKey = "no-key-is-needed"

// chooseBridge decides which bridge runs. Its environment is an allow-list: the
// vendor's key goes to the vendor's only, a model's key to ours only.
func chooseBridge(cfg *config.Config) (bridgeChoice, error) {
	root := filepath.Join(cfg.StateDir, "bridge")
	if bin := cfg.Bridge.VendorExecutable; bin != "" {
		choice := bridgeChoice{
			Name:    bin,
			Reason:  config.EnvBridgeBin + " is set",
			options: bridge.Options{Executable: bin, StateRoot: root, APIKey: cfg.Bridge.CursorAPIKey},
		}
		if cfg.Bridge.CursorAPIKey != "" {
			choice.options.Env = []string{config.EnvCursorAPIKey + "=" + cfg.Bridge.CursorAPIKey}
		} else {
			choice.options.APIKey = placeholderKey
		}
		return choice, nil
	}
	self, err := os.Executable()
	if err != nil {
		return bridgeChoice{}, fmt.Errorf("find our own executable to start the bridge: %w", err)
	}
	choice := bridgeChoice{
		Name:   "liaison bridge serve",
		Reason: config.EnvBridgeBin + " is not set",
		options: bridge.Options{
			Executable: self,
			// Where the system cannot tie a child's life to its parent's, ours watches for itself.
			Args:      []string{"bridge", "serve", "--exit-with-parent"},
			StateRoot: root,
			APIKey:    placeholderKey,
		},
	}
	if cfg.Bridge.CursorAPIKey != "" {
		choice.Reason += "; " + config.EnvCursorAPIKey + " has no effect without it"
	}
	for name, value := range map[string]string{
		config.EnvOpenAIBaseURL: cfg.Bridge.OpenAIBaseURL,
		config.EnvOpenAIAPIKey:  cfg.Bridge.OpenAIAPIKey,
	} {
		if value != "" {
			choice.options.Env = append(choice.options.Env, name+"="+value)
		}
	}
	return choice, nil
}
