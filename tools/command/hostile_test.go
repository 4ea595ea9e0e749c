package command

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Each of these would harm the host or hang it, if it could. What comes of it is
// told in words that the tool's author understands.
func TestToolsThatMisbehave(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script, needs, input string
		isError              bool
		want                 string
	}{
		"floods stdout":                {script: "#!/bin/sh\nexec yes\n", isError: true, want: "it printed more than 1048576 bytes"},
		"floods stderr":                {script: "#!/bin/sh\nyes | head -c 30000000 >&2\necho the end >&2\nexit 1\n", isError: true, want: "y\nthe end"},
		"floods stderr and succeeds":   {script: "#!/bin/sh\nyes | head -c 3000000 >&2\necho fine\n", want: "fine"},
		"exits 3":                      {script: "#!/bin/sh\necho no such branch >&2\nexit 3\n", isError: true, want: "it failed with exit status 3; the end of its stderr:\nno such branch"},
		"exits 3 without a word":       {script: "#!/bin/sh\nexit 3\n", isError: true, want: "it failed with exit status 3; it printed nothing to stderr"},
		"exits 3 with an answer":       {script: "#!/bin/sh\necho '{\"at\":1}'\nexit 3\n", isError: true, want: "exit status 3; it printed nothing to stderr\nIt printed:\n{\"at\":1}"},
		"prints binary":                {script: "#!/bin/sh\nhead -c 100 /dev/zero\n", isError: true, want: "it printed 100 bytes that are not text"},
		"prints invalid text":          {script: "#!/bin/sh\nprintf '\\377\\376'\n", isError: true, want: "it printed 2 bytes that are not text"},
		"prints nothing":               {script: "#!/bin/sh\n:\n", want: "It succeeded, and printed nothing."},
		"kills itself":                 {script: "#!/bin/sh\nkill -9 $$\n", isError: true, want: "it did not end by itself: signal: killed"},
		"closes stdin":                 {script: "#!/bin/sh\nexec 0<&-\necho done\n", input: "large", want: "done"},
		"never reads a large input":    {script: "#!/bin/sh\necho done\n", input: "large", want: "done"},
		"reads all of a large input":   {script: "#!/bin/sh\nwc -c\n", input: "large", want: "4194304"},
		"closes all of its pipes":      {script: "#!/bin/sh\nexec 0<&- 1>&- 2>&-\nexit 0\n", want: "printed nothing"},
		"leaves a child in its group":  {script: "#!/bin/sh\nsleep 600 &\necho done\n", want: "done"},
		"leaves a daemon":              {script: "#!/bin/sh\nsetsid sleep 600 &\necho done\n", needs: "setsid", want: "done"},
		"leaves daemons of daemons":    {script: "#!/bin/sh\nfor i in 1 2 3; do setsid sh -c 'setsid sleep 600 & sleep 600' & done\necho done\n", needs: "setsid", want: "done"},
		"eats memory":                  {script: "#!/usr/bin/env python3\nx = bytearray(3 << 30)\n", needs: "python3", isError: true, want: "MemoryError"},
		"writes a file without end":    {script: "#!/bin/sh\nexec dd if=/dev/zero of=big bs=1 count=1 seek=3000000000 2>/dev/null\n", isError: true, want: "it wrote a file that is larger than tools may"},
		"takes its own folder's right": {script: "#!/bin/sh\nmkdir -p \"$HOME/a/b\" && chmod 0 \"$HOME/a/b\" \"$HOME/a\"\necho done\n", want: "done"},
		"hides what it prints":         {script: "#!/bin/sh\nprintf 'a\\033[2Kb\\342\\200\\256c\\r' >&2\nexit 1\n", isError: true, want: "hidden"},
		"prints a secret":              {script: "#!/bin/sh\necho hunter2 >&2\nexit 1\n", isError: true, want: "[masked]"},
		"prints a picture":             {script: "#!/bin/sh\necho '{\"content\":[{\"type\":\"text\",\"text\":\"seen\"}],\"isError\":true}'\n", isError: true, want: "seen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.needs != "" {
				if _, err := exec.LookPath(tt.needs); err != nil || runtime.GOOS != "linux" {
					t.Skipf("it needs Linux, and %s", tt.needs)
				}
			}
			input := `{}`
			if tt.input == "large" {
				input = `{"a":"` + strings.Repeat("x", 4<<20-8) + `"}`
			}
			out := scripted(t, tt.script).answer(t, input)
			if out.IsError != tt.isError || !strings.Contains(out.Text, tt.want) || strings.ContainsAny(out.Text, "\x1b\u202e") {
				t.Errorf("got %t, %.300q; want %q", out.IsError, out.Text, tt.want)
			}
			if len(out.Text) > maxStdout {
				t.Errorf("%d bytes are told", len(out.Text))
			}
		})
	}
}

func TestToolsThatDoNotEnd(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ script, want string }{
		"hangs":           {"#!/bin/sh\necho waiting >&2\necho ready > \"$LIAISON_TOOL_DIR/ready\"\nexec sleep 600\n", "it was ended while it ran; the end of its stderr:\nwaiting"},
		"cleans up":       {"#!/bin/sh\ntrap 'echo cleaned >&2; exit 1' TERM\necho ready > \"$LIAISON_TOOL_DIR/ready\"\nwhile :; do sleep 0.01; done\n", "cleaned"},
		"ignores SIGTERM": {"#!/bin/sh\ntrap '' TERM\necho ready > \"$LIAISON_TOOL_DIR/ready\"\nwhile :; do sleep 1; done\n", "it was ended while it ran"},
		"hangs in a child that ignores SIGTERM": {
			"#!/bin/sh\n(trap '' TERM; echo ready > \"$LIAISON_TOOL_DIR/ready\"; while :; do sleep 1; done) &\nwait\n", "it was ended while it ran"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := scripted(t, tt.script)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				for ctx.Err() == nil {
					if _, err := os.Stat(filepath.Join(at.state, "ready")); err == nil {
						cancel()
					}
					runtime.Gosched()
				}
			}()
			_, err := at.run(ctx, t, Call{Input: []byte(`{}`)})
			var ended *EndedError
			if !errors.As(err, &ended) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	over, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if _, err := scripted(t, "#!/bin/sh\n").run(over, t, Call{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without any time: %v", err)
	}
}

func TestWhatCannotBeRunIsSaidToItsAuthor(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(at *tool) error
		want   string
	}{
		"nothing":          {func(at *tool) error { at.options.Run = nil; return nil }, "there is nothing to run"},
		"missing":          {func(at *tool) error { return os.Remove(filepath.Join(at.dir, "run")) }, "./run is not in the tool's folder"},
		"no folder":        {func(at *tool) error { return os.RemoveAll(at.dir) }, "the tool's folder is gone"},
		"a folder":         {func(at *tool) error { at.options.Run = []string{"./"}; return nil }, "./ is not a file"},
		"not executable":   {func(at *tool) error { return os.Chmod(filepath.Join(at.dir, "run"), 0o600) }, "./run cannot be executed; chmod +x it"},
		"empty":            {write(""), "./run is empty"},
		"no first line":    {write("echo hello\n"), "begin it with a line such as #!/bin/sh"},
		"no interpreter":   {write("#!\n"), "names no interpreter"},
		"lost interpreter": {write("#!/opt/none/perl -w\n"), "./run is run by /opt/none/perl, which is not on this machine"},
		"unknown to env":   {write("#!/usr/bin/env -S no-such-ruby -w\n"), "./run is run by no-such-ruby, which is not installed"},
		"lines of Windows": {write("#!/bin/sh\r\necho\r\n"), "has the line ends of Windows"},
		"not in PATH":      {func(at *tool) error { at.options.Run = []string{"no-such-tool"}; return nil }, "no-such-tool is not installed"},
		"above":            {func(at *tool) error { at.options.Run = []string{"../" + filepath.Base(at.dir) + "/../x"}; return nil }, "../"},
		"absolute":         {func(at *tool) error { at.options.Run = []string{outside}; return nil }, "out of the tool's folder"},
		"a link": {func(at *tool) error {
			at.options.Run = []string{"./l"}
			return os.Symlink(outside, filepath.Join(at.dir, "l"))
		}, "out of the tool's folder"},
		"an argument's link": {func(at *tool) error {
			at.options.Run = []string{"./run", "./l"}
			return os.Symlink(outside, filepath.Join(at.dir, "l"))
		}, "out of the tool's folder"},
		"a folder's link": {func(at *tool) error {
			at.options.Run = []string{"./d/outside"}
			return os.Symlink(filepath.Dir(outside), filepath.Join(at.dir, "d"))
		}, "out of the tool's folder"},
		"a loop": {func(at *tool) error {
			at.options.Run = []string{"./l"}
			return os.Symlink("l", filepath.Join(at.dir, "l"))
		}, "./l: "},
		"a NUL": {func(at *tool) error { at.options.Run = []string{"./run", "a\x00b"}; return nil }, "cannot be passed"},
	} {
		at := scripted(t, "#!/bin/sh\necho ran\n")
		good, err := New(at.options)
		if err != nil {
			t.Fatal(err)
		}
		if err := tt.change(at); err != nil {
			t.Fatal(err)
		}
		if _, err := New(at.options); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
		// It is found out too when it has changed since.
		good.options = at.options
		if out, err := good.Run(t.Context(), Call{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: ran to %+v, %v", name, out, err)
		}
	}
}

func write(script string) func(*tool) error {
	return func(at *tool) error { return writeExecutable(filepath.Join(at.dir, "run"), []byte(script)) }
}

func TestASessionWithoutItsWorkspaceRunsNothing(t *testing.T) {
	t.Parallel()
	at := scripted(t, "#!/bin/sh\necho ran\n")
	out, err := at.run(t.Context(), t, Call{Workspace: filepath.Join(at.dir, "gone")})
	if err == nil || !strings.Contains(err.Error(), "the session's workspace is gone") {
		t.Errorf("ran to %+v, %v", out, err)
	}
}

func TestAFileThatIsNamedByItsWholePathIsRun(t *testing.T) {
	t.Parallel()
	at := scripted(t, "#!/bin/sh\necho ran\n")
	at.options.Run = []string{filepath.Join(at.dir, "run")}
	if out := at.answer(t, `{}`); out.Text != "ran" {
		t.Errorf("got %+v", out)
	}
}

// What Python keeps of modules that it has compiled is no part of what people agreed
// to: it is not looked at when a folder is read, and could be of another source.
func TestCompiledModulesOfPythonAreNotRun(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	at := scripted(t, "#!/usr/bin/env python3\nimport lib\nprint(lib.answer)\n")
	other := filepath.Join(t.TempDir(), "other.py")
	for name, text := range map[string]string{filepath.Join(at.dir, "lib.py"): "answer = 'agreed'\n", other: "answer = 'planted'\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := at.answer(t, `{}`); got.Text != "agreed" {
		t.Fatalf("before: %+v", got)
	}
	compiled := filepath.Join(at.dir, "__pycache__")
	if _, err := os.Stat(compiled); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a call leaves %s: %v", compiled, err)
	}
	plant := exec.CommandContext(t.Context(), python, "-c", "import sys, py_compile, importlib.util as u\n"+
		"py_compile.compile(sys.argv[1], u.cache_from_source(sys.argv[2]), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)",
		other, filepath.Join(at.dir, "lib.py"))
	if out, err := plant.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if files, _ := os.ReadDir(compiled); len(files) == 0 {
		t.Fatal("nothing was planted")
	}
	if got := at.answer(t, `{}`); got.Text != "agreed" {
		t.Errorf("it ran what nobody agreed to: %+v", got)
	}
}
