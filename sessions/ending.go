package sessions

import (
	"errors"
	"strings"
	"sync"

	"github.com/liaison-bot/liaison/bridge"
)

// maxAfterFinal is how many tools an agent may still call after it was asked to end
// its turn: those that it called in the same breath, and a look or two.
const maxAfterFinal = 4

// errFinal ends a run that goes on although its turn shall end. The turn completes.
var errFinal = errors.New("the turn was asked to end")

// ending sees to it that a turn ends after a tool has asked for it.
type ending struct {
	cancel func(error)

	mu sync.Mutex
	// tool asked for the end; empty while none has.
	tool string
	// begun are the calls that were seen, and after how many of them came too late.
	begun map[string]bool
	after int
	// saying is what the agent has said since its last call, said what it said before.
	saying strings.Builder
	said   string
}

// begin asks for the end.
func (e *ending) begin(tool string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tool = tool
}

// by names the tool that asked for the end; empty while none has.
func (e *ending) by() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.tool
}

// observe takes notice of an event of the run.
func (e *ending) observe(ev bridge.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch p := ev.Payload.(type) {
	case bridge.Assistant:
		if e.saying.Len() < maxMessageText {
			e.saying.WriteString(p.Text)
		}
	case bridge.ToolCall:
		if e.begun[p.CallID] || p.CallID == "" {
			return
		}
		if e.begun == nil {
			e.begun = make(map[string]bool)
		}
		e.begun[p.CallID] = true
		if said := e.saying.String(); strings.TrimSpace(said) != "" {
			e.said = said
		}
		e.saying.Reset()
		if e.tool == "" {
			return
		}
		if e.after++; e.after > maxAfterFinal {
			e.cancel(errFinal)
		}
	}
}

// text is the answer of a turn whose run was ended: what was said last.
func (e *ending) text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, text := range []string{e.saying.String(), e.said} {
		if strings.TrimSpace(text) != "" {
			return strings.ToValidUTF8(clip(text, maxMessageText), "\uFFFD")
		}
	}
	return "I ended my turn here, because " + e.tool + " asked for it."
}
