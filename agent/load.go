package agent

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Checks hold what a folder says against what this package does not know. A nil
// function holds nothing against it.
type Checks struct {
	// Effect and Approval check a condition in CEL that says what a call does, or
	// whether it waits for a person. The schema is the input's, nil where unknown.
	Effect   func(expression string, inputSchema json.RawMessage) error
	Approval func(expression string, inputSchema json.RawMessage) error
	// InputSchema checks the schema of a tool's input.
	InputSchema func(schema json.RawMessage) error
	// Program says why what a tool runs on the host cannot be started; dir is the
	// tool's folder.
	Program func(dir string, run []string) error
	// HostTool reports whether the service has a tool of its own by this name.
	HostTool func(name string) bool
	// HostAsks reports whether such a tool always waits for a person, whatever its
	// file says.
	HostAsks func(name string) bool
}

// Load reads the folder of an agent, and says what is wrong with it. The
// definition is nil if one of the problems is an [Error]. Dir is where fsys stands,
// absolute; it is empty for a folder that is built in, which has no tools that run
// executables. What it returns does not change with fsys.
//
// Links are followed as far as fsys does: [os.Root.FS] keeps within the folder.
func Load(fsys fs.FS, dir string, c Checks) (*Definition, []Problem) {
	l := loader{def: &Definition{Dir: dir, Runtime: Local}, checks: c}
	l.tree = readTree(fsys, "", &l.problems)
	if l.failed() {
		return nil, l.sorted()
	}
	l.def.Version = fingerprint(l.tree.files)
	l.settings()
	l.instructions()
	l.skills()
	l.subagents()
	l.connections()
	l.tools()
	l.seeds()
	l.misplaced()
	l.localOnly()
	if l.failed() {
		return nil, l.sorted()
	}
	return l.def, l.sorted()
}

// LoadDir is [Load] for a folder of this machine. An empty dir stands for the
// agent that is built in.
func LoadDir(dir string, c Checks) (*Definition, []Problem) {
	if dir == "" {
		return Load(builtIn(), "", c)
	}
	unreadable := func(err error) (*Definition, []Problem) {
		return nil, []Problem{{Severity: Error, Text: fmt.Sprintf("the folder cannot be read: %v", plain(err))}}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return unreadable(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return unreadable(err)
	}
	defer root.Close()
	return Load(root.FS(), dir, c)
}

// loader is one reading of a folder.
type loader struct {
	problems
	tree   *tree
	def    *Definition
	checks Checks
}
