package sim

import (
	"net/http"
	"path"
	"strconv"
	"time"
)

// SlackFault makes calls of a method go wrong. Faults are tried in the order in
// which they were given; the first that matches and is not spent applies.
type SlackFault struct {
	// Method is matched as by path.Match: "chat.*". Empty matches all. Answers
	// to a response_url have the method "response_url", uploads "upload" and
	// downloads "file".
	Method string
	// Skip lets that many matching calls pass before the fault begins.
	Skip int
	// Times is how many calls are hit. 0 means one, negative means all.
	Times int

	// Error answers ok:false with this word; Messages are its details.
	Error    string
	Messages []string
	// Status, Header and Body are an answer beside Slack's usual ones. A Body is
	// sent as HTML. Status 0 with no other answer leaves the true one alone.
	Status int
	Header http.Header
	Body   string

	// AfterEffect performs the call before the answer goes wrong.
	AfterEffect bool
	// LateEffect performs the call only once the channel is closed, long after
	// its answer went wrong.
	LateEffect <-chan struct{}
	// Hang never answers; it ends when the client goes or at [Slack.Close].
	Hang bool
	// DropConnection closes the connection without an answer.
	DropConnection bool

	// Gate holds the call, before any effect, until the channel is closed, even
	// if the client has gone by then: the effect is late, and comes nevertheless.
	Gate <-chan struct{}
	// Hook runs before any effect, without the simulator's lock.
	Hook func(SlackCall)
}

type slackFault struct {
	SlackFault
	countdown
}

// Fail registers a fault and returns a function that takes it back.
func (s *Slack) Fail(f SlackFault) (undo func()) {
	if _, err := path.Match(f.Method, ""); err != nil {
		panic("sim: bad fault pattern " + f.Method)
	}
	reg := &slackFault{SlackFault: f, countdown: newCountdown(f.Skip, f.Times)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, reg)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		reg.left = 0
	}
}

// ClearFaults takes all faults back.
func (s *Slack) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// takeSlackFault finds the fault of a call and uses it up by one.
func (s *Slack) takeSlackFault(method string) *slackFault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		matched, _ := path.Match(f.Method, method) // checked by Fail
		if (matched || f.Method == "") && f.hits() {
			return f
		}
	}
	return nil
}

// apply carries a fault out; run performs the call.
func (f *slackFault) apply(s *Slack, w http.ResponseWriter, r *http.Request, call SlackCall, run func() slackAnswer) {
	if f.Hook != nil {
		f.Hook(call)
	}
	if f.Gate != nil {
		select {
		case <-f.Gate:
		case <-s.stop:
			panic(http.ErrAbortHandler)
		}
	}
	if f.Error == "" && f.Status == 0 && f.Body == "" && !f.Hang && !f.DropConnection {
		s.sendSlack(w, r, call, run())
		return
	}
	if f.AfterEffect {
		run()
	}
	if f.LateEffect != nil {
		s.runLate(f.LateEffect, run)
	}
	switch {
	case f.Hang:
		s.note(call)
		select {
		case <-r.Context().Done():
		case <-s.stop:
		}
		panic(http.ErrAbortHandler)
	case f.DropConnection:
		s.note(call)
		panic(http.ErrAbortHandler)
	}
	a := slackAnswer{status: f.Status, header: f.Header}
	switch {
	case f.Error != "":
		a.body = slackFailed(f.Error, f.Messages...)
	case f.Status == http.StatusTooManyRequests && f.Body == "":
		a.body = slackFailed("ratelimited")
	case f.Body == "":
		a.raw, a.ctype = []byte("<!DOCTYPE html><html><head><title>Slack</title></head></html>\n"), "text/html; charset=utf-8"
	default:
		a.raw, a.ctype = []byte(f.Body), "text/html; charset=utf-8"
	}
	s.sendSlack(w, r, call, a)
}

// runLate performs a call once a channel is closed.
func (s *Slack) runLate(after <-chan struct{}, run func() slackAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped() {
		return
	}
	s.late.Go(func() {
		select {
		case <-after:
			run()
		case <-s.stop:
		}
	})
}

// SlackRateLimit is the 429 of a method, with Retry-After if retry is above 0.
// Slack is known to leave the header out.
func SlackRateLimit(method string, retry time.Duration) SlackFault {
	f := SlackFault{Method: method, Status: http.StatusTooManyRequests, Header: http.Header{}}
	if retry > 0 {
		f.Header.Set("Retry-After", strconv.Itoa(int(retry/time.Second)))
	}
	return f
}
