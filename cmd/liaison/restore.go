package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/backup"
)

func newRestore(con *console) *cobra.Command {
	var dir, file string
	var asJSON bool
	c := &cobra.Command{
		Use:   "restore FILE|-",
		Short: "Put a backup into an empty state directory",
		Long: `Put an archive that "liaison backup" made into a state directory, for a service
that does not run. The directory must be empty or not there: what it holds is
never mixed with what is restored. Nothing is put in place before the whole
archive was verified.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := restoreDir(con, dir, file)
			if err != nil {
				return unusable(err)
			}
			info, err := restore(c.Context(), con, args[0], dir)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(con.out, restored{OK: true, StateDir: dir, Backup: info})
			}
			_, err = fmt.Fprintf(con.out, "%s of %s, written by Liaison %s, in %s\n",
				terminal.Bytes(info.Bytes), terminal.Moment(info.CreatedAt), terminal.Line(info.Version), dir)
			return err
		},
	}
	c.Flags().StringVar(&dir, "state-dir", "", "directory to restore into (default: "+config.EnvStateDir+" of the settings)")
	c.Flags().StringVar(&file, "config", "", "settings file (default: "+config.DefaultFile+", if it exists)")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// restored is what is printed as JSON about a restore.
type restored struct {
	OK       bool             `json:"ok"`
	StateDir string           `json:"stateDir"`
	Backup   state.BackupInfo `json:"backup"`
}

// restoreDir is where the service that the settings describe will look.
func restoreDir(con *console, dir, file string) (string, error) {
	if dir != "" {
		return filepath.Abs(dir)
	}
	cfg, err := config.Load(con.environ, file)
	if err != nil {
		return "", err
	}
	return cfg.StateDir, nil
}

func restore(ctx context.Context, con *console, name, dir string) (state.BackupInfo, error) {
	archive := con.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return state.BackupInfo{}, unusable(err)
		}
		defer f.Close()
		archive = f
	}
	info, err := backup.Restore(ctx, archive, dir)
	for _, ours := range []error{backup.ErrNotEmpty, backup.ErrBadArchive, state.ErrNewerSchema} {
		if errors.Is(err, ours) {
			return info, unusable(fmt.Errorf("%s: %w", name, err))
		}
	}
	return info, err
}
