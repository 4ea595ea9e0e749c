package sim

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// SlackCall is one call of the Web API as the simulator saw it, for assertions.
type SlackCall struct {
	// Seq counts all calls from 1 in the order in which they were answered, or
	// given up on.
	Seq int
	// Method such as "chat.postMessage"; the address for other requests.
	Method string
	// Team is the id of the workspace that the token acts in; empty without one.
	Team string
	// Token is the credential itself, to check that no secret went astray.
	Token string
	// Args are the arguments; what is no text is kept as JSON.
	Args map[string]string
	// JSON tells a JSON body from a form.
	JSON   bool
	Header http.Header
	// Status that was answered; 0 if the connection was dropped or hung.
	Status int
	// Error is Slack's word for a refusal; empty for a success.
	Error string
	// At is the platform's time.
	At time.Time
}

// shown are the arguments without credentials, for whoever watches.
func (c SlackCall) shown() map[string]string {
	args := maps.Clone(c.Args)
	for name := range args {
		if strings.Contains(name, "token") || strings.Contains(name, "secret") || name == "code" {
			args[name] = "…"
		}
	}
	return args
}

// Calls returns every call so far of the given methods, oldest first. Without
// methods it returns all calls.
func (s *Slack) Calls(methods ...string) []SlackCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []SlackCall
	for _, c := range s.calls {
		if len(methods) == 0 || slices.Contains(methods, c.Method) {
			found = append(found, c)
		}
	}
	return found
}

// ForgetCalls empties the record.
func (s *Slack) ForgetCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

// note appends to the record.
func (s *Slack) note(c SlackCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	c.Seq, c.At = len(s.calls)+1, s.opts.Now()
	s.calls = append(s.calls, c)
	s.notify()
}
