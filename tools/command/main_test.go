package command

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes a tool of this program where it is called as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "be-a-tool" {
		os.Exit(beATool())
	}
	goleak.VerifyTestMain(m)
}

func beATool() int {
	var input struct{ Name string }
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]string{"hello": input.Name})
	return 0
}
