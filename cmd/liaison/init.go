package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/agent"
)

func newInit(con *console) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Begin an agent of your own",
		Long: `Write a small agent that works into the folder DIR, by default the working
directory: instructions, a tool, a skill and a subagent, and settings with comments.
A folder in which something is already is left alone.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return con.initAgent(dir)
		},
	}
}

func (c *console) initAgent(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return unusable(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return unusable(err)
	}
	defer root.Close()
	there, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return unusable(err)
	}
	for _, e := range there {
		if e.Name() != ".git" { // of a repository that is new as well
			return unusable(fmt.Errorf("%s is not empty: it has %s; choose another folder", dir, e.Name()))
		}
	}
	if err := writeScaffold(root); err != nil {
		return err
	}
	out := c.screen()
	fmt.Fprintf(out, `The folder %s holds an agent now. Its README.md says what is what.

Check it:
  liaison validate %[1]s
Work with it:
  LIAISON_AGENT_DIR=%[2]s liaison serve
Try its tool while the service runs:
  liaison call count_files --input '{"suffix":".md"}'
`, dir, absolute(dir))
	return out.Err()
}

// absolute is a folder as another directory's process finds it.
func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// writeScaffold writes the files of a new agent. None that is there is replaced.
func writeScaffold(root *os.Root) error {
	from := agent.Scaffold()
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			return root.Mkdir(name, 0o777)
		}
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o666)
		if bytes.HasPrefix(data, []byte("#!")) {
			mode = 0o777
		}
		out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		_, err = out.Write(data)
		return errors.Join(err, out.Close())
	})
}
