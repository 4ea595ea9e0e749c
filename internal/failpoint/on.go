//go:build failpoint

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Variable names the point at which the process is killed, and at which passing
// of it, counted from 1: "approval.executing.stored" or "approval.card.posted:2".
const Variable = "LIAISON_FAILPOINT"

// armed is the point that the environment names, read when the first is passed.
var armed = sync.OnceValue(func() *point {
	name, count, _ := strings.Cut(os.Getenv(Variable), ":")
	n, err := strconv.Atoi(count)
	if err != nil {
		n = 1
	}
	return &point{name: name, left: n}
})

type point struct {
	name string
	mu   sync.Mutex
	left int // guarded by mu
}

// At kills the process if this is the point that [Variable] names. Nothing is
// cleaned up, as nothing is when a machine goes away.
func At(name string) {
	p := armed()
	if p.name != name {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left--; p.left > 0 {
		return
	}
	fmt.Fprintf(os.Stderr, "failpoint %s: the process is killed\n", name)
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		_ = self.Kill() // after which nothing here runs
	}
	select {}
}
