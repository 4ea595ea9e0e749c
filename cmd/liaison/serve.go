package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/handlers/api"
)

func newServe(environ []string, stderr io.Writer) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Long: `Run the service until SIGTERM or SIGINT.

Settings come from the environment and from liaison.yaml in the working
directory, if there is one; the environment wins. GitHub is on when
GITHUB_APP_ID is set. "liaison help config" lists every setting.

Exit status: 0 after a stop that was asked for, 1 when the service failed (a
supervisor should start it again), 2 when a setting cannot be used.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := config.Load(environ, file)
			if err != nil {
				return unusable(err)
			}
			return serve(c.Context(), cfg, stderr)
		},
	}
	c.Flags().StringVar(&file, "config", "", "settings file (default: "+config.DefaultFile+", if it exists)")
	return c
}

// serve runs the service with these settings and logs to w.
func serve(ctx context.Context, cfg *config.Config, w io.Writer) error {
	secrets := cfg.Redactor()
	recent := api.NewLogs(cfg.LogLevel)
	log := newLogger(w, cfg.LogFormat, cfg.LogLevel, secrets, recent)
	if len(cfg.Unknown) > 0 {
		log.Warn(`these names in the environment are no settings of this version and have no effect; "liaison help config" lists those that are`, "names", strings.Join(cfg.Unknown, " "))
	}
	s, err := newService(ctx, cfg, secrets, log, recent)
	if err != nil {
		return secrets.Error(err)
	}
	defer s.close()
	return secrets.Error(s.run(ctx))
}
