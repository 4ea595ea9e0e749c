package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// cpus says which processors the service and the load have, as taskset writes
// them; empty means all.
type cpus struct{ service, load string }

// split gives the first half of the processors to the services to come and the
// rest to this process, so that neither takes from the other. Without a second
// processor, or without taskset, they share.
func split(ctx context.Context) cpus {
	n := runtime.NumCPU()
	if _, err := exec.LookPath("taskset"); err != nil || n < 2 {
		return cpus{}
	}
	c := cpus{service: span(0, n/2), load: span(n/2, n)}
	if err := exec.CommandContext(ctx, "taskset", "-a", "-p", "-c", c.load, fmt.Sprint(os.Getpid())).Run(); err != nil {
		return cpus{}
	}
	// Go would follow to one processor, and whoever waits there in a system call
	// for the moment of the next request holds up the answers to those before.
	runtime.GOMAXPROCS(n + 1)
	return c
}

// span names the processors from (included) to end (not included).
func span(from, end int) string {
	if end-from == 1 {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d-%d", from, end-1)
}
