package conformance

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// need is what a box cannot be run without.
type need int

const (
	nothing need = iota
	// anAccount: the bridge asks somebody about the key.
	anAccount
	// aModel: a run must end well.
	aModel
	// theScript: the model must do what the message says, line by line.
	theScript
)

// box is one line of the checklist.
type box struct {
	name  string
	needs need
	check func(t *testing.T, to target)
}

func checklist() []box {
	var all []box
	for _, part := range [][]box{processBoxes(), wireBoxes(), turnBoxes(), recoveryBoxes(), recordBoxes(), callbackBoxes()} {
		all = append(all, part...)
	}
	return all
}

func TestOwnBridge(t *testing.T) {
	t.Parallel()
	report(t, own(t))
}

func TestNamedBridge(t *testing.T) {
	t.Parallel()
	report(t, vendors(t))
}

// report runs every box and says what became of each.
func report(t *testing.T, to target) {
	var mu sync.Mutex
	marks := map[string]string{}
	boxes := checklist()
	t.Cleanup(func() {
		var out strings.Builder
		for _, b := range boxes {
			fmt.Fprintf(&out, "%s %s\n", marks[b.name], b.name)
		}
		t.Logf("the checklist against %s\n%s", to.executable, out.String())
	})
	for _, b := range boxes {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			t.Cleanup(func() {
				mark := "[x]"
				switch {
				case t.Failed():
					mark = "[ ] FAILED:"
				case t.Skipped():
					mark = "[-] skipped:"
				}
				mu.Lock()
				defer mu.Unlock()
				marks[b.name] = mark
			})
			if why := to.lacks(b.needs); why != "" {
				t.Skip(why)
			}
			b.check(t, to)
		})
	}
}

// lacks says why a box cannot be run; nothing means that it can.
func (to target) lacks(n need) string {
	switch {
	case n == anAccount && to.key == "":
		return "needs CURSOR_API_KEY"
	case n == aModel && to.model == "":
		return "needs CURSOR_API_KEY, for a model"
	case n == theScript && !to.scripted:
		return "needs the scripted test model of Liaison's own bridge"
	}
	return ""
}
