package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// write puts files below dir; names are slash-separated.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o700), os.WriteFile(p, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t testing.TB, dirs ...string) *Workspace {
	t.Helper()
	w, err := Open(dirs[0], dirs[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// call runs a tool by its name.
func call(ctx context.Context, w *Workspace, name string, args map[string]any) (string, error) {
	for _, tool := range w.Tools() {
		if tool.Name == name {
			return tool.Call(ctx, args)
		}
	}
	return "", fmt.Errorf("there is no tool %s", name)
}

type args = map[string]any

func TestToolsShowWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"README.md":          "# Shop\n\nSells things.\n",
		"cmd/shop/main.go":   "package main\r\n\r\nfunc main() { run() }\r\n",
		"cmd/shop/run.go":    "package main\n\nfunc run() {}",
		"web/app.ts":         "run();\n",
		"web/app.tsx":        "Run();\n",
		"logo.png":           "\x89PNG\x00\x00run",
		"latin1.txt":         "caf\xe9 run\n",
		"empty":              "",
		".git/config":        "run = secret\n",
		"weird\u202ename.go": "package weird\n",
	})
	w := open(t, dir)
	for _, tt := range []struct {
		name, tool string
		args       args
		want       string
	}{
		{"a whole file", NameRead, args{"path": "README.md"}, "     1\t# Shop\n     2\t\n     3\tSells things.\n"},
		{"line ends of Windows", NameRead, args{"path": "cmd/shop/main.go", "offset": 3.0}, "     3\tfunc main() { run() }\n"},
		{"a part of it", NameRead, args{"path": "./README.md", "offset": 2.0, "limit": 1.0}, "     2\t\n(the file goes on; read it with offset 3 for more)\n"},
		{"numbers written as text", NameRead, args{"path": "README.md", "offset": "3", "limit": nil}, "     3\tSells things.\n"},
		{"zero for the usual", NameRead, args{"path": "cmd/shop/run.go", "offset": 0.0, "limit": 0.0}, "     1\tpackage main\n     2\t\n     3\tfunc run() {}\n"},
		{"beyond the end", NameRead, args{"path": "README.md", "offset": 9.0}, "(the file has 3 lines, so there is no line 9)\n"},
		{"an empty file", NameRead, args{"path": "empty"}, "(the file is empty)\n"},
		{"bytes that are not UTF-8", NameRead, args{"path": "latin1.txt"}, "     1\tcaf\uFFFD run\n"},
		{"an absolute path inside", NameRead, args{"path": filepath.Join(dir, "web", "app.ts")}, "     1\trun();\n"},
		{"dots that stay inside", NameRead, args{"path": "web/../empty"}, "(the file is empty)\n"},
		{"a directory", NameList, args{}, ".git/\nREADME.md 22\ncmd/\nempty 0\nlatin1.txt 9\nlogo.png 9\nweb/\n\"weird\\u202ename.go\" 14\n"},
		{"files by name", NameGlob, args{"pattern": "**/*.go"}, "cmd/shop/main.go\ncmd/shop/run.go\n\"weird\\u202ename.go\"\n"},
		{"files by alternatives", NameGlob, args{"pattern": "*.{ts,tsx}", "path": "web"}, "web/app.ts\nweb/app.tsx\n"},
		{"files that are not there", NameGlob, args{"pattern": "*.rs"}, "(no file matches)\n"},
		{"lines", NameGrep, args{"pattern": `\brun\(`}, "cmd/shop/main.go:3: func main() { run() }\ncmd/shop/run.go:3: func run() {}\nweb/app.ts:1: run();\n"},
		{"lines of some files", NameGrep, args{"pattern": "run", "glob": "*.ts*", "ignore_case": true}, "web/app.ts:1: run();\nweb/app.tsx:1: Run();\n"},
		{"lines of files below a path", NameGrep, args{"pattern": "run", "glob": "cmd/**"}, "cmd/shop/main.go:3: func main() { run() }\ncmd/shop/run.go:3: func run() {}\n"},
		{"lines of one file", NameGrep, args{"pattern": "^S", "path": "README.md", "context": 1.0}, "README.md-2- \nREADME.md:3: Sells things.\n"},
		{"no lines", NameGrep, args{"pattern": "nothing like it"}, "(no line matches)\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := call(t.Context(), w, tt.tool, tt.args)
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v\nwant %q", got, err, tt.want)
			}
		})
	}
}

func TestToolsRefuseWithAReason(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dir := filepath.Join(parent, "work")
	write(t, parent, map[string]string{"secret": "hidden", "workers/secret": "hidden", "work/file": "text\n", "work/binary": "a\x00b"})
	w := open(t, dir)
	for _, tt := range []struct {
		name, tool string
		args       args
		reason     string
	}{
		{"a path above", NameRead, args{"path": "../secret"}, "outside the working directory"},
		{"a path above, by detour", NameRead, args{"path": "x/../../secret"}, "outside the working directory"},
		{"an absolute path outside", NameRead, args{"path": filepath.Join(parent, "secret")}, "outside the working directory"},
		{"a directory with the same beginning", NameRead, args{"path": filepath.Join(parent, "workers", "secret")}, "outside the working directory"},
		{"the directory above", NameList, args{"path": ".."}, "outside the working directory"},
		{"a walk from above", NameGlob, args{"pattern": "*", "path": "../workers"}, "outside the working directory"},
		{"a pattern that climbs", NameGlob, args{"pattern": "../*"}, "may not hold .."},
		{"a search above", NameGrep, args{"pattern": "x", "path": ".."}, "outside the working directory"},
		{"a zero byte", NameRead, args{"path": "file\x00.txt"}, "zero byte"},
		{"a path of a megabyte", NameRead, args{"path": strings.Repeat("a/", 1<<19)}, "bytes; at most"},
		{"no path", NameRead, args{}, "path is missing"},
		{"a file that is not there", NameRead, args{"path": "gone"}, "gone does not exist"},
		{"a file below a file", NameRead, args{"path": "file/below"}, "file/below"},
		{"a directory to read", NameRead, args{"path": "."}, "is a directory; ls lists it"},
		{"a file to list", NameList, args{"path": "file"}, "is not a directory; read shows a file"},
		{"a binary file", NameRead, args{"path": "binary"}, "binary file of 3 bytes"},
		{"an argument that does not exist", NameRead, args{"path": "file", "file_path": "x"}, `no argument "file_path"; the arguments are limit, offset, path`},
		{"a path that is a number", NameRead, args{"path": 7.0}, "path is not text"},
		{"a line and a half", NameRead, args{"path": "file", "offset": 1.5}, "not a whole number"},
		{"a line that is text", NameRead, args{"path": "file", "offset": "first"}, "not a whole number"},
		{"an infinite line", NameRead, args{"path": "file", "offset": 1e300}, "not a whole number"},
		{"no expression", NameGrep, args{}, "pattern is missing"},
		{"an expression of another language", NameGrep, args{"pattern": "(?=x)"}, "RE2"},
		{"an expression of a megabyte", NameGrep, args{"pattern": strings.Repeat("a", 1<<20)}, "bytes; at most"},
		{"an expression of a million instructions", NameGrep, args{"pattern": strings.Repeat(".{0,1000}", 400) + "Z"}, "too large"},
		{"a repetition of repetitions", NameGrep, args{"pattern": "(?:(?:word){30}){30}" + strings.Repeat("(?:longer|word){100}", 20)}, "too large"},
		{"a pattern with an open bracket", NameGlob, args{"pattern": "[a"}, "malformed"},
		{"a pattern of a million patterns", NameGlob, args{"pattern": strings.Repeat("{a,b}", 20)}, "more than 64 patterns"},
		{"a flag that is a list", NameGrep, args{"pattern": "x", "ignore_case": []any{}}, "not true or false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := call(t.Context(), w, tt.tool, tt.args)
			var refused *Refusal
			if !errors.As(err, &refused) || !strings.Contains(refused.Reason, tt.reason) {
				t.Errorf("got %q, %v; want a refusal with %q", got, err, tt.reason)
			}
			if strings.Contains(got, "hidden") || err != nil && len(err.Error()) > 10_000 {
				t.Errorf("it tells too much: %.200q, %.200q", got, err)
			}
		})
	}
}

func TestSymbolicLinksDoNotLeadOut(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dir := filepath.Join(parent, "work")
	write(t, parent, map[string]string{"secret": "hidden", "outside/secret": "hidden", "work/real/file": "text\n"})
	for link, target := range map[string]string{
		"out-file": filepath.Join("..", "secret"), "out-dir": filepath.Join("..", "outside"), "absolute": filepath.Join(parent, "secret"),
		"in-file": filepath.Join("real", "file"), "in-dir": "real", "loop": "loop", "up": ".",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip("symbolic links cannot be made here:", err)
		}
	}
	w := open(t, dir)
	for _, path := range []string{"out-file", "out-dir/secret", "absolute", "loop", "up/out-file", "in-dir/../../secret"} {
		got, err := call(t.Context(), w, NameRead, args{"path": path})
		var refused *Refusal
		if !errors.As(err, &refused) || strings.Contains(err.Error(), parent) {
			t.Errorf("%s: got %q, %v; want a refusal that does not name what is outside", path, got, err)
		}
	}
	if _, err := call(t.Context(), w, NameList, args{"path": "out-dir"}); err == nil {
		t.Error("a directory outside was listed")
	}
	if _, err := call(t.Context(), w, NameGrep, args{"pattern": "hidden", "path": "out-dir"}); err == nil {
		t.Error("a directory outside was searched")
	}
	for _, path := range []string{"in-file", "in-dir/file", "up/up/in-file"} {
		if got, err := call(t.Context(), w, NameRead, args{"path": path}); err != nil || got != "     1\ttext\n" {
			t.Errorf("%s: got %q, %v; links inside are followed", path, got, err)
		}
	}
	// Walks follow none, so that each file is there once and no walk is endless.
	if got, err := call(t.Context(), w, NameGrep, args{"pattern": "text|hidden"}); err != nil || got != "real/file:1: text\n" {
		t.Errorf("grep gave %q, %v", got, err)
	}
	if got, err := call(t.Context(), w, NameGlob, args{"pattern": "**"}); err != nil || got != "real/file\n" {
		t.Errorf("glob gave %q, %v", got, err)
	}
	if got, err := call(t.Context(), w, NameList, args{}); err != nil || !strings.Contains(got, "out-file (symbolic link)\n") {
		t.Errorf("ls gave %q, %v", got, err)
	}
}

func TestFurtherDirectoriesAreReadByAbsolutePaths(t *testing.T) {
	t.Parallel()
	dir, more := t.TempDir(), t.TempDir()
	write(t, more, map[string]string{"lib/notes.txt": "note\n"})
	w := open(t, dir, more)
	want := filepath.ToSlash(filepath.Join(more, "lib", "notes.txt"))
	if got, err := call(t.Context(), w, NameGlob, args{"pattern": "**", "path": more}); err != nil || got != want+"\n" {
		t.Errorf("glob gave %q, %v; want %s", got, err, want)
	}
	if got, err := call(t.Context(), w, NameRead, args{"path": want}); err != nil || got != "     1\tnote\n" {
		t.Errorf("read gave %q, %v", got, err)
	}
}

func TestResultsAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"long-line":  strings.Repeat("x", 1<<20) + "é\nnext\n",
		"many-lines": strings.Repeat("a line of text\n", 100_000),
		"wide":       strings.Repeat(strings.Repeat("é", 900)+"\n", 200),
	}
	for i := range maxListed + 5 {
		files[fmt.Sprintf("many/%04d", i)] = "match\n"
	}
	write(t, dir, files)
	huge, err := os.Create(filepath.Join(dir, "huge"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(huge.Truncate(maxFileBytes+1), huge.Close()); err != nil {
		t.Fatal(err)
	}
	w := open(t, dir)
	for _, tt := range []struct {
		name, tool string
		args       args
		want       string
	}{
		{"a long line", NameRead, args{"path": "long-line"}, "(line cut)\n     2\tnext\n"},
		{"many lines", NameRead, args{"path": "many-lines"}, "offset 2001 for more"},
		{"wide lines", NameRead, args{"path": "wide"}, "for more"},
		{"many entries", NameList, args{"path": "many"}, "(5 more entries are not shown"},
		{"many files", NameGlob, args{"pattern": "many/*"}, "narrow the pattern"},
		{"many matches", NameGrep, args{"pattern": "match"}, "(there may be more"},
		{"many matches of long lines", NameGrep, args{"pattern": ".", "path": "wide", "context": 10.0}, "(there may be more"},
		{"a huge file among others", NameGrep, args{"pattern": "next"}, "(1 files of more than 32 MiB were not searched)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := call(t.Context(), w, tt.tool, tt.args)
			if err != nil || !strings.Contains(got, tt.want) || len(got) > maxResultBytes+500 {
				t.Errorf("got %d bytes ending with %q, %v; want %q in it", len(got), got[max(0, len(got)-300):], err, tt.want)
			}
		})
	}
	if _, err := call(t.Context(), w, NameRead, args{"path": "huge"}); err == nil || !strings.Contains(err.Error(), "more than the") {
		t.Errorf("a huge file gave %v", err)
	}
}

func TestDeepTreesAreCutWithANote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	deep := strings.Repeat("d/", maxDepth+10)
	write(t, dir, map[string]string{deep + "bottom": "x", "top": "x"})
	got, err := call(t.Context(), open(t, dir), NameGlob, args{"pattern": "**"})
	if err != nil || !strings.HasPrefix(got, "top\n") || !strings.Contains(got, "too deep") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestACancelledCallEndsWithTheContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"file": "text\n"})
	w := open(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for tool, a := range map[string]args{
		NameRead: {"path": "file"}, NameList: {}, NameGlob: {"pattern": "*"}, NameGrep: {"pattern": "text"},
	} {
		if got, err := call(ctx, w, tool, a); !errors.Is(err, context.Canceled) {
			t.Errorf("%s gave %q, %v", tool, got, err)
		}
	}
}

func TestOpenWantsDirectories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"file": "text\n"})
	for name, dirs := range map[string][]string{
		"a relative path":       {"."},
		"a file":                {filepath.Join(dir, "file")},
		"nothing":               {filepath.Join(dir, "gone")},
		"a further one missing": {dir, filepath.Join(dir, "gone")},
	} {
		if w, err := Open(dirs[0], dirs[1:]...); err == nil {
			t.Errorf("%s was opened", name)
			_ = w.Close()
		}
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, path string
		want          bool
	}{
		{"*.go", "main.go", true},
		{"*.go", "cmd/main.go", false},
		{"**/*.go", "main.go", true},
		{"**/*.go", "a/b/c/main.go", true},
		{"a/**", "a/b/c", true},
		{"a/**", "b/a/c", false},
		{"a/**/z", "a/z", true},
		{"a/**/z", "a/b/c/z", true},
		{"**/**/**", "x", true},
		{"pr/files/*/patch.diff", "pr/files/0001/patch.diff", true},
		{"[ab]?.{c,h}", "a1.h", true},
		{"[ab]?.{c,h}", "c1.h", false},
		{"{a,b{c,d}}/x", "bd/x", true},
		{"{a}", "{a}", true},
		{"{a", "{a", true},
		{"x{,y}", "x", true},
		{"{a}{b,c}", "{a}c", true},
		{strings.Repeat("**/a/", 20) + "z", strings.Repeat("a/", 40) + "b", false},
	} {
		p, err := parsePattern(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		if got := p.match(tt.path); got != tt.want {
			t.Errorf("%s matches %s: %v, want %v", tt.pattern, tt.path, got, tt.want)
		}
	}
}

// FuzzConfinement tries paths and patterns against a directory that lies beside
// a secret, with links that lead to it.
func FuzzConfinement(f *testing.F) {
	parent := f.TempDir()
	dir := filepath.Join(parent, "work")
	write(f, parent, map[string]string{"secret": "hidden", "work/a/file": "text\n", "work/b": "text\n"})
	for link, target := range map[string]string{"out": "..", "a/up": "../..", "abs": parent, "in": "a"} {
		if err := os.Symlink(filepath.FromSlash(target), filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			f.Skip("symbolic links cannot be made here:", err)
		}
	}
	w := open(f, dir)
	for _, seed := range []string{"a/file", "../secret", "out/secret", "a/up/secret", "abs/secret", "in/../out/secret", "/etc/passwd", "a/./..//out", "\\..\\secret", "..."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		for tool, a := range map[string]args{
			NameRead: {"path": path}, NameList: {"path": path}, NameGlob: {"pattern": "**", "path": path},
			NameGrep: {"pattern": "hidden|text", "path": path}, "by pattern": {"pattern": path},
		} {
			if tool == "by pattern" {
				tool = NameGlob
			}
			got, err := call(t.Context(), w, tool, a)
			var refused *Refusal
			if err != nil && !errors.As(err, &refused) {
				t.Errorf("%s of %q failed: %v", tool, path, err)
			}
			if strings.Contains(got, "hidden") || tool == NameList && strings.Contains(got, "secret") {
				t.Errorf("%s of %q led out: %q", tool, path, got)
			}
		}
	})
}
