// Command liaison is the service and its command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
)

// version is set by the linker.
var version = ""

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	ignoreFileSizeSignal()
	useTwoProcessors()
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// useTwoProcessors lets webhooks be read on a machine with one CPU while the disk
// is flushed: Go takes a while to see that a thread is stuck in the kernel, and
// nothing else runs meanwhile. GOMAXPROCS in the environment wins.
func useTwoProcessors() {
	if runtime.GOMAXPROCS(0) == 1 && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2)
	}
}

// run is the whole program: it returns the exit status, 0 for success, 1 for a
// failure, 2 for a command line or settings that cannot be used.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	root := newRoot(environ, stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	status := 1
	if e, ok := errors.AsType[exitStatus](err); ok {
		status = e.status
		if e.cause == nil {
			return status
		}
	}
	fmt.Fprintf(stderr, "liaison: %v\n", err)
	return status
}

// exitStatus is an error with the exit status that it shall lead to. A nil
// cause prints nothing.
type exitStatus struct {
	status int
	cause  error
}

func (e exitStatus) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.cause.Error()
}

func (e exitStatus) Unwrap() error { return e.cause }

// unusable marks an error in what the operator gave us.
func unusable(err error) error { return exitStatus{status: 2, cause: err} }

// buildVersion is the stamped version, or the module's when "go install" built it.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
