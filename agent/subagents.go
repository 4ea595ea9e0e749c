package agent

import (
	"path"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

const subagentsDir = "subagents"

// plainName is what subagents and connections may be named.
var plainName = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// subagentSettings are what subagents/<id>/agent.yaml holds.
type subagentSettings struct {
	Description string `json:"description" jsonschema:"When to delegate to it: all that the agent reads before it does"`
	Model       string `json:"model,omitempty" jsonschema:"Name of its model; the agent's own where it is left out"`
}

// subagents reads the folders of subagents.
func (l *loader) subagents() {
	for _, e := range l.tree.list(subagentsDir) {
		dir := path.Join(subagentsDir, e.name)
		f := l.tree.file(path.Join(dir, settingsFile))
		if !e.dir {
			continue // misplaced says where it belongs
		}
		if f == nil {
			l.fail(path.Join(dir, settingsFile), 0, "is missing: it holds the subagent's description")
			continue
		}
		if !plainName.MatchString(e.name) {
			l.fail(dir, 0, "is not a name for a subagent: at most 64 lower-case letters, digits, '-' and '_'")
			continue
		}
		var s subagentSettings
		r, ok := l.problems.settings(f, &s)
		if !ok {
			continue
		}
		r.description(s.Description)
		l.def.Subagents = append(l.def.Subagents, Subagent{
			ID: e.name, Description: s.Description, Model: s.Model, Instructions: l.instructionsIn(dir),
		})
		l.nested(dir)
	}
}

// nested tells of what a subagent does not have of its own.
func (l *loader) nested(dir string) {
	for _, e := range l.tree.list(dir) {
		switch at := path.Join(dir, e.name); e.name {
		case settingsFile, instructionsFile, instructionsDir:
		case toolsDir, skillsDir, connectionsDir, subagentsDir, sandboxDir:
			l.warn(at, 0, "is not read: a subagent has what its agent has")
		default:
			l.warn(at, 0, "is not read: a subagent is %s and %s", settingsFile, instructionsFile)
		}
	}
}

// description checks what an agent reads before it uses something.
func (r *reader) description(text string) {
	switch {
	case strings.TrimSpace(text) == "":
		r.at("description", "is empty: say when to use it")
	case len(text) > maxDescription:
		r.at("description", "has %d bytes; at most %d are taken", len(text), maxDescription)
	}
}
