package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write the generated parts of the documentation")

// The documentation has every command as the help has it, and every exit status.
func TestCommandLineIsDocumented(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "command-line.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	have := strings.ReplaceAll(string(data), "\r\n", "\n")

	var statuses strings.Builder
	statuses.WriteString("| status | meaning |\n|---:|---|\n")
	for _, e := range exitMeanings() {
		fmt.Fprintf(&statuses, "| %d | %s |\n", e.status, e.meaning)
	}
	root := newRoot(&console{in: strings.NewReader(""), out: &bytes.Buffer{}, err: &bytes.Buffer{}})
	want := between(t, have, "exit statuses", statuses.String())
	want = between(t, want, "reference", reference(root))
	if have == want {
		return
	}
	if !*update {
		t.Fatalf("%s does not say what the program does: go test ./cmd/liaison -run TestCommandLineIsDocumented -update", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// between replaces what stands between two marks.
func between(t *testing.T, page, mark, text string) string {
	t.Helper()
	head, rest, found := strings.Cut(page, "<!-- "+mark+" -->\n")
	_, tail, closed := strings.Cut(rest, "<!-- end -->")
	if !found || !closed {
		t.Fatalf("the page has no place for %q", mark)
	}
	return head + "<!-- " + mark + " -->\n" + text + "<!-- end -->" + tail
}

// reference describes each command in the order of the help.
func reference(root *cobra.Command) string {
	var b strings.Builder
	for _, g := range root.Groups() {
		fmt.Fprintf(&b, "\n### %s\n", strings.TrimSuffix(g.Title, ":"))
		for _, c := range root.Commands() {
			if c.GroupID == g.ID {
				describeCommand(&b, c)
			}
		}
	}
	fmt.Fprintf(&b, "\n### More\n")
	for _, c := range root.Commands() {
		if c.GroupID == "" && c.Runnable() && c.Name() != "help" {
			describeCommand(&b, c)
		}
	}
	b.WriteByte('\n')
	return b.String()
}

func describeCommand(b *strings.Builder, c *cobra.Command) {
	if c.HasSubCommands() {
		for _, sub := range c.Commands() {
			describeCommand(b, sub)
		}
		return
	}
	fmt.Fprintf(b, "\n#### `%s`\n\n", strings.TrimSuffix(c.UseLine(), " [flags]"))
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	fmt.Fprintf(b, "```text\n%s\n", text)
	if c.Example != "" {
		fmt.Fprintf(b, "\n%s\n", c.Example)
	}
	fmt.Fprintf(b, "```\n\n")
	flags := 0
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if common(f.Name) {
			return
		}
		if flags++; flags == 1 {
			fmt.Fprint(b, "| flag | |\n|---|---|\n")
		}
		name, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(b, "| `%s` | %s |\n", strings.TrimSpace("--"+f.Name+" "+strings.ReplaceAll(name, "|", `\|`)), strings.ReplaceAll(usage, "|", `\|`))
	})
	if flags == 0 {
		b.WriteString("No flags of its own.\n")
	}
}

// common reports whether a flag is the same at every command; the page explains those once.
func common(name string) bool {
	switch name {
	case "help", "url", "token-file", "config", "json":
		return true
	}
	return false
}
