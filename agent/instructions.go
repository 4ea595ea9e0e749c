package agent

import (
	"path"
	"strings"
)

const (
	instructionsFile = "instructions.md"
	instructionsDir  = "instructions"
)

// instructions reads what is always told to the agent.
func (l *loader) instructions() { l.def.Instructions = l.instructionsIn(".") }

// instructionsIn reads the instructions that stand in a folder: one file, or the
// files of a folder in the order of their names.
func (l *loader) instructionsIn(dir string) string {
	var parts []string
	one := l.tree.file(path.Join(dir, instructionsFile))
	many := path.Join(dir, instructionsDir)
	files := l.tree.below(many)
	switch {
	case one != nil && len(files) > 0:
		l.fail(many, 0, "stands beside %s; keep one of them", instructionsFile)
		return ""
	case one == nil && len(files) == 0:
		l.fail(path.Join(dir, instructionsFile), 0, "is missing: it says what the agent is and what it does")
		return ""
	case one != nil:
		text, _ := l.text(one)
		parts = append(parts, text)
	}
	for _, f := range files {
		f.path = path.Join(many, f.path)
		if path.Dir(f.path) != many || path.Ext(f.path) != ".md" {
			l.warn(f.path, 0, "is not read: instructions are the .md files of %s", many)
			continue
		}
		text, _ := l.text(&f)
		parts = append(parts, text)
	}
	var b strings.Builder
	for _, part := range parts {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(part)
	}
	at := path.Join(dir, instructionsFile)
	if one == nil {
		at = many
	}
	switch {
	case l.failed():
	case b.Len() == 0:
		l.fail(at, 0, "says nothing")
	case b.Len() > maxInstructions:
		l.fail(at, 0, "has %d bytes; at most %d are taken: they are in front of every turn, so put what is only sometimes needed into skills", b.Len(), maxInstructions)
	}
	b.WriteByte('\n')
	return b.String()
}
