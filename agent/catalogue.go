package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// agentsFile is AGENTS.md: the instructions, and which scripts there are.
func (d *Definition) agentsFile() string {
	var b strings.Builder
	b.WriteString(d.Instructions)
	if tools := d.scripts(); len(tools) > 0 {
		b.WriteString("\n## Scripts\n\nThese scripts are in your workspace. Run one with your shell; it takes its input as one JSON object on its standard input.\n")
		for _, t := range tools {
			t.describe(&b)
			fmt.Fprintf(&b, "\nCommand: `%s`\n", t.commandLine())
		}
	}
	return b.String()
}

// Preamble is what an agent that has no workspace of the service's is told with
// its first message: the instructions, and the scripts themselves.
func (d *Definition) Preamble() string {
	var b strings.Builder
	b.WriteString(d.Instructions)
	tools := d.scripts()
	if len(tools) == 0 {
		return b.String()
	}
	b.WriteString("\n## Scripts\n\nWrite each of these files where it is said, make it executable, and run it with your shell when you need it; it takes its input as one JSON object on its standard input.\n")
	for _, t := range tools {
		t.describe(&b)
		fmt.Fprintf(&b, "\nCommand: `%s`\n", t.commandLine())
		// The files were read into memory.
		_ = each(t.Files, func(name string, data []byte, _ bool) error {
			fence := fenceFor(data)
			fmt.Fprintf(&b, "\n`%s`:\n\n%s\n%s\n%s\n", path.Join(laidTools, t.Name, name), fence, bytes.TrimRight(data, "\n"), fence)
			return nil
		})
	}
	return b.String()
}

// scripts are the tools that run where the agent does.
func (d *Definition) scripts() []Tool {
	var out []Tool
	for _, t := range d.Tools {
		if t.Flavor == OnAgent {
			out = append(out, t)
		}
	}
	return out
}

func (t Tool) describe(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n", t.Name, strings.TrimSpace(t.Description))
	if t.InputSchema != nil {
		fmt.Fprintf(b, "\nInput, as a JSON Schema: `%s`\n", compact(t.InputSchema))
	}
}

// commandLine is how the agent runs a script, from its workspace.
func (t Tool) commandLine() string {
	words := append([]string(nil), t.Run...)
	dir := path.Join(laidTools, t.Name)
	for i, word := range words {
		if i == 0 && strings.Contains(word, "/") || strings.HasPrefix(word, "./") {
			words[i] = path.Join(dir, word) // a file of the tool's folder
		}
		words[i] = shellWord(words[i])
	}
	return strings.Join(words, " ")
}

// plainWord has nothing in it that a shell reads as more than itself.
var plainWord = lazyregexp.New(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shellWord is a word as one for a shell: the author wrote it for no shell.
func shellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func compact(schema json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, schema) != nil {
		return string(schema)
	}
	return b.String()
}

// fenceFor is a fence that a text does not end.
func fenceFor(data []byte) string {
	fence := "```"
	for bytes.Contains(data, []byte(fence)) {
		fence += "`"
	}
	return fence
}
