package bridge

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The test binary plays other programs too: a child that is started with one of
// these variables, or as ownBridge, never runs a test.
const (
	fakeVariable = "LIAISON_TEST_FAKE_BRIDGE"
	hostVariable = "LIAISON_TEST_HOST"
	busyVariable = "LIAISON_TEST_BUSY_HOST"
)

func TestMain(m *testing.M) {
	if script := os.Getenv(fakeVariable); script != "" {
		runFake(script)
	}
	if root := os.Getenv(hostVariable); root != "" {
		runHost(root)
	}
	if root := os.Getenv(busyVariable); root != "" {
		runBusyHost(root)
	}
	if isOwnBridge() {
		os.Exit(runOwnBridge())
	}
	remove, err := offerOwnBridge()
	if err != nil {
		fmt.Fprintln(os.Stderr, "offer the bridge to the examples:", err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		remove()
		os.Exit(status)
	}))
}
