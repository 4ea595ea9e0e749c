package conformance

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/liaison-bot/liaison/bridge/local"
)

// The test binary plays other programs too: our own bridge when it is started
// with the first variable, a program that uses a bridge until it is killed with
// the second.
const (
	bridgeVariable = "LIAISON_CONFORMANCE_BRIDGE"
	hostVariable   = "LIAISON_CONFORMANCE_HOST"
)

func TestMain(m *testing.M) {
	if os.Getenv(bridgeVariable) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		status := local.Main(ctx, os.Args[1:], os.Getenv, os.Stderr, "v0.0.0-conformance")
		stop()
		os.Exit(status)
	}
	if description := os.Getenv(hostVariable); description != "" {
		fmt.Fprintln(os.Stderr, playHost(description))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
