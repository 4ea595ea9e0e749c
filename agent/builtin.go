package agent

import (
	"embed"
	"io/fs"
)

//go:embed all:default
var defaultFolder embed.FS

// builtIn is the folder of the agent that is built in.
func builtIn() fs.FS { return below(defaultFolder, "default") }

//go:embed all:scaffold
var scaffoldFolder embed.FS

// Scaffold is a folder to begin an agent of one's own with. Files that begin with
// "#!" are to be executable, which an embedded file cannot be.
func Scaffold() fs.FS { return below(scaffoldFolder, "scaffold") }

func below(fsys embed.FS, dir string) fs.FS {
	sub, err := fs.Sub(fsys, dir)
	if err != nil {
		panic(err) // only for a name that is no path
	}
	return sub
}
