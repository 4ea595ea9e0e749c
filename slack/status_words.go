package slack

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// statusView is what stands below a thread; Slack puts the app's name before it.
type statusView struct {
	text string
	// idle are texts that take turns while nothing else happens.
	idle string
	// waits says that a person has to decide before it goes on. The thread shows no
	// status then, since that would keep them from answering
	// (https://github.com/NousResearch/hermes-agent/issues/92201).
	waits bool
}

// The texts that take turns, at most [limits.LoadingMessages] of each kind. They
// hold no comma, which is what Slack's client library joins them by.
var idleTexts = map[string][]string{
	"reading": {"Reading the thread…", "Gathering what is needed…", "Looking at what was said…"},
	"thinking": {
		"Thinking…", "Still thinking…", "Going through it step by step…", "Weighing what was found…",
		"Taking another look…", "Working out the details…", "Still on it…",
	},
}

var (
	statusReading  = statusView{text: "is reading the thread…", idle: "reading"}
	statusThinking = statusView{text: "is thinking…", idle: "thinking"}
	statusWriting  = statusView{text: "is writing…"}
	statusShared   = statusView{text: "is working with another agent…"}
	statusWaits    = statusView{waits: true}
)

// mood is what goes on in a turn, as its events tell.
type mood struct {
	// changed has an element when it is another.
	changed chan struct{}

	mu  sync.Mutex
	now statusView
	// parked are the approvals that calls of the turn wait for.
	parked map[string]bool
	// last says that nobody looks at the mood any more.
	last bool
}

func newMood() *mood {
	return &mood{changed: make(chan struct{}, 1), now: statusReading, parked: make(map[string]bool)}
}

func (m *mood) view() statusView {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// leave reports whether a call of the turn waits for a person still, for the last time.
func (m *mood) leave() (waits bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = true
	return len(m.parked) > 0
}

// park notes that a call waits for an approval.
func (m *mood) park(approval string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parked[approval] = true
}

// settle notes that an approval keeps no call waiting any more. It reports whether
// others do, and whether it was too late for [mood.leave] to know.
func (m *mood) settle(approval string) (waits, late bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.parked, approval)
	return len(m.parked) > 0, m.last
}

func (m *mood) set(v statusView) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now == v {
		return
	}
	m.now = v
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// observe takes the mood from an event. Events that are none of the turn's work
// change nothing.
func (m *mood) observe(ev state.Event) {
	switch ev.Type {
	case sessions.EventApprovalRequested:
		m.park(approvalOf(ev))
	case sessions.EventApprovalResolved:
		m.settle(approvalOf(ev))
	}
	switch ev.Type {
	case sessions.EventStepStarted:
		if step(ev) == "evidence" {
			m.set(statusReading)
		} else {
			m.set(statusThinking)
		}
	case sessions.EventStepCompleted, sessions.EventReasoningAppended, sessions.EventActionResult,
		sessions.EventSubagentCompleted, sessions.EventApprovalResolved:
		m.set(statusThinking)
	case sessions.EventMessageAppended:
		m.set(statusWriting)
	case sessions.EventActionsRequested:
		m.set(statusView{text: doing(toolNames(ev))})
	case sessions.EventSubagentCalled:
		m.set(statusShared)
	case sessions.EventApprovalRequested:
		m.set(statusWaits)
	}
}

func approvalOf(ev state.Event) string {
	var d struct {
		ApprovalID string `json:"approvalId"`
	}
	_ = json.Unmarshal(ev.Data, &d) // one of no name waits all the same
	return d.ApprovalID
}

func step(ev state.Event) string {
	var d struct {
		Step string `json:"step"`
	}
	_ = json.Unmarshal(ev.Data, &d) // a step of no name is the model's
	return d.Step
}

func toolNames(ev state.Event) []string {
	var d struct {
		Actions []struct {
			Name string `json:"name"`
		} `json:"actions"`
	}
	_ = json.Unmarshal(ev.Data, &d) // tools of no name are run all the same
	var names []string
	for _, a := range d.Actions {
		names = append(names, a.Name)
	}
	return names
}

// work says what a tool does, by words that names of tools have in them; the first
// that fits counts.
var work = []struct{ word, does string }{
	{"search", "is searching…"}, {"grep", "is searching the code…"}, {"glob", "is looking for files…"},
	{"find", "is looking for files…"}, {"fetch", "is reading a page…"}, {"web", "is reading a page…"},
	{"edit", "is editing files…"}, {"write", "is editing files…"}, {"patch", "is editing files…"},
	{"delete", "is editing files…"}, {"read", "is reading files…"}, {"list", "is reading files…"},
	{"ls", "is reading files…"}, {"shell", "is running a command…"}, {"bash", "is running a command…"},
	{"terminal", "is running a command…"}, {"exec", "is running a command…"}, {"todo", "is planning…"},
	{"plan", "is planning…"},
}

// doing says what goes on while tools run. Their arguments are a stranger's text
// and may hold secrets; a name is shown if it is nothing but a name.
func doing(names []string) string {
	if len(names) == 0 {
		return "is using a tool…"
	}
	name := names[len(names)-1]
	words := strings.FieldsFunc(strings.ToLower(spaced(name)), func(r rune) bool { return r < 'a' || r > 'z' })
	for _, w := range work {
		for _, word := range words {
			if word == w.word {
				return w.does
			}
		}
	}
	if name == "" || len(name) > maxToolName || strings.ContainsFunc(name, noName) {
		return "is using a tool…"
	}
	return "is running " + name + "…"
}

// noName reports whether a character is in no name of a tool.
func noName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-.", r)
}

// maxToolName bounds the name of a tool in a status, which is one short line.
const maxToolName = 40

// spaced parts the words of a name in camel case.
func spaced(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}
