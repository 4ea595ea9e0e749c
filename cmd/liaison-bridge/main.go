// Command liaison-bridge is Liaison's own sdk.v1 bridge as an executable of its
// own: a drop-in for the vendor's cursor-sdk-bridge. "liaison bridge serve" is
// the same.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/liaison-bot/liaison/bridge/local"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// From the first signal on a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(local.Main(ctx, os.Args[1:], os.Getenv, os.Stderr, version))
}
