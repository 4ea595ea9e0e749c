package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// headersMode makes the test's own executable the command of a connection.
const headersMode = "headers-command"

// runHeadersCommand is that command. What it does is its last argument.
func runHeadersCommand(args []string) int {
	switch args[len(args)-1] {
	case "principal":
		fmt.Printf(`{"Authorization":"Bearer for %s in %s"}`, os.Getenv("LIAISON_SESSION_PRINCIPAL"), os.Getenv("LIAISON_SESSION_ID"))
	case "environment":
		names := []string{}
		for _, pair := range os.Environ() {
			name, _, _ := strings.Cut(pair, "=")
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Printf(`{"X-Names":%q}`, strings.Join(names, " "))
	case "fail":
		fmt.Println(`{"Authorization":"half"}`)
		fmt.Fprintln(os.Stderr, "the token service says no to hunter2")
		return 3
	case "leave a child":
		child := exec.Command(os.Args[0], headersMode, "stay")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			return 1
		}
		fmt.Print(`{"X-Key":"left"}`)
	case "stay":
		<-time.After(time.Hour)
	case "flood":
		fmt.Print(strings.Repeat("x", 1<<20))
	default:
		fmt.Print(args[len(args)-1])
	}
	return 0
}
