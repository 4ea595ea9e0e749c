package agent

import (
	"path"
	"slices"
	"strings"
)

const (
	sandboxDir = "sandbox"
	seedsDir   = "sandbox/workspace"
)

// What a workspace has that no seed may be. The service lays the first out at each
// turn, and fetches the others.
const (
	laidInstructions = "AGENTS.md"
	laidSettings     = ".cursor"
	laidSkills       = laidSettings + "/skills"
	laidOurs         = ".liaison"
	laidTools        = laidOurs + "/tools"
)

var reserved = map[string]string{
	strings.ToLower(laidInstructions): "is made of the instructions",
	laidSkills:                        "is made of the skills",
	laidOurs:                          "is the service's own",
	"pr":                              "is where the service puts what it fetched of a pull request",
	"thread":                          "is where the service puts what it fetched of a thread",
}

// seeds reads what a workspace begins with.
func (l *loader) seeds() {
	files := l.tree.below(seedsDir)
	for _, f := range files {
		// Upper and lower case are the same to some file systems.
		name := strings.ToLower(f.path)
		for at := name; at != "."; at = path.Dir(at) {
			if why, taken := reserved[at]; taken {
				l.fail(path.Join(seedsDir, f.path), 0, "cannot be a seed file: %s of a workspace %s", at, why)
				break
			}
		}
	}
	if len(files) > 0 {
		l.def.Seeds = memory(slices.Clone(files))
	}
}
