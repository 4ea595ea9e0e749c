package install

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(installerEnv) != "" {
		os.Exit(installAndPause())
	}
	goleak.VerifyTestMain(m)
}
