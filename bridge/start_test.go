package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestStart(t *testing.T) {
	t.Parallel()
	tests := map[string]fakeScript{
		"plain":                       {},
		"noise before the ready line": {Before: []string{"warming up", "", "cursor-sdk-bridge is not ready yet", `{"pid":1}`, "\xff\xfe"}},
		"a line of a megabyte":        {LongLine: 1 << 20},
		"token in the ready line":     {Inline: true},
		"no url":                      {Ready: map[string]any{"url": nil}},
		"localhost":                   {Ready: map[string]any{"url": nil, "host": "localhost"}},
	}
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil {
		_ = l.Close()
		tests["IPv6 host"] = fakeScript{Host: "::1", Ready: map[string]any{"url": nil}}
		tests["IPv6 url"] = fakeScript{Host: "::1"}
		tests["IPv6 host in brackets"] = fakeScript{Host: "::1", Ready: map[string]any{"url": nil, "host": "[::1]"}}
	}
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := new(logBuffer)
			o := fakeOptions(t, script)
			o.Logger = log.logger()
			c := newClient(t, o)
			if g := c.Generation(); g != 0 {
				t.Errorf("generation before the first use = %d, want 0: a bridge is started lazily", g)
			}
			v, err := c.Version(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			if v.Bridge != "9.9.9" || v.Protocol != "sdk.v1" || !slices.Contains(v.Capabilities, "agent.create") {
				t.Errorf("version = %+v", v)
			}
			if g := c.Generation(); g != 1 {
				t.Errorf("generation = %d, want 1", g)
			}
			if err := c.Close(testContext(t)); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(log.String(), fakeToken) {
				t.Errorf("the log has the bridge's token:\n%s", log)
			}
			left, err := os.ReadDir(o.StateRoot)
			if err != nil {
				t.Fatal(err)
			}
			if len(left) != 0 {
				t.Errorf("the state root still has %v after Close", left)
			}
			if err := c.Ping(testContext(t)); !errors.Is(err, ErrClosed) {
				t.Errorf("ping after close = %v, want ErrClosed", err)
			}
		})
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	ready := func(key string, value any) fakeScript { return fakeScript{Ready: map[string]any{key: value}} }
	tests := map[string]struct {
		script fakeScript
		want   string // in the error
	}{
		"exit before ready":    {fakeScript{Before: []string{"node: cannot find module 'x'"}, ExitEarly: 3}, "exited before it was ready (exit status 3); its last output:\nnode: cannot find module 'x'"},
		"no ready line":        {fakeScript{NeverWake: true}, "no ready line within 300ms"},
		"other schema":         {ready("schemaVersion", 2), "schemaVersion 2"},
		"other transport":      {ready("transport", "unix"), "transport"},
		"other protocol":       {ready("protocol", "grpc"), "protocol"},
		"a stranger's pid":     {ready("pid", 1), "comes from process 1"},
		"not loopback":         {ready("url", "http://192.0.2.7:80"), "not loopback"},
		"https":                {ready("url", "https://127.0.0.1:80"), "http://host:port"},
		"token file missing":   {ready("authTokenFile", "/nonexistent/token"), "token"},
		"no token":             {ready("authTokenFile", nil), "names no token file"},
		"empty token":          {fakeScript{Token: " "}, "token is empty"},
		"token with a newline": {fakeScript{Token: "a-long-token\r\nX-Evil: 1"}, "no header may have"},
		"token file too large": {fakeScript{Token: strings.Repeat("t", maxTokenFile)}, "larger than"},
		"token refused":        {fakeScript{Token: "another-token"}, "unauthenticated"},
		"not JSON":             {fakeScript{RawReady: `{"authToken":"secret-of-the-line"`}, "not the JSON object"},
		"other version":        {fakeScript{Protocol: "sdk.v2"}, `"sdk.v2"`},
		"death while greeting": {fakeScript{ExitOn: "GetVersion"}, "exited before it answered (exit status 9)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := fakeOptions(t, tt.script)
			if tt.script.NeverWake {
				o.StartTimeout = 300 * time.Millisecond
			}
			c := newClient(t, o)
			err := c.Ping(testContext(t))
			var process *ProcessError
			if !errors.As(err, &process) || process.Op != "start" {
				t.Fatalf("error = %v, want a ProcessError of the start", err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %q, want %q in it", err, tt.want)
			}
			if strings.Contains(err.Error(), "secret-of-the-line") || strings.Contains(err.Error(), fakeToken) {
				t.Errorf("the error quotes a token: %v", err)
			}
			if ClassOf(err) != ClassConfiguration {
				t.Errorf("class = %v, want ClassConfiguration", ClassOf(err))
			}
			if left, _ := os.ReadDir(o.StateRoot); len(left) != 0 {
				t.Errorf("a failed start left %v", left)
			}
		})
	}
}

func TestStartOfNothing(t *testing.T) {
	t.Parallel()
	c := newClient(t, Options{Executable: filepath.Join(t.TempDir(), "no-such-bridge"), StateRoot: t.TempDir()})
	err := c.Ping(testContext(t))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v, want fs.ErrNotExist", err)
	}
	if !strings.Contains(err.Error(), "no-such-bridge") {
		t.Errorf("error = %v, want the executable in it", err)
	}
}

// It is the caller's directory that counts, not the workspace, which may hold a
// stranger's program of that name.
func TestStartOfARelativePath(t *testing.T) {
	t.Parallel()
	o := fakeOptions(t, fakeScript{})
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if o.Executable, err = filepath.Rel(here, o.Executable); err != nil {
		t.Skip("there is no such path:", err)
	}
	// Deeper than here, so that the path leads elsewhere from there.
	o.Workspace = filepath.Join(t.TempDir(), strings.TrimPrefix(here, filepath.VolumeName(here)))
	if err := os.MkdirAll(o.Workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := newClient(t, o).Ping(testContext(t)); err != nil {
		t.Error(err)
	}
}

// The child must see nothing of our environment but what it is given.
func TestChildEnvironment(t *testing.T) {
	t.Setenv("GITHUB_WEBHOOK_SECRET", "hush")
	t.Setenv("GIT_DIR", "/elsewhere")
	record := recordFile(t)
	o := fakeOptions(t, fakeScript{Record: record})
	o.Env = append(o.Env, "OPENAI_API_KEY=sk-test", "HOME=/root")
	o.Args = []string{"bridge", "serve"}
	o.Workspace = t.TempDir()
	c := newClient(t, o)
	if err := c.Ping(testContext(t)); err != nil {
		t.Fatal(err)
	}

	got := map[string]string{}
	var env []string
	if err := json.Unmarshal([]byte(recorded(t, record, "environment")[0]), &env); err != nil {
		t.Fatal(err)
	}
	for _, e := range env {
		k, v, _ := strings.Cut(e, "=")
		got[k] = v
	}
	want := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": o.StateRoot, "TMPDIR": filepath.Join(o.StateRoot, tmpDirName),
		"CURSOR_SDK_CLIENT_LANGUAGE": "go", "LIAISON_BRIDGE_EXIT_WITH_PARENT": "1", "OPENAI_API_KEY": "sk-test",
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s = %q, want %q", k, got[k], v)
		}
		delete(got, k)
	}
	delete(got, fakeVariable)
	if runtime.GOOS == "windows" {
		for _, k := range []string{"USERPROFILE", "TMP", "TEMP", "SYSTEMROOT"} {
			delete(got, k)
		}
	}
	delete(got, "PWD") // os/exec sets it to the working directory
	if len(got) > 0 {
		t.Errorf("the child also got %v", got)
	}

	var args []string
	if err := json.Unmarshal([]byte(recorded(t, record, "arguments")[0]), &args); err != nil {
		t.Fatal(err)
	}
	if want := []string{"bridge", "serve", "--workspace", o.Workspace, "--state-root", o.StateRoot}; !slices.Equal(args, want) {
		t.Errorf("arguments = %q, want %q", args, want)
	}
}

func TestStopOfAStubbornBridge(t *testing.T) {
	t.Parallel()
	o := fakeOptions(t, fakeScript{Stubborn: true})
	o.StopGrace = 50 * time.Millisecond
	c := newClient(t, o)
	if err := c.Ping(testContext(t)); err != nil {
		t.Fatal(err)
	}
	exited := c.Exited()
	if err := c.Close(testContext(t)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-exited:
	default:
		t.Error("the bridge has not exited although Close has returned")
	}
	if s := c.supervisor.last().process.state(); runtime.GOOS != "windows" && s != "signal: killed" {
		t.Errorf("the bridge ended with %q, want it killed", s)
	}
}

func TestCloseAtOnce(t *testing.T) {
	t.Parallel()
	o := fakeOptions(t, fakeScript{Stubborn: true})
	o.StopGrace = time.Hour
	c := newClient(t, o)
	if err := c.Ping(testContext(t)); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Close(over); err != nil {
		t.Fatal(err)
	}
}

func TestCloseWhileStarting(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{NeverWake: true, Record: record}))
	failed := make(chan error, 1)
	go func() { failed <- c.Ping(context.Background()) }()
	waitFor(t, "the child to run", func() bool { _, err := os.Stat(record); return err == nil })
	if err := c.Close(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, ErrClosed) {
		t.Errorf("ping = %v, want ErrClosed", err)
	}
}

// A caller that gives up must not take the start away from the others.
func TestStartOutlivesItsCaller(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakeOptions(t, fakeScript{}))
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Ping(over); !errors.Is(err, context.Canceled) {
		t.Fatalf("ping = %v, want context.Canceled", err)
	}
	if err := c.Ping(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if g := c.Generation(); g != 1 {
		t.Errorf("generation = %d, want 1", g)
	}
}

// waitFor polls for something that another process does.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(testLimit)
	for !done() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited %s for %s", testLimit, what)
		}
	}
}
