package socket

import (
	"errors"
	"sync"
	"time"
)

// Status is how the connection to Slack is.
type Status struct {
	// Connected is set while at least one link is open and greeted.
	Connected bool
	// Since is when Connected last changed; zero before the first link.
	Since time.Time
	// LastPing is when Slack last pinged; zero before the first time.
	LastPing time.Time
	// Reason is why there is no link, or why the last one ended; it holds no secret.
	Reason string
}

// Status tells how the connection is. It may be called at any time.
func (c *Client) Status() Status {
	c.status.Lock()
	defer c.status.Unlock()
	return c.status.now
}

// status keeps what [Client.Status] tells.
type status struct {
	sync.Mutex
	now  Status
	open int
}

func (s *status) ping(at time.Time) {
	s.Lock()
	defer s.Unlock()
	s.now.LastPing = at
}

func (s *status) up(at time.Time) {
	s.Lock()
	defer s.Unlock()
	if s.open++; s.open == 1 {
		s.now.Connected, s.now.Since = true, at
	}
}

func (s *status) down(at time.Time, why error) {
	s.Lock()
	defer s.Unlock()
	if !errors.Is(why, errClosing) { // then it is known why it was closed
		s.now.Reason = why.Error()
	}
	if s.open--; s.open == 0 {
		s.now.Connected, s.now.Since = false, at
	}
}

func (s *status) failed(why error) {
	s.Lock()
	defer s.Unlock()
	s.now.Reason = why.Error()
}
