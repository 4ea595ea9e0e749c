package socket

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Options is what a client needs. All but Dial are required.
type Options struct {
	// AppToken is the app-level token (xapp-…).
	AppToken string
	// APIURL is the root of the Web API, with a trailing slash.
	APIURL string
	// HTTPClient asks for links. It is copied, and follows no redirect, so that the
	// token stays where it is sent.
	HTTPClient *http.Client
	// Dial, if set, opens the network connections of links.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	Now  func() time.Time
	// Rand returns a number from 0 up to 1, for pauses that differ between processes.
	Rand   func() float64
	Logger *slog.Logger
	// Accept stores a frame. The frame is acknowledged once it has returned nil, and
	// comes again after an error. It is called by many goroutines.
	Accept func(context.Context, Frame) error
}

// Client keeps a link to Slack.
type Client struct {
	options Options
	http    *http.Client
	log     *slog.Logger
	status  status
}

// New returns a client, which does nothing before [Client.Run].
func New(o Options) *Client {
	h := *o.HTTPClient
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{options: o, http: &h, log: o.Logger}
}

// The reasons for which Slack disconnects. Another one is treated as a refresh.
const (
	reasonWarning  = "warning"
	reasonRefresh  = "refresh_requested"
	reasonDisabled = "link_disabled"
	reasonTooMany  = "too_many_websockets"
)

// Pauses between attempts.
const (
	firstPause = time.Second
	maxPause   = time.Minute
	// maxRetryAfter bounds what Slack can ask for.
	maxRetryAfter = 10 * time.Minute
	// settled is how long a link must live for its end to be no failure.
	settled = time.Minute
	// crowded is how many failures it counts as that the app has too many links.
	crowded = 5
)

// Run keeps a link open until ctx ends, and then returns nil once every socket is
// closed. It returns an error only where trying again has no use: [ErrRefused] or
// [ErrDisabled]. It never has more than two sockets open, and runs once at a time.
func (c *Client) Run(ctx context.Context) error {
	var current *link // serves until its successor does
	defer func() {
		if current != nil {
			current.close()
		}
	}()
	failures := 0
	var leastPause time.Duration
	for {
		if !sleep(ctx, max(c.pause(failures), leastPause)) {
			return nil
		}
		leastPause = 0
		next, err := c.establish(ctx)
		if err == nil {
			if current != nil {
				current.close()
			}
			current = next
			err = c.await(ctx, current)
			if lived := c.options.Now().Sub(current.begun); lived >= settled {
				failures = 0
			} else {
				failures++
			}
		} else {
			failures++
		}
		if ctx.Err() != nil {
			return nil
		}
		c.status.failed(err)
		if errors.Is(err, ErrRefused) || errors.Is(err, ErrDisabled) {
			return err
		}
		if e, ok := errors.AsType[*answerError](err); ok {
			leastPause = e.after
		}
		var left *leaveError
		if errors.As(err, &left) && left.reason == reasonTooMany {
			failures = max(failures, crowded)
			if current != nil {
				current.close()
				current = nil
			}
		}
		c.log.Info("Slack's link is opened anew", "reason", err, "failures", failures)
	}
}

// establish opens a link and waits for Slack's greeting.
func (c *Client) establish(ctx context.Context) (*link, error) {
	u, err := c.ask(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := c.dial(ctx, u)
	if err != nil {
		return nil, err
	}
	l := c.newLink(conn)
	go l.serve(ctx)
	select {
	case <-l.hello:
		c.log.Info("linked to Slack by Socket Mode", "host", u.Host)
		return l, nil
	case <-l.done:
		return nil, fmt.Errorf("slack: the link ended before it began: %w", l.err)
	case reason := <-l.leave:
		l.close()
		return nil, left(reason)
	case <-ctx.Done():
		l.close()
		return nil, ctx.Err()
	}
}

// await returns why a link has to be replaced; it may still serve.
func (c *Client) await(ctx context.Context, l *link) error {
	select {
	case <-l.done:
		return fmt.Errorf("slack: the link ended: %w", l.err)
	case reason := <-l.leave:
		return left(reason)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leaveError says that Slack asked for another link.
type leaveError struct{ reason string }

func (e *leaveError) Error() string {
	switch e.reason {
	case reasonWarning:
		return "slack: the link is about to be closed (warning)"
	case reasonRefresh:
		return "slack: the link is to be refreshed (refresh_requested)"
	case reasonTooMany:
		return "slack: the app has too many links (too_many_websockets); ten are allowed, over all processes"
	}
	return "slack: the link is to be replaced (" + e.reason + ")"
}

func left(reason string) error {
	if reason == reasonDisabled {
		return ErrDisabled
	}
	return &leaveError{reason}
}

// pause is how long to wait after so many failures in a row: up to a second,
// doubling, and never the same for two processes.
func (c *Client) pause(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	most := min(firstPause<<min(failures-1, 10), maxPause)
	return most/2 + time.Duration(c.options.Rand()*float64(most/2))
}

// sleep waits and reports whether ctx still goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
