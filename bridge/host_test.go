package bridge

import (
	"context"
	"fmt"
	"os"
)

// runHost is the main function of a program that uses the bridge and is killed:
// it starts the fake below root, says who it is, and waits for its end.
func runHost(root string) {
	exe, err := os.Executable()
	if err == nil {
		var c *Client
		c, err = New(Options{Executable: exe, StateRoot: root, Env: []string{fakeVariable + `={"Stubborn":true}`}})
		if err == nil {
			err = c.Ping(context.Background())
		}
		if err == nil {
			fmt.Println(c.supervisor.last().process.pid())
			select {}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
