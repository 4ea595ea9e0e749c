package agent

import (
	"encoding/json"
	"io/fs"
)

// Checks hold what a folder says against what this package does not know. A nil
// function holds nothing against it.
type Checks struct {
	// Condition checks a text in CEL over the input of a tool.
	Condition func(expression string) error
	// InputSchema checks the schema of a tool's input.
	InputSchema func(schema json.RawMessage) error
	// HostTool reports whether the service has a tool of its own by this name.
	HostTool func(name string) bool
}

// Load reads the folder of an agent, and says what is wrong with it. The
// definition is nil if one of the problems is an [Error]. Dir is where fsys stands,
// absolute; it is empty for a folder that is built in, which has no tools that run
// executables. What it returns does not depend on fsys any more.
func Load(fsys fs.FS, dir string, c Checks) (*Definition, []Problem) {
	l := loader{fsys: fsys, def: &Definition{Dir: dir, Runtime: Local}, checks: c}
	text, err := fs.ReadFile(fsys, "instructions.md")
	if err != nil {
		return nil, []Problem{{Severity: Error, File: "instructions.md", Text: "cannot be read: " + err.Error()}}
	}
	l.def.Instructions = string(text)
	return l.def, nil
}

type loader struct {
	fsys   fs.FS
	def    *Definition
	checks Checks
}
