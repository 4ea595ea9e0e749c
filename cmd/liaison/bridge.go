package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/bridge/local"
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
	c.AddCommand(run, newBridgeInstall(environ), newBridgeWhich(environ))
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
