package github

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
)

// cable is a transport that can be pulled out.
type cable struct {
	http.RoundTripper
	out   error // why no connection comes about; nil while it is plugged in
	tries atomic.Int64
}

func (c *cable) RoundTrip(req *http.Request) (*http.Response, error) {
	c.tries.Add(1)
	if c.out != nil {
		return nil, c.out
	}
	return c.RoundTripper.RoundTrip(req)
}

// While GitHub is out of reach, next to nothing is spent on finding out again.
func TestAnOutageIsNotTriedByEveryCall(t *testing.T) {
	t.Parallel()
	for _, hasToken := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			line := &cable{}
			w := newWorld(t, func(_ *sim.GitHubOptions, o *Options) { o.Transport = line })
			line.RoundTripper = inProcess{w.GitHub}
			if hasToken {
				must(t, w.getPull())
			}
			line.out = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
			line.tries.Store(0)
			start := w.items(w.turn("trn_1"), started)[0]
			refused := func() {
				t.Helper()
				_, err := w.deliver(start)
				if retry := wantRetry(t, err); !retry.Uncounted || retry.Paused || !errors.Is(err, syscall.ECONNREFUSED) {
					t.Fatalf("got %+v", retry)
				}
			}
			for range 100 {
				refused()
			}
			if n := line.tries.Load(); n != 1 {
				t.Errorf("%d tries at once, want one", n)
			}
			for range 60 {
				time.Sleep(time.Second)
				refused()
			}
			if n := line.tries.Load(); n < 10 || n > 20 {
				t.Errorf("%d tries in a minute, want one in some seconds", n)
			}
			line.out = nil
			time.Sleep(maxUnreached)
			w.mustDeliver(start)
			if gone, back := w.logs.count("cannot be reached"), w.logs.count("in reach again"); gone != 1 || back != 1 {
				t.Errorf("an outage and its end are told of %d and %d times", gone, back)
			}
			must(t, w.getPull())
		})
	}
}

// An answer of any kind, and a call that was given up, are no outage.
func TestWhatIsNoOutage(t *testing.T) {
	t.Parallel()
	for name, out := range map[string]error{
		"reset while it was answered": &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET},
		"given up by us":              &net.OpError{Op: "dial", Net: "tcp", Err: canceled{}},
	} {
		synctest.Test(t, func(t *testing.T) {
			line := &cable{}
			w := newWorld(t, func(_ *sim.GitHubOptions, o *Options) { o.Transport = line })
			line.RoundTripper = inProcess{w.GitHub}
			line.out = out
			if err := w.getPull(); err == nil || strings.Contains(err.Error(), "not tried") {
				t.Errorf("%s: %v", name, err)
			}
			line.out = nil
			if err := w.getPull(); err != nil {
				t.Errorf("%s: the next call: %v", name, err)
			}
		})
	}
}

// canceled is how package net says that a dial was cut off.
type canceled struct{}

func (canceled) Error() string   { return "operation was canceled" }
func (canceled) Is(t error) bool { return t.Error() == "context canceled" }
