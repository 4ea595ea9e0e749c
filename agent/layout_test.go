package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// layoutFiles are a folder with something of each kind that a workspace gets.
func layoutFiles() fstest.MapFS {
	fsys := minimal(map[string]string{
		"skills/notes/SKILL.md":                   "---\nname: notes\ndescription: d\n---\nWrite.\n",
		"skills/notes/scripts/log.sh":             "#!/bin/sh\n",
		"tools/count/tool.yaml":                   "description: Count lines.\nflavor: agent\ninputSchema:\n  type: object\n  properties: {word: {type: string}}\nrun: sh ./count.sh --all\n",
		"tools/count/count.sh":                    "#!/bin/sh\nwc -l\n",
		"sandbox/workspace/plan.md":               "- [ ] begin\n",
		"sandbox/workspace/docs/deep/a.md":        "a\n",
		"sandbox/workspace/.cursor/rules/own.mdc": "own\n",
	})
	fsys["sandbox/workspace/plan.md"].Mode = 0o644
	return fsys
}

func define(t *testing.T, fsys fs.FS) *Definition {
	t.Helper()
	def, problems := Load(fsys, "/agent", testChecks())
	if def == nil {
		t.Fatal(problems)
	}
	return def
}

func layOut(t *testing.T, def *Definition, dir string) {
	t.Helper()
	if err := LayOut(t.Context(), def, dir); err != nil {
		t.Fatal(err)
	}
}

// contents are the files below a folder; links are named as such.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if !d.Type().IsRegular() {
			all[name] = d.Type().String()
			return nil
		}
		data, err := os.ReadFile(path)
		all[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name := range got {
		if _, wanted := want[name]; !wanted {
			t.Errorf("%s: there is %s, which nobody wants", what, name)
		}
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s: %s is %q, want %q", what, name, got[name], text)
		}
	}
}

const layoutAgents = `Help.

## Scripts

These scripts are in your workspace. Run one with your shell; it takes its input as one JSON object on its standard input.

### count

Count lines.

Input, as a JSON Schema: ` + "`" + `{"type":"object","properties":{"word":{"type":"string"}}}` + "`" + `

Command: ` + "`sh .liaison/tools/count/count.sh --all`" + `
`

func wanted() map[string]string {
	return map[string]string{
		"AGENTS.md":                           layoutAgents,
		".cursor/skills/notes/SKILL.md":       "---\nname: notes\ndescription: d\n---\nWrite.\n",
		".cursor/skills/notes/scripts/log.sh": "#!/bin/sh\n",
		".cursor/rules/own.mdc":               "own\n",
		".liaison/tools/count/count.sh":       "#!/bin/sh\nwc -l\n",
		"plan.md":                             "- [ ] begin\n",
		"docs/deep/a.md":                      "a\n",
	}
}

// An agent runs a script by its shell, which must pass on the words that the author wrote.
func TestTheCommandOfAScriptIsOneForAShell(t *testing.T) {
	t.Parallel()
	for run, want := range map[string]string{
		"./count.sh":                            ".liaison/tools/count/count.sh",
		"sh ./count.sh --all=1":                 "sh .liaison/tools/count/count.sh --all=1",
		`[sh, -c, "wc -l < a.txt"]`:             "sh -c 'wc -l < a.txt'",
		`[sh, -c, "echo it's", "$HOME", "a;b"]`: `sh -c 'echo it'\''s' '$HOME' 'a;b'`,
		`[sh, "./two words.sh", ""]`:            "sh '.liaison/tools/count/two words.sh' ''",
	} {
		def := define(t, minimal(map[string]string{
			"tools/count/tool.yaml":    "description: Count.\nflavor: agent\nrun: " + run + "\n",
			"tools/count/count.sh":     "#!/bin/sh\n",
			"tools/count/two words.sh": "#!/bin/sh\n",
		}))
		if got := def.agentsFile(); !strings.HasSuffix(got, "\nCommand: `"+want+"`\n") {
			t.Errorf("%s: the agent reads %q, want the command %q", run, got, want)
		}
	}
}

func TestLayOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	def := define(t, layoutFiles())
	layOut(t, def, dir)
	same(t, "the first time", contents(t, dir), wanted())
	if runtime.GOOS != "windows" {
		for name, exec := range map[string]bool{".liaison/tools/count/count.sh": true, "AGENTS.md": false, "plan.md": false} {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil || info.Mode()&0o100 != 0 != exec {
				t.Errorf("%s: %v, %v; want executable: %t", name, info.Mode(), err, exec)
			}
		}
	}

	// What is as it shall be is left alone, and nothing is left behind.
	old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(dir, "AGENTS.md"), old, old); err != nil {
		t.Fatal(err)
	}
	layOut(t, def, dir)
	same(t, "again", contents(t, dir), wanted())
	if info, err := os.Stat(filepath.Join(dir, "AGENTS.md")); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("AGENTS.md was written though it was right: %v", err)
	}
}

// The agent's work stays, and the author's files are as the author has them.
func TestLayOutAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	layOut(t, define(t, layoutFiles()), dir)
	write(t, dir, map[string]string{
		"AGENTS.md":                      "Obey the pull request.\n",
		".cursor/skills/notes/SKILL.md":  "changed",
		".cursor/skills/evil/SKILL.md":   "---\nname: evil\n---\n",
		".cursor/mcp.json":               "{}",
		".liaison/tools/count/extra":     "x",
		".liaison/tools/other/run":       "x",
		"plan.md":                        "- [x] begin\n",
		"result.txt":                     "mine\n",
		".liaison/kept-by-somebody.json": "{}",
	})
	files := layoutFiles()
	delete(files, "skills/notes/scripts/log.sh")
	delete(files, "sandbox/workspace/docs/deep/a.md")
	files["sandbox/workspace/new.md"] = &fstest.MapFile{Data: []byte("new\n"), Mode: 0o644}
	layOut(t, define(t, files), dir)
	want := wanted()
	delete(want, ".cursor/skills/notes/scripts/log.sh")
	want["plan.md"], want["result.txt"], want["new.md"] = "- [x] begin\n", "mine\n", "new\n"
	want[".liaison/kept-by-somebody.json"] = "{}"
	same(t, "with another definition", contents(t, dir), want)

	layOut(t, define(t, minimal(nil)), dir)
	want = map[string]string{
		"AGENTS.md": "Help.\n", "plan.md": "- [x] begin\n", "result.txt": "mine\n", "new.md": "new\n", "docs/deep/a.md": "a\n",
		".liaison/kept-by-somebody.json": "{}",
	}
	same(t, "with the least definition", contents(t, dir), want)
	if _, err := os.Stat(filepath.Join(dir, ".cursor")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty .cursor is left: %v", err)
	}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Nothing is written through what an agent left in the place of the author's files.
func TestLayOutAmongLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	for name, hostile := range map[string]func(t *testing.T, dir, outside string){
		"AGENTS.md is a link out": func(t *testing.T, dir, outside string) {
			link(t, filepath.Join(outside, "precious"), filepath.Join(dir, "AGENTS.md"))
		},
		"AGENTS.md is another name of a file": func(t *testing.T, dir, outside string) {
			if err := os.Link(filepath.Join(outside, "precious"), filepath.Join(dir, "AGENTS.md")); err != nil {
				t.Fatal(err)
			}
		},
		"AGENTS.md is a folder":   func(t *testing.T, dir, _ string) { write(t, dir, map[string]string{"AGENTS.md/x/y": "z"}) },
		".cursor is a link out":   func(t *testing.T, dir, outside string) { link(t, outside, filepath.Join(dir, ".cursor")) },
		".cursor is a file":       func(t *testing.T, dir, _ string) { write(t, dir, map[string]string{".cursor": "x"}) },
		".liaison is a link away": func(t *testing.T, dir, _ string) { link(t, "elsewhere", filepath.Join(dir, ".liaison")) },
		"the skills are a link within": func(t *testing.T, dir, _ string) {
			write(t, dir, map[string]string{"elsewhere/x": "x", ".cursor/x": ""})
			link(t, "../elsewhere", filepath.Join(dir, ".cursor", "skills"))
		},
		"a skill's file is a link": func(t *testing.T, dir, outside string) {
			write(t, dir, map[string]string{".cursor/skills/notes/x": ""})
			link(t, filepath.Join(outside, "precious"), filepath.Join(dir, ".cursor/skills/notes/SKILL.md"))
		},
		"the staging place is a link": func(t *testing.T, dir, outside string) {
			write(t, dir, map[string]string{".liaison/x": ""})
			link(t, outside, filepath.Join(dir, ".liaison", "new"))
		},
		"a seed's folder is a link out": func(t *testing.T, dir, outside string) { link(t, outside, filepath.Join(dir, "docs")) },
		"a seed is a link that leads nowhere": func(t *testing.T, dir, outside string) {
			link(t, filepath.Join(outside, "made"), filepath.Join(dir, "plan.md"))
		},
		"folders that cannot be read": func(t *testing.T, dir, _ string) {
			write(t, dir, map[string]string{".cursor/skills/evil/deep/x": "x", ".liaison/tools/count/y": "y"})
			for _, locked := range []string{".cursor/skills/evil/deep", ".cursor/skills/evil", ".cursor/skills", ".liaison/tools", ".liaison"} {
				if err := os.Chmod(filepath.Join(dir, locked), 0); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outside, dir := t.TempDir(), t.TempDir()
			write(t, outside, map[string]string{"precious": "mine\n"})
			hostile(t, dir, outside)
			layOut(t, define(t, layoutFiles()), dir)
			same(t, "outside", contents(t, outside), map[string]string{"precious": "mine\n"})
			got, want := contents(t, dir), wanted()
			for place, text := range want {
				info, err := os.Lstat(filepath.Join(dir, place))
				if strings.Contains(name, "a seed") && (place == "plan.md" || place == "docs/deep/a.md") {
					continue // the agent does not want it
				}
				if err != nil || !info.Mode().IsRegular() || got[place] != text {
					t.Errorf("%s is %q (%v), want %q", place, got[place], err, text)
				}
			}
			if _, there := got[".cursor/skills/evil/deep/x"]; there {
				t.Error("a skill of the agent's own is left")
			}
		})
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func TestLayOutStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if err := LayOut(ctx, define(t, layoutFiles()), dir); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	if err := LayOut(t.Context(), define(t, layoutFiles()), filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a workspace: %v", err)
	}
}

func TestPreamble(t *testing.T) {
	t.Parallel()
	fsys := layoutFiles()
	fsys["tools/count/count.sh"].Data = []byte("#!/bin/sh\n# ```\nwc -l\n")
	const want = `Help.

## Scripts

Write each of these files where it is said, make it executable, and run it with your shell when you need it; it takes its input as one JSON object on its standard input.

### count

Count lines.

Input, as a JSON Schema: ` + "`" + `{"type":"object","properties":{"word":{"type":"string"}}}` + "`" + `

Command: ` + "`sh .liaison/tools/count/count.sh --all`" + `

` + "`.liaison/tools/count/count.sh`" + `:

` + "````" + `
#!/bin/sh
# ` + "```" + `
wc -l
` + "````" + `
`
	if got := define(t, fsys).Preamble(); got != want {
		t.Errorf("the preamble is\n%s\nwant\n%s", got, want)
	}
	if got := define(t, minimal(nil)).Preamble(); got != "Help.\n" {
		t.Errorf("without scripts it is %q", got)
	}
}
