package bridge

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The test binary plays other programs too: a child that is started with one of
// these variables never runs a test.
const (
	fakeVariable = "LIAISON_TEST_FAKE_BRIDGE"
	hostVariable = "LIAISON_TEST_HOST"
)

func TestMain(m *testing.M) {
	if script := os.Getenv(fakeVariable); script != "" {
		runFake(script)
	}
	if root := os.Getenv(hostVariable); root != "" {
		runHost(root)
	}
	goleak.VerifyTestMain(m)
}
