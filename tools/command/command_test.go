package command

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// tool is a folder with an executable, and where calls of it leave things.
type tool struct {
	dir, state, temp string
	options          Options
}

func scripted(t testing.TB, script string) *tool {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the script is one for a shell of Unix")
	}
	at := newTool(t)
	if err := writeExecutable(filepath.Join(at.dir, "run"), []byte(script)); err != nil {
		t.Fatal(err)
	}
	return at
}

// writeExecutable writes a file while no process is started: one that still had it
// open for writing would keep it from being run.
func writeExecutable(name string, data []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(name, data, 0o700)
}

func newTool(t testing.TB) *tool {
	t.Helper()
	at := &tool{dir: t.TempDir(), state: filepath.Join(t.TempDir(), "state"), temp: t.TempDir()}
	at.options = Options{Dir: at.dir, Run: []string{"./run"}, StateDir: at.state, TempDir: at.temp, Redact: func(s string) string {
		return strings.ReplaceAll(s, "hunter2", "[masked]")
	}}
	return at
}

// run makes a call, and holds that nothing is left of it: no process and no file.
func (at *tool) run(ctx context.Context, t testing.TB, call Call) (Output, error) {
	t.Helper()
	c, err := New(at.options)
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Run(ctx, call)
	if left, _ := os.ReadDir(at.temp); len(left) > 0 {
		t.Errorf("a private folder is left: %v", left)
	}
	if left := processesWith(t, at.temp); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
	return out, err
}

func (at *tool) answer(t testing.TB, input string) Output {
	t.Helper()
	out, err := at.run(t.Context(), t, Call{Input: []byte(input)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// processesWith returns the command lines of processes in whose environment a path
// is. It knows Linux only.
func processesWith(t testing.TB, path string) (found []string) {
	t.Helper()
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range environments {
		if env, err := os.ReadFile(name); err == nil && bytes.Contains(env, []byte(path)) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
			found = append(found, string(line))
		}
	}
	return found
}

func TestToolsInSeveralLanguages(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"bash":    "#!/usr/bin/env bash\nset -euo pipefail\ninput=$(cat)\nname=${input#*: \\\"}\necho \"{\\\"hello\\\":\\\"${name%%\\\"*}\\\"}\"\n",
		"python3": "#!/usr/bin/env python3\nimport json, sys\nprint(json.dumps({'hello': json.load(sys.stdin)['name']}, separators=(',', ':')))\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(name); err != nil {
				t.Skipf("%s is not installed, so that no tool can be written in it here", name)
			}
			out := scripted(t, script).answer(t, `{"name": "octo"}`)
			if out.IsError || string(out.Structured) != `{"hello":"octo"}` {
				t.Errorf("got %+v", out)
			}
		})
	}
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		at := newTool(t)
		self, err := os.ReadFile(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		name := "run"
		if runtime.GOOS == "windows" {
			name = "run.exe"
		}
		if err := writeExecutable(filepath.Join(at.dir, name), self); err != nil {
			t.Fatal(err)
		}
		at.options.Run = []string{"./run", "be-a-tool"}
		if out := at.answer(t, `{"name":"octo"}`); out.IsError || string(out.Structured) != `{"hello":"octo"}` {
			t.Errorf("got %+v", out)
		}
	})
}

func TestWhatAToolFindsAroundIt(t *testing.T) {
	t.Parallel()
	at := scripted(t, `#!/bin/sh
umask; ls -A "$HOME" "$TMPDIR" | grep -v : ; pwd; echo "$LIAISON_WORKSPACE"
n=$(($(cat "$LIAISON_TOOL_DIR/count" 2>/dev/null || echo 0) + 1)); echo $n; echo $n > "$LIAISON_TOOL_DIR/count"
touch here "$HOME/private"; echo "$1" "$(cat "$2")"
`)
	if err := os.WriteFile(filepath.Join(at.dir, "lib.txt"), []byte("a file of the folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	at.options.Run = []string{"./run", "an argument", "./lib.txt"}
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range []string{"1", "2"} {
		out, err := at.run(t.Context(), t, Call{Input: []byte(`{}`), Workspace: workspace})
		words := strings.Join(strings.Fields(out.Text), " ")
		if want := "0077 " + workspace + " " + workspace + " " + count + " an argument a file of the folder"; err != nil || out.IsError || words != want {
			t.Errorf("got %+v, %v; want %q", out, err, want)
		}
	}
	if info, err := os.Stat(filepath.Join(workspace, "here")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("what it made in the workspace: %v, %v", info, err)
	}
}

func TestTheFoldersOfAToolAreFoundFromItsWorkspace(t *testing.T) {
	t.Chdir(t.TempDir())
	at := scripted(t, "#!/bin/sh\ntouch \"$LIAISON_TOOL_DIR/kept\" \"$HOME/a\" \"$TMPDIR/b\" && echo done\n")
	at.options.StateDir, at.options.TempDir = "state", "."
	if out, err := at.run(t.Context(), t, Call{Workspace: t.TempDir()}); err != nil || out.Text != "done" {
		t.Errorf("got %+v, %v", out, err)
	}
	if _, err := os.Stat("state/kept"); err != nil {
		t.Error(err)
	}
}

func TestAToolGetsNoVariablesButItsOwn(t *testing.T) {
	t.Parallel()
	at := scripted(t, "#!/bin/sh\nenv | sort\necho \"$DEPLOY_TOKEN\" >&2\nexit 3\n")
	host := map[string]string{
		"PATH": os.Getenv("PATH"), "GITHUB_TOKEN": "not-for-tools", "LIAISON_API_TOKEN": "not-for-tools", "AWS_SECRET_ACCESS_KEY": "not-for-tools", "SSH_AUTH_SOCK": "not-for-tools",
		"DEPLOY_TOKEN": "for-this-tool", "REGION": "eu-central-1", "HOME": "not-for-tools", "LIAISON_SESSION_ID": "not-for-tools",
	}
	at.options.LookupEnv = func(name string) (string, bool) { value, ok := host[name]; return value, ok }
	at.options.Env = []string{"DEPLOY_TOKEN", "REGION", "HOME", "LIAISON_SESSION_ID", "NOT_SET"}
	out, err := at.run(t.Context(), t, Call{
		Input: []byte(`{}`), ID: "call\x00", ApprovalID: "apr", SessionID: "session", Channel: "github", Mode: "task", Principal: "github:user:7", Subject: "octo/shop#1",
	})
	if err != nil || !out.IsError || strings.Contains(out.Text, "not-for-tools") || strings.Contains(out.Text, "for-this-tool") {
		t.Errorf("got %+v, %v", out, err)
	}
	for _, want := range []string{
		"exit status 3", "REGION=eu-central-1\n", "LANG=C.UTF-8\n", "LIAISON_TOOL_CALL_ID=call\n", "LIAISON_APPROVAL_ID=apr\n", "LIAISON_SESSION_ID=session\n",
		"LIAISON_SESSION_CHANNEL=github\n", "LIAISON_SESSION_MODE=task\n", "LIAISON_SESSION_PRINCIPAL=github:user:7\n", "LIAISON_SUBJECT=octo/shop#1\n",
		"LIAISON_TOOL_DIR=" + at.state + "\n", "HOME=" + at.temp,
	} {
		if !strings.Contains(out.Text, want) {
			t.Errorf("%q is missing in %s", want, out.Text)
		}
	}
	names := map[string]bool{}
	for line := range strings.Lines(out.Text) {
		if name, _, ok := strings.Cut(line, "="); ok {
			names[name] = true
		}
	}
	for _, more := range []string{"PWD", "OLDPWD", "SHLVL", "_"} { // set by the shell
		delete(names, more)
	}
	if len(names) != 16 {
		t.Errorf("there are others: %v", names)
	}
}

func TestNoDescriptorIsInherited(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows them")
	}
	f, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := scripted(t, "#!/bin/sh\nexec ls /proc/self/fd\n").answer(t, `{}`)
	if got := strings.Join(strings.Fields(out.Text), " "); got != "0 1 2 3" { // ls itself opens one
		t.Errorf("got %q", got)
	}
}

func TestCallsOfOneToolWaitForEachOther(t *testing.T) {
	t.Parallel()
	at := scripted(t, `#!/bin/sh
mkdir "$LIAISON_TOOL_DIR/running.$$"
ls -d "$LIAISON_TOOL_DIR"/running.* | wc -l
sleep 0.2
rmdir "$LIAISON_TOOL_DIR/running.$$"
`)
	c, err := New(at.options)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 3 * maxConcurrent {
		group.Go(func() {
			out, err := c.Run(t.Context(), Call{Input: []byte(`{}`)})
			if n := strings.TrimSpace(out.Text); err != nil || out.IsError || len(n) != 1 || n > "4" {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
	group.Wait()
	for range maxConcurrent {
		c.places <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := c.Run(ctx, Call{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call that waits for ever: %v", err)
	}
}
