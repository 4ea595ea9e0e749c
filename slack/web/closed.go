package web

import (
	"sync"
	"time"
)

// methodKey names what a rate limit is about: Slack counts by method and workspace,
// and what is posted by channel. https://docs.slack.dev/apis/web-api/rate-limits
type methodKey struct{ team, method, channel string }

// closed remembers which methods Slack does not want to hear of for a while, so
// that the calls that would follow are answered here.
type closed struct {
	now func() time.Time

	mu    sync.Mutex
	until map[methodKey]time.Time
}

func newClosed(now func() time.Time) *closed {
	return &closed{now: now, until: map[methodKey]time.Time{}}
}

// check returns an error of class [ErrLimited] while a method is closed.
func (c *closed) check(key methodKey) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, ok := c.until[key]
	if !ok {
		return nil
	}
	left := until.Sub(c.now())
	if left <= 0 {
		delete(c.until, key)
		return nil
	}
	return &Error{Class: ErrLimited, Method: key.method, After: left}
}

// close shuts a method for a while.
func (c *closed) close(key methodKey, after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if len(c.until) >= maxClosed {
		for k, until := range c.until {
			if !until.After(now) {
				delete(c.until, k)
			}
		}
	}
	c.until[key] = now.Add(after)
}
