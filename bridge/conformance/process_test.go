package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
)

func processBoxes() []box {
	return []box{
		{"handshake: the ready line is read, the token is right, the bridge answers", nothing, handshake},
		{"handshake: a bridge that exits first is told with what it printed", nothing, exitBeforeReady},
		{"handshake: a bridge that is too slow is ended", nothing, startLimit},
		{"version: sdk.v1, and the capabilities that a host needs", nothing, versionSaysWhatItCan},
		{"process: gone when the client is closed, with what it left in the temporary directory", nothing, cleanExit},
		{"process: no orphan when the host is killed", nothing, noOrphan},
		{"process: started again when it was killed", nothing, startedAgain},
		{"process: an endpoint that somebody else runs can be used and is left running", nothing, attachLeavesRunning},
	}
}

func handshake(t *testing.T, to target) {
	client := to.client(t, nil)
	if client.Generation() != 0 {
		t.Error("the bridge was started before it was needed")
	}
	if err := client.Ping(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if n := client.Generation(); n != 1 {
		t.Errorf("%d bridges were started for one call", n)
	}
}

func exitBeforeReady(t *testing.T, to target) {
	client := to.client(t, func(o *bridge.Options) { o.Args = append(o.Args, "--port", "not-a-port") })
	err := client.Ping(testContext(t))
	var failed *bridge.ProcessError
	if !errors.As(err, &failed) || failed.Op != "start" || failed.Stderr == "" {
		t.Errorf("want a failed start with what the bridge printed, got %v", err)
	}
}

func startLimit(t *testing.T, to target) {
	client := to.client(t, func(o *bridge.Options) { o.StartTimeout = time.Nanosecond })
	var failed *bridge.ProcessError
	if err := client.Ping(testContext(t)); !errors.As(err, &failed) || failed.Op != "start" {
		t.Errorf("want a failed start, got %v", err)
	}
}

func versionSaysWhatItCan(t *testing.T, to target) {
	v, err := to.client(t, nil).Version(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	if v.Protocol != "sdk.v1" || v.Bridge == "" {
		t.Errorf("version = %+v", v)
	}
	has := map[string]bool{}
	for _, c := range v.Capabilities {
		has[c] = true
	}
	for _, want := range []string{"agent.create", "run.observe"} {
		if !has[want] {
			t.Errorf("capability %s is missing from %q", want, v.Capabilities)
		}
	}
}

func cleanExit(t *testing.T, to target) {
	root := t.TempDir()
	o := to.options(root)
	client, err := bridge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx := testContext(t)
	if err := client.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	temporary := []string{filepath.Join(root, "bridge.tmp"), filepath.Join(root, "bridge.pid")}
	for _, path := range temporary {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("while the bridge runs: %v", err)
		}
	}
	exited := client.Exited()
	if err := client.Close(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case <-exited:
	default:
		t.Error("Close returned while the process was there")
	}
	if err := client.Ping(ctx); !errors.Is(err, bridge.ErrClosed) {
		t.Errorf("a closed client says %v", err)
	}
	for _, path := range temporary {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left behind: %v", path, err)
		}
	}
}

// hostDescription tells a host program what to start.
type hostDescription struct {
	Executable, Root, Key string
	Args, Env             []string
}

// playHost is a program that starts a bridge, names its process, and waits for
// its own end.
func playHost(description string) error {
	var d hostDescription
	if err := json.Unmarshal([]byte(description), &d); err != nil {
		return err
	}
	client, err := bridge.New(bridge.Options{
		Executable: d.Executable, Args: d.Args, Env: d.Env, StateRoot: d.Root, APIKey: d.Key, StartTimeout: patience,
	})
	if err != nil {
		return err
	}
	ctx, cancel := contextForHost()
	defer cancel()
	if err := client.Ping(ctx); err != nil {
		return err
	}
	record, err := os.ReadFile(filepath.Join(d.Root, "bridge.pid"))
	if err != nil {
		return err
	}
	fmt.Println(strings.ReplaceAll(string(record), "\n", ""))
	<-ctx.Done()
	return ctx.Err()
}

// noOrphan kills a host. Where the system does not end its bridge with it, the
// next start on the same state does.
func noOrphan(t *testing.T, to target) {
	root := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	description, err := json.Marshal(hostDescription{Executable: to.executable, Root: root, Key: to.key, Args: to.args, Env: to.env})
	if err != nil {
		t.Fatal(err)
	}
	host := exec.CommandContext(testContext(t), self)
	host.Env = append(os.Environ(), hostVariable+"="+string(description))
	host.Stderr = os.Stderr
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if killErr := host.Process.Kill(); killErr != nil {
		t.Error(killErr)
	}
	_ = host.Wait() // it was killed
	if err != nil {
		t.Fatalf("the host did not say which bridge it started: %v", err)
	}
	var started struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal([]byte(line), &started); err != nil || started.PID <= 1 {
		t.Fatalf("the host said %q: %v", line, err)
	}
	client := to.client(t, func(o *bridge.Options) { o.StateRoot = root })
	if err := client.Ping(testContext(t)); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, started.PID)
}

func startedAgain(t *testing.T, to target) {
	root := t.TempDir()
	client := to.client(t, func(o *bridge.Options) { o.StateRoot = root })
	ctx := testContext(t)
	if err := client.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	killBridge(t, client, root)
	if err := client.Ping(ctx); err != nil {
		t.Fatalf("after the crash: %v", err)
	}
	if n := client.Generation(); n != 2 {
		t.Errorf("%d bridges were started, want a second one", n)
	}
}

// killBridge kills the process below root, and returns when the client knows.
func killBridge(t *testing.T, client *bridge.Client, root string) {
	t.Helper()
	exited := client.Exited()
	data, err := os.ReadFile(filepath.Join(root, "bridge.pid"))
	if err != nil {
		t.Fatal(err)
	}
	var running struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal(data, &running); err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(running.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-exited:
	case <-testContext(t).Done():
		t.Fatal("the end of the process was not noticed")
	}
}

func attachLeavesRunning(t *testing.T, to target) {
	raw := startRaw(t, to)
	ctx := testContext(t)
	for range 2 { // the second client finds what the first has left running
		client, err := bridge.New(bridge.Options{URL: raw.url, Token: raw.token, APIKey: to.key})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Ping(ctx); err != nil {
			t.Error(err)
		}
		if err := client.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}

// contextForHost bounds a host that nobody kills.
func contextForHost() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}
