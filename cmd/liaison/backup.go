package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
)

func newBackup(con *console) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "backup FILE|-",
		Short: "Save everything that the running service remembers",
		Long: `Save one consistent archive of everything that the running service remembers,
for "liaison restore". The service goes on meanwhile. "-" writes the archive to
standard output.

The file is readable by its owner only: it holds code and comments of your
repositories. It is written as FILE.partial and gets its name once it is whole; a
file that exists is replaced only with --force.`,
		Args: cobra.ExactArgs(1),
	}
	conn := newConnection(con, c)
	c.RunE = func(c *cobra.Command, args []string) error {
		name := args[0]
		if name == "-" && con.screen().Terminal() {
			return unusable(errors.New("an archive is nothing for a terminal: name a file, or send standard output elsewhere"))
		}
		if _, err := os.Lstat(name); err == nil && name != "-" && !force {
			return unusable(fmt.Errorf("%s exists: choose another name, or --force to replace it", name))
		}
		s, err := conn.open()
		if err != nil {
			return err
		}
		defer s.Close()
		if name == "-" {
			_, err := download(c.Context(), s, con.out)
			return err
		}
		size, err := backupTo(c.Context(), s, name, force)
		if err != nil {
			return err
		}
		if conn.json {
			return writeJSON(con.out, backedUp{OK: true, File: name, Bytes: size})
		}
		_, err = fmt.Fprintf(con.out, "%s in %s\n", terminal.Bytes(size), name)
		return err
	}
	c.Flags().BoolVar(&force, "force", false, "replace FILE if it exists")
	return c
}

// backedUp is what is printed as JSON about a backup.
type backedUp struct {
	OK    bool   `json:"ok"`
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

// backupTo writes an archive beside its place and moves it there once it is
// whole and on the disk. Nothing stays of one that is not.
func backupTo(ctx context.Context, s *remote.Service, name string, force bool) (size int64, err error) {
	partial := name + ".partial"
	f, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return 0, unusable(fmt.Errorf("%s exists: another backup writes it, or one was cut off and it can be removed", partial))
	}
	if err != nil {
		return 0, unusable(err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			err = errors.Join(err, os.Remove(partial))
		}
	}()
	if size, err = download(ctx, s, f); err != nil {
		return 0, err
	}
	if err = f.Sync(); err != nil {
		return 0, err
	}
	if err = f.Close(); err != nil {
		return 0, err
	}
	return size, place(partial, name, force)
}

// place gives a whole file its name.
func place(partial, name string, force bool) error {
	if !force {
		// Unlike a rename, a link never replaces what was made meanwhile. Not every
		// file system has links.
		switch err := os.Link(partial, name); {
		case err == nil:
			return os.Remove(partial)
		case errors.Is(err, fs.ErrExist):
			return err
		}
	}
	return os.Rename(partial, name)
}

// download copies the archive; an error means that it is not whole.
func download(ctx context.Context, s *remote.Service, to io.Writer) (int64, error) {
	body, err := s.Open(ctx, func(ctx context.Context) (*http.Response, error) { return s.API().Backup(ctx) })
	if err != nil {
		return 0, err
	}
	defer body.Close()
	size, err := io.Copy(to, body)
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return 0, &remote.CutError{Doing: "the archive is not whole", Cause: err}
	case err != nil:
		return 0, fmt.Errorf("save the archive: %w", err)
	}
	return size, nil
}
