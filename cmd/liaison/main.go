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
	"time"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
)

// version is set by the linker.
var version = ""

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	ignoreFileSizeSignal()
	keepMemoryPrivate()
	useTwoProcessors()
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// useTwoProcessors lets webhooks be read on a machine with one CPU while the disk
// is flushed: Go takes a while to see that a thread is stuck in the kernel, and
// nothing else runs meanwhile. GOMAXPROCS in the environment wins.
func useTwoProcessors() {
	if runtime.GOMAXPROCS(0) == 1 && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2)
	}
}

// run is the whole program: it returns the exit status.
func run(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(&console{environ: environ, in: stdin, out: stdout, err: stderr, now: time.Now})
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	status := statusOf(ctx, err)
	if e, ok := errors.AsType[exitStatus](err); ok && e.cause == nil || status == exitInterrupted {
		return status
	}
	// What a service or a file said is in it.
	fmt.Fprintf(stderr, "liaison: %s\n", terminal.Text(err.Error()))
	return status
}

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
