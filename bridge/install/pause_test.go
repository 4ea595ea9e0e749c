package install

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

// installerEnv turns the test binary into a program that installs and stops at a
// step, for tests that kill it there: "step|dir|base URL".
const installerEnv = "LIAISON_TEST_INSTALLER"

// installAndPause says when it has come to the step, and goes no further.
func installAndPause() int {
	args := strings.Split(os.Getenv(installerEnv), "|")
	_, err := Install(context.Background(), Options{
		Dir: args[1], BaseURL: args[2], Platform: testPlatform,
		Check: func(context.Context, string) error { return nil },
		Progress: func(p Progress) {
			if p.Step == Step(args[0]) {
				fmt.Println("paused")
				_, _ = io.Copy(io.Discard, os.Stdin) // to the end of whoever started us
			}
		},
	})
	fmt.Println("finished:", err)
	return 0
}
