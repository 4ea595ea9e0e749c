package agent

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden files")

// testChecks stand for what runs an agent.
func testChecks() Checks {
	condition := func(expression string, _ json.RawMessage) error {
		if strings.Contains(expression, "nonsense") {
			return errors.New("1:1: undeclared reference to 'nonsense'")
		}
		return nil
	}
	return Checks{
		Effect: condition, Approval: condition,
		InputSchema: func(schema json.RawMessage) error {
			if !strings.Contains(string(schema), `"object"`) {
				return errors.New(`its type is not "object"`)
			}
			return nil
		},
		HostTool: func(name string) bool { return name == "set_labels" || name == "merge_pull_request" },
	}
}

// folder makes a folder of the files of an archive. Those that begin with "#!" can be executed.
func folder(files []txtar.File) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, f := range files {
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(string(f.Data), "#!") {
			mode = 0o755
		}
		fsys[f.Name] = &fstest.MapFile{Data: f.Data, Mode: mode}
	}
	return fsys
}

// Each archive in testdata/load is a folder, and what becomes of it.
func TestLoad(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/load/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no folders: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			archive := txtar.Parse([]byte(strings.ReplaceAll(string(data), "\r\n", "\n")))
			want := archive.Files[len(archive.Files)-1]
			if want.Name != "want" {
				t.Fatal(`the last file is to be "want"`)
			}
			got := loaded(t, folder(archive.Files[:len(archive.Files)-1]))
			if got == string(want.Data) {
				return
			}
			if !*update {
				t.Fatalf("got\n%s\nwant\n%s", got, want.Data)
			}
			archive.Files[len(archive.Files)-1].Data = []byte(got)
			if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// loaded tells what becomes of a folder: what is wrong, then the definition.
func loaded(t *testing.T, fsys fs.FS) string {
	t.Helper()
	def, problems := Load(fsys, "/agent", testChecks())
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintln(&b, p)
	}
	if def == nil {
		return b.String()
	}
	for _, s := range def.Skills {
		fmt.Fprintf(&b, "skill %s: %s\n", s.Name, names(t, s.Files))
	}
	for _, tool := range def.Tools {
		if tool.Files != nil {
			fmt.Fprintf(&b, "tool %s: %s\n", tool.Name, names(t, tool.Files))
		}
	}
	if def.Seeds != nil {
		fmt.Fprintf(&b, "seeds: %s\n", names(t, def.Seeds))
	}
	shown := *def
	shown.Version, shown.Seeds = "", nil
	shown.Skills, shown.Tools = slices.Clone(def.Skills), slices.Clone(def.Tools)
	for i := range shown.Skills {
		shown.Skills[i].Files = nil
	}
	for i := range shown.Tools {
		shown.Tools[i].Files, shown.Tools[i].Fingerprint = nil, ""
		shown.Tools[i].Dir = filepath.ToSlash(shown.Tools[i].Dir)
	}
	text, err := json.MarshalIndent(shown, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	b.Write(text)
	b.WriteByte('\n')
	return b.String()
}

// names are the files of a folder, with a star for those that can be executed.
func names(t *testing.T, fsys fs.FS) string {
	t.Helper()
	var all []string
	err := each(fsys, func(name string, _ []byte, exec bool) error {
		if exec {
			name += "*"
		}
		all = append(all, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

// minimal is a folder that can be used, with more files in it.
func minimal(more map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{"instructions.md": {Data: []byte("Help.\n")}}
	for name, text := range more {
		fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o755}
	}
	return fsys
}

func TestHostileFiles(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	many := map[string]string{}
	for i := range maxFiles {
		many[fmt.Sprintf("skills/x/%d", i)] = ""
	}
	deep := map[string]string{strings.Repeat("skills/", maxDepth+1) + "x": ""}
	tests := map[string]struct {
		files map[string]string
		want  string
	}{
		"an alias":           {map[string]string{"agent.yaml": "tools: &a [read]\ndisallowedTools: *a\n"}, "agent.yaml:2: error: disallowedTools is an alias; write the value out"},
		"aliases of aliases": {map[string]string{"agent.yaml": bomb}, `agent.yaml:1: error: there is no key "a"`},
		"aliases in a schema": {map[string]string{"tools/t/tool.yaml": "description: x\nrun: git\ninputSchema:\n  type: object\n  a: &a {b: c}\n  d: *a\n"},
			"tools/t/tool.yaml:6: error: inputSchema.d is an alias"},
		"a merge key":          {map[string]string{"agent.yaml": "limits:\n  <<: {tokens: 1}\n"}, "agent.yaml:2: error: limits has a key that is not text"},
		"a key twice":          {map[string]string{"agent.yaml": "limits: {tokens: 1}\nlimits: {tokens: 2}\n"}, "agent.yaml:2: error: limits is there twice"},
		"a key twice, nested":  {map[string]string{"tools/t/tool.yaml": "description: x\nrun: git\ndryRunResult: {a: 1, a: 2}\n"}, "tools/t/tool.yaml:3: error: dryRunResult.a is there twice"},
		"two documents":        {map[string]string{"agent.yaml": "runtime: local\n---\nruntime: cloud\n"}, "agent.yaml:2: error: the file must be one YAML document"},
		"no YAML":              {map[string]string{"agent.yaml": "runtime: local\n\tx: y\n"}, "agent.yaml:2: error: is not YAML: found a tab character"},
		"a list":               {map[string]string{"agent.yaml": "- runtime\n"}, "agent.yaml:1: error: the file must hold keys and values"},
		"a number for text":    {map[string]string{"agent.yaml": "model: 4\n"}, "agent.yaml:1: error: model must be text; put it in quotes"},
		"text for a number":    {map[string]string{"agent.yaml": "limits: {tokens: many}\n"}, "agent.yaml:1: error: limits.tokens must be a whole number"},
		"no value":             {map[string]string{"agent.yaml": "runtime:\n"}, "agent.yaml:1: error: runtime has no value"},
		"a number beyond JSON": {map[string]string{"tools/t/tool.yaml": "description: x\nrun: git\ndryRunResult: .inf\n"}, "tools/t/tool.yaml:3: error: dryRunResult is a number that JSON has not"},
		"a tag":                {map[string]string{"tools/t/tool.yaml": "description: x\nrun: git\ndryRunResult: !!binary aGk=\n"}, "tools/t/tool.yaml:3: error: dryRunResult has the tag !!binary"},
		"no UTF-8":             {map[string]string{"instructions.md": "Help.\nr\xe9sum\xe9\n"}, "instructions.md:2: error: is not UTF-8 text"},
		"a zero byte":          {map[string]string{"agent.yaml": "model: x\n# \x00\n"}, "agent.yaml:2: error: has a zero byte"},
		"a long settings file": {map[string]string{"agent.yaml": "# " + strings.Repeat("x", maxSettings)}, "agent.yaml: error: has 65538 bytes; at most 65536 are taken"},
		"long instructions":    {map[string]string{"instructions.md": strings.Repeat("x", maxInstructions+1)}, "instructions.md: error: has 262145 bytes; at most 262144 are taken"},
		"instructions that are long together": {map[string]string{"instructions.md": "", "instructions/1.md": strings.Repeat("x", maxInstructions), "instructions/2.md": "y"},
			"instructions: error: stands beside instructions.md"},
		"an empty instruction": {map[string]string{"instructions.md": " \n"}, "instructions.md: error: says nothing"},
		"too many files":       {many, "is it the right one?"},
		"too deep":             {deep, "nested more than 32 deep"},
		"a long list":          {map[string]string{"agent.yaml": "tools: [" + strings.Repeat("read,", maxList+1) + "]\n"}, "agent.yaml:1: error: tools has 201 entries; at most 200 are allowed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def, problems := Load(minimal(test.files), "/agent", testChecks())
			if def != nil {
				t.Error("it was taken")
			}
			if !slices.ContainsFunc(problems, func(p Problem) bool { return strings.Contains(p.String(), test.want) }) {
				t.Errorf("the problems are %q, want one with %q", problems, test.want)
			}
			if len(problems) > maxProblems {
				t.Errorf("%d problems are told", len(problems))
			}
		})
	}
}

// Files of other systems are read as they are meant.
func TestLinesOfWindows(t *testing.T) {
	t.Parallel()
	def, problems := Load(minimal(map[string]string{
		"instructions.md":   "\xEF\xBB\xBFOne.\r\nTwo.\r\n",
		"agent.yaml":        "\xEF\xBB\xBFmodel: m\r\nruntime: local\r\n",
		"skills/a/SKILL.md": "---\r\nname: a\r\ndescription: When asked.\r\n---\r\nDo it.\r\n",
	}), "/agent", testChecks())
	if def == nil || len(problems) > 0 {
		t.Fatalf("problems: %q", problems)
	}
	if def.Instructions != "One.\nTwo.\n" || def.Model != "m" || def.Skills[0].Description != "When asked." {
		t.Errorf("it was read as %q, %q, %q", def.Instructions, def.Model, def.Skills[0].Description)
	}
}

// What a folder is at the end does not depend on what it was read from.
func TestDefinitionDoesNotChangeWithItsFolder(t *testing.T) {
	t.Parallel()
	fsys := minimal(map[string]string{
		"sandbox/workspace/a.txt": "before",
		"skills/s/SKILL.md":       "---\nname: s\ndescription: d\n---\n",
	})
	def, problems := Load(fsys, "", Checks{})
	if def == nil {
		t.Fatal(problems)
	}
	clear(fsys)
	data, err := fs.ReadFile(def.Seeds, "a.txt")
	if err != nil || string(data) != "before" {
		t.Errorf("the seed is %q, %v", data, err)
	}
	if _, err := fs.Stat(def.Skills[0].Files, "SKILL.md"); err != nil {
		t.Error(err)
	}
}

// The version changes with everything that is read, and with nothing else.
func TestVersion(t *testing.T) {
	t.Parallel()
	base := map[string]string{"agent.yaml": "model: a\n", "tools/t/tool.yaml": "description: d\n", "tools/t/run": "#!/bin/sh\n", "tools/t/lib/x": "1"}
	version := func(change func(map[string]string, fstest.MapFS)) (version, tool string) {
		t.Helper()
		files := maps.Clone(base)
		fsys := minimal(files)
		if change != nil {
			change(files, fsys)
		}
		def, problems := Load(fsys, "/agent", testChecks())
		if def == nil {
			t.Fatal(problems)
		}
		return def.Version, def.Tools[0].Fingerprint
	}
	was, tool := version(nil)
	for name, change := range map[string]func(map[string]string, fstest.MapFS){
		"what is not read":  func(_ map[string]string, fsys fstest.MapFS) { fsys["notes.txt"] = &fstest.MapFile{} },
		"what is hidden":    func(_ map[string]string, fsys fstest.MapFS) { fsys[".git/HEAD"] = &fstest.MapFile{} },
		"what Python keeps": func(_ map[string]string, fsys fstest.MapFS) { fsys["tools/t/__pycache__/x.pyc"] = &fstest.MapFile{} },
	} {
		if v, f := version(change); v != was || f != tool {
			t.Errorf("%s changed the version", name)
		}
	}
	for name, change := range map[string]func(map[string]string, fstest.MapFS){
		"a file": func(_ map[string]string, fsys fstest.MapFS) {
			fsys["tools/t/lib/x"] = &fstest.MapFile{Data: []byte("2")}
		},
		"a name": func(_ map[string]string, fsys fstest.MapFS) {
			fsys["tools/t/lib/y"] = fsys["tools/t/lib/x"]
			delete(fsys, "tools/t/lib/x")
		},
		"what can be executed": func(_ map[string]string, fsys fstest.MapFS) {
			fsys["tools/t/lib/x"] = &fstest.MapFile{Data: []byte("1"), Mode: 0o644}
		},
	} {
		if v, f := version(change); v == was || f == tool {
			t.Errorf("%s did not change the version", name)
		}
	}
	dir, err := fs.Sub(minimal(base), "tools/t")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Fingerprint(dir); err != nil || again != tool {
		t.Errorf("the tool's folder has the fingerprint %q, %v; want %q", again, err, tool)
	}
}
