package agent

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

const (
	skillsDir = "skills"
	skillFile = "SKILL.md"
)

// skillName is the format's: https://agentskills.io/specification
var skillName = lazyregexp.New(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)

// skillHead is what stands in front of a skill's text. The format is not ours:
// what else it has is left to who reads it.
type skillHead struct {
	Name        string    `json:"name" jsonschema:"The skill's name, which is its folder's"`
	Description string    `json:"description" jsonschema:"When to use it: all that the agent reads before it reads the skill"`
	License     jsonValue `json:"license,omitempty" jsonschema:"The skill's licence"`
	Compat      jsonValue `json:"compatibility,omitempty" jsonschema:"What the skill needs around it"`
	Metadata    jsonValue `json:"metadata,omitempty" jsonschema:"Anything, for others"`
	Allowed     jsonValue `json:"allowed-tools,omitempty" jsonschema:"Tools that the skill uses"`
	NoModel     jsonValue `json:"disable-model-invocation,omitempty" jsonschema:"Whether only people begin it"`
}

// skills reads the folders of skills.
func (l *loader) skills() {
	for _, e := range l.tree.list(skillsDir) {
		dir := path.Join(skillsDir, e.name)
		f := l.tree.file(path.Join(dir, skillFile))
		if f == nil {
			continue // misplaced says where it belongs
		}
		if head, ok := l.skillHead(f, e.name); ok {
			l.def.Skills = append(l.def.Skills, Skill{
				Name: head.Name, Description: head.Description, Files: memory(l.tree.below(dir)),
			})
		}
	}
}

// skillHead reads the head of a skill, and reports whether it can be used.
func (l *loader) skillHead(f *file, name string) (skillHead, bool) {
	var head skillHead
	text, ok := l.text(f)
	if !ok {
		return head, false
	}
	front, ok := frontMatter(text)
	if !ok {
		l.fail(f.path, 1, `must begin with a head between two lines "---", in which name and description stand`)
		return head, false
	}
	r, ok := l.readYAML(f.path, []byte(front), 1, &head)
	if !ok {
		return head, false
	}
	switch {
	case head.Name != name:
		r.at("name", "is %.100q, but the skill's folder is %q: make them the same", head.Name, name)
	case len(name) > maxSkillName || !skillName.MatchString(name):
		r.at("name", "must be at most %d lower-case letters, digits and single hyphens", maxSkillName)
	case strings.TrimSpace(head.Description) == "":
		r.at("description", "is empty: say when to use the skill")
	case utf8.RuneCountInString(head.Description) > maxSkillDescription:
		r.at("description", "has %d characters; at most %d are taken", utf8.RuneCountInString(head.Description), maxSkillDescription)
	default:
		return head, true
	}
	return head, false
}

// frontMatter is the text between the first line, which is "---", and the next
// such line.
func frontMatter(text string) (string, bool) {
	rest, found := strings.CutPrefix(text, "---\n")
	if !found {
		return "", false
	}
	lines := strings.SplitAfter(rest, "\n")
	end := slices.IndexFunc(lines, func(line string) bool { return strings.TrimRight(line, " \t\n") == "---" })
	if end < 0 {
		return "", false
	}
	return strings.Join(lines[:end], ""), true
}
