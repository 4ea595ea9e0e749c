package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/config"
)

func newBridgeWhich(environ []string) *cobra.Command {
	var file string
	var asJSON bool
	c := &cobra.Command{
		Use:   "which",
		Short: "Say which bridge the service would run, and why",
		Long: `Say which bridge "liaison serve" would run with these settings, and why.

Nothing is started. Exit status: 0, 1 when the installed bridge cannot be
trusted, 2 when a setting cannot be used.`,
		Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := config.Load(environ, file)
			if err != nil {
				return unusable(err)
			}
			choice, err := chooseBridge(cfg)
			if err != nil {
				return cfg.Redactor().Error(err)
			}
			if asJSON {
				out := json.NewEncoder(c.OutOrStdout())
				out.SetIndent("", "  ")
				return out.Encode(choice)
			}
			fmt.Fprintln(c.OutOrStdout(), choice.Name)
			if choice.Version != "" {
				fmt.Fprintln(c.OutOrStdout(), "version", choice.Version)
			}
			if choice.SHA256 != "" {
				fmt.Fprintln(c.OutOrStdout(), "archive sha256", choice.SHA256)
			}
			fmt.Fprintln(c.OutOrStdout(), "because", choice.Reason)
			return nil
		},
	}
	c.Flags().StringVar(&file, "config", "", "settings file (default: "+config.DefaultFile+", if it exists)")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
