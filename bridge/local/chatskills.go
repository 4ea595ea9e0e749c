package local

import (
	"context"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/liaison-bot/liaison/bridge/local/workspace"
)

// Where a workspace keeps skills, and how much of them a model is told: the rest it
// reads when it needs it. (https://agentskills.io/specification)
const (
	skillsFolder = ".cursor/skills"
	skillFile    = "SKILL.md"
	maxSkills    = 64
	// maxSkillHead bounds what is read of a skill, and maxSkillWords what is told of
	// one, both in bytes.
	maxSkillHead  = 16 << 10
	maxSkillWords = 1 << 10
)

// skill is what a model is told of a procedure before it reads it.
type skill struct{ name, description, path string }

// skillsIn are the skills of a workspace. One that does not say what it is for is
// left out: nobody could choose it.
func skillsIn(ctx context.Context, w *workspace.Workspace) []skill {
	var all []skill
	for _, folder := range w.Folders(ctx, skillsFolder, maxSkills) {
		path := skillsFolder + "/" + folder + "/" + skillFile
		text, ok := w.Text(path, maxSkillHead)
		if !ok {
			continue
		}
		if name, description := frontMatter(text); description != "" {
			if name == "" {
				name = folder
			}
			all = append(all, skill{oneLine(name), oneLine(description), path})
		}
	}
	return all
}

// frontMatter reads the name and the description at the head of a Markdown file.
func frontMatter(text string) (name, description string) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", ""
	}
	head, _, ok := strings.Cut("\n"+rest, "\n---")
	if !ok {
		return "", ""
	}
	var fields struct {
		Name        string `yaml:"name"`
		Description string `yaml:"description"`
	}
	if yaml.Unmarshal([]byte(head), &fields) != nil {
		return "", ""
	}
	return fields.Name, fields.Description
}

func oneLine(text string) string {
	return cut(strings.Join(strings.Fields(text), " "), maxSkillWords)
}

// skillsPrompt tells a model of skills.
func skillsPrompt(all []skill) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nThere are procedures for some kinds of work. When the work is of such a kind, read the file first and follow it:\n\n")
	for _, s := range all {
		fmt.Fprintf(&b, "- %s (%s): %s\n", s.name, s.path, s.description)
	}
	return b.String()
}
