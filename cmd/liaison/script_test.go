package main_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/liaison-bot/liaison/internal/sim/openapi"
)

// The scripts read like a manual of the command line.
func TestScripts(t *testing.T) {
	t.Parallel()
	watch := openapi.Watch(t)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":  status,
			"github":  func(ts *testscript.TestScript, neg bool, args []string) { startGitHub(ts, neg, args, watch) },
			"slack":   startSlack,
			"serve":   startService,
			"stop":    stopService,
			"capture": capture,
			"until":   until,
			"logged":  logged,
		},
		Condition: func(condition string) (bool, error) {
			if condition != "vendor" {
				return false, fmt.Errorf("unknown condition %q", condition)
			}
			return vendorBuildsForUs(), nil
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
			busy, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			env.Defer(func() { _ = busy.Close() })
			env.Setenv("BUSY_ADDR", busy.Addr().String())
			setUpService(env)
			if err := setUpReleases(env); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(env.WorkDir, "key.pem"), []byte(appKeyPEM()), 0o600)
		},
	})
}

// status runs a program that must leave with the given exit status.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program [argument...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}
