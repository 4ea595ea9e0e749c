package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/gen/api"
)

func newCompact(con *console) *cobra.Command {
	c := &cobra.Command{
		Use:   "compact",
		Short: "Rewrite the database without its free pages",
		Long: `Let the running service rewrite its database without the pages that deleted data
left free. The service goes on meanwhile; what it writes waits, for seconds to
minutes. The volume needs room for a second copy.`,
		Args: cobra.NoArgs,
	}
	conn := newConnection(con, c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := conn.open()
		if err != nil {
			return err
		}
		defer s.Close()
		done, err := remote.CallLong[api.Compaction](c.Context(), s, func(ctx context.Context) (*http.Response, error) {
			return s.API().Compact(ctx)
		})
		if err != nil {
			return err
		}
		if conn.json {
			return writeJSON(con.out, done)
		}
		_, err = fmt.Fprintf(con.out, "%s before, %s now\n", terminal.Bytes(done.BeforeBytes), terminal.Bytes(done.AfterBytes))
		return err
	}
	return c
}
