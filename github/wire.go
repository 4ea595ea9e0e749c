package github

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// parseRoot reads the REST root as it stands; only the slash at its end is ours.
func parseRoot(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("the GitHub API's URL %q is not a plain http or https URL", redactURL(u, s))
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	u.RawPath = ""
	return u, nil
}

// redactURL shows a URL without its credentials.
func redactURL(u *url.URL, s string) string {
	if u == nil {
		return "(not a URL)"
	}
	if u.User != nil {
		return u.Redacted()
	}
	return s
}

// wire is the innermost transport. Everything that leaves for GitHub, tokens
// being minted included, passes it; nothing leaves for anywhere else.
type wire struct {
	base      http.RoundTripper
	root      *url.URL
	graphQL   *url.URL
	userAgent string
	clock     *clockWatch
	reach     *reach
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if !sameHost(req.URL, w.root) && !sameHost(req.URL, w.graphQL) {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, &ForeignHostError{Host: req.URL.Host}
	}
	req = req.Clone(req.Context())
	req.Header.Set("User-Agent", w.userAgent)
	resp, err := w.base.RoundTrip(req)
	w.reach.note(err)
	if err != nil {
		return nil, err
	}
	w.clock.observe(resp.Header.Get("Date"))
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxResponse}
	return resp, nil
}

func sameHost(u, root *url.URL) bool {
	return u.Scheme == root.Scheme && strings.EqualFold(hostPort(u), hostPort(root))
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// boundedBody fails, rather than ends, where an answer is too long: half an
// answer must not be taken for a whole one.
type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), errTooLarge
	}
	b.left -= int64(n)
	return n, err
}

// clockWatch compares GitHub's clock with ours by the answers' Date headers.
type clockWatch struct {
	now    func() time.Time
	log    *slog.Logger
	drift  atomic.Int64
	warned atomic.Bool
}

func (c *clockWatch) observe(date string) {
	theirs, err := http.ParseTime(date)
	if err != nil {
		return
	}
	drift := c.now().Sub(theirs)
	c.drift.Store(int64(drift))
	switch off := drift.Abs(); {
	case off > MaxDrift:
		if c.warned.CompareAndSwap(false, true) {
			c.log.Warn("this machine's clock differs from GitHub's; beyond 30 s fast or 90 s slow the App cannot sign in",
				"ahead", drift.Round(time.Second))
		}
	case off < MaxDrift/2:
		c.warned.Store(false)
	}
}
